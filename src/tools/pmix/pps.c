/* pps.c - the tool pps: lists the jobs and processes of PMIx servers. */
#include <stdlib.h>
#include <string.h>

#include "pmix_tool.h"
#include "tools/pmix/tool_limit.h"
#include "tools/pmix/tool_print.h"
#include "tools/pmix/tool_server.h"

/* One answer to one key, about that job (NULL: none); the caller frees it.  n 0: there is none. */
struct query_reply {
    pmix_info_t *infos;
    size_t n;
};

static struct query_reply ask(const char *key, const char *nspace)
{
    struct query_reply a = { .infos = NULL };
    pmix_query_t q;

    PMIx_Query_construct(&q);
    PMIx_Argv_append_nosize(&q.keys, key);
    if (nspace) {
        PMIx_Query_qualifiers_create(&q, 1);
        PMIx_Info_load(q.qualifiers, PMIX_NSPACE, nspace, PMIX_STRING);
    }
    if (PMIx_Query_info(&q, 1, &a.infos, &a.n) != PMIX_SUCCESS)
        a.n = 0;
    PMIx_Query_destruct(&q);
    return a;
}

struct seen_job {
    char *name;
    struct query_reply table;
    const pmix_proc_info_t *procs; /* lent from the table */
    size_t n;
};

struct seen_jobs {
    struct seen_job *items;
    size_t n;
};

static int by_rank(const void *a, const void *b)
{
    pmix_rank_t x = ((const pmix_proc_info_t *)a)->proc.rank;
    pmix_rank_t y = ((const pmix_proc_info_t *)b)->proc.rank;

    return (x > y) - (x < y);
}

static void read_table(struct seen_job *j)
{
    const pmix_data_array_t *a;

    j->table = ask(PMIX_QUERY_PROC_TABLE, j->name);
    if (!j->table.n || j->table.infos[0].value.type != PMIX_DATA_ARRAY)
        return;
    a = j->table.infos[0].value.data.darray;
    if (!a || a->type != PMIX_PROC_INFO || !a->size)
        return;
    j->procs = a->array;
    j->n = a->size;
    qsort(a->array, a->size, sizeof(pmix_proc_info_t), by_rank);
}

static void read_jobs(struct seen_jobs *jobs)
{
    struct query_reply names = ask(PMIX_QUERY_NAMESPACES, NULL);
    char **list = NULL;

    *jobs = (struct seen_jobs){ .items = NULL };
    if (names.n && names.infos[0].value.type == PMIX_STRING && names.infos[0].value.data.string)
        list = PMIx_Argv_split(names.infos[0].value.data.string, ',');
    if (list)
        jobs->items = calloc((size_t)PMIx_Argv_count(list) + 1, sizeof *jobs->items);
    for (char **at = list; jobs->items && *at; at++) {
        jobs->items[jobs->n].name = strdup(*at);
        read_table(&jobs->items[jobs->n++]);
    }
    PMIx_Argv_free(list);
    PMIx_Info_free(names.infos, names.n);
}

static void free_jobs(struct seen_jobs *jobs)
{
    for (size_t i = 0; i < jobs->n; i++) {
        PMIx_Info_free(jobs->items[i].table.infos, jobs->items[i].table.n);
        free(jobs->items[i].name);
    }
    free(jobs->items);
}

static const char *or_unknown(const char *text)
{
    return text ? text : "?";
}

/* "running" for "PROC EXECUTING", as people say it. */
static const char *state_of(const pmix_proc_info_t *p)
{
    const char *text = PMIx_Proc_state_string(p->state);

    if (p->state == PMIX_PROC_STATE_RUNNING || p->state == PMIX_PROC_STATE_CONNECTED)
        return "running";
    return strncmp(text, "PROC ", 5) ? text : text + 5;
}

/* Whether an earlier process of these is on the same node. */
static bool node_seen(const struct seen_job *j, size_t i)
{
    for (size_t k = 0; k < i; k++) {
        if (!strcmp(or_unknown(j->procs[k].hostname), or_unknown(j->procs[i].hostname)))
            return true;
    }
    return false;
}

