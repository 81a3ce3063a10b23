/* pmixstorm.c - a host that does everything at once: many threads register jobs, serve a client of
 * each and forget them again, while others answer the server's questions and call whatever a host
 * may call.  Made for sanitizers; says `pmixstorm good` when every client got what it had to get.
 *
 *   pmixstorm thread|external|base THREADS ROUNDS [SECONDS]
 *
 * The first word says who turns the server's loop: a thread of its own, PMIx_Progress, or a loop of
 * libevent.  With SECONDS, rounds are begun until they are over (ROUNDS is the least).
 *
 * The clients are threads too, and speak for themselves (the wire of v41), so that everything
 * happens in one process.  Some have no manners: they leave in the middle of a message, or of a
 * conversation. */
#include <arpa/inet.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <pmix.h>
#include <pmix_server.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    COMMIT = 2,
    FENCE = 3,
    GET = 4,
    FINALIZE = 5,
    PUBLISH = 6,
    LOOKUP = 7,
    QUERY = 15,
    LOG = 16
};

static atomic_int wrong, over, served, asked, lost;
static struct timespec until;

static void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void complain(const char *format, ...)
{
    va_list args;

    if (wrong++ > 20)
        return;
    va_start(args, format);
    printf("pmixstorm WRONG: ");
    vprintf(format, args);
    printf("\n");
    va_end(args);
    fflush(stdout);
}

/* ---- a moment in which somebody calls back --------------------------------------------------- */

struct moment {
    pthread_mutex_t lock;
    pthread_cond_t come;
    bool here;
    pmix_status_t status;
};

#define MOMENT ((struct moment){ PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, 0 })

static void come(pmix_status_t status, void *arg)
{
    struct moment *m = arg;

    pthread_mutex_lock(&m->lock);
    m->here = true;
    m->status = status;
    pthread_cond_signal(&m->come);
    pthread_mutex_unlock(&m->lock);
}

static pmix_status_t wait_for(struct moment *m)
{
    pthread_mutex_lock(&m->lock);
    while (!m->here)
        pthread_cond_wait(&m->come, &m->lock);
    pthread_mutex_unlock(&m->lock);
    return m->status;
}

static void card_come(pmix_status_t status, char *data, size_t n, void *arg)
{
    if (status == PMIX_SUCCESS && n && !data)
        complain("a card without bytes");
    come(status, arg);
}

/* ---- the host: answers come from another thread ---------------------------------------------- */

struct answer {
    struct answer *next;
    pmix_op_cbfunc_t op;
    pmix_lookup_cbfunc_t lookup;
    pmix_info_cbfunc_t infos;
    void *arg;
};

static pthread_mutex_t answers_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t answers_come = PTHREAD_COND_INITIALIZER;
static struct answer *answers;

static pmix_status_t later(struct answer what)
{
    struct answer *a = malloc(sizeof *a);

    asked++;
    *a = what;
    pthread_mutex_lock(&answers_lock);
    a->next = answers;
    answers = a;
    pthread_cond_signal(&answers_come);
    pthread_mutex_unlock(&answers_lock);
    return PMIX_SUCCESS;
}

static void *answer_all(void *arg)
{
    struct answer *a;

    pthread_mutex_lock(&answers_lock);
    for (;;) {
        while (!answers && !over)
            pthread_cond_wait(&answers_come, &answers_lock);
        a = answers;
        if (!a)
            break;
        answers = a->next;
        pthread_mutex_unlock(&answers_lock);
        if (a->op)
            a->op(PMIX_SUCCESS, a->arg);
        if (a->lookup)
            a->lookup(PMIX_ERR_NOT_FOUND, NULL, 0, a->arg);
        if (a->infos)
            a->infos(PMIX_SUCCESS, NULL, 0, a->arg, NULL, NULL);
        free(a);
        pthread_mutex_lock(&answers_lock);
    }
    pthread_mutex_unlock(&answers_lock);
    return arg;
}

#pragma GCC diagnostic ignored "-Wunused-parameter"

