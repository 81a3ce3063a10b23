/* server_env.c - the environment that a process needs to find its server, for every release of
 * the library. */
#include "lib/pmix/server/server_env.h"

#include <stdlib.h>
#include <string.h>

#include "lib/pmix/server/server_envars.h"
#include "lib/pmix/server/server_space.h"

/* Every release of OpenPMIx has its own variable for the same address. */
static const char *const uri_names[] = { "PMIX_SERVER_URI61", "PMIX_SERVER_URI51",
                                         "PMIX_SERVER_URI41", "PMIX_SERVER_URI4",
                                         "PMIX_SERVER_URI3",  "PMIX_SERVER_URI2",
                                         "PMIX_SERVER_URI21" };

/* A server that was itself started by a server has these. */
static const char *const inherited[] = { "WIREUP_FD", "PMIX_DSTORE_21_BASE_PATH",
                                         "PMIX_DSTORE_ESH_BASE_PATH" };

struct filler {
    char ***env;
    pmix_status_t rc;
};

static void set(struct filler *f, const char *name, const char *value)
{
    if (f->rc == PMIX_SUCCESS)
        f->rc = PMIx_Setenv(name, value, true, f->env);
}

/* The node's name in the job, under which clients find its job info. */
static const char *hostname_of(struct pserver *s, const pmix_proc_t *proc)
{
    struct nspace *n = nspace_find(s, proc->nspace);
    struct job *j = n ? nspace_job(s, n) : NULL;
    const char *name =
        j && proc->rank < j->plan.nprocs ? j->plan.nodes[j->plan.procs[proc->rank].node].name : "";

    return *name ? name : s->hostname;
}

pmix_status_t senv_fill(struct pserver *s, const pmix_proc_t *proc, char ***env)
{
    struct filler f = { env, PMIX_SUCCESS };
    struct nspace *n = nspace_find(s, proc->nspace);
    char rank[16];

    if (n)
        f.rc = envars_apply(&n->setup, env);
    snprintf(rank, sizeof rank, "%u", proc->rank);
    for (size_t i = 0; i < sizeof uri_names / sizeof *uri_names; i++)
        set(&f, uri_names[i], s->uri);
    set(&f, "PMIX_NAMESPACE", proc->nspace);
    set(&f, "PMIX_RANK", rank);
    set(&f, "PMIX_SECURITY_MODE", "native");
    set(&f, "PMIX_GDS_MODULE", "hash");
    set(&f, "PMIX_BFROP_BUFFER_TYPE", "PMIX_BFROP_BUFFER_NON_DESC");
    set(&f, "PMIX_HOSTNAME", hostname_of(s, proc));
    set(&f, "PMIX_VERSION", "5.0.3");
    set(&f, "PMIX_SERVER_TMPDIR", s->tmpdir);
    set(&f, "PMIX_SYSTEM_TMPDIR", s->system_tmpdir);
    for (size_t i = 0; i < sizeof inherited / sizeof *inherited; i++)
        envars_unset(*env, inherited[i]);
    return f.rc;
}
