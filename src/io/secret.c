/* secret.c - see secret.h. */
#include "io/secret.h"

#include <string.h>
#include <sys/mman.h>

void *secret_new(size_t n)
{
    void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED)
        return NULL;
    if (madvise(p, n, MADV_DONTDUMP) < 0) { /* no key at all is better than one in a core file */
        munmap(p, n);
        return NULL;
    }
    madvise(p, n, MADV_WIPEONFORK); /* these two as far as the kernel and the limits allow */
    mlock(p, n);
    return p;
}

void *secret_free(void *p, size_t n)
{
    if (p) {
        explicit_bzero(p, n);
        munmap(p, n);
    }
    return NULL;
}
