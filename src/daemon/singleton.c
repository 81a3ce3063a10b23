/* singleton.c - see singleton.h. */
#include "daemon/singleton.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "daemon/process.h"
#include "daemon/node_priv.h"

void singleton_close_inherited(int argc, char **argv)
{
    bool called = argc > 3 && !strcmp(argv[1], "-pmi_args");
    unsigned keep = called && !strcmp(argv[3], "fd") ? (unsigned)atoi(argv[2]) : 2;

    if (!called)
        return;
    if (keep > 3)
        syscall(SYS_close_range, 3U, keep - 1, 0U);
    syscall(SYS_close_range, keep < 3 ? 3U : keep + 1, ~0U, 0U);
}

static int connect_loopback(uint16_t port)
{
    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_port = htons(port),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int rc;

    if (fd < 0)
        return -errno;
    if (connect(fd, (struct sockaddr *)&to, sizeof to) == 0)
        return fd;
    rc = -errno;
    close(fd);
    return rc;
}

/* The job of the one process at the other end of this connection; the descriptor is ours from here
 * on. */
static struct peer *singleton_connection(struct node *n, int fd, bool inherited, int pid,
                                         struct errmsg *err)
{
    struct peer_conn *c = NULL;
    struct job_map plan;

    if (local_job_plan_others(&n->jobs, &plan, 1) == 0 && node_start(n, &plan, err) == 0) {
        local_job_adopt(LIST_OF(list_first(&n->jobs.all), struct local_job, link));
        c = peer_conn_open(&n->listener.conns, fd, core_job(&n->server.core, n->jobs.first), 0,
                           inherited);
    }
    if (!c) {
        errmsg_set(err, -ENOMEM, "out of memory for a job of one process");
        close(fd);
        return NULL;
    }
    n->listener.singleton = c;
    c->peer->job->procs[0].pid = pid;
    server_proc_state(&n->server, c->peer->job, 0, PROC_EVENT_STARTED, 0,
                      c->peer->job->procs[0].pid);
    return c->peer;
}

int singleton_port(struct node *n, uint16_t port, int pid, struct errmsg *err)
{
    int fd = connect_loopback(port);
    struct peer *peer;

    if (fd < 0)
        return errmsg_set(err, fd, "cannot connect to the program at port %u: %s", port,
                          err_text(fd));
    peer = singleton_connection(n, fd, false, pid, err);
    if (!peer || !server_greet(&n->server, peer))
        return -ENOMEM;
    turn_end(&n->turn);
    return 0;
}

int singleton_fd(struct node *n, int fd, const char *name, int pid, struct errmsg *err)
{
    int type;
    socklen_t len = sizeof type;

    if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) < 0)
        return errmsg_set(err, -errno, "descriptor %d is not a connection: %s", fd,
                          err_text(errno));
    n->jobs.given_name = name;
    return singleton_connection(n, fd, true, pid, err) ? 0 : -ENOMEM;
}
