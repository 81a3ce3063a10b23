/* pending_query_test.c - queries that wait for the answers of other daemons, one of which is lost.
 *
 * The daemons are those of tests/cluster.h; the launcher's queries are on a node without processes
 * and a loop that never runs, so that only answers and losses can end them.
 */
#include "daemon/cluster_io.h"
#include "daemon/node_failure.h"
#include "daemon/job_shutdown.h"
#include "daemon/local_job.h"
#include "daemon/node.h"
#include "daemon/node_context.h"
#include "daemon/node_parts.h"
#include "daemon/pending_query.h"
#include "daemon/startup_timing.h"
#include "daemon/trace_writer.h"
#include "io/loop.h"
#include "report/who_part.h"
#include "tests/cluster.h"

enum { POSITIONS = 4 };

struct at_launcher {
    struct cluster c;
    struct loop loop;
    struct server server;
    struct startup_timing timing;
    enum launcher_state state;
    struct node_context context;
    struct node_config config;
    struct local_jobs jobs;
    struct job_shutdown job_shutdown;
    struct pending_queries queries;
    struct node_parts parts;
    struct cluster_io s;
    struct trace_writer no_trace;
    struct seg_region region;
};

/* The answer to a query. */
struct reply {
    struct at_launcher *of;
    unsigned count;
    char text[4096];
    struct reply *drops; /* a query that is dropped with it; or NULL */
};

static const char *const names[POSITIONS] = { "here", "n1", "n2", "n3" };

static void on_part(void *arg, uint32_t from, uint64_t ticket, struct slice part)
{
    struct at_launcher *l = LIST_OF(arg, struct at_launcher, c.nodes[0]);

    pending_query_receive(&l->queries, from, ticket, part);
}

static void own_part(void *arg, struct slice job, bool usage, struct buf *part)
{
    (void)usage;
    const struct cluster_node *n = arg;
    struct who_options o = { .job = job, .now_ns = 1 };

    who_part(&n->server.core, &o, part);
}

static void open_job(struct at_launcher *l)
{
    struct job_map plan;

    cluster_plan(&plan, 2, 1, false);
    if (seg_memory_open(1 << 20, &l->region) < 0 ||
        !server_job_order(&l->server, &(struct job_order){ .nspace = "job",
                                                           .plan = &plan,
                                                           .region = &l->region,
                                                           .parent = JOB_NO_RANK,
                                                           .here = JOB_ALL_HERE }))
        abort();
}

/* The router and the requests are those of the first daemon of the cluster. */
static struct at_launcher *begin(void)
{
    struct at_launcher *l = calloc(1, sizeof *l);
    struct stream_set *sets = calloc(POSITIONS, sizeof *sets);

    if (!l || !sets || loop_init(&l->loop) < 0)
        abort();
    cluster_open(&l->c, POSITIONS, 3);
    for (uint32_t i = 0; i < POSITIONS; i++)
        l->c.nodes[i].dispatch.rpc.calls =
            (struct rpc_calls){ .pending = own_part, .part = on_part };
    server_init(&l->server, 7, NULL);
    l->state = LAUNCHER_STATE_RUNNING;
    l->context = (struct node_context){ .log = &l->c.log.log,
                                        .config = &l->config,
                                        .loop = &l->loop,
                                        .server = &l->server,
                                        .timing = &l->timing,
                                        .state = &l->state,
                                        .cluster = &l->s };
    local_jobs_open(&l->jobs, &l->context);
    l->s.context = &l->context;
    l->s.jobs = &l->jobs;
    l->s.job_shutdown = &l->job_shutdown;
    l->s.pending_queries = &l->queries;
    l->s.node_parts = &l->parts;
    l->s.trace_writer = &l->no_trace;
    l->s.names = names;
    l->s.router = l->c.nodes[0].router;
    l->s.streams.sets = sets;
    for (uint32_t i = 0; i < POSITIONS; i++) {
        for (int k = 0; k < STREAM_KINDS; k++)
            sets[i].channels[k].fd = -1;
    }
    list_init(&l->s.reasons);
    l->s.dispatch.context = l->c.nodes[0].dispatch.context;
    rpc_open(&l->s.dispatch.rpc, &l->c.nodes[0].dispatch.context, l->c.nodes[0].dispatch.rpc.calls,
             &l->c.nodes[0]);
    events_open(&l->s.dispatch.events, &l->c.nodes[0].dispatch.context);
    iof_forward_open(&l->s.dispatch.iof, &l->c.nodes[0].dispatch.context);
    if (daemon_states_open(&l->s.daemons, POSITIONS, &l->c.log.log) < 0)
        abort();
    pending_queries_open(&l->queries, &l->context);
    node_parts_open(&l->parts, &l->context, NULL, NULL);
    open_job(l);
    return l;
}

