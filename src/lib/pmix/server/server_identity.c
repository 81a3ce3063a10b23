/* server_identity.c - see server_identity.h. */
#include "lib/pmix/server/server_identity.h"

#include <string.h>

#include "lib/pmix/server/server_conn.h"
#include "lib/pmix/server/server_space.h"
#include "wire/pmix_message.h"

static bool is_claim(const pmix_info_t *i)
{
    return PMIx_Check_key(i->key, PMIX_USERID) || PMIx_Check_key(i->key, PMIX_GRPID);
}

static void strip_claims(pmix_info_t *infos, size_t *n)
{
    size_t kept = 0;

    for (size_t i = 0; i < *n; i++) {
        if (is_claim(&infos[i])) {
            PMIx_Info_destruct(&infos[i]);
            memset(&infos[i], 0, sizeof infos[i]); /* (a monitor is read by its address only) */
            continue;
        }
        if (kept != i)
            infos[kept] = infos[i];
        kept++;
    }
    *n = kept;
}

static void strip_all_claims(struct ask *a)
{
    strip_claims(a->infos, &a->ninfos);
    strip_claims(a->directives, &a->ndirectives);
    for (size_t i = 0; i < a->napps; i++)
        strip_claims(a->apps[i].info, &a->apps[i].ninfo);
    for (size_t i = 0; i < a->nqueries; i++)
        strip_claims(a->queries[i].qualifiers, &a->queries[i].nqual);
}

static bool add_identity(pmix_info_t **list, size_t *n, const struct peer_cred *c)
{
    uint32_t uid = c->uid, gid = c->gid;

    return ask_add_info(list, n, PMIX_USERID, &uid, PMIX_UINT32) &&
           (!c->has_gid || ask_add_info(list, n, PMIX_GRPID, &gid, PMIX_UINT32));
}

/* A registered process has the group that the host registered it with. */
static struct peer_cred identity_of(const struct pserver *s, const struct peer *p)
{
    struct nspace *n = nspace_of(s, p->job);
    const struct local *l = n ? nspace_local(n, p->rank) : NULL;
    struct peer_cred *c = sconn_cred(p);

    if (n && !n->is_tool && l) {
        c->gid = l->gid;
        c->has_gid = true;
    } else if (!c->has_gid) {
        peer_cred_find_process(c, 0);
    }
    return *c;
}

bool identity_prove(struct ask *a, const struct peer *p)
{
    struct peer_cred c = identity_of(a->s, p);
    bool good = true;

    strip_all_claims(a);
    for (size_t i = 0; i < a->nqueries && good; i++)
        good = add_identity(&a->queries[i].qualifiers, &a->queries[i].nqual, &c);
    if (a->command == CMD_LOG || a->command == CMD_MONITOR)
        return add_identity(&a->directives, &a->ndirectives, &c);
    if (a->command == CMD_QUERY)
        return good;
    return good && add_identity(&a->infos, &a->ninfos, &c);
}
