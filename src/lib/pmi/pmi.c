/* pmi.c - the functions of pmi.h: checks arguments, finds and locks the client, translates result
 * codes to PMI's.  The work is done by the modules beside this one; pmi.h has the contracts.
 *
 * The only static data of the library is here. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#pragma GCC visibility push(default)
#include "pmi.h"
#pragma GCC visibility pop

#include "base/limit.h"
#include "lib/common/library.h"
#include "lib/pmi/client.h"
#include "lib/pmi/clique.h"
#include "lib/pmi/kvs.h"
#include "lib/pmi/kvs_service.h"
#include "lib/pmi/options.h"
#include "lib/pmi/services.h"
#include "lib/pmi/space.h"

static struct library lib = LIBRARY_INIT("libpmi");

/* ---- codes and error texts ------------------------------------------------------------------- */

static int to_pmi(int rc)
{
    static const int table[CLIENT_CODES] = {
        [CLIENT_OK] = PMI_SUCCESS,
        [CLIENT_FAILED] = PMI_FAIL,
        [CLIENT_BAD_ARG] = PMI_ERR_INVALID_ARG,
        [CLIENT_BAD_SPACE] = PMI_ERR_INVALID_KVS,
        [CLIENT_BAD_KEY] = PMI_ERR_INVALID_KEY,
        [CLIENT_LONG_KEY] = PMI_ERR_INVALID_KEY_LENGTH,
        [CLIENT_BAD_VALUE] = PMI_ERR_INVALID_VAL,
        [CLIENT_LONG_VALUE] = PMI_ERR_INVALID_VAL_LENGTH,
        [CLIENT_SHORT_ROOM] = PMI_ERR_INVALID_LENGTH,
    };

    if (rc == -ENOMEM)
        return PMI_ERR_NOMEM;
    return rc < 0 || rc >= CLIENT_CODES ? PMI_FAIL : table[rc];
}

static int refuse(const char *function, int code, const char *why)
{
    return library_refuse(&lib, function, code, why);
}