static void end(struct at_launcher *l)
{
    pending_queries_close(&l->queries);
    node_parts_close(&l->parts);
    daemon_states_close(&l->s.daemons);
    rpc_close(&l->s.dispatch.rpc);
    events_close(&l->s.dispatch.events);
    iof_forward_close(&l->s.dispatch.iof);
    free(l->s.streams.sets);
    server_free(&l->server);
    seg_memory_close(&l->region);
    loop_free(&l->loop);
    cluster_close(&l->c);
    free(l);
}

static void on_done(void *arg, struct slice report)
{
    struct reply *r = arg;

    r->count++;
    snprintf(r->text, sizeof r->text, SLICE_FMT, SLICE_ARG(report));
    if (r->drops)
        pending_query_forget(&r->of->queries, r->drops);
}

static void ask(struct at_launcher *l, struct reply *r, const char *words)
{
    r->of = l;
    pending_query_begin(&l->queries, slice_str(words), on_done, r);
}

static void lose(struct at_launcher *l, uint32_t position)
{
    cluster_die(&l->c, position);
    node_failure_position(&l->s, position);
}

static void test_all_answer(void)
{
    struct at_launcher *l = begin();
    struct reply text = { 0 }, json = { 0 };

    ask(l, &text, "");
    ask(l, &json, " json");
    OK(text.count == 0 && json.count == 0);
    cluster_settle(&l->c);
    OK_F(text.count == 1 && strstr(text.text, "job 0 job, 2 processes") &&
             !strstr(text.text, "no answer"),
         "all answer: %s", text.text);
    OK_F(json.count == 1 && strstr(json.text, "\"no_answer\":[]"), "for programs too: %s",
         json.text);
    end(l);
}

/* Position 3 is below position 1; here only 2 is lost. */
static void test_lost(void)
{
    struct at_launcher *l = begin();
    struct reply text = { 0 }, json = { 0 };

    l->c.nodes[2].gone = true; /* it does not answer */
    ask(l, &text, "");
    ask(l, &json, " json");
    cluster_settle(&l->c);
    OK_F(text.count == 0 && json.count == 0, "one of them is awaited");
    lose(l, 2);
    OK_F(text.count == 1 && strstr(text.text, "\nno answer from n2 (lost)\n"),
         "its loss ends the query, which says so: %s", text.text);
    OK_F(json.count == 1 && strstr(json.text, "\"no_answer\":[\"n2\"]"), "for programs too: %s",
         json.text);
    end(l);
}

static void test_one_of_two(void)
{
    struct at_launcher *l = begin();
    struct reply text = { 0 };

    l->c.nodes[2].gone = l->c.nodes[3].gone = true;
    ask(l, &text, "");
    cluster_settle(&l->c);
    lose(l, 2);
    OK_F(text.count == 0, "the other one may still answer");
    lose(l, 3);
    OK_F(strstr(text.text, "\nno answer from n2 (lost), n3 (lost)\n"), "both are named: %s",
         text.text);
    end(l);
}

static void test_dropped(void)
{
    struct at_launcher *l = begin();
    struct reply other = { 0 }, first = { .drops = &other };

    l->c.nodes[2].gone = true;
    ask(l, &first, "");
    ask(l, &other, "");
    cluster_settle(&l->c);
    lose(l, 2);
    OK_F(first.count == 1 && other.count == 0, "a query may end another one");
    end(l);
}

int main(void)
{
    test_all_answer();
    test_lost();
    test_one_of_two();
    test_dropped();
    return tap_done();
}
