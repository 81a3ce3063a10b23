/* pmix_server.c - fuzzes our libpmix as the server of somebody else's host
 * (lib/pmix/server/server.h).
 *
 * Input: records of a head of two bytes (who speaks and how; how many bytes follow) and what is
 * said; the last byte is the host's temper.  Three processes of a job that is spread over two nodes
 * and one stranger speak in turn.  A record can be framed for them, as a handshake or as a message;
 * or it is the host's: what it tells of the job, what other nodes give to a fence or have as a
 * card, a question of theirs.  The host has every function, and answers at once, by what it
 * returns, with an error, later, or only when the server has gone.  Nothing is expected but that
 * nobody crashes, and that nothing is left. */
#include <arpa/inet.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz/own_memory.h"
#include "lib/pmix/server/server.h"
#include "lib/pmix/server/server_collective.h"
#include "lib/pmix/server/server_iof.h"
#include "lib/pmix/server/server_space.h"
#include "lib/pmix/server/server_turn.h"
#include "wire/pmix_mem.h"
#include "wire/pmix_unpack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SPEAKERS = 4, RANKS = 3, RECORDS_MAX = 48, TURNS = 3 };
/* The head: speaker, then what is put before the bytes; what else happens. */
enum { AS_IT_IS = 0, A_HELLO = 1, A_MESSAGE = 2, THE_HOST = 3 };
enum { ANSWER = 0x40, HANG_UP = 0x80 };
enum temper { AT_ONCE, RETURNS, REFUSES, LATER, NEVER, TEMPERS };

/* ---- the host -------------------------------------------------------------------------------- */

/* A callback that has not been called. */
struct debt {
    struct debt *next;
    void (*pay)(struct debt *d, struct slice bytes);
    union {
        pmix_op_cbfunc_t op;
        pmix_info_cbfunc_t infos;
        pmix_lookup_cbfunc_t lookup;
        pmix_spawn_cbfunc_t spawn;
        pmix_credential_cbfunc_t credential;
        pmix_validation_cbfunc_t validation;
        pmix_modex_cbfunc_t modex;
        pmix_tool_connection_cbfunc_t tool;
    } fn;
    void *arg;
};

static struct debt *debts;
static enum temper temper;

static void pay_all(struct slice bytes)
{
    while (debts) {
        struct debt *d = debts;
        debts = d->next;
        d->pay(d, bytes);
        free(d);
    }
}

static pmix_status_t owe(struct debt what)
{
    struct debt *d;

    if (temper == RETURNS)
        return PMIX_OPERATION_SUCCEEDED;
    if (temper == REFUSES)
        return PMIX_ERR_NO_PERMISSIONS;
    own_memory(true);
    d = malloc(sizeof *d);
    own_memory(false);
    if (!d)
        abort();
    *d = what;
    d->next = debts;
    debts = d;
    if (temper == AT_ONCE)
        pay_all(SLICE_NULL);
    return PMIX_SUCCESS;
}

static void pay_op(struct debt *d, struct slice bytes)
{
    d->fn.op(bytes.len ? PMIX_ERROR : PMIX_SUCCESS, d->arg);
}

static void pay_infos(struct debt *d, struct slice bytes)
{
    pmix_info_t info;

    PMIx_Info_load(&info, "test.answer", "words", PMIX_STRING);
    d->fn.infos(PMIX_SUCCESS, &info, bytes.len % 2, d->arg, NULL, NULL);
    PMIx_Info_destruct(&info);
}

static void pay_lookup(struct debt *d, struct slice bytes)
{
    pmix_pdata_t data = { .key = "a name" };

    PMIx_Load_procid(&data.proc, "job_0", 1);
    PMIx_Value_load(&data.value, "a port", PMIX_STRING);
    d->fn.lookup(PMIX_SUCCESS, &data, bytes.len < 4, d->arg);
    PMIx_Value_destruct(&data.value);
}

static void pay_spawn(struct debt *d, struct slice bytes)
{
    pmix_nspace_t name = "job_0";

    d->fn.spawn(bytes.len ? PMIX_ERROR : PMIX_SUCCESS, name, d->arg);
}

static void pay_credential(struct debt *d, struct slice bytes)
{
    pmix_byte_object_t bo = { (char *)(uintptr_t) "proof", 5 };

    (void)bytes;
    d->fn.credential(PMIX_SUCCESS, &bo, NULL, 0, d->arg);
}

static void pay_validation(struct debt *d, struct slice bytes)
{
    (void)bytes;
    d->fn.validation(PMIX_SUCCESS, NULL, 0, d->arg);
}

static void pay_modex(struct debt *d, struct slice bytes)
{
    d->fn.modex(PMIX_SUCCESS, bytes.ptr, bytes.len, d->arg, NULL, NULL);
}

