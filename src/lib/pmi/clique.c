/* clique.c - see clique.h. */
#include "lib/pmi/clique.h"

#include <errno.h>
#include <stdlib.h>

#include "core/procmap.h"
#include "lib/pmi/kvs.h"

struct reading {
    uint32_t size;
    uint32_t *node_of;
};

static int read_mapping(void *arg, struct slice value, struct errmsg *err)
{
    struct reading *r = arg;
    int rc = procmap_read(value, r->size, r->node_of, err);

    return rc > 0 ? CLIENT_BAD_VALUE : rc;
}

/* False: unknown. */
static int nodes_of_all(struct pmi1_client *c, uint32_t *node_of, bool *known_p, struct errmsg *err)
{
    struct reading r = { c->size, node_of };
    struct slice name;
    int rc = client_kvsname(c, &name, err);

    *known_p = false;
    if (rc != CLIENT_OK)
        return rc;
    rc = kvs_get(c, c->kvsname, "PMI_process_mapping", read_mapping, &r, err);
    if (rc != CLIENT_OK && rc != CLIENT_BAD_KEY && rc != CLIENT_BAD_VALUE)
        return rc;
    *known_p = rc == CLIENT_OK;
    return CLIENT_OK;
}

static void collect(const struct pmi1_client *c, const uint32_t *node_of, bool known, int *ranks,
                    uint32_t *count_p)
{
    *count_p = 0;
    for (uint32_t r = 0; r < c->size; r++) {
        if (r == c->rank || (known && node_of[r] == node_of[c->rank]))
            ranks[(*count_p)++] = (int)r;
    }
}

int clique_ranks(struct pmi1_client *c, int **ranks_p, uint32_t *count_p, struct errmsg *err)
{
    uint32_t *node_of = calloc(c->size, sizeof *node_of);
    int *ranks = calloc(c->size, sizeof *ranks);
    bool known = false;
    int rc;

    if (!node_of || !ranks)
        rc = errmsg_set(err, -ENOMEM, "out of memory");
    else
        rc = c->size == 1 ? CLIENT_OK : nodes_of_all(c, node_of, &known, err);
    if (rc == CLIENT_OK) {
        collect(c, node_of, known, ranks, count_p);
        *ranks_p = ranks;
        ranks = NULL;
    }
    free(ranks);
    free(node_of);
    return rc;
}