static int no_pointer(const char *function, const char *argument)
{
    char why[64];

    snprintf(why, sizeof why, "%s is NULL", argument);
    return refuse(function, PMI_ERR_INVALID_ARG, why);
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* One call of a function that needs the client; between begin and end the lock is held. */
struct call {
    const char *function;
    struct pmi1_client *c;
    struct errmsg err;
};

static int begin(struct call *k, const char *function)
{
    k->function = function;
    if (!library_enter(&lib, &k->err))
        return refuse(function, PMI_ERR_INIT, k->err.text);
    k->c = lib.member;
    return PMI_SUCCESS;
}

static int end(struct call *k, int rc)
{
    library_leave(&lib);
    return rc == CLIENT_OK ? PMI_SUCCESS : refuse(k->function, to_pmi(rc), k->err.text);
}

/* ---- initialization -------------------------------------------------------------------------- */

static void after_fork(void)
{
    library_forked(&lib);
}

static int start(struct pmi1_client **c_p, struct errmsg *err)
{
    struct client_env env;
    bool refused;
    int rc;

    lib.unmanaged = kvs_service_path(&refused) || refused;
    rc = library_prepare(&lib, &env, after_fork, err);
    if (rc > 0)
        return CLIENT_FAILED;
    return rc == 0 ? client_start(&env, &lib.gate, c_p, err) : rc;
}

int PMI_Init(int *spawned)
{
    struct pmi1_client *c;
    struct errmsg err;
    int rc = CLIENT_OK;

    if (!spawned)
        return no_pointer("PMI_Init", "spawned");
    switch (library_begin(&lib, &err)) {
    case LIBRARY_READY: c = lib.member; break;
    case LIBRARY_ABSENT:
        c = NULL;
        rc = start(&c, &err);
        break;
    default:
        c = lib.member;
        rc = CLIENT_FAILED;
        break;
    }
    if (rc == CLIENT_OK)
        *spawned = c->spawned;
    library_begun(&lib, c);
    return rc == CLIENT_OK ? PMI_SUCCESS : refuse("PMI_Init", to_pmi(rc), err.text);
}

int PMI_Initialized(PMI_BOOL *initialized)
{
    if (!initialized)
        return no_pointer("PMI_Initialized", "initialized");
    *initialized = library_is_there(&lib);
    return PMI_SUCCESS;
}

int PMI_Finalize(void)
{
    struct pmi1_client *c = library_end(&lib);
    struct errmsg err;
    int rc = c ? client_stop(c, &err) : CLIENT_OK;

    library_ended(&lib);
    return rc == CLIENT_OK ? PMI_SUCCESS : refuse("PMI_Finalize", to_pmi(rc), err.text);
}

int PMI_Abort(int exit_code, const char error_msg[])
{
    struct errmsg err;
    struct pmi1_client *c = library_enter(&lib, &err) ? lib.member : NULL;

    /* Wireup's server prints the message once, with its sender.  Others kill us before we could. */
    if ((!c || c->kind != CLIENT_OURS) && error_msg && *error_msg)
        library_print(error_msg);
    if (c) {
        client_abort(c, exit_code, error_msg);
        library_leave(&lib);
    }
    exit(exit_code);
}

/* ---- process group --------------------------------------------------------------------------- */

/* Attributes that the client has from the start. */
static int get_fact(const char *function, const char *argument, int *value_p,
                    int (*fact)(const struct pmi1_client *))
{
    struct call k;
    int rc;

    if (!value_p)
        return no_pointer(function, argument);
    rc = begin(&k, function);
    if (rc != PMI_SUCCESS)
        return rc;
    *value_p = fact(k.c);
    return end(&k, CLIENT_OK);
}

static int fact_size(const struct pmi1_client *c)
{
    return (int)c->size;
}

static int fact_rank(const struct pmi1_client *c)
{
    return (int)c->rank;
}

static int fact_name_max(const struct pmi1_client *c)
{
    return (int)c->name_max;
}

static int fact_key_max(const struct pmi1_client *c)
{
    return (int)c->key_max;
}

static int fact_value_max(const struct pmi1_client *c)
{
    return (int)c->value_max;
}

int PMI_Get_size(int *size)
{
    return get_fact("PMI_Get_size", "size", size, fact_size);
}

int PMI_Get_rank(int *rank)
{
    return get_fact("PMI_Get_rank", "rank", rank, fact_rank);
}

/* Attributes that a server may have to be asked for. */
static int ask_fact(const char *function, const char *argument, int *value_p,
                    int (*fact)(struct pmi1_client *, int *, struct errmsg *))
{
    struct call k;
    int rc;

    if (!value_p)
        return no_pointer(function, argument);
    rc = begin(&k, function);
    return rc == PMI_SUCCESS ? end(&k, fact(k.c, value_p, &k.err)) : rc;
}

int PMI_Get_universe_size(int *size)
{
    return ask_fact("PMI_Get_universe_size", "size", size, client_universe);
}

int PMI_Get_appnum(int *appnum)
{
    return ask_fact("PMI_Get_appnum", "appnum", appnum, client_appnum);
}

static int clique_size(struct pmi1_client *c, int *size_p, struct errmsg *err)
{
    uint32_t count;
    int *ranks;
    int rc = clique_ranks(c, &ranks, &count, err);

    if (rc == CLIENT_OK) {
        *size_p = (int)count;
        free(ranks);
    }
    return rc;
}

int PMI_Get_clique_size(int *size)
{
    return ask_fact("PMI_Get_clique_size", "size", size, clique_size);
}

int PMI_Get_clique_ranks(int ranks[], int length)
{
    struct call k;
    uint32_t count;
    int *all, rc;

    if (!ranks)
        return no_pointer("PMI_Get_clique_ranks", "ranks");
    rc = begin(&k, "PMI_Get_clique_ranks");
    if (rc != PMI_SUCCESS)
        return rc;
    rc = clique_ranks(k.c, &all, &count, &k.err);
    if (rc != CLIENT_OK)
        return end(&k, rc);
    if (length < 0 || (uint32_t)length < count)
        rc = errmsg_set(&k.err, CLIENT_SHORT_ROOM, "there is room for %d ranks; the clique has %u",
                        length, count);
    else
        memcpy(ranks, all, count * sizeof *ranks);
    free(all);
    return end(&k, rc);
}

/* ---- key-value space ------------------------------------------------------------------------- */

static int copy_text(char *to, int room, struct slice text, const char *what, struct errmsg *err)
{
    if (room < 0 || text.len >= (size_t)room)
        return errmsg_set(err, CLIENT_SHORT_ROOM, "the %s needs %zu bytes; there is room for %d",
                          what, text.len + 1, room);
    if (text.len)
        memcpy(to, text.ptr, text.len);
    to[text.len] = '\0';
    return CLIENT_OK;
}

static int get_name(const char *function, char *name, int length)
{
    struct slice text;
    struct call k;
    int rc;

    if (!name)
        return no_pointer(function, "the buffer for the name");
    rc = begin(&k, function);
    if (rc != PMI_SUCCESS)
        return rc;
    rc = client_kvsname(k.c, &text, &k.err);
    if (rc == CLIENT_OK)
        rc = copy_text(name, length, text, "name", &k.err);
    return end(&k, rc);
}

int PMI_KVS_Get_my_name(char kvsname[], int length)
{
    return get_name("PMI_KVS_Get_my_name", kvsname, length);
}

int PMI_Get_id(char id_str[], int length)
{
    return get_name("PMI_Get_id", id_str, length);
}

int PMI_Get_kvs_domain_id(char id_str[], int length)
{
    return get_name("PMI_Get_kvs_domain_id", id_str, length);
}

int PMI_KVS_Get_name_length_max(int *length)
{
    return get_fact("PMI_KVS_Get_name_length_max", "length", length, fact_name_max);
}

int PMI_Get_id_length_max(int *length)
{
    return get_fact("PMI_Get_id_length_max", "length", length, fact_name_max);
}

int PMI_KVS_Get_key_length_max(int *length)
{
    return get_fact("PMI_KVS_Get_key_length_max", "length", length, fact_key_max);
}

int PMI_KVS_Get_value_length_max(int *length)
{
    return get_fact("PMI_KVS_Get_value_length_max", "length", length, fact_value_max);
}

int PMI_KVS_Put(const char kvsname[], const char key[], const char value[])
{
    static const char me[] = "PMI_KVS_Put";
    struct call k;
    int rc;

    if (!kvsname)
        return refuse(me, PMI_ERR_INVALID_KVS, "kvsname is NULL");
    if (!key)
        return refuse(me, PMI_ERR_INVALID_KEY, "key is NULL");
    if (!value)
        return refuse(me, PMI_ERR_INVALID_VAL, "value is NULL");
    rc = begin(&k, me);
    return rc == PMI_SUCCESS ? end(&k, kvs_put(k.c, kvsname, key, value, &k.err)) : rc;
}

int PMI_KVS_Commit(const char kvsname[])
{
    struct call k;
    int rc;

    if (!kvsname)
        return no_pointer("PMI_KVS_Commit", "kvsname");
    rc = begin(&k, "PMI_KVS_Commit");
    return rc == PMI_SUCCESS ? end(&k, kvs_commit(k.c, kvsname, &k.err)) : rc;
}

struct room {
    char *text;
    int length;
};

static int use_value(void *arg, struct slice value, struct errmsg *err)
{
    const struct room *r = arg;

    if (slice_find(value, '\0') < value.len)
        return errmsg_set(err, CLIENT_BAD_VALUE, "the value contains a NUL and is not a string");
    return copy_text(r->text, r->length, value, "value", err);
}

int PMI_KVS_Get(const char kvsname[], const char key[], char value[], int length)
{
    static const char me[] = "PMI_KVS_Get";
    struct room r = { value, length };
    struct call k;
    int rc;

    if (!kvsname)
        return refuse(me, PMI_ERR_INVALID_KVS, "kvsname is NULL");
    if (!key)
        return refuse(me, PMI_ERR_INVALID_KEY, "key is NULL");
    if (!value)
        return refuse(me, PMI_ERR_INVALID_VAL, "value is NULL");
    rc = begin(&k, me);
    return rc == PMI_SUCCESS ? end(&k, kvs_get(k.c, kvsname, key, use_value, &r, &k.err)) : rc;
}

int PMI_KVS_Create(char kvsname[], int length)
{
    struct call k;
    int rc;

    if (!kvsname)
        return no_pointer("PMI_KVS_Create", "kvsname");
    rc = begin(&k, "PMI_KVS_Create");
    if (rc != PMI_SUCCESS)
        return rc;
    return end(&k, space_create(k.c, kvsname, length > 0 ? (size_t)length : 0, &k.err));
}

int PMI_KVS_Destroy(const char kvsname[])
{
    struct call k;
    int rc;

    if (!kvsname)
        return no_pointer("PMI_KVS_Destroy", "kvsname");
    rc = begin(&k, "PMI_KVS_Destroy");
    return rc == PMI_SUCCESS ? end(&k, space_destroy(k.c, kvsname, &k.err)) : rc;
}

static int iterate(const char *function, const char *kvsname, const struct space_pair *pair,
                   int (*step)(struct pmi1_client *, const char *, const struct space_pair *,
                               struct errmsg *))
{
    struct call k;
    int rc;

    if (!kvsname)
        return refuse(function, PMI_ERR_INVALID_KVS, "kvsname is NULL");
    if (!pair->key)
        return refuse(function, PMI_ERR_INVALID_KEY, "key is NULL");
    if (!pair->value)
        return refuse(function, PMI_ERR_INVALID_VAL, "val is NULL");
    if (pair->key_room == 0)
        return refuse(function, PMI_ERR_INVALID_KEY_LENGTH, "key_len is not positive");
    if (pair->value_room == 0)
        return refuse(function, PMI_ERR_INVALID_VAL_LENGTH, "val_len is not positive");
    rc = begin(&k, function);
    return rc == PMI_SUCCESS ? end(&k, step(k.c, kvsname, pair, &k.err)) : rc;
}

static struct space_pair make_pair(char *key, int key_len, char *val, int val_len)
{
    return (struct space_pair){ key, val, key_len > 0 ? (size_t)key_len : 0,
                                val_len > 0 ? (size_t)val_len : 0 };
}

int PMI_KVS_Iter_first(const char kvsname[], char key[], int key_len, char val[], int val_len)
{
    struct space_pair pair = make_pair(key, key_len, val, val_len);

    return iterate("PMI_KVS_Iter_first", kvsname, &pair, space_first);
}

int PMI_KVS_Iter_next(const char kvsname[], char key[], int key_len, char val[], int val_len)
{
    struct space_pair pair = make_pair(key, key_len, val, val_len);

    return iterate("PMI_KVS_Iter_next", kvsname, &pair, space_next);
}

int PMI_Barrier(void)
{
    struct call k;
    int rc = begin(&k, "PMI_Barrier");

    return rc == PMI_SUCCESS ? end(&k, kvs_barrier(k.c, SLICE_NULL, &k.err)) : rc;
}

int PMI_Barrier_group(const int *group, int count, const char *tag)
{
    enum kvs_group kind = group == PMI_GROUP_WORLD  ? KVS_WORLD
                          : group == PMI_GROUP_SELF ? KVS_SELF
                          : group == PMI_GROUP_NODE ? KVS_NODE
                                                    : KVS_LIST;
    struct call k;
    int rc = begin(&k, "PMI_Barrier_group");

    if (rc != PMI_SUCCESS)
        return rc;
    return end(&k, kvs_barrier_group(k.c, kind, group, count, tag, &k.err));
}

/* ---- names and processes --------------------------------------------------------------------- */

int PMI_Publish_name(const char service_name[], const char port[])
{
    struct call k;
    int rc;

    if (!service_name || !port)
        return no_pointer("PMI_Publish_name", service_name ? "port" : "service_name");
    rc = begin(&k, "PMI_Publish_name");
    return rc == PMI_SUCCESS ? end(&k, services_publish(k.c, service_name, port, &k.err)) : rc;
}

int PMI_Unpublish_name(const char service_name[])
{
    struct call k;
    int rc;

    if (!service_name)
        return no_pointer("PMI_Unpublish_name", "service_name");
    rc = begin(&k, "PMI_Unpublish_name");
    return rc == PMI_SUCCESS ? end(&k, services_unpublish(k.c, service_name, &k.err)) : rc;
}

int PMI_Lookup_name(const char service_name[], char port[])
{
    struct call k;
    int rc;

    if (!service_name || !port)
        return no_pointer("PMI_Lookup_name", service_name ? "port" : "service_name");
    rc = begin(&k, "PMI_Lookup_name");
    if (rc != PMI_SUCCESS)
        return rc;
    return end(&k, services_lookup(k.c, service_name, port, PMI_MAX_PORT_NAME, &k.err));
}

/* Pairs in the form of services.h; NULL when one has no key, or on no memory. */
static const struct spawn_pair_text *take_pairs(struct arena *a, const PMI_keyval_t *from, int n)
{
    struct spawn_pair_text *pairs = arena_array(a, (size_t)n, sizeof *pairs);

    for (int i = 0; pairs && i < n; i++) {
        if (!from[i].key)
            return NULL;
        pairs[i] = (struct spawn_pair_text){ from[i].key, from[i].val };
    }
    return pairs;
}

/* The arguments of PMI_Spawn_multiple, under one name. */
struct spawn_args {
    int count;
    const char **cmds;
    const char ***argvs;
    const int *maxprocs;
    const int *info_sizes;
    const PMI_keyval_t **infos;
    int npreputs;
    const PMI_keyval_t *preputs;
};

/* NULL when valid. */
static const char *spawn_fault(const struct spawn_args *s)
{
    if (s->count < 1 || !s->cmds || !s->maxprocs)
        return "no commands";
    if (s->npreputs < 0 || (s->npreputs && !s->preputs))
        return "a preput list without pairs";
    for (int i = 0; i < s->count; i++) {
        int n = s->info_sizes ? s->info_sizes[i] : 0;
        if (!s->cmds[i] || !*s->cmds[i] || s->maxprocs[i] < 0)
            return "a command without a name, or for a negative number of processes";
        if (n < 0 || (n && (!s->infos || !s->infos[i])))
            return "an info list without pairs";
    }
    return NULL;
}

static int fill_command(struct arena *a, const struct spawn_args *s, int i,
                        struct services_command *cmd, uint64_t *total)
{
    int ninfos = s->info_sizes ? s->info_sizes[i] : 0;

    *cmd = (struct services_command){ .program = s->cmds[i],
                                      .argv = s->argvs ? s->argvs[i] : NULL,
                                      .nprocs = (uint32_t)s->maxprocs[i],
                                      .ninfos = (uint32_t)ninfos };
    *total += cmd->nprocs;
    if (ninfos) {
        cmd->infos = take_pairs(a, s->infos[i], ninfos);
        if (!cmd->infos)
            return arena_ok(a) ? CLIENT_BAD_ARG : -ENOMEM;
    }
    return CLIENT_OK;
}

static int fill_request(struct arena *a, const struct spawn_args *s, struct services_spawn *r,
                        struct errmsg *err)
{
    struct services_command *cmds = arena_array(a, (size_t)s->count, sizeof *cmds);
    uint64_t total = 0;
    int rc = cmds ? CLIENT_OK : -ENOMEM;

    for (int i = 0; i < s->count && rc == CLIENT_OK; i++)
        rc = fill_command(a, s, i, &cmds[i], &total);
    if (rc == CLIENT_OK && s->npreputs) {
        r->preputs = take_pairs(a, s->preputs, s->npreputs);
        if (!r->preputs)
            rc = arena_ok(a) ? CLIENT_BAD_ARG : -ENOMEM;
    }
    if (rc == CLIENT_OK && total > INT_MAX)
        rc = CLIENT_BAD_ARG;
    if (rc != CLIENT_OK)
        return errmsg_set(err, rc, "%s",
                          rc == -ENOMEM ? "out of memory"
                                        : "a pair without a key, or too many processes");
    r->count = (uint32_t)s->count;
    r->commands = cmds;
    r->npreputs = (uint32_t)s->npreputs;
    r->nprocs = (uint32_t)total;
    return CLIENT_OK;
}

int PMI_Spawn_multiple(int count, const char *cmds[], const char **argvs[], const int maxprocs[],
                       const int info_keyval_sizes[], const PMI_keyval_t *info_keyval_vectors[],
                       int preput_keyval_size, const PMI_keyval_t preput_keyval_vector[],
                       int errors[])
{
    const struct spawn_args args = { count,
                                     cmds,
                                     argvs,
                                     maxprocs,
                                     info_keyval_sizes,
                                     info_keyval_vectors,
                                     preput_keyval_size,
                                     preput_keyval_vector };
    const char *fault = spawn_fault(&args);
    struct services_spawn request = { .errors = errors };
    struct arena a = ARENA_NULL(LIMIT_PMI_SPAWN * (size_t)16);
    struct call k;
    int rc;

    if (fault)
        return refuse("PMI_Spawn_multiple", PMI_ERR_INVALID_ARG, fault);
    rc = begin(&k, "PMI_Spawn_multiple");
    if (rc != PMI_SUCCESS)
        return rc;
    rc = fill_request(&a, &args, &request, &k.err);
    if (rc == CLIENT_OK)
        rc = services_spawn(k.c, &request, &k.err);
    arena_free(&a);
    return end(&k, rc);
}

/* ---- options --------------------------------------------------------------------------------- */

int PMI_Parse_option(int num_args, char *args[], int *num_parsed, PMI_keyval_t **keyvalp, int *size)
{
    static const char me[] = "PMI_Parse_option";
    int n = 0;

    if (num_args < 0)
        return refuse(me, PMI_ERR_INVALID_NUM_ARGS, "num_args is negative");
    if (!args)
        return refuse(me, PMI_ERR_INVALID_ARGS, "args is NULL");
    if (!num_parsed)
        return refuse(me, PMI_ERR_INVALID_NUM_PARSED, "num_parsed is NULL");
    if (!keyvalp)
        return refuse(me, PMI_ERR_INVALID_KEYVALP, "keyvalp is NULL");
    if (!size)
        return refuse(me, PMI_ERR_INVALID_SIZE, "size is NULL");
    while (n < num_args && options_is_one(args[n]))
        n++;
    if (options_to_pairs(args, n, keyvalp, size) < 0)
        return refuse(me, PMI_ERR_NOMEM, "out of memory");
    *num_parsed = n;
    return PMI_SUCCESS;
}

int PMI_Args_to_keyval(int *argcp, char *((*argvp)[]), PMI_keyval_t **keyvalp, int *size)
{
    static const char me[] = "PMI_Args_to_keyval";
    int argc, kept = 0;
    char **argv;

    if (!argcp || !argvp || !keyvalp || !size || *argcp < 0)
        return refuse(me, PMI_ERR_INVALID_ARG, "an argument is NULL, or *argcp is negative");
    argc = *argcp;
    argv = *argvp;
    if (options_to_pairs(argv, argc, keyvalp, size) < 0)
        return refuse(me, PMI_ERR_NOMEM, "out of memory");
    for (int i = 0; i < argc; i++) {
        if (!options_is_one(argv[i]))
            argv[kept++] = argv[i];
    }
    if (kept < argc)
        argv[kept] = NULL;
    *argcp = kept;
    return PMI_SUCCESS;
}

int PMI_Free_keyvals(PMI_keyval_t keyvalp[], int size)
{
    if (size < 0 || (!keyvalp && size))
        return refuse("PMI_Free_keyvals", PMI_ERR_INVALID_ARG, "size does not fit keyvalp");
    options_free(keyvalp, size);
    return PMI_SUCCESS;
}

int PMI_Get_options(char *str, int *length)
{
    static const char me[] = "PMI_Get_options";
    int need = (int)strlen(options_text) + 1, room;

    if (!str || !length)
        return no_pointer(me, str ? "length" : "str");
    room = *length;
    if (room < 1)
        return refuse(me, PMI_ERR_INVALID_LENGTH, "*length is not positive");
    *length = need;
    snprintf(str, (size_t)room, "%s", options_text);
    return room < need ? refuse(me, PMI_ERR_NOMEM, "the room does not suffice for the whole text")
                       : PMI_SUCCESS;
}