static size_t nodes_of(const struct seen_job *j)
{
    size_t n = 0;

    for (size_t i = 0; i < j->n; i++)
        n += !node_seen(j, i);
    return n;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

struct seen_node {
    const char *name;
    size_t processes, jobs;
};

static struct seen_node *node_named(struct seen_node *nodes, size_t *n, const char *name)
{
    for (size_t i = 0; i < *n; i++) {
        if (!strcmp(nodes[i].name, name))
            return &nodes[i];
    }
    nodes[*n] = (struct seen_node){ .name = name };
    return &nodes[(*n)++];
}

/* The nodes of all processes; the caller frees them. */
static struct seen_node *count_nodes(const struct seen_jobs *jobs, size_t *n_p)
{
    struct seen_node *nodes;
    size_t room = 1;

    *n_p = 0;
    for (size_t i = 0; i < jobs->n; i++)
        room += jobs->items[i].n;
    nodes = calloc(room, sizeof *nodes);
    for (size_t i = 0; nodes && i < jobs->n; i++) {
        const struct seen_job *j = &jobs->items[i];
        for (size_t k = 0; k < j->n; k++) {
            struct seen_node *node = node_named(nodes, n_p, or_unknown(j->procs[k].hostname));
            node->processes++;
            node->jobs += !node_seen(j, k);
        }
    }
    return nodes;
}

/* ---- text ------------------------------------------------------------------------------------ */

static void print_nodes(struct buf *out, const struct seen_jobs *jobs)
{
    struct tool_table t = { .heads = { "NODE", ">JOBS", ">PROCESSES" } };
    size_t n;
    struct seen_node *nodes = count_nodes(jobs, &n);

    for (size_t i = 0; i < n; i++) {
        tool_table_cell(&t, "%s", nodes[i].name);
        tool_table_cell(&t, "%zu", nodes[i].jobs);
        tool_table_cell(&t, "%zu", nodes[i].processes);
    }
    if (n)
        tool_table_print(&t, out, 2);
    free(nodes);
}

static void print_job(struct buf *out, const struct seen_job *j)
{
    struct tool_table t = { .heads = { ">RANK", "NODE", ">PID", "STATE", "PROGRAM" } };
    size_t nodes = nodes_of(j);

    buf_printf(out, "  job %s: ", j->name);
    if (!j->n) {
        buf_str(out, "the server does not list its processes\n");
        return;
    }
    buf_printf(out, "%zu process%s on %zu node%s\n", j->n, j->n == 1 ? "" : "es", nodes,
               nodes == 1 ? "" : "s");
    for (size_t i = 0; i < j->n; i++) {
        const pmix_proc_info_t *p = &j->procs[i];
        tool_table_cell(&t, "%u", p->proc.rank);
        tool_table_cell(&t, "%s", or_unknown(p->hostname));
        tool_table_cell(&t, "%ld", (long)p->pid);
        tool_table_cell(&t, "%s", state_of(p));
        tool_table_cell(&t, "%s", or_unknown(p->executable_name));
    }
    tool_table_print(&t, out, 4);
}

static void print_server(struct buf *out, const struct tool_server *s, const struct seen_jobs *jobs,
                         bool nodes)
{
    buf_str(out, "server");
    if (s->name)
        buf_printf(out, " %s", s->name);
    if (s->pid)
        buf_printf(out, ", pid %ld", s->pid);
    if (s->version)
        buf_printf(out, ", PMIx %s", s->version);
    buf_printf(out, ": %zu job%s\n", jobs->n, jobs->n == 1 ? "" : "s");
    for (size_t i = 0; i < jobs->n; i++)
        print_job(out, &jobs->items[i]);
    if (nodes)
        print_nodes(out, jobs);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void json_process(struct json *out, const pmix_proc_info_t *p)
{
    json_object(out, NULL);
    json_u64(out, "rank", p->proc.rank);
    json_str(out, "node", p->hostname);
    json_i64(out, "pid", p->pid);
    json_str(out, "state", state_of(p));
    json_i64(out, "exit_code", p->exit_code);
    json_str(out, "program", p->executable_name);
    json_object_end(out);
}

static void json_job(struct json *out, const struct seen_job *j)
{
    json_object(out, NULL);
    json_str(out, "namespace", j->name);
    json_u64(out, "nodes", nodes_of(j));
    json_array(out, "processes");
    for (size_t i = 0; i < j->n; i++)
        json_process(out, &j->procs[i]);
    json_array_end(out);
    json_object_end(out);
}

static void json_nodes(struct json *out, const struct seen_jobs *jobs)
{
    size_t n;
    struct seen_node *nodes = count_nodes(jobs, &n);

    json_array(out, "nodes");
    for (size_t i = 0; i < n; i++) {
        json_object(out, NULL);
        json_str(out, "name", nodes[i].name);
        json_u64(out, "jobs", nodes[i].jobs);
        json_u64(out, "processes", nodes[i].processes);
        json_object_end(out);
    }
    json_array_end(out);
    free(nodes);
}

static void json_server(struct json *out, const struct tool_server *s, const struct seen_jobs *jobs,
                        bool nodes)
{
    json_object(out, NULL);
    json_str(out, "name", s->name);
    json_str(out, "uri", s->uri);
    json_i64(out, "pid", s->pid);
    json_str(out, "version", s->version);
    json_array(out, "jobs");
    for (size_t i = 0; i < jobs->n; i++)
        json_job(out, &jobs->items[i]);
    json_array_end(out);
    if (nodes)
        json_nodes(out, jobs);
    json_object_end(out);
}

/* ---- servers --------------------------------------------------------------------------------- */

static int end_list(struct tool_out *out, int rc)
{
    if (out->is_json)
        json_array_end(&out->json);
    return tool_out_end(out, rc);
}

/* The others that there are by then. */
static void list_late(void *arg)
{
    end_list(arg, TOOL_FAILED);
}

/* Lists the server that we are connected to, and leaves it. */
static void list_server(struct tool_out *out, const struct tool_server *s)
{
    struct tool_limit limit = {
        .line = out->line, .late = list_late, .arg = out, .server = s->name
    };
    bool nodes = out->line->values[OPTION_nodes] != NULL;
    struct seen_jobs jobs;

    tool_limit_begin(&limit);
    read_jobs(&jobs);
    PMIx_tool_finalize();
    tool_limit_end(&limit);
    if (out->is_json)
        json_server(&out->json, s, &jobs, nodes);
    else
        print_server(&out->text, s, &jobs, nodes);
    free_jobs(&jobs);
}

static int list_all(struct tool_out *out)
{
    const struct tool_line *l = out->line;
    struct tool_servers s;
    int rc = tool_servers_find(l, &s), status = TOOL_FINE;

    if (rc != TOOL_GO_ON)
        return rc;
    if (!s.n && !out->is_json)
        buf_str(&out->text, "no PMIx server of yours is found on this machine\n");
    for (size_t i = 0; i < s.n; i++) {
        if (tool_server_open(l, &s.items[i]) == TOOL_GO_ON)
            list_server(out, &s.items[i]);
        else
            status = TOOL_FAILED;
    }
    tool_servers_free(&s);
    return status;
}

static int list_named(struct tool_out *out)
{
    pmix_proc_t *servers = NULL;
    size_t n = 0;
    int rc = tool_server_connect(out->line);

    if (rc != TOOL_GO_ON)
        return rc;
    if (PMIx_tool_get_servers(&servers, &n) != PMIX_SUCCESS)
        n = 0;
    list_server(out, &(struct tool_server){ .name = n ? servers[0].nspace : NULL });
    PMIx_Proc_free(servers, n);
    return TOOL_FINE;
}

int main(int argc, char **argv)
{
    struct tool_line l;
    struct tool_out out;
    int rc = tool_line_read(&l, TOOL_pps, argc, argv);

    if (rc == TOOL_GO_ON)
        rc = tool_server_check(&l);
    if (rc != TOOL_GO_ON)
        return rc;
    tool_out_begin(&out, &l);
    if (out.is_json)
        json_array(&out.json, "servers");
    rc = tool_server_is_named(&l) ? list_named(&out) : list_all(&out);
    return end_list(&out, rc);
}
