/* secret.c - see secret.h. */
#include "io/secret.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { SLOT = 256, SLOTS = 16 };

/* Keys are small, and a page for each would take five system calls and a page of the memory that a
 * user may lock. */
struct key_page {
    struct key_page *next;
    unsigned char *slots;
    uint32_t used; /* a bit for each */
};

static struct key_page *pages; /* that have a key */

static void *map_hidden(size_t n)
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

static bool is_full(const struct key_page *p)
{
    return p->used == (1U << SLOTS) - 1;
}

static struct key_page *add_page(void)
{
    struct key_page *p = calloc(1, sizeof *p);

    if (!p)
        return NULL;
    p->slots = map_hidden((size_t)SLOTS * SLOT);
    if (!p->slots) {
        free(p);
        return NULL;
    }
    p->next = pages;
    pages = p;
    return p;
}

void secret_prepare(void)
{
    if (!pages)
        add_page(); /* fails: the first key is told */
}

void *secret_new(size_t n)
{
    struct key_page *p = pages;
    unsigned slot = 0;

    if (n > SLOT)
        return map_hidden(n);
    while (p && is_full(p))
        p = p->next;
    if (!p)
        p = add_page();
    if (!p)
        return NULL;
    while (p->used & 1U << slot)
        slot++;
    p->used |= 1U << slot;
    return p->slots + (size_t)slot * SLOT;
}

static bool has(const struct key_page *p, const unsigned char *secret)
{
    return secret >= p->slots && secret < p->slots + (size_t)SLOTS * SLOT;
}

static void leave_slot(const unsigned char *secret)
{
    struct key_page **at = &pages, *p;

    while (!has(*at, secret))
        at = &(*at)->next;
    p = *at;
    p->used &= ~(1U << (size_t)(secret - p->slots) / SLOT);
    if (p->used)
        return;
    *at = p->next;
    munmap(p->slots, (size_t)SLOTS * SLOT);
    free(p);
}

void *secret_free(void *p, size_t n)
{
    if (!p)
        return NULL;
    explicit_bzero(p, n);
    if (n > SLOT)
        munmap(p, n);
    else
        leave_slot(p);
    return NULL;
}
