/* write_all_test.c - everything arrives through a full non-blocking pipe; an error is passed on. */
#include "io/write_all.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/tap.h"

enum { SIZE = 256 << 10 };

struct reader {
    int fd;
    size_t got;
    bool wrong;
};

static char byte_at(size_t at)
{
    return (char)(at * 7 + at / 251);
}

static void *read_main(void *arg)
{
    struct reader *r = arg;
    char piece[1000];
    ssize_t n;

    while ((n = read(r->fd, piece, sizeof piece)) > 0) {
        for (ssize_t i = 0; i < n; i++)
            r->wrong = r->wrong || piece[i] != byte_at(r->got++);
    }
    return NULL;
}

static void test_pipe(int flags)
{
    char *bytes = malloc(SIZE);
    struct reader r = { .got = 0 };
    pthread_t thread;
    int ends[2];

    if (!bytes || pipe2(ends, O_CLOEXEC) < 0)
        abort();
    fcntl(ends[1], F_SETFL, flags);
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = byte_at(i);
    r.fd = ends[0];
    pthread_create(&thread, NULL, read_main, &r);
    EQ(write_all_slice(ends[1], slice_mem(bytes, SIZE)), 0);
    close(ends[1]);
    pthread_join(thread, NULL);
    close(ends[0]);
    free(bytes);
    OK_F(r.got == SIZE && !r.wrong, "everything arrives, flags %#x", (unsigned)flags);
}

static void test_errors(void)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) < 0)
        abort();
    close(ends[0]);
    EQ(write_all_slice(ends[1], SLICE("x")), -EPIPE);
    EQ(write_all_slice(ends[1], SLICE_NULL), 0);
    close(ends[1]);
    EQ(write_all_slice(-1, SLICE("x")), -EBADF);
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    test_pipe(0);
    test_pipe(O_NONBLOCK);
    test_errors();
    return tap_done();
}
