/* pmi2.c - the functions of pmi2.h: checks arguments, finds and locks the member, translates result
 * codes to PMI-2's.  The work is done by the modules beside this one; pmi2.h has the contracts.
 *
 * The only static data of the library is here. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC visibility push(default)
#include "pmi2.h"
#pragma GCC visibility pop

#include "base/limit.h"
#include "lib/common/library.h"
#include "lib/pmi2/jobs.h"
#include "lib/pmi2/data.h"
#include "lib/pmi2/member.h"
#include "lib/pmi2/pairs.h"

static struct library lib = LIBRARY_INIT("libpmi2");

/* ---- codes and error texts ------------------------------------------------------------------- */

static int to_pmi2(int rc)
{
    static const int table[MEMBER_CODES] = {
        [MEMBER_OK] = PMI2_SUCCESS,
        [MEMBER_FAILED] = PMI2_FAIL,
        [MEMBER_REFUSED] = PMI2_ERR_OTHER,
        [MEMBER_BAD_ARG] = PMI2_ERR_INVALID_ARG,
        [MEMBER_BAD_KEY] = PMI2_ERR_INVALID_KEY,
        [MEMBER_LONG_KEY] = PMI2_ERR_INVALID_KEY_LENGTH,
        [MEMBER_BAD_VALUE] = PMI2_ERR_INVALID_VAL,
        [MEMBER_LONG_VALUE] = PMI2_ERR_INVALID_VAL_LENGTH,
    };

    if (rc == -ENOMEM)
        return PMI2_ERR_NOMEM;
    return rc < 0 || rc >= MEMBER_CODES ? PMI2_FAIL : table[rc];
}

static int refuse(const char *function, int code, const char *why)
{
    return library_refuse(&lib, function, code, why);
}

