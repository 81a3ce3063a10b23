/* memfd_test.c - the store's memory: it grows in place, for all processes that have mapped it, and
 * only its owner can write to it; nobody can shrink it.
 */
#include "io/memfd.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "store/store_read.h"
#include "tests/address_space.h"
#include "tests/tap.h"

static void test_growth(void)
{
    struct memfd s;
    struct seg_writer w;
    struct seg_view v;
    struct slice value;
    static char big[1 << 20];
    void *before, *seen;
    char key[16];
    unsigned n = 0;

    OK(memfd_open(&s) == 0 && s.region.size == 0);
    before = s.region.base;
    OK(seg_create(&w, &s.region, 7, 16) == 0);
    seen = mmap(NULL, 1 << 26, PROT_READ, MAP_SHARED, memfd_reader(&s), 0);
    OK(seen != MAP_FAILED && seg_open(seen, 1 << 26, &v) == 0);
    for (; n < 32; n++) {
        snprintf(key, sizeof key, "k%u", n);
        memset(big, (int)n, sizeof big);
        if (seg_put(&w, 0, slice_str(key), slice_mem(big, sizeof big), SEG_FLAT) != 0)
            break;
    }
    OK(n == 32 && s.region.base == before && s.region.size >= sizeof big * 32);
    OK_F(seg_get(&v, SEG_ANY_RANK, SLICE("k31"), &value) && value.len == sizeof big &&
             value.ptr[0] == 31,
         "a mapping from when it was small shows later bytes");
    munmap(seen, 1 << 26);
    memfd_close(&s);
    memfd_close(&s);
    OK(s.fd == -1 && s.reader_fd == -1 && !s.region.base);
}

static void test_protection(void)
{
    struct memfd s;
    struct seg_writer w;
    void *p;

    OK(memfd_open(&s) == 0 && seg_create(&w, &s.region, 7, 16) == 0);
    OK_F(s.reader_fd == -1 && memfd_reader(&s) == s.reader_fd && s.reader_fd >= 0 &&
             memfd_reader(&s) == s.reader_fd,
         "a reader when it is wanted, and one");
    OK_F(write(s.reader_fd, "x", 1) < 0, "the reader's descriptor does not write");
    p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, s.reader_fd, 0);
    OK_F(p == MAP_FAILED, "... nor does a mapping of it");
    p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, s.reader_fd, 0);
    OK(p != MAP_FAILED && mprotect(p, 4096, PROT_READ | PROT_WRITE) < 0);
    munmap(p, 4096);
    OK_F(ftruncate(s.reader_fd, 0) < 0 && ftruncate(s.fd, 0) < 0, "nobody makes it smaller");
    OK((fcntl(s.fd, F_GETFD) & FD_CLOEXEC) && (fcntl(s.reader_fd, F_GETFD) & FD_CLOEXEC));
    memfd_close(&s);
}

/* A limit on address space lowers the maximum; it is no error. */
static void test_little_space(void)
{
    struct rlimit old, few;
    struct memfd s;
    int rc;

    if (!address_space_can_be_little())
        return;
    getrlimit(RLIMIT_AS, &old);
    few = old;
    few.rlim_cur = (rlim_t)2 << 30;
    OK(setrlimit(RLIMIT_AS, &few) == 0);
    rc = memfd_open(&s);
    OK_F(rc == 0 && s.region.max < (UINT64_C(2) << 30) && s.region.max >= (1 << 24),
         "%llu MiB are left to grow", rc == 0 ? (unsigned long long)s.region.max >> 20 : 0);
    memfd_close(&s);
    few.rlim_cur = 1 << 20;
    setrlimit(RLIMIT_AS, &few);
    rc = memfd_open(&s);
    setrlimit(RLIMIT_AS, &old);
    OK_F(rc == -ENOMEM && s.fd == -1 && !s.region.base, "too little is told, and nothing is left");
}

/* It is private; it grows all the same. */
static void test_private(void)
{
    struct memfd s;
    struct seg_writer w;
    struct slice value;
    static char big[1 << 20];

    OK(memfd_open_private(&s) == 0 && s.fd == -1 && memfd_reader(&s) < 0);
    OK(seg_create(&w, &s.region, 7, 16) == 0);
    OK(seg_put(&w, 0, SLICE("key"), slice_mem(big, sizeof big), SEG_FLAT) == 0);
    OK(seg_get(&w.view, SEG_ANY_RANK, SLICE("key"), &value) && value.len == sizeof big);
    memfd_close(&s);
    memfd_close(&s);
    OK(!s.region.base);
}

int main(void)
{
    test_growth();
    test_protection();
    test_little_space();
    test_private();
    return tap_done();
}
