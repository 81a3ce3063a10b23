/* script.h - a scripted process manager for tests of PMI-1 clients, with fault injection.
 *
 * A script lists the bytes that the server receives and sends; a thread plays it at the other
 * end of a socketpair.  The client must send exactly the script, with nothing left over.
 *
 * The test is linked with --wrap for the functions below, so that bytes can arrive one at a time
 * and allocations of the calling thread can fail.  Include once, in the file with main().
 */
#ifndef WIREUP_LIB_PMI_SCRIPT_H
#define WIREUP_LIB_PMI_SCRIPT_H

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/tap.h"

/* ---- fault injection ------------------------------------------------------------------------- */

static _Thread_local bool dripping;        /* one byte per send and receive */
static _Thread_local long fail_after = -1; /* this many allocations succeed, the next one fails */
static _Thread_local bool fail_on;         /* and all after it */
static _Thread_local bool has_failed;
static _Thread_local long sends; /* calls of send */

ssize_t __real_recvmsg(int fd, struct msghdr *m, int flags);
ssize_t __wrap_recvmsg(int fd, struct msghdr *m, int flags);
ssize_t __real_send(int fd, const void *bytes, size_t n, int flags);
ssize_t __wrap_send(int fd, const void *bytes, size_t n, int flags);
void *__real_malloc(size_t n);
void *__wrap_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
char *__real_strdup(const char *s);
char *__wrap_strdup(const char *s);
char *__real_strndup(const char *s, size_t n);
char *__wrap_strndup(const char *s, size_t n);

ssize_t __wrap_recvmsg(int fd, struct msghdr *m, int flags)
{
    if (dripping && m->msg_iovlen && m->msg_iov[0].iov_len > 1)
        m->msg_iov[0].iov_len = 1;
    return __real_recvmsg(fd, m, flags);
}

ssize_t __wrap_send(int fd, const void *bytes, size_t n, int flags)
{
    sends++;
    return __real_send(fd, bytes, dripping && n > 1 ? 1 : n, flags);
}

static bool may_allocate(void)
{
    if (fail_after < 0 || fail_after-- > 0)
        return !(has_failed && fail_on);
    has_failed = true;
    return false;
}

void *__wrap_malloc(size_t n)
{
    return may_allocate() ? __real_malloc(n) : NULL;
}

void *__wrap_calloc(size_t n, size_t size)
{
    return may_allocate() ? __real_calloc(n, size) : NULL;
}

char *__wrap_strdup(const char *s)
{
    return may_allocate() ? __real_strdup(s) : NULL;
}

char *__wrap_strndup(const char *s, size_t n)
{
    return may_allocate() ? __real_strndup(s, n) : NULL;
}

/* ---- the scripted server --------------------------------------------------------------------- */

enum line_kind { END = 0, EXPECT, SEND, HANG_UP };

struct script_line {
    enum line_kind kind;
    const char *text;
    size_t len; /* 0: up to the NUL */
};

/* Bytes with NULs in them. */
#define EXPECT_BYTES(text)                                                                         \
    {                                                                                              \
        EXPECT, text, sizeof(text) - 1                                                             \
    }

struct script {
    const struct script_line *lines;
    int ends[2];  /* client's, server's */
    int listener; /* PMI_PORT: the server's end comes from here; else -1 */
    pthread_t thread;
    bool good;
    char got[4096];
};

static bool expect_line(struct script *s, const struct script_line *l)
{
    size_t len = l->len ? l->len : strlen(l->text), have = 0;

    while (have < len && have < sizeof s->got - 1) {
        ssize_t n = read(s->ends[1], s->got + have, len - have);
        if (n <= 0)
            break;
        have += (size_t)n;
        if (memcmp(s->got, l->text, have) != 0)
            break;
    }
    s->got[have] = '\0';
    return have == len && memcmp(s->got, l->text, len) == 0;
}

static bool send_line(struct script *s, const struct script_line *l)
{
    size_t len = l->len ? l->len : strlen(l->text);

    return send(s->ends[1], l->text, len, MSG_NOSIGNAL) == (ssize_t)len;
}

static void *play(void *arg)
{
    struct script *s = arg;
    bool fine = true;
    char extra;

    if (s->listener >= 0)
        s->ends[1] = accept(s->listener, NULL, NULL);
    for (const struct script_line *l = s->lines; fine && l->kind != END && l->kind != HANG_UP;
         l++) {
        fine = l->kind == EXPECT ? expect_line(s, l) : send_line(s, l);
        if (!fine)
            printf("# expected: %s# heard: %s\n", l->text, s->got);
    }
    s->good = fine && recv(s->ends[1], &extra, 1, MSG_DONTWAIT) <= 0;
    shutdown(s->ends[1], SHUT_RDWR);
    return NULL;
}

/* Sets up the environment of rank 1 of 4 and starts the script. */
static void script_begin(struct script *s, const struct script_line *lines)
{
    char number[16];

    *s = (struct script){ .lines = lines, .listener = -1 };
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, s->ends) < 0)
        abort();
    snprintf(number, sizeof number, "%d", s->ends[0]);
    setenv("PMI_FD", number, 1);
    setenv("PMI_RANK", "1", 1);
    setenv("PMI_SIZE", "4", 1);
    unsetenv("WIREUP_FD");
    if (pthread_create(&s->thread, NULL, play, s) != 0)
        abort();
}

/* The same for a client that connects to PMI_PORT. */
__attribute__((unused)) static void script_begin_port(struct script *s,
                                                      const struct script_line *lines)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
    socklen_t len = sizeof at;
    char address[32];

    *s = (struct script){ .lines = lines, .ends = { -1, -1 } };
    s->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (s->listener < 0 || bind(s->listener, (struct sockaddr *)&at, sizeof at) < 0 ||
        listen(s->listener, 1) < 0 || getsockname(s->listener, (struct sockaddr *)&at, &len) < 0)
        abort();
    snprintf(address, sizeof address, "127.0.0.1:%d", ntohs(at.sin_port));
    setenv("PMI_PORT", address, 1);
    unsetenv("PMI_FD");
    if (pthread_create(&s->thread, NULL, play, s) != 0)
        abort();
}

/* True when everything was exchanged as written. */
static bool script_end(struct script *s)
{
    if (s->ends[0] >= 0)
        shutdown(s->ends[0], SHUT_WR);
    pthread_join(s->thread, NULL);
    close(s->ends[0]);
    close(s->ends[1]);
    close(s->listener);
    return s->good;
}

#endif