static pmix_status_t connected(const pmix_proc_t *proc, void *object, pmix_info_t info[], size_t n,
                               pmix_op_cbfunc_t cbfunc, void *arg)
{
    return later((struct answer){ .op = cbfunc, .arg = arg });
}

static pmix_status_t finalized(const pmix_proc_t *proc, void *object, pmix_op_cbfunc_t cbfunc,
                               void *arg)
{
    return proc->nspace[strlen(proc->nspace) - 1] % 2
               ? PMIX_OPERATION_SUCCEEDED
               : later((struct answer){ .op = cbfunc, .arg = arg });
}

static pmix_status_t publish(const pmix_proc_t *proc, const pmix_info_t info[], size_t n,
                             pmix_op_cbfunc_t cbfunc, void *arg)
{
    return later((struct answer){ .op = cbfunc, .arg = arg });
}

static pmix_status_t lookup(const pmix_proc_t *proc, char **keys, const pmix_info_t info[],
                            size_t n, pmix_lookup_cbfunc_t cbfunc, void *arg)
{
    return later((struct answer){ .lookup = cbfunc, .arg = arg });
}

static pmix_status_t query(pmix_proc_t *proc, pmix_query_t *queries, size_t n,
                           pmix_info_cbfunc_t cbfunc, void *arg)
{
    cbfunc(PMIX_ERR_NOT_FOUND, NULL, 0, arg, NULL, NULL); /* before it returns */
    return PMIX_SUCCESS;
}

