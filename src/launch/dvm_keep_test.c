/* dvm_keep_test.c - the file of a DVM that outlives its launcher: what is written is read; what is
 * damaged is refused; one launcher at a time has it. */
#include "launch/dvm_keep.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/tap.h"

static unsigned char token[DVM_KEEP_TOKEN];

static const char *jobs[] = { "kvs_77_1_0123abcd_login", "kvs_77_2_4567cdef_login" };

static struct dvm_keep sample(struct dvm_keep_node nodes[2])
{
    for (int i = 0; i < DVM_KEEP_TOKEN; i++)
        token[i] = (unsigned char)(i * 9);
    nodes[0] = (struct dvm_keep_node){ "n1", 4 };
    nodes[1] = (struct dvm_keep_node){ "n2.cluster", 1 };
    return (struct dvm_keep){ .name = "dvm",
                              .host = "login",
                              .pid = 77,
                              .token = token,
                              .time_s = 60,
                              .port = 4711,
                              .join = "/home/u/a file",
                              .limits = { .jobs = 3, .seconds = 60 },
                              .nodes = nodes,
                              .nnodes = 2,
                              .jobs = jobs,
                              .njobs = 2 };
}

static void test_text(void)
{
    struct dvm_keep_node nodes[2];
    struct dvm_keep k = sample(nodes), back;
    struct buf text = BUF_NULL(1 << 16);
    struct arena a = ARENA_NULL(1 << 20);
    unsigned char got[DVM_KEEP_TOKEN];
    struct slice all;

    dvm_keep_write(&k, &text);
    all = buf_slice(&text);
    EQ(dvm_keep_read(&back, &a, all, got), 0);
    OK(!strcmp(back.name, "dvm") && !strcmp(back.host, "login") && back.pid == 77);
    OK(back.time_s == 60 && back.port == 4711 && !strcmp(back.join, "/home/u/a file"));
    OK(back.nnodes == 2 && !strcmp(back.nodes[1].name, "n2.cluster") && back.nodes[0].slots == 4);
    OK(back.njobs == 2 && !strcmp(back.jobs[0], jobs[0]) && !strcmp(back.jobs[1], jobs[1]));
    OK(back.limits.jobs == 3 && back.limits.slots == 0 && back.limits.seconds == 60);
    OK(!memcmp(got, token, sizeof got));
    for (size_t n = 0; n < all.len; n++) {
        if (dvm_keep_read(&back, &a, slice_head(all, n), got) == 0 && n + 1 < all.len)
            OK_F(false, "a file of %zu of %zu bytes is refused", n, all.len);
    }
    OK_F(dvm_keep_read(&back, &a, SLICE("wireup-keep 2\nend\n"), got) == DVM_KEEP_BAD,
         "another release's is refused");
    arena_free(&a);
    buf_free(&text);
}

static void test_file(void)
{
    char path[] = "/tmp/wireup-keep-test.XXXXXX";
    struct dvm_keep_node nodes[2];
    struct dvm_keep k = sample(nodes), back;
    struct arena a = ARENA_NULL(1 << 20);
    unsigned char got[DVM_KEEP_TOKEN];
    struct errmsg err = { "" };
    int fd, other;

    close(mkstemp(path));
    fd = dvm_keep_make(path, &err);
    OK_F(fd >= 0 && dvm_keep_save(fd, &k) == 0, "made: %s", err.text);
    OK_F(dvm_keep_take(path, &back, &a, got, &err) == -EBUSY, "it is led: %s", err.text);
    OK_F(dvm_keep_make(path, &err) == -EBUSY, "and not another one's: %s", err.text);
    k.nnodes = 1;
    EQ(dvm_keep_save(fd, &k), 0);
    close(fd);
    other = dvm_keep_take(path, &back, &a, got, &err);
    OK_F(other >= 0 && back.nnodes == 1, "then it can be taken over: %s", err.text);
    close(other);
    chmod(path, 0640);
    OK_F(dvm_keep_take(path, &back, &a, got, &err) == -EPERM, "not if others read it: %s",
         err.text);
    unlink(path);
    OK_F(dvm_keep_take(path, &back, &a, got, &err) == -ENOENT, "none: %s", err.text);
    arena_free(&a);
}

int main(void)
{
    test_text();
    test_file();
    return tap_done();
}
