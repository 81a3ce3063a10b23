/* cluster_pmix.h - PMIx clients of the daemons of tests/cluster.h, as bytes. */
#ifndef WIREUP_TESTS_CLUSTER_PMIX_H
#define WIREUP_TESTS_CLUSTER_PMIX_H

#include "tests/cluster.h"
#include "tests/pmix_bytes.h"

static void pmix_write(struct cluster *c, uint32_t rank, const char *text)
{
    cluster_write(c, 0, rank, pmix_bytes(text));
}

/* The bytes received by the rank contain these. */
static bool pmix_receives(struct cluster *c, uint32_t rank, const char *word)
{
    struct peer *p = c->peers[0][rank];
    struct slice s = buf_slice(&p->out);
    bool found = s.len && (*word == '\0' || memmem(s.ptr, s.len, word, strlen(word)));

    server_wrote(&cluster_of(c, 0, rank)->server, p, s.len);
    return found;
}

/* As that release of OpenPMIx. */
static void pmix_handshake_as(struct cluster *c, uint32_t rank, const char *version)
{
    char text[300];

    snprintf(text, sizeof text,
             "ffffffff ffffffff 00000000 00000000 'native' 00000008 0000000000000000 00 'job0' "
             "%08x '%s' 'v41' 01 'hash' 00",
             rank, version);
    pmix_write(c, rank, text);
    pmix_receives(c, rank, "");
}

__attribute__((unused)) static void pmix_handshake(struct cluster *c, uint32_t rank)
{
    pmix_handshake_as(c, rank, "4.2.2rc2");
}

/* ---- what clients read ----------------------------------------------------------------------- */

/* A number of the encoding: seven bits a byte, the lowest first. */
__attribute__((unused)) static uint32_t pmix_number(struct slice *s)
{
    uint32_t value = 0;

    for (int shift = 0; s->len && shift < 32; shift += 7) {
        uint8_t byte = (uint8_t)*s->ptr;
        *s = slice_skip(*s, 1);
        value |= (uint32_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            break;
    }
    return value;
}

__attribute__((unused)) static int pmix_status(struct slice *s)
{
    uint32_t n;

    pmix_number(s); /* how many values */
    n = pmix_number(s);
    return n & 1 ? -(int)((n + 1) / 2) : (int)(n / 2);
}

/* The next message of the server: a header of 16 bytes, with the tag in the second four and the
 * length in the third, and the body.  False: there is none. */
__attribute__((unused)) static bool pmix_next(struct slice *s, uint32_t *tag, struct slice *body)
{
    const uint8_t *head = (const uint8_t *)s->ptr;
    size_t len;

    if (s->len < 16)
        return false;
    *tag = (uint32_t)head[4] << 24 | (uint32_t)head[5] << 16 | (uint32_t)head[6] << 8 | head[7];
    len = (size_t)head[8] << 24 | (size_t)head[9] << 16 | (size_t)head[10] << 8 | head[11];
    *body = slice_head(slice_skip(*s, 16), len);
    *s = slice_skip(*s, 16 + len);
    return true;
}

/* A process, by its job and rank. */
typedef void pmix_member_fn(void *arg, struct slice nspace, uint32_t rank);

/* The members that the answer to the construction of a group names, behind the status. */
__attribute__((unused)) static void pmix_members(struct slice s, pmix_member_fn *fn, void *arg)
{
    uint32_t count;

    pmix_number(&s);
    count = pmix_number(&s);
    pmix_number(&s);
    for (; count && s.len; count--) {
        uint32_t len = pmix_number(&s) / 2;
        struct slice nspace = slice_head(s, len ? len - 1 : 0);
        s = slice_skip(s, len);
        fn(arg, nspace, pmix_number(&s));
    }
}

#endif
