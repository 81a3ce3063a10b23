/* daemon_link_delay.c - see daemon_link_delay.h. */
#include "io/daemon_link_delay.h"

#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "base/clock.h"

/* A page that is not in memory is one that the disk is waited for. */
static struct daemon_link_delay now(void)
{
    struct daemon_link_delay d = { .since_ns = clock_now_ns() };
    struct rusage u;

    if (getrusage(RUSAGE_SELF, &u) < 0)
        return d;
    d.ran_ns = (uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * NS_PER_S +
               (uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000;
    d.read_disk = (uint64_t)u.ru_majflt;
    return d;
}

void daemon_link_delay_begin(struct daemon_link_delay *d)
{
    *d = now();
}

static unsigned tenths(uint64_t ns)
{
    return (unsigned)(ns / (NS_PER_S / 10));
}

static int bytes_waiting(int fd, unsigned long what)
{
    int n = 0;

    return ioctl(fd, what, &n) < 0 ? 0 : n;
}

void daemon_link_delay_text(const struct daemon_link_delay *d, int fd,
                            char text[DAEMON_LINK_DELAY_TEXT])
{
    const struct daemon_link_delay end = now();
    struct tcp_info tcp = { .tcpi_state = 0 };
    socklen_t len = sizeof tcp;
    unsigned all = tenths(end.since_ns - d->since_ns);
    unsigned ran = (unsigned)((end.ran_ns - d->ran_ns) / NS_PER_MS);
    int n =
        snprintf(text, DAEMON_LINK_DELAY_TEXT,
                 "in %u.%u s this process ran %u ms and waited for the disk %llu times; %d bytes "
                 "are unread, %d not acknowledged",
                 all / 10, all % 10, ran, (unsigned long long)(end.read_disk - d->read_disk),
                 bytes_waiting(fd, FIONREAD), bytes_waiting(fd, SIOCOUTQ));

    if (n > 0 && n < DAEMON_LINK_DELAY_TEXT &&
        getsockopt(fd, IPPROTO_TCP, TCP_INFO, &tcp, &len) == 0)
        snprintf(
            text + n, (size_t)(DAEMON_LINK_DELAY_TEXT - n),
            ", sent again %u times, now each %u ms; the other end's last packet came %u ms ago",
            tcp.tcpi_retransmits, tcp.tcpi_rto / 1000, tcp.tcpi_last_ack_recv);
}
