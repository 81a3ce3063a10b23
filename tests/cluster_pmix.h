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

#endif
