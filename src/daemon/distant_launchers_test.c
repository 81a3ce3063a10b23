/* distant_launchers_test.c - two launchers that share a directory, in one process: one calls the
 * other and is answered; and the same with each request for memory refused, alone and with all
 * later ones: nothing hangs, and neither memory, descriptors nor files are left.
 */
#include "daemon/distant_launchers.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/loop.h"
#include "tests/alloc.h"
#include "tests/tap.h"

enum { BYTES = 16 << 10, PIECE = 4096 };

static char dir[] = "/tmp/wireup-distant.XXXXXX";
static struct loop loop;
static struct timer guard;
static struct log log_none = { -1, LOG_ERROR, "test", NULL };
static struct node_context context = { .loop = &loop, .log = &log_none };

/* An end of a connection between the two. */
struct end {
    int fd; /* -1: none */
    struct watch watch;
    size_t got;
    bool right; /* what has come is what was sent */
};

static struct end caller, callee;

static void hang(void *arg)
{
    (void)arg;
    printf("Bail out! nothing happened for five minutes\n");
    exit(1);
}

static void end_open(struct end *e, int fd, loop_fn *on_read)
{
    *e = (struct end){ .fd = fd, .right = true };
    watch_open(&e->watch, &loop, fd, on_read, NULL, e);
    watch_want(&e->watch, LOOP_READ);
}

static void end_close(struct end *e)
{
    watch_close(&e->watch);
    if (e->fd >= 0)
        close(e->fd);
    e->fd = -1;
}

static char byte_at(size_t at)
{
    return (char)(at % 251);
}

/* ---- the one that is called: it sends back what it receives ---- */

static void on_question(void *arg)
{
    struct end *e = arg;
    char piece[PIECE];
    ssize_t n = recv(e->fd, piece, sizeof piece, MSG_DONTWAIT);

    if (n <= 0 || send(e->fd, piece, (size_t)n, MSG_DONTWAIT | MSG_NOSIGNAL) != n)
        end_close(e);
}

static void called(void *arg, int fd)
{
    end_open(arg, fd, on_question);
}

/* ---- the one that calls ---- */

static void on_answer(void *arg)
{
    struct end *e = arg;
    char piece[PIECE];
    ssize_t n = recv(e->fd, piece, sizeof piece, MSG_DONTWAIT);

    for (ssize_t i = 0; i < n; i++)
        e->right = e->right && piece[i] == byte_at(e->got + (size_t)i);
    e->got += n > 0 ? (size_t)n : 0;
    if (n <= 0 || e->got >= BYTES)
        loop_stop(&loop);
}

static void ask(int fd)
{
    char all[BYTES];

    for (size_t i = 0; i < BYTES; i++)
        all[i] = byte_at(i);
    end_open(&caller, fd, on_answer);
    if (send(fd, all, sizeof all, MSG_NOSIGNAL) == BYTES)
        loop_run(&loop);
    end_close(&caller);
}

static void call(struct distant_launchers *d)
{
    int *fds, n = distant_launchers_call(d, &fds);

    if (n == 1)
        ask(fds[0]);
    for (int i = 1; i < n; i++)
        close(fds[i]);
    free(fds);
}

/* Launchers have a file each, which their process gives its name; here both are one process. */
static void rename_file(struct distant_launchers *d)
{
    char other[sizeof d->file];

    snprintf(other, sizeof other, "other.1.launcher");
    renameat(d->dir, d->file, d->dir, other);
    snprintf(d->file, sizeof d->file, "%s", other);
}

static int open_one(struct distant_launchers *d)
{
    const struct distant_launchers_config config = { .dir = dir, .interface = "127.0.0.1" };
    struct errmsg err;

    return distant_launchers_open(d, &context, &config, called, &callee, &err);
}

/* True: everything has come back. */
static bool run(void)
{
    struct distant_launchers a, b;
    bool whole = false;

    caller = callee = (struct end){ .fd = -1 };
    if (open_one(&a) == 0) {
        rename_file(&a);
        if (open_one(&b) == 0) {
            call(&b);
            whole = caller.got == BYTES && caller.right;
        }
        distant_launchers_close(&b);
    }
    distant_launchers_close(&a);
    end_close(&callee);
    return whole;
}

/* ---- what is left ---- */

static unsigned count(const char *path)
{
    unsigned n = 0;
    DIR *all;

    alloc_pause(true);
    all = opendir(path);
    while (all && readdir(all))
        n++;
    if (all)
        closedir(all);
    alloc_pause(false);
    return n;
}

struct left {
    int64_t blocks;
    unsigned descriptors, files;
};

static struct left left_now(void)
{
    return (struct left){ alloc_live(), count("/proc/self/fd"), count(dir) };
}

static bool same(const struct left *before, const struct left *after, uint64_t nth, bool on)
{
    bool good = after->blocks == before->blocks && after->descriptors == before->descriptors &&
                after->files == before->files;

    if (!good)
        printf("# request %llu%s refused: %lld blocks, %d descriptors, %d files are left\n",
               (unsigned long long)nth, on ? " and later" : "",
               (long long)(after->blocks - before->blocks),
               (int)(after->descriptors - before->descriptors),
               (int)(after->files - before->files));
    return good;
}

static bool refused(uint64_t nth, bool on, const struct left *before, unsigned *whole_p)
{
    struct left after;

    alloc_fail(nth, on);
    *whole_p += run();
    alloc_fail(0, false);
    after = left_now();
    return same(before, &after, nth, on);
}

static void test_refused(void)
{
    struct left before = left_now();
    unsigned whole = 0, runs = 0;
    uint64_t requests;
    bool good = true;

    alloc_fail(0, false);
    OK_F(run(), "what the other one is sent comes back");
    requests = alloc_count();
    for (uint64_t n = 1; n <= requests; n++) {
        for (int on = 0; on < 2; on++, runs++)
            good = refused(n, on, &before, &whole) && good;
    }
    OK_F(good && requests > 10, "%llu requests for memory, each refused: nothing is left",
         (unsigned long long)requests);
    OK_F(whole < runs, "%u of %u were answered all the same", whole, runs);
}

static void clean_up(void)
{
    char token[sizeof dir + 8];

    snprintf(token, sizeof token, "%s/token", dir);
    unlink(token);
    OK_F(rmdir(dir) == 0, "the directory has nothing but the token");
}

int main(void)
{
    if (!mkdtemp(dir) || loop_init(&loop) < 0)
        return 1;
    timer_init(&guard, &loop, hang, NULL);
    timer_set(&guard, 300000);
    run(); /* makes the token */
    test_refused();
    clean_up();
    timer_stop(&guard);
    loop_free(&loop);
    return tap_done();
}
