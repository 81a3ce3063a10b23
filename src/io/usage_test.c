/* usage_test.c - what this process and this machine use. */
#include "io/usage.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/tap.h"

static void test_proc(void)
{
    size_t size = 32 << 20;
    struct proc_usage before, after;
    char *block;

    EQ(usage_of_proc((int)getpid(), &before), 0);
    OK_F(before.vsize >= before.rss && before.rss >= before.unshared && before.unshared > 0,
         "its memory: %llu", (unsigned long long)before.unshared);
    OK(before.peak_vsize >= before.vsize && before.threads == 1 && before.state[0] == 'R');
    OK(before.time_s > 1000000000);
    block = malloc(size);
    memset(block, 1, size);
    EQ(usage_of_proc((int)getpid(), &after), 0);
    OK_F(block[size - 1] == 1 && after.unshared >= before.unshared + size / 2,
         "memory that it uses is seen");
    OK(after.cpu_us >= before.cpu_us);
    free(block);
    OK(usage_of_proc(1 << 30, &after) < 0);
}

static void test_node(void)
{
    struct node_usage u;

    EQ(usage_of_node(&u), 0);
    OK(u.mem_total > u.mem_free && u.mem_free > 0 && u.swap_total >= u.swap_free);
    OK(u.daemon > 0 && u.load_1 >= 0);
}

static void count(void *arg, const struct storage_usage *u)
{
    unsigned *wrong = arg;

    *wrong +=
        *u->path != '/' || (u->is_measured && u->used > u->capacity) || !strcmp(u->type, "proc");
}

static void test_storages(void)
{
    unsigned wrong = 0;

    EQ(usage_of_storages(count, &wrong), 0);
    EQ(wrong, 0);
}

static void check_version(void *arg, const struct storage_usage *u)
{
    unsigned *n = arg;

    *n += !strcmp(u->path, "/nfs")     ? !strcmp(u->version, "4.2")
          : !strcmp(u->path, "/9p")    ? !strcmp(u->version, "9p2000.L")
          : !strcmp(u->path, "/plain") ? !*u->version
                                       : 100;
}

static void test_versions(void)
{
    static const char mounts[] = "a:/x /nfs nfs4 rw,vers=4.2,minorversion=7,hard 0 0\n"
                                 "b /9p 9p rw,version=9p2000.L,cache=loose 0 0\n"
                                 "c /plain nfs rw,nfsvers=3,vers=,version=0123456789abcdef 0 0\n";
    char path[] = "/tmp/usage-test-XXXXXX";
    int fd = mkstemp(path);
    unsigned n = 0;

    OK(write(fd, mounts, sizeof mounts - 1) == sizeof mounts - 1);
    EQ(usage_of_mounts(path, check_version, &n), 0);
    OK_F(n == 3, "versions of file systems of other machines");
    close(fd);
    unlink(path);
}

int main(void)
{
    test_proc();
    test_node();
    test_storages();
    test_versions();
    return tap_done();
}