static void pay_tool(struct debt *d, struct slice bytes)
{
    pmix_proc_t name;

    PMIx_Load_procid(&name, bytes.len ? "job_0" : "tool", (uint32_t)bytes.len);
    d->fn.tool(PMIX_SUCCESS, &name, d->arg);
}

#define OWE(how, callback) owe((struct debt){ .pay = pay_##how, .fn.how = (callback), .arg = arg })
#pragma GCC diagnostic ignored "-Wunused-parameter"

static pmix_status_t connected(const pmix_proc_t *proc, void *object, pmix_info_t info[], size_t n,
                               pmix_op_cbfunc_t cbfunc, void *arg)
{
    return OWE(op, cbfunc);
}

static pmix_status_t finalized(const pmix_proc_t *proc, void *object, pmix_op_cbfunc_t cbfunc,
                               void *arg)
{
    return OWE(op, cbfunc);
}

static pmix_status_t aborts(const pmix_proc_t *proc, void *object, int status, const char text[],
                            pmix_proc_t procs[], size_t n, pmix_op_cbfunc_t cbfunc, void *arg)
{
    return OWE(op, cbfunc);
}

static pmix_status_t fence(const pmix_proc_t procs[], size_t n, const pmix_info_t info[],
                           size_t ninfo, char *bytes, size_t nbytes, pmix_modex_cbfunc_t cbfunc,
                           void *arg)
{
    free(bytes); /* they are the host's */
    return OWE(modex, cbfunc);
}

static pmix_status_t modex(const pmix_proc_t *proc, const pmix_info_t info[], size_t n,
                           pmix_modex_cbfunc_t cbfunc, void *arg)
{
    return OWE(modex, cbfunc);
}

static pmix_status_t publish(const pmix_proc_t *proc, const pmix_info_t info[], size_t n,
                             pmix_op_cbfunc_t cbfunc, void *arg)
{
    return OWE(op, cbfunc);
}

static pmix_status_t lookup(const pmix_proc_t *proc, char **keys, const pmix_info_t info[],
                            size_t n, pmix_lookup_cbfunc_t cbfunc, void *arg)
{
    return OWE(lookup, cbfunc);
}

static pmix_status_t unpublish(const pmix_proc_t *proc, char **keys, const pmix_info_t info[],
                               size_t n, pmix_op_cbfunc_t cbfunc, void *arg)
{
    return OWE(op, cbfunc);
}

static pmix_status_t spawn(const pmix_proc_t *proc, const pmix_info_t info[], size_t n,
                           const pmix_app_t apps[], size_t napps, pmix_spawn_cbfunc_t cbfunc,
                           void *arg)
{
    return OWE(spawn, cbfunc);
}

static pmix_status_t meet(const pmix_proc_t procs[], size_t n, const pmix_info_t info[],
                          size_t ninfo, pmix_op_cbfunc_t cbfunc, void *arg)
{
    return OWE(op, cbfunc);
}

static pmix_status_t listen_for(pmix_status_t *codes, size_t n, const pmix_info_t info[],
                                size_t ninfo, pmix_op_cbfunc_t cbfunc, void *arg)
{
    return OWE(op, cbfunc);
}

static pmix_status_t notify(pmix_status_t code, const pmix_proc_t *source, pmix_data_range_t range,
                            pmix_info_t info[], size_t n, pmix_op_cbfunc_t cbfunc, void *arg)
{
    return OWE(op, cbfunc);
}

static pmix_status_t query(pmix_proc_t *proc, pmix_query_t *queries, size_t n,
                           pmix_info_cbfunc_t cbfunc, void *arg)
{
    return OWE(infos, cbfunc);
}

static void tool(pmix_info_t *info, size_t n, pmix_tool_connection_cbfunc_t cbfunc, void *arg)
{
    if (OWE(tool, cbfunc) != PMIX_SUCCESS)
        cbfunc(PMIX_ERR_NO_PERMISSIONS, NULL, arg);
}

static void logs(const pmix_proc_t *proc, const pmix_info_t data[], size_t n,
                 const pmix_info_t words[], size_t nwords, pmix_op_cbfunc_t cbfunc, void *arg)
{
    cbfunc(PMIX_SUCCESS, arg);
}

static pmix_status_t allocate(const pmix_proc_t *proc, pmix_alloc_directive_t what,
                              const pmix_info_t info[], size_t n, pmix_info_cbfunc_t cbfunc,
                              void *arg)
{
    return OWE(infos, cbfunc);
}

static pmix_status_t control(const pmix_proc_t *proc, const pmix_proc_t procs[], size_t nprocs,
                             const pmix_info_t info[], size_t n, pmix_info_cbfunc_t cbfunc,
                             void *arg)
{
    return OWE(infos, cbfunc);
}

