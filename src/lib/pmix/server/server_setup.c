/* server_setup.c - the public functions by which a host prepares an application's environment on
 * its nodes (server_envars.h), and what its processes are told besides.  Reading order: variables
 * of programming models; setting up an application; setting up a node. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/pmix/client/client_api.h"
#include "lib/pmix/server/server_ask.h"
#include "lib/pmix/server/server_envars.h"
#include "lib/pmix/server/server_fabric_key.h"
#include "lib/pmix/server/server_infos.h"
#include "lib/pmix/server/server_instance.h"
#include "lib/pmix/server/server_space.h"
#include "lib/pmix/server/server_turn.h"

extern char **environ;

/* ---- variables of programming models --------------------------------------------------------- */

/* Parts of the names by which hosts call a model or its library, and the variables that it reads.
 */
static const struct model_family {
    const char *names[4], *variables[4];
} families[] = {
    { { "" }, { "PMIX_MCA_" } },
    { { "ompi", "openmpi", "open mpi" }, { "OMPI_", "OPAL_" } },
    { { "mpich" }, { "MPIR_CVAR_", "MPICH_" } },
    { { "oshmem", "openshmem" }, { "SHMEM_", "SMA_" } },
};

/* Of the process that the host itself is: another launcher has set these. */
static const char *const of_a_process[] = { "OMPI_COMM_WORLD_",
                                            "OMPI_UNIVERSE_SIZE",
                                            "OMPI_APP_CTX_NUM_PROCS",
                                            "OMPI_FIRST_RANKS",
                                            "OMPI_NUM_APP_CTX",
                                            "OMPI_COMMAND",
                                            "OMPI_ARGV",
                                            "OMPI_FILE_LOCATION",
                                            "OMPI_MCA_orte_ess_",
                                            "OMPI_MCA_orte_hnp_uri",
                                            "OMPI_MCA_orte_local_daemon_uri" };

static bool begins_with_one(const char *text, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n && list[i]; i++) {
        if (!strncmp(text, list[i], strlen(list[i])))
            return true;
    }
    return false;
}

static bool is_called(const struct model_family *f, const char *name)
{
    for (size_t i = 0; f->names[i]; i++) {
        if (strcasestr(name, f->names[i]))
            return true;
    }
    return false;
}

static bool names_a_model(const pmix_info_t *i)
{
    return info_key_is(i, PMIX_PROGRAMMING_MODEL) || info_key_is(i, PMIX_PERSONALITY) ||
           info_key_is(i, PMIX_MODEL_LIBRARY_NAME);
}

static bool is_wanted(const struct model_family *f, const pmix_info_t *infos, size_t n)
{
    if (!*f->names[0])
        return true;
    for (size_t i = 0; i < n; i++) {
        if (names_a_model(&infos[i]) && info_text(&infos[i]) && is_called(f, info_text(&infos[i])))
            return true;
    }
    return false;
}

static bool is_true(const pmix_info_t *infos, size_t n, const char *key)
{
    const pmix_info_t *i = info_group_find((struct info_group){ infos, n }, key);

    return i && PMIx_Value_true(&i->value) != PMIX_BOOL_FALSE;
}

/* ---- setting up an application --------------------------------------------------------------- */

/* The host gives it back when it has carried the infos away. */
struct setup_call {
    struct scall call;
    pmix_setup_application_cbfunc_t cbfunc;
    void *cbdata;
    pmix_info_t *infos;
    size_t n;
};

static void free_setup(pmix_status_t status, void *cbdata)
{
    struct setup_call *k = cbdata;

    (void)status;
    for (size_t i = 0; i < k->n; i++)
        PMIx_Info_destruct(&k->infos[i]);
    free(k->infos);
    free(k);
}

static void run_setup(struct scall *c)
{
    struct setup_call *k = LIST_OF(c, struct setup_call, call);

    k->cbfunc(PMIX_SUCCESS, k->infos, k->n, k->cbdata, free_setup, k);
}

static bool add_variable(struct setup_call *k, const char *text)
{
    const char *equals = strchr(text, '=');
    char *name = equals ? strndup(text, (size_t)(equals - text)) : NULL;
    pmix_envar_t v = { .envar = name,
                       .value = name ? (char *)(uintptr_t)(equals + 1) : NULL,
                       .separator = ':' };
    bool good = name && ask_add_info(&k->infos, &k->n, PMIX_SET_ENVAR, &v, PMIX_ENVAR);

    free(name);
    return good;
}

static bool harvest(struct setup_call *k, const struct model_family *f)
{
    bool good = true;

    for (char **v = environ; good && v && *v; v++) {
        if (begins_with_one(*v, f->variables, sizeof f->variables / sizeof *f->variables) &&
            !begins_with_one(*v, of_a_process, sizeof of_a_process / sizeof *of_a_process))
            good = add_variable(k, *v);
    }
    return good;
}