static void on_lost(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[],
                    size_t ninfo, pmix_info_t results[], size_t nresults,
                    pmix_event_notification_cbfunc_fn_t cbfunc, void *arg)
{
    if (status == PMIX_ERR_LOST_CONNECTION && !strncmp(source->nspace, "storm", 5))
        lost++;
    cbfunc(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
}

/* ---- a client -------------------------------------------------------------------------------- */

static void pack(pmix_data_buffer_t *b, const void *what, int32_t n, pmix_data_type_t type)
{
    if (PMIx_Data_pack(NULL, b, (void *)(uintptr_t)what, n, type) != PMIX_SUCCESS)
        complain("pack");
}

static void command(pmix_data_buffer_t *b, uint8_t number)
{
    PMIX_DATA_BUFFER_CONSTRUCT(b);
    pack(b, &number, 1, PMIX_COMMAND);
}

static bool put_all(int fd, const void *bytes, size_t n)
{
    const char *at = bytes;

    while (n) {
        ssize_t done = send(fd, at, n, MSG_NOSIGNAL);
        if (done <= 0)
            return false;
        at += done;
        n -= (size_t)done;
    }
    return true;
}

static bool get_all(int fd, void *bytes, size_t n)
{
    return n == 0 || recv(fd, bytes, n, MSG_WAITALL) == (ssize_t)n;
}

/* The status of the reply, which is its first word. */
static pmix_status_t ask(int fd, pmix_data_buffer_t *b)
{
    static atomic_uint tags = 1000;
    uint32_t words[4] = { 0, htonl(++tags), htonl((uint32_t)b->bytes_used), 0 }, n;
    pmix_data_buffer_t reply;
    pmix_status_t status = PMIX_ERROR;
    int32_t one = 1;
    char *bytes;

    if (!put_all(fd, words, sizeof words) || !put_all(fd, b->base_ptr, b->bytes_used) ||
        !get_all(fd, words, sizeof words)) {
        PMIX_DATA_BUFFER_DESTRUCT(b);
        return PMIX_ERR_UNREACH;
    }
    PMIX_DATA_BUFFER_DESTRUCT(b);
    n = ntohl(words[2]);
    bytes = malloc(n + 1);
    if (!get_all(fd, bytes, n)) {
        free(bytes);
        return PMIX_ERR_UNREACH;
    }
    PMIX_DATA_BUFFER_CONSTRUCT(&reply);
    reply.base_ptr = reply.unpack_ptr = reply.pack_ptr = bytes;
    reply.bytes_allocated = reply.bytes_used = n;
    reply.pack_ptr += n;
    if (PMIx_Data_unpack(NULL, &reply, &status, &one, PMIX_STATUS) != PMIX_SUCCESS)
        status = PMIX_ERR_UNPACK_FAILURE;
    free(bytes);
    return status;
}

static int dial(const pmix_proc_t *me, const char *uri)
{
    char body[512], *at = body;
    uint32_t words[4] = { UINT32_MAX, UINT32_MAX, 0, 0 }, number, answer[2];
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    to.sin_port = htons((uint16_t)atoi(strrchr(uri, ':') + 1));
    memcpy(at, "native\0\0\0\0\0\0", 12); /* no credential, and a client */
    at += 12;
    memcpy(at, me->nspace, strlen(me->nspace) + 1);
    at += strlen(me->nspace) + 1;
    number = htonl(me->rank);
    memcpy(at, &number, sizeof number);
    memcpy(at + 4, "4.2.2\0v41\0\1hash\0", 16);
    at += 4 + 16;
    words[2] = (uint32_t)(at - body);
    if (connect(fd, (struct sockaddr *)&to, sizeof to) < 0 || !put_all(fd, words, sizeof words) ||
        !put_all(fd, body, (size_t)(at - body)) || !get_all(fd, answer, sizeof answer)) {
        close(fd);
        return -1;
    }
    return fd;
}

static void expect(const char *what, pmix_status_t got, pmix_status_t wanted)
{
    if (got != wanted)
        complain("%s: %s", what, PMIx_Error_string(got));
}

static void talk(int fd, const pmix_proc_t *me)
{
    static const uint8_t cards[] = { 2, 2, 2, 1, 2, 1, 8, 2, 4, 'k', 0, 3, 4, 'v', 0 };
    pmix_data_buffer_t b;
    size_t none = 0, one = 1;
    uint32_t uid = geteuid();
    const char *name = me->nspace, *key = "k", *question = "test.question";
    pmix_info_t info;

    PMIX_DATA_BUFFER_CONSTRUCT(&b);
    b.base_ptr = malloc(sizeof cards);
    memcpy(b.base_ptr, cards, sizeof cards);
    b.bytes_used = sizeof cards;
    expect("commit", ask(fd, &b), PMIX_SUCCESS);
    command(&b, FENCE);
    pack(&b, &one, 1, PMIX_SIZE);
    pack(&b, me, 1, PMIX_PROC);
    pack(&b, &none, 1, PMIX_SIZE);
    expect("fence", ask(fd, &b), PMIX_SUCCESS);
    command(&b, GET);
    pack(&b, &name, 1, PMIX_STRING);
    pack(&b, &me->rank, 1, PMIX_PROC_RANK);
    pack(&b, &none, 1, PMIX_SIZE);
    pack(&b, &key, 1, PMIX_STRING);
    expect("get", ask(fd, &b), PMIX_SUCCESS);
    PMIX_INFO_LOAD(&info, "a name", "a port", PMIX_STRING);
    command(&b, PUBLISH);
    pack(&b, &uid, 1, PMIX_UINT32);
    pack(&b, &one, 1, PMIX_SIZE);
    pack(&b, &info, 1, PMIX_INFO);
    PMIX_INFO_DESTRUCT(&info);
    expect("publish", ask(fd, &b), PMIX_SUCCESS);
    command(&b, LOOKUP);
    pack(&b, &uid, 1, PMIX_UINT32);
    pack(&b, &one, 1, PMIX_SIZE);
    pack(&b, &key, 1, PMIX_STRING);
    pack(&b, &none, 1, PMIX_SIZE);
    expect("lookup", ask(fd, &b), PMIX_ERR_NOT_FOUND);
    (void)question;
}

static void misbehave(int fd, unsigned how)
{
    static const uint8_t half[] = { 0, 0, 0, 0, 0, 0, 0, 101, 0, 0, 0, 100, 0, 0, 0, 0, 2, 3 };

    if (how % 2)
        put_all(fd, half, how / 2 % sizeof half + 1);
}

static void send_finalize(int fd)
{
    pmix_data_buffer_t b;

    command(&b, FINALIZE);
    expect("finalize", ask(fd, &b), PMIX_SUCCESS);
}

/* ---- a round: a job of one process ----------------------------------------------------------- */

static void describe(const pmix_proc_t *me)
{
    pmix_info_t info[2];
    uint32_t one = 1;
    struct moment m = MOMENT;
    pmix_status_t rc;

    PMIX_INFO_LOAD(&info[0], PMIX_JOB_SIZE, &one, PMIX_UINT32);
    PMIX_INFO_LOAD(&info[1], "test.told", "by the host", PMIX_STRING);
    rc = PMIx_server_register_nspace(me->nspace, 1, info, 2, come, &m);
    expect("register a job", rc == PMIX_SUCCESS ? wait_for(&m) : rc, PMIX_SUCCESS);
    rc = PMIx_server_register_client(me, geteuid(), getegid(), NULL, NULL, NULL);
    expect("register a process", rc, PMIX_OPERATION_SUCCEEDED);
    PMIX_INFO_DESTRUCT(&info[0]);
    PMIX_INFO_DESTRUCT(&info[1]);
}

static char *address_of(const pmix_proc_t *me)
{
    char **env = NULL, *uri = NULL;

    expect("set up a fork", PMIx_server_setup_fork(me, &env), PMIX_SUCCESS);
    for (char **v = env; v && *v; v++) {
        if (!strncmp(*v, "PMIX_SERVER_URI41=", 18))
            uri = strdup(*v + 18);
    }
    PMIX_ARGV_FREE(env);
    return uri;
}

static void around(const pmix_proc_t *me)
{
    pmix_byte_object_t bo = { (char *)(uintptr_t) "output\n", 7 };
    struct moment card = MOMENT, notified = MOMENT;
    pmix_status_t rc = PMIx_server_dmodex_request(me, card_come, &card);

    expect("a card", rc == PMIX_SUCCESS ? wait_for(&card) : rc, PMIX_SUCCESS);
    PMIx_server_IOF_deliver(me, PMIX_FWD_STDOUT_CHANNEL, &bo, NULL, 0, NULL, NULL);
    PMIx_Notify_event(-5000, me, PMIX_RANGE_SESSION, NULL, 0, come, &notified);
    wait_for(&notified);
    expect("a set", PMIx_server_define_process_set(me, 1, me->nspace), PMIX_SUCCESS);
}

static void forget(const pmix_proc_t *me)
{
    char set[PMIX_MAX_NSLEN + 1];
    struct moment m = MOMENT;

    snprintf(set, sizeof set, "%s", me->nspace);
    expect("no set", PMIx_server_delete_process_set(set), PMIX_SUCCESS);
    PMIx_server_deregister_client(me, NULL, NULL);
    PMIx_server_deregister_nspace(me->nspace, come, &m);
    wait_for(&m);
}

static void one_round(unsigned thread, unsigned round)
{
    char name[64];
    pmix_proc_t me;
    char *uri;
    int fd;

    snprintf(name, sizeof name, "storm-%u-%u", thread, round);
    PMIX_LOAD_PROCID(&me, name, 0);
    describe(&me);
    uri = address_of(&me);
    fd = uri ? dial(&me, uri) : -1;
    free(uri);
    if (fd < 0) {
        complain("%s is not let in", name);
        return;
    }
    if (round % 4 == 1) {
        misbehave(fd, thread + round);
    } else {
        talk(fd, &me);
        around(&me);
        if (round % 4 != 3)
            send_finalize(fd);
        served++;
    }
    if (round % 2)
        close(fd); /* before the host forgets it, or afterwards */
    if (round % 4 != 1)
        forget(&me);
    else
        PMIx_server_deregister_nspace(me.nspace, NULL, NULL);
    if (round % 2 == 0)
        close(fd);
}

struct crowd {
    unsigned number, rounds;
};

static bool goes_on(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec < until.tv_sec;
}

static void *storm(void *arg)
{
    const struct crowd *c = arg;

    for (unsigned r = 0; r < c->rounds || goes_on(); r++)
        one_round(c->number, r);
    return NULL;
}

/* ---- who turns the loop ---------------------------------------------------------------------- */

static struct event_base *base;

static void *turn_base(void *arg)
{
    event_base_loop(base, EVLOOP_NO_EXIT_ON_EMPTY);
    return arg;
}

/* Two of them, which must not disturb each other. */
static void *make_progress(void *arg)
{
    while (!over) {
        PMIx_Progress();
        nanosleep(&(struct timespec){ .tv_nsec = 100000 }, NULL);
    }
    return arg;
}

static void leave_base(evutil_socket_t fd, short what, void *arg)
{
    if (over)
        event_base_loopbreak(base);
}

static void run(const char *mode, unsigned threads, unsigned rounds)
{
    pthread_t crowd[256], helper, turner[2];
    struct crowd who[256];
    struct event *tick = NULL;
    int turners = !strcmp(mode, "external") ? 2 : base ? 1 : 0;

    if (base) {
        tick = event_new(base, -1, EV_PERSIST, leave_base, NULL);
        event_add(tick, &(struct timeval){ .tv_usec = 20000 });
    }
    pthread_create(&helper, NULL, answer_all, NULL);
    for (int i = 0; i < turners; i++)
        pthread_create(&turner[i], NULL, base ? turn_base : make_progress, NULL);
    for (unsigned i = 0; i < threads; i++) {
        who[i] = (struct crowd){ i, rounds };
        pthread_create(&crowd[i], NULL, storm, &who[i]);
    }
    for (unsigned i = 0; i < threads; i++)
        pthread_join(crowd[i], NULL);
    pthread_mutex_lock(&answers_lock);
    over = 1;
    pthread_cond_signal(&answers_come);
    pthread_mutex_unlock(&answers_lock);
    pthread_join(helper, NULL);
    for (int i = 0; i < turners; i++)
        pthread_join(turner[i], NULL);
    if (tick)
        event_free(tick);
}

int main(int argc, char **argv)
{
    pmix_server_module_t module = { .client_connected2 = connected,
                                    .client_finalized = finalized,
                                    .publish = publish,
                                    .lookup = lookup,
                                    .unpublish = NULL,
                                    .query = query };
    pmix_status_t code = PMIX_ERR_LOST_CONNECTION;
    const char *mode = argc > 1 ? argv[1] : "thread";
    unsigned threads = argc > 2 ? (unsigned)atoi(argv[2]) : 8;
    unsigned rounds = argc > 3 ? (unsigned)atoi(argv[3]) : 8;
    pmix_info_t info[1];
    size_t n = 0;
    bool yes = true;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += argc > 4 ? atoi(argv[4]) : 0;
    if (!strcmp(mode, "external")) {
        PMIX_INFO_LOAD(&info[n++], PMIX_EXTERNAL_PROGRESS, &yes, PMIX_BOOL);
    } else if (!strcmp(mode, "base")) {
        base = event_base_new();
        PMIX_INFO_LOAD(&info[n++], PMIX_EVENT_BASE, base, PMIX_POINTER);
    }
    if (threads > 256 || PMIx_server_init(&module, info, n) != PMIX_SUCCESS) {
        printf("pmixstorm WRONG: init\n");
        return 1;
    }
    expect("a handler", PMIx_Register_event_handler(&code, 1, NULL, 0, on_lost, NULL, NULL) < 0,
           false);
    run(mode, threads, rounds);
    if (rounds > 3 && !lost)
        complain("the host has not been told of a process that was lost");
    expect("finalize the server", PMIx_server_finalize(), PMIX_SUCCESS);
    if (base)
        event_base_free(base);
    if (!wrong)
        printf("pmixstorm good\n");
    fprintf(stderr, "%d clients served, %d questions, %d lost\n", served, asked, lost);
    return wrong != 0;
}