static pmix_status_t monitor(const pmix_proc_t *proc, const pmix_info_t *what, pmix_status_t code,
                             const pmix_info_t info[], size_t n, pmix_info_cbfunc_t cbfunc,
                             void *arg)
{
    return OWE(infos, cbfunc);
}

static pmix_status_t get_credential(const pmix_proc_t *proc, const pmix_info_t info[], size_t n,
                                    pmix_credential_cbfunc_t cbfunc, void *arg)
{
    return OWE(credential, cbfunc);
}

static pmix_status_t validate(const pmix_proc_t *proc, const pmix_byte_object_t *bo,
                              const pmix_info_t info[], size_t n, pmix_validation_cbfunc_t cbfunc,
                              void *arg)
{
    return OWE(validation, cbfunc);
}

static pmix_status_t pull(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[],
                          size_t n, pmix_iof_channel_t channels, pmix_op_cbfunc_t cbfunc, void *arg)
{
    return OWE(op, cbfunc);
}

static pmix_status_t push(const pmix_proc_t *source, const pmix_proc_t targets[], size_t ntargets,
                          const pmix_info_t info[], size_t n, const pmix_byte_object_t *bo,
                          pmix_op_cbfunc_t cbfunc, void *arg)
{
    return OWE(op, cbfunc);
}

static pmix_status_t group(pmix_group_operation_t op, char name[], const pmix_proc_t procs[],
                           size_t nprocs, const pmix_info_t info[], size_t n,
                           pmix_info_cbfunc_t cbfunc, void *arg)
{
    return OWE(infos, cbfunc);
}

static pmix_status_t fabric(const pmix_proc_t *proc, pmix_fabric_operation_t op,
                            const pmix_info_t info[], size_t n, pmix_info_cbfunc_t cbfunc,
                            void *arg)
{
    return OWE(infos, cbfunc);
}

static pmix_status_t session(const pmix_proc_t *proc, uint32_t id, const pmix_info_t info[],
                             size_t n, pmix_info_cbfunc_t cbfunc, void *arg)
{
    return OWE(infos, cbfunc);
}

static const pmix_server_module_t module = { .client_connected2 = connected,
                                             .client_finalized = finalized,
                                             .abort = aborts,
                                             .fence_nb = fence,
                                             .direct_modex = modex,
                                             .publish = publish,
                                             .lookup = lookup,
                                             .unpublish = unpublish,
                                             .spawn = spawn,
                                             .connect = meet,
                                             .disconnect = meet,
                                             .register_events = listen_for,
                                             .notify_event = notify,
                                             .query = query,
                                             .tool_connected = tool,
                                             .log = logs,
                                             .allocate = allocate,
                                             .job_control = control,
                                             .monitor = monitor,
                                             .get_credential = get_credential,
                                             .validate_credential = validate,
                                             .iof_pull = pull,
                                             .push_stdin = push,
                                             .group = group,
                                             .fabric = fabric,
                                             .session_control = session };

/* ---- the world ------------------------------------------------------------------------------- */

struct room {
    struct pserver *s;
    struct nspace *job;
    int ends[SPEAKERS];
};

static void turn(struct room *m)
{
    for (int i = 0; i < TURNS; i++)
        pserver_turn(m->s, false);
    for (int i = 0; i < SPEAKERS; i++) {
        char chunk[16384];
        while (m->ends[i] >= 0 && recv(m->ends[i], chunk, sizeof chunk, MSG_DONTWAIT) > 0)
            continue;
    }
}

static void register_info(struct room *m, const char *key, const void *what, pmix_data_type_t type)
{
    pmix_info_t info;

    PMIx_Info_load(&info, key, what, type);
    nspace_add(m->s, m->job, &info, 1);
    PMIx_Info_destruct(&info);
}

static void enter(struct room *m)
{
    const struct pserver_options o = { .uid = ID_UNSET,
                                       .gid = ID_UNSET,
                                       .progress = PSERVER_PROGRAM,
                                       .hostname = "a",
                                       .tmpdir = "/nowhere" };
    struct errmsg err;
    uint32_t size = RANKS + 1;
    int ends[2];

    if (pserver_new(&module, sizeof module / sizeof(void (*)(void)), &o, &m->s, &err) ||
        pserver_settle_progress(m->s))
        abort();
    m->s->log = LOG_SILENT;
    m->s->serves_tools = true;
    pserver_lock(m->s);
    m->job = nspace_make(m->s, "job_0");
    m->job->nlocal = RANKS;
    register_info(m, PMIX_JOB_SIZE, &size, PMIX_UINT32);
    register_info(m, PMIX_NODE_MAP, "a,b", PMIX_STRING);
    register_info(m, PMIX_PROC_MAP, "0-2;3", PMIX_STRING);
    for (uint32_t i = 0; i < RANKS; i++)
        nspace_expect(m->s, m->job, i, geteuid(), getegid(), NULL);
    for (int i = 0; i < SPEAKERS; i++) {
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0 ||
            !peer_conn_open(&m->s->conns, ends[0], NULL, 0, false))
            abort();
        m->ends[i] = ends[1];
    }
    pserver_unlock(m->s);
}