static bool wants_variables(const pmix_info_t *infos, size_t n)
{
    return (is_true(infos, n, PMIX_SETUP_APP_ENVARS) || is_true(infos, n, PMIX_SETUP_APP_ALL)) &&
           !is_true(infos, n, PMIX_ENVARS_HARVESTED);
}

/* Where processes run; nodes that are told of it know the job before the host registers it. */
static bool is_map(const pmix_info_t *i)
{
    return info_key_is(i, PMIX_NODE_MAP) || info_key_is(i, PMIX_PROC_MAP);
}

static bool add_copy(struct setup_call *k, const pmix_info_t *i)
{
    pmix_info_t *more = realloc(k->infos, (k->n + 1) * sizeof *more);

    if (!more)
        return false;
    k->infos = more;
    memset(&more[k->n], 0, sizeof *more);
    if (PMIx_Info_xfer(&more[k->n], i) != PMIX_SUCCESS)
        return false;
    k->n++;
    return true;
}

/* The host's own changes come last, so that they hold. */
static pmix_status_t collect(struct setup_call *k, const pmix_info_t *infos, size_t n)
{
    for (size_t i = 0; wants_variables(infos, n) && i < sizeof families / sizeof *families; i++) {
        if (is_wanted(&families[i], infos, n) && !harvest(k, &families[i]))
            return PMIX_ERR_NOMEM;
    }
    for (size_t i = 0; i < n; i++) {
        if ((is_map(&infos[i]) || envars_is_change(&infos[i])) && !add_copy(k, &infos[i]))
            return PMIX_ERR_NOMEM;
    }
    return fabric_key_answer(infos, n, wants_variables(infos, n), &k->infos, &k->n);
}

static pmix_status_t set_up(struct pserver *s, const struct setup_call *what,
                            const pmix_info_t *infos, size_t n)
{
    struct setup_call *k = malloc(sizeof *k);
    pmix_status_t rc;

    if (!k)
        return PMIX_ERR_NOMEM;
    *k = *what;
    rc = collect(k, infos, n);
    if (rc == PMIX_SUCCESS)
        pserver_add_call(s, &k->call);
    else
        free_setup(rc, k);
    return rc;
}

pmix_status_t PMIx_server_setup_application(const pmix_nspace_t nspace, pmix_info_t info[],
                                            size_t ninfo, pmix_setup_application_cbfunc_t cbfunc,
                                            void *cbdata)
{
    struct setup_call what = { .call.run = run_setup, .cbfunc = cbfunc, .cbdata = cbdata };
    struct pserver *s = instance_enter();
    pmix_status_t rc;

    if (!s)
        return PMIX_ERR_INIT;
    if (!nspace || !nspace[0] || !cbfunc || (!info && ninfo))
        rc = PMIX_ERR_BAD_PARAM;
    else
        rc = api_check(PMIX_CALL_SETUP_APPLICATION, info, ninfo);
    if (rc == PMIX_SUCCESS)
        rc = fabric_key_check(info, ninfo);
    if (rc == PMIX_SUCCESS)
        rc = set_up(s, &what, info, ninfo);
    pserver_unlock(s);
    return rc;
}

/* ---- setting up a node ----------------------------------------------------------------------- */

static pmix_status_t give_info(struct nspace *n, const pmix_info_t *info)
{
    pmix_info_t named;

    if (is_map(info))
        return n->is_registered ? PMIX_SUCCESS : nspace_add_info(n, info);
    return fabric_key_read(info, &named) ? nspace_add_info(n, &named) : PMIX_SUCCESS;
}

static pmix_status_t set_up_node(struct nspace *n, const pmix_info_t *infos, size_t ninfos)
{
    pmix_status_t rc = envars_keep(&n->setup, infos, ninfos);

    for (size_t i = 0; i < ninfos && rc == PMIX_SUCCESS; i++)
        rc = give_info(n, &infos[i]);
    return rc;
}

pmix_status_t PMIx_server_setup_local_support(const pmix_nspace_t nspace, pmix_info_t info[],
                                              size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    struct pserver *s = instance_enter();
    struct nspace *n;
    pmix_status_t rc;

    if (!s)
        return PMIX_ERR_INIT;
    if (!nspace || !nspace[0] || (!info && ninfo))
        rc = PMIX_ERR_BAD_PARAM;
    else
        rc = api_check(PMIX_CALL_SETUP_LOCAL_SUPPORT, info, ninfo);
    if (rc == PMIX_SUCCESS) {
        n = nspace_make(s, nspace);
        rc = n ? set_up_node(n, info, ninfo) : PMIX_ERR_NOMEM;
    }
    return instance_leave(s, rc, cbfunc, cbdata);
}