static int no_pointer(const char *function)
{
    return refuse(function, PMI2_ERR_INVALID_ARG, "a pointer is NULL");
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* One call of a function that needs the member; between begin and end the lock is held. */
struct call {
    const char *function;
    struct pmi2_client *m;
    struct errmsg err;
};

static int begin(struct call *k, const char *function)
{
    k->function = function;
    if (!library_enter(&lib, &k->err))
        return refuse(function, PMI2_ERR_INIT, k->err.text);
    k->m = lib.member;
    return PMI2_SUCCESS;
}

static int end(struct call *k, int rc)
{
    library_leave(&lib);
    return rc == MEMBER_OK ? PMI2_SUCCESS : refuse(k->function, to_pmi2(rc), k->err.text);
}

/* ---- initialization -------------------------------------------------------------------------- */

static void after_fork(void)
{
    library_forked(&lib);
}

static int start(struct pmi2_client **m_p, struct errmsg *err)
{
    struct client_env env;
    int rc = library_prepare(&lib, &env, after_fork, err);

    if (rc > 0)
        return MEMBER_FAILED;
    return rc == 0 ? member_start(&env, &lib.gate, m_p, err) : rc;
}

static void set_int(int *where, int64_t what)
{
    if (where)
        *where = (int)what;
}

int PMI2_Init(int *spawned, int *size, int *rank, int *appnum)
{
    struct pmi2_client *m = NULL;
    struct errmsg err;
    int rc = MEMBER_OK;

    switch (library_begin(&lib, &err)) {
    case LIBRARY_READY: m = lib.member; break;
    case LIBRARY_ABSENT: rc = start(&m, &err); break;
    default:
        m = lib.member;
        rc = MEMBER_FAILED;
        break;
    }
    if (rc == MEMBER_OK) {
        set_int(spawned, m->spawned);
        set_int(size, m->size);
        set_int(rank, m->rank);
        set_int(appnum, m->appnum);
    }
    library_begun(&lib, m);
    return rc == MEMBER_OK ? PMI2_SUCCESS : refuse("PMI2_Init", to_pmi2(rc), err.text);
}

int PMI2_Finalize(void)
{
    struct pmi2_client *m = library_end(&lib);
    struct errmsg err;
    int rc = m ? member_stop(m, &err) : MEMBER_OK;

    library_ended(&lib);
    return rc == MEMBER_OK ? PMI2_SUCCESS : refuse("PMI2_Finalize", to_pmi2(rc), err.text);
}

int PMI2_Initialized(void)
{
    return library_is_there(&lib);
}

int PMI2_Abort(int flag, const char msg[])
{
    struct errmsg err;
    struct pmi2_client *m = library_enter(&lib, &err) ? lib.member : NULL;

    /* Wireup's server prints the message once, with its sender.  Others kill us before we could. */
    if ((!m || m->kind != MEMBER_OURS || !flag) && msg && *msg)
        library_print(msg);
    if (m) {
        member_abort(m, flag != 0, flag, msg);
        library_leave(&lib);
    }
    exit(flag);
}

/* ---- results --------------------------------------------------------------------------------- */

/* A caller's buffer. */
struct room {
    char *text;
    int size;
    int *length; /* NULL: not wanted */
};

static int use_text(void *arg, struct slice value, struct errmsg *err)
{
    const struct room *r = arg;
    size_t fits = r->size > 0 ? (size_t)r->size - 1 : 0;
    bool cut = value.len > fits || r->size <= 0;

    if (slice_find(value, '\0') < value.len || value.len > INT_MAX)
        return errmsg_set(err, MEMBER_BAD_VALUE, "the value contains a NUL and is not a string");
    if (r->length)
        *r->length = cut ? -(int)value.len : (int)value.len;
    if (r->size > 0) {
        struct slice head = slice_head(value, fits);
        if (head.len)
            memcpy(r->text, head.ptr, head.len);
        r->text[head.len] = '\0';
    }
    return MEMBER_OK;
}

struct numbers {
    int *array;
    int size;
    int *count;
};

static int use_numbers(void *arg, struct slice value, struct errmsg *err)
{
    const struct numbers *n = arg;
    struct slice rest = value;
    bool more = true;
    int count = 0, number;

    while (more) {
        size_t comma = slice_find(rest, ',');
        if (!slice_int(slice_head(rest, comma), &number))
            return errmsg_set(err, MEMBER_BAD_VALUE,
                              "'" SLICE_FMT "' is not a list of integers separated by commas",
                              SLICE_ARG(slice_head(value, 200)));
        if (count < n->size)
            n->array[count++] = number;
        more = comma < rest.len;
        rest = slice_skip(rest, comma + 1);
    }
    *n->count = count;
    return MEMBER_OK;
}

/* ---- jobs ------------------------------------------------------------------------------------ */

int PMI2_Job_GetId(char jobid[], int jobid_size)
{
    struct room room = { jobid, jobid_size, NULL };
    struct slice id;
    struct call k;
    int rc;

    if (!jobid)
        return no_pointer("PMI2_Job_GetId");
    if (jobid_size <= 0)
        return refuse("PMI2_Job_GetId", PMI2_ERR_INVALID_LENGTH, "jobid_size is not positive");
    rc = begin(&k, "PMI2_Job_GetId");
    if (rc != PMI2_SUCCESS)
        return rc;
    rc = member_jobid(k.m, &id, &k.err);
    return end(&k, rc == MEMBER_OK ? use_text(&room, id, &k.err) : rc);
}

int PMI2_Job_GetRank(int *rank)
{
    struct call k;
    int rc;

    if (!rank)
        return no_pointer("PMI2_Job_GetRank");
    rc = begin(&k, "PMI2_Job_GetRank");
    if (rc != PMI2_SUCCESS)
        return rc;
    *rank = (int)k.m->rank;
    return end(&k, MEMBER_OK);
}

int PMI2_Info_GetSize(int *size)
{
    struct call k;
    int rc;

    if (!size)
        return no_pointer("PMI2_Info_GetSize");
    rc = begin(&k, "PMI2_Info_GetSize");
    if (rc != PMI2_SUCCESS)
        return rc;
    *size = (int)k.m->size;
    return end(&k, MEMBER_OK);
}

static int with_job(const char *function, const char *jobid,
                    int (*what)(struct pmi2_client *, const char *, struct errmsg *))
{
    struct call k;
    int rc;

    if (!jobid || !*jobid)
        return refuse(function, PMI2_ERR_INVALID_ARG, "jobid is NULL or empty");
    rc = begin(&k, function);
    return rc == PMI2_SUCCESS ? end(&k, what(k.m, jobid, &k.err)) : rc;
}

int PMI2_Job_Connect(const char jobid[], PMI2_Connect_comm_t *conn)
{
    (void)conn;
    return with_job("PMI2_Job_Connect", jobid, jobs_connect);
}

int PMI2_Job_Disconnect(const char jobid[])
{
    return with_job("PMI2_Job_Disconnect", jobid, jobs_disconnect);
}

/* ---- spawn ----------------------------------------------------------------------------------- */

/* The arguments of PMI2_Job_Spawn, under one name. */
struct spawn_args {
    int count;
    const char **cmds;
    const int *argcs;
    const char ***argvs;
    const int *maxprocs;
    const int *info_sizes;
    const struct MPID_Info **infos;
    int npreputs;
    const struct MPID_Info **preputs;
};

static const char *command_fault(const struct spawn_args *s, int i)
{
    int nargs = s->argcs ? s->argcs[i] : 0, ninfos = s->info_sizes ? s->info_sizes[i] : 0;

    if (!s->cmds[i] || !*s->cmds[i])
        return "a command without a name";
    if (s->maxprocs[i] < 1 || (uint32_t)s->maxprocs[i] > LIMIT_JOB_PROCS)
        return "a command for an impossible number of processes";
    if (nargs < 0 || nargs > LIMIT_SPAWN_ITEMS || (nargs && (!s->argvs || !s->argvs[i])))
        return "an invalid argument list";
    for (int a = 0; a < nargs; a++) {
        if (!s->argvs[i][a])
            return "an argument that is NULL";
    }
    if (ninfos < 0 || ninfos > LIMIT_SPAWN_ITEMS || (ninfos && (!s->infos || !s->infos[i])))
        return "an invalid info list";
    if (ninfos && pairs_form_of(s->infos[i], ninfos, false) == PAIRS_UNKNOWN)
        return "an info list with a pair that has no key, or is of an unknown form";
    return NULL;
}

static const char *spawn_fault(const struct spawn_args *s)
{
    const char *fault = NULL;

    if (s->count < 1 || s->count > LIMIT_SPAWN_COMMANDS || !s->cmds || !s->maxprocs)
        return "no commands, or too many";
    if (s->npreputs < 0 || s->npreputs > LIMIT_SPAWN_ITEMS || (s->npreputs && !s->preputs))
        return "an invalid preput list";
    if (s->npreputs && pairs_form_of(s->preputs, s->npreputs, true) == PAIRS_UNKNOWN)
        return "a preput list with a pair that has no key, or is of an unknown form";
    for (int i = 0; i < s->count && !fault; i++)
        fault = command_fault(s, i);
    return fault;
}

static void take_command(struct arena *a, const struct spawn_args *s, int i, struct jobs_command *c)
{
    uint32_t ninfos = s->info_sizes ? (uint32_t)s->info_sizes[i] : 0;
    struct spawn_pair_text *infos = arena_array(a, ninfos, sizeof *infos);
    enum pairs_form form = ninfos ? pairs_form_of(s->infos[i], (int)ninfos, false) : PAIRS_SLURM;

    for (uint32_t n = 0; infos && n < ninfos; n++)
        infos[n] = pairs_get(s->infos[i], (int)n, false, form);
    *c = (struct jobs_command){ .program = s->cmds[i],
                                .args = s->argvs ? s->argvs[i] : NULL,
                                .nargs = s->argcs ? (uint32_t)s->argcs[i] : 0,
                                .nprocs = (uint32_t)s->maxprocs[i],
                                .infos = infos,
                                .ninfos = ninfos };
}

static int take_request(struct arena *a, const struct spawn_args *s, struct jobs_spawn *r,
                        struct errmsg *err)
{
    struct jobs_command *commands = arena_array(a, (size_t)s->count, sizeof *commands);
    struct spawn_pair_text *preputs = arena_array(a, (size_t)s->npreputs, sizeof *preputs);
    enum pairs_form form = pairs_form_of(s->preputs, s->npreputs, true);
    uint64_t total = 0;

    for (int i = 0; commands && i < s->count; i++) {
        take_command(a, s, i, &commands[i]);
        total += commands[i].nprocs;
    }
    for (int i = 0; preputs && i < s->npreputs; i++)
        preputs[i] = pairs_get(s->preputs, i, true, form);
    if (!arena_ok(a))
        return errmsg_set(err, -ENOMEM, "out of memory");
    if (total > LIMIT_JOB_PROCS)
        return errmsg_set(err, MEMBER_BAD_ARG, "more processes than a job can have");
    r->commands = commands;
    r->count = (uint32_t)s->count;
    r->preputs = preputs;
    r->npreputs = (uint32_t)s->npreputs;
    r->nprocs = (uint32_t)total;
    return MEMBER_OK;
}

int PMI2_Job_Spawn(int count, const char *cmds[], int argcs[], const char **argvs[],
                   const int maxprocs[], const int info_keyval_sizes[],
                   const struct MPID_Info *info_keyval_vectors[], int preput_keyval_size,
                   const struct MPID_Info *preput_keyval_vector[], char jobId[], int jobIdSize,
                   int errors[])
{
    const struct spawn_args args = { count,
                                     cmds,
                                     argcs,
                                     argvs,
                                     maxprocs,
                                     info_keyval_sizes,
                                     info_keyval_vectors,
                                     preput_keyval_size,
                                     preput_keyval_vector };
    const char *fault = spawn_fault(&args);
    struct room room = { jobId, jobIdSize, NULL };
    struct jobs_spawn request = { .errors = errors,
                                  .use = jobId && jobIdSize > 0 ? use_text : NULL,
                                  .arg = &room };
    struct arena a = ARENA_NULL((size_t)LIMIT_PMI_SPAWN * 16);
    struct call k;
    int rc;

    if (fault)
        return refuse("PMI2_Job_Spawn", PMI2_ERR_INVALID_ARG, fault);
    rc = begin(&k, "PMI2_Job_Spawn");
    if (rc != PMI2_SUCCESS)
        return rc;
    rc = take_request(&a, &args, &request, &k.err);
    if (rc == MEMBER_OK)
        rc = jobs_spawn(k.m, &request, &k.err);
    arena_free(&a);
    return end(&k, rc);
}

/* ---- key-value space ------------------------------------------------------------------------- */

static int put(const char *function, const char *key, const char *value,
               int (*what)(struct pmi2_client *, const char *, const char *, struct errmsg *))
{
    struct call k;
    int rc;

    if (!key)
        return refuse(function, PMI2_ERR_INVALID_KEY, "the key is NULL");
    if (!value)
        return refuse(function, PMI2_ERR_INVALID_VAL, "the value is NULL");
    rc = begin(&k, function);
    return rc == PMI2_SUCCESS ? end(&k, what(k.m, key, value, &k.err)) : rc;
}

int PMI2_KVS_Put(const char key[], const char value[])
{
    return put("PMI2_KVS_Put", key, value, data_put);
}

int PMI2_KVS_Fence(void)
{
    struct call k;
    int rc = begin(&k, "PMI2_KVS_Fence");

    return rc == PMI2_SUCCESS ? end(&k, data_fence(k.m, &k.err)) : rc;
}

int PMI2_KVS_Get(const char *jobid, int src_pmi_id, const char key[], char value[], int maxvalue,
                 int *vallen)
{
    struct room room = { value, maxvalue, vallen };
    struct call k;
    int rc;

    if (!key)
        return refuse("PMI2_KVS_Get", PMI2_ERR_INVALID_KEY, "the key is NULL");
    if ((!value && maxvalue > 0) || !vallen)
        return no_pointer("PMI2_KVS_Get");
    rc = begin(&k, "PMI2_KVS_Get");
    return rc == PMI2_SUCCESS
               ? end(&k, data_get(k.m, jobid, src_pmi_id, key, use_text, &room, &k.err))
               : rc;
}

/* ---- attributes ------------------------------------------------------------------------------ */

int PMI2_Info_PutNodeAttr(const char name[], const char value[])
{
    return put("PMI2_Info_PutNodeAttr", name, value, data_put_node);
}

struct attribute_args {
    const char *name;
    bool of_job;
    bool wait;
    int *found;
    data_use *use;
    void *arg;
};

static int get_attribute(const char *function, const struct attribute_args *a)
{
    struct call k;
    bool found;
    int rc;

    if (!a->name)
        return refuse(function, PMI2_ERR_INVALID_KEY, "the name is NULL");
    rc = begin(&k, function);
    if (rc != PMI2_SUCCESS)
        return rc;
    rc = a->of_job ? data_get_job(k.m, a->name, &found, a->use, a->arg, &k.err)
                   : data_get_node(k.m, a->name, a->wait, &found, a->use, a->arg, &k.err);
    *a->found = found;
    return end(&k, rc);
}

static int get_text(const char *function, struct attribute_args a, char *value, int valuelen)
{
    struct room room = { value, valuelen, NULL };

    if (!a.found || (!value && valuelen > 0))
        return no_pointer(function);
    a.use = use_text;
    a.arg = &room;
    return get_attribute(function, &a);
}

static int get_numbers(const char *function, struct attribute_args a, int *array, int arraylen,
                       int *outlen)
{
    struct numbers numbers = { array, arraylen, outlen };

    if (!a.found || !outlen || (!array && arraylen > 0))
        return no_pointer(function);
    a.use = use_numbers;
    a.arg = &numbers;
    return get_attribute(function, &a);
}

int PMI2_Info_GetNodeAttr(const char name[], char value[], int valuelen, int *found, int waitfor)
{
    const struct attribute_args a = { .name = name, .wait = waitfor != 0, .found = found };

    return get_text("PMI2_Info_GetNodeAttr", a, value, valuelen);
}

int PMI2_Info_GetJobAttr(const char name[], char value[], int valuelen, int *found)
{
    const struct attribute_args a = { .name = name, .of_job = true, .found = found };

    return get_text("PMI2_Info_GetJobAttr", a, value, valuelen);
}

int PMI2_Info_GetNodeAttrIntArray(const char name[], int array[], int arraylen, int *outlen,
                                  int *found)
{
    const struct attribute_args a = { .name = name, .found = found };

    return get_numbers("PMI2_Info_GetNodeAttrIntArray", a, array, arraylen, outlen);
}

int PMI2_Info_GetJobAttrIntArray(const char name[], int array[], int arraylen, int *outlen,
                                 int *found)
{
    const struct attribute_args a = { .name = name, .of_job = true, .found = found };

    return get_numbers("PMI2_Info_GetJobAttrIntArray", a, array, arraylen, outlen);
}

/* ---- name service ---------------------------------------------------------------------------- */

int PMI2_Nameserv_publish(const char service_name[], const struct MPID_Info *info_ptr,
                          const char port[])
{
    struct call k;
    int rc;

    (void)info_ptr;
    if (!service_name || !port)
        return no_pointer("PMI2_Nameserv_publish");
    rc = begin(&k, "PMI2_Nameserv_publish");
    return rc == PMI2_SUCCESS ? end(&k, jobs_publish(k.m, service_name, port, &k.err)) : rc;
}

int PMI2_Nameserv_unpublish(const char service_name[], const struct MPID_Info *info_ptr)
{
    struct call k;
    int rc;

    (void)info_ptr;
    if (!service_name)
        return no_pointer("PMI2_Nameserv_unpublish");
    rc = begin(&k, "PMI2_Nameserv_unpublish");
    return rc == PMI2_SUCCESS ? end(&k, jobs_unpublish(k.m, service_name, &k.err)) : rc;
}

int PMI2_Nameserv_lookup(const char service_name[], const struct MPID_Info *info_ptr, char port[],
                         int portLen)
{
    struct room room = { port, portLen, NULL };
    struct call k;
    int rc;

    (void)info_ptr;
    if (!service_name || (!port && portLen > 0))
        return no_pointer("PMI2_Nameserv_lookup");
    rc = begin(&k, "PMI2_Nameserv_lookup");
    return rc == PMI2_SUCCESS ? end(&k, jobs_lookup(k.m, service_name, use_text, &room, &k.err))
                              : rc;
}

/* ---- the ring -------------------------------------------------------------------------------- */

int PMIX_Ring(const char value[], int *rank, int *ranks, char left[], char right[], int maxvalue)
{
    struct room to_left = { left, maxvalue, NULL }, to_right = { right, maxvalue, NULL };
    struct jobs_ring ring = { .use = use_text, .left = &to_left, .right = &to_right };
    struct call k;
    int rc;

    if (!value || !rank || !ranks || ((!left || !right) && maxvalue > 0))
        return no_pointer("PMIX_Ring");
    if (strlen(value) > PMI2_MAX_VALLEN)
        return refuse("PMIX_Ring", PMI2_ERR_INVALID_VAL_LENGTH, "the value is too long");
    rc = begin(&k, "PMIX_Ring");
    if (rc != PMI2_SUCCESS)
        return rc;
    rc = jobs_ring(k.m, value, &ring, &k.err);
    if (rc == MEMBER_OK) {
        *rank = ring.place;
        *ranks = ring.size;
    }
    return end(&k, rc);
}