static void put_header(struct buf *out, uint32_t tag, size_t n)
{
    uint32_t words[4] = { 0, htonl(tag), htonl((uint32_t)n), 0 };

    buf_put(out, words, sizeof words);
}

/* Three are clients, and the fourth says that it is a tool. */
static void put_hello(struct buf *out, uint32_t who)
{
    struct buf body = BUF_NULL(4096);
    uint32_t words[4] = { UINT32_MAX, UINT32_MAX, 0, 0 }, number = htonl(who), ids[2] = { 0, 0 };

    buf_put(&body, "native\0\0\0\0\0", 11);
    buf_byte(&body, who < RANKS ? 0 : 3);
    if (who < RANKS) {
        buf_put(&body, "job_0", 6);
        buf_put(&body, &number, sizeof number);
    } else {
        buf_put(&body, ids, sizeof ids);
    }
    buf_put(&body, "4.2.2\0v41\0\1hash", 16);
    words[2] = (uint32_t)buf_len(&body);
    buf_put(out, words, sizeof words);
    buf_slice_put(out, buf_slice(&body));
    buf_free(&body);
}

static void send_bytes(struct room *m, uint32_t who, struct slice bytes)
{
    if (m->ends[who] >= 0 && bytes.len &&
        send(m->ends[who], bytes.ptr, bytes.len, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        return; /* it has been closed */
}

static void card_come(pmix_status_t status, char *bytes, size_t n, void *arg)
{
    (void)status;
    (void)bytes;
    (void)n;
    (void)arg;
}

/* Infos as they are packed. */
static void register_packed(struct room *m, struct slice words)
{
    struct punpack r;
    pmix_info_t *infos;
    size_t n;

    punpack_init(&r, words, &ptype_own);
    infos = punpack_list(&r, PMIX_INFO, &n);
    pserver_lock(m->s);
    if (infos)
        nspace_add(m->s, m->job, infos, n);
    pserver_unlock(m->s);
    pmem_free(ptype_find(PMIX_INFO), infos, n, NULL);
    free(infos);
}

static void host_does(struct room *m, uint32_t what, struct slice words)
{
    pmix_proc_t proc;

    PMIx_Load_procid(&proc, "job_0", words.len ? (unsigned char)words.ptr[0] : 0);
    switch (what) {
    case 0: register_packed(m, words); break;
    case 1: pay_all(words); break;
    case 2:
        pserver_lock(m->s);
        meet_request(m->s, &proc, card_come, NULL);
        pserver_unlock(m->s);
        break;
    default:
        pserver_lock(m->s);
        if (proc.rank % 8 == 7)
            nspace_forget(m->s, m->job, proc.rank / 8 % RANKS);
        else
            iof_deliver(m->s, &proc, PMIX_FWD_STDOUT_CHANNEL,
                        &(pmix_byte_object_t){ (char *)(uintptr_t)words.ptr, words.len }, NULL, 0);
        pserver_unlock(m->s);
        break;
    }
}

static void do_record(struct room *m, uint8_t head, struct slice words)
{
    struct buf out = BUF_NULL(1 << 16);
    uint32_t who = head % SPEAKERS, kind = head / SPEAKERS % 4;

    if (kind == A_HELLO)
        put_hello(&out, who);
    if (kind == A_MESSAGE)
        put_header(&out, 101, words.len);
    if (kind == THE_HOST)
        host_does(m, who, words);
    else
        buf_slice_put(&out, words);
    send_bytes(m, who, buf_slice(&out));
    turn(m);
    if (head & ANSWER && temper != NEVER)
        pay_all(SLICE_NULL);
    if (head & HANG_UP && m->ends[who] >= 0) {
        close(m->ends[who]);
        m->ends[who] = -1;
    }
    turn(m);
    buf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct room m;

    if (size == 0)
        return 0;
    temper = (enum temper)(data[--size] % TEMPERS);
    own_memory(true);
    enter(&m);
    own_memory(false);
    for (int i = 0; i < RECORDS_MAX && size >= 2; i++) {
        uint8_t head = data[0];
        size_t n = data[1] < size - 2 ? data[1] : size - 2;
        do_record(&m, head, slice_mem(data + 2, n));
        data += 2 + n;
        size -= 2 + n;
    }
    pserver_free(m.s);
    pay_all(SLICE_NULL); /* the last one lets go of the server */
    for (int i = 0; i < SPEAKERS; i++) {
        if (m.ends[i] >= 0)
            close(m.ends[i]);
    }
    return 0;
}
