/* tool_server.c - see tool_server.h. */
#include "tools/pmix/tool_server.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "pmix_tool.h"
#include "tools/pmix/tool_limit.h"
#include "tools/pmix/tool_print.h"

enum { INFOS = 16, TEXT = 4096 };

struct wishes {
    pmix_info_t infos[INFOS];
    size_t n;
};

static void add(struct wishes *w, const char *key, const void *data, pmix_data_type_t type)
{
    PMIx_Info_construct(&w->infos[w->n]);
    PMIx_Info_load(&w->infos[w->n++], key, data, type);
}

static void free_wishes(struct wishes *w)
{
    while (w->n)
        PMIx_Value_destruct(&w->infos[--w->n].value);
}

static void add_text(struct wishes *w, const struct tool_line *l, enum tool_option o,
                     const char *key)
{
    if (l->values[o])
        add(w, key, l->values[o], PMIX_STRING);
}

static void add_flag(struct wishes *w, const struct tool_line *l, enum tool_option o,
                     const char *key)
{
    if (l->values[o])
        add(w, key, NULL, PMIX_BOOL);
}

/* The pid, or the first word of the file that has it.  0: a sentence says what is wrong. */
static pid_t read_pid(const struct tool_line *l)
{
    const char *text = l->values[OPTION_pid];
    char line[64] = "";
    uint32_t pid;
    FILE *f;

    if (!strncmp(text, "file:", 5)) {
        f = fopen(text + 5, "re");
        if (!f || !fgets(line, sizeof line, f)) {
            log_error(&l->log, "--pid: the file %s cannot be read", text + 5);
            line[0] = '\0';
        } else {
            line[strcspn(line, " \t\r\n")] = '\0';
        }
        if (f)
            fclose(f);
        if (!line[0])
            return 0;
        text = line;
    }
    if (slice_u32(slice_str(text), &pid) && pid > 0 && pid <= INT32_MAX)
        return (pid_t)pid;
    log_error(&l->log, "--pid: '%s' is no pid", text);
    return 0;
}

static pmix_status_t init_with(struct wishes *w)
{
    pmix_status_t rc = PMIx_tool_init(NULL, w->infos, w->n);

    free_wishes(w);
    return rc;
}

/* Where servers are looked for, and how long. */
static int add_search(struct wishes *w, const struct tool_line *l)
{
    uint64_t retries = 0, wait = 1;
    uint32_t number;

    if (!tool_number(l, OPTION_num_connect_retries, 1 << 20, &retries) ||
        !tool_number(l, OPTION_wait_to_connect, 1 << 20, &wait))
        return TOOL_USAGE;
    add_text(w, l, OPTION_tmpdir, PMIX_SYSTEM_TMPDIR);
    number = (uint32_t)retries;
    add(w, PMIX_CONNECT_MAX_RETRIES, &number, PMIX_UINT32);
    number = (uint32_t)wait;
    add(w, PMIX_CONNECT_RETRY_DELAY, &number, PMIX_UINT32);
    return TOOL_GO_ON;
}

static int add_name(struct wishes *w, const struct tool_line *l)
{
    pid_t pid;

    add_text(w, l, OPTION_uri, PMIX_SERVER_URI);
    add_text(w, l, OPTION_namespace, PMIX_SERVER_NSPACE);
    add_flag(w, l, OPTION_system_server, PMIX_CONNECT_TO_SYSTEM);
    add_flag(w, l, OPTION_system_server_first, PMIX_CONNECT_SYSTEM_FIRST);
    add_flag(w, l, OPTION_system_controller, PMIX_CONNECT_TO_SYS_CONTROLLER);
    if (!l->values[OPTION_pid])
        return TOOL_GO_ON;
    pid = read_pid(l);
    if (!pid)
        return TOOL_USAGE;
    add(w, PMIX_SERVER_PIDINFO, &pid, PMIX_PID);
    return TOOL_GO_ON;
}

/* "scheduler,system": the kinds by the words of OpenPMIx's attributes and ours. */
static const char *kind_key(struct slice word)
{
    static const struct {
        const char *words, *key;
    } kinds[] = {
        { "scheduler|" PMIX_CONNECT_TO_SCHEDULER, PMIX_CONNECT_TO_SCHEDULER },
        { "controller|" PMIX_CONNECT_TO_SYS_CONTROLLER, PMIX_CONNECT_TO_SYS_CONTROLLER },
        { "system|" PMIX_CONNECT_TO_SYSTEM, PMIX_CONNECT_TO_SYSTEM },
        { "any", "" },
    };

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct slice rest = slice_str(kinds[i].words);
        while (rest.len) {
            if (slice_eq(slice_cut(&rest, '|'), word))
                return kinds[i].key;
        }
    }
    return NULL;
}

static int check_order(const struct tool_line *l)
{
    struct slice rest = slice_str(l->values[OPTION_connect_order]);

    while (rest.len) {
        struct slice word = slice_cut(&rest, ',');
        if (!kind_key(word))
            return tool_wrong(
                l, "--connect-order: '" SLICE_FMT "' is none of scheduler, controller, system, any",
                SLICE_ARG(word));
    }
    return TOOL_GO_ON;
}

int tool_server_check(const struct tool_line *l)
{
    struct wishes w = { .n = 0 };
    int rc = add_search(&w, l);

    if (rc == TOOL_GO_ON)
        rc = add_name(&w, l);
    if (rc == TOOL_GO_ON)
        rc = check_order(l);
    if (rc == TOOL_GO_ON)
        rc = tool_limit_check(l);
    free_wishes(&w);
    return rc;
}

/* ---- finding --------------------------------------------------------------------------------- */

static const pmix_value_t *inside(const pmix_data_array_t *a, const char *key)
{
    const pmix_info_t *infos = a->array;

    for (size_t i = 0; i < a->size; i++) {
        if (PMIx_Check_key(infos[i].key, key))
            return &infos[i].value;
    }
    return NULL;
}

static char *text_inside(const pmix_data_array_t *a, const char *key)
{
    const pmix_value_t *v = inside(a, key);

    return v && v->type == PMIX_STRING && v->data.string ? strdup(v->data.string) : NULL;
}

static void keep_server(struct tool_servers *s, const pmix_info_t *info)
{
    const pmix_data_array_t *a =
        info->value.type == PMIX_DATA_ARRAY ? info->value.data.darray : NULL;
    const pmix_value_t *pid;
    struct tool_server *one = &s->items[s->n];

    if (!a || a->type != PMIX_INFO)
        return;
    pid = inside(a, PMIX_SERVER_PIDINFO);
    *one = (struct tool_server){ text_inside(a, PMIX_SERVER_NSPACE),
                                 text_inside(a, PMIX_SERVER_URI), text_inside(a, PMIX_VERSION_INFO),
                                 pid && pid->type == PMIX_PID ? pid->data.pid : 0 };
    s->n += one->name && one->uri;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct tool_server *)a)->name, ((const struct tool_server *)b)->name);
}

static void keep_servers(struct tool_servers *s, const pmix_info_t *answer)
{
    const pmix_data_array_t *a =
        answer->value.type == PMIX_DATA_ARRAY ? answer->value.data.darray : NULL;

    if (!a || a->type != PMIX_INFO || !a->size)
        return;
    s->items = calloc(a->size, sizeof *s->items);
    for (size_t i = 0; s->items && i < a->size; i++)
        keep_server(s, (pmix_info_t *)a->array + i);
    if (s->n)
        qsort(s->items, s->n, sizeof *s->items, by_name);
}

static void find_once(const struct tool_line *l, struct tool_servers *found_p)
{
    pmix_query_t q;
    pmix_info_t *answers = NULL;
    size_t n = 0;

    PMIx_Query_construct(&q);
    PMIx_Argv_append_nosize(&q.keys, PMIX_QUERY_AVAIL_SERVERS);
    if (l->values[OPTION_tmpdir]) {
        PMIx_Query_qualifiers_create(&q, 1);
        PMIx_Info_load(q.qualifiers, PMIX_SYSTEM_TMPDIR, l->values[OPTION_tmpdir], PMIX_STRING);
    }
    if (PMIx_Query_info(&q, 1, &answers, &n) == PMIX_SUCCESS && n)
        keep_servers(found_p, answers);
    PMIx_Info_free(answers, n);
    PMIx_Query_destruct(&q);
}

/* The library works, without a server. */
static int begin_alone(const struct tool_line *l)
{
    struct wishes w = { .n = 0 };
    pmix_status_t rc;

    add(&w, PMIX_TOOL_DO_NOT_CONNECT, NULL, PMIX_BOOL);
    rc = init_with(&w);
    if (rc == PMIX_SUCCESS)
        return TOOL_GO_ON;
    log_error(&l->log, "the PMIx library cannot be initialized: %s", PMIx_Error_string(rc));
    return TOOL_FAILED;
}

int tool_servers_find(const struct tool_line *l, struct tool_servers *found_p)
{
    uint64_t retries = 0, wait = 1;
    int rc;

    *found_p = (struct tool_servers){ .items = NULL };
    if (!tool_number(l, OPTION_num_connect_retries, 1 << 20, &retries) ||
        !tool_number(l, OPTION_wait_to_connect, 1 << 20, &wait))
        return TOOL_USAGE;
    rc = begin_alone(l);
    if (rc != TOOL_GO_ON)
        return rc;
    find_once(l, found_p);
    for (; !found_p->n && retries; retries--) {
        sleep((unsigned)wait);
        find_once(l, found_p);
    }
    PMIx_tool_finalize();
    return TOOL_GO_ON;
}

void tool_servers_free(struct tool_servers *s)
{
    for (size_t i = 0; i < s->n; i++) {
        free(s->items[i].name);
        free(s->items[i].uri);
        free(s->items[i].version);
    }
    free(s->items);
    *s = (struct tool_servers){ .items = NULL };
}

/* ---- connecting ------------------------------------------------------------------------------ */

bool tool_server_is_named(const struct tool_line *l)
{
    static const enum tool_option names[] = { OPTION_uri,
                                              OPTION_pid,
                                              OPTION_namespace,
                                              OPTION_system_server,
                                              OPTION_system_server_first,
                                              OPTION_system_controller,
                                              OPTION_connect_order };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (l->values[names[i]])
            return true;
    }
    return getenv("PMIX_NAMESPACE") != NULL;
}

int tool_server_open(const struct tool_line *l, const struct tool_server *s)
{
    struct wishes w = { .n = 0 };
    pmix_status_t rc;

    if (l->values[OPTION_verbose])
        log_info(&l->log, "asking %s at %s", s->name, s->uri);
    add(&w, PMIX_SERVER_URI, s->uri, PMIX_STRING);
    rc = init_with(&w);
    if (rc == PMIX_SUCCESS)
        return TOOL_GO_ON;
    log_error(&l->log, "%s at %s cannot be reached: %s", s->name, s->uri, PMIx_Error_string(rc));
    return TOOL_FAILED;
}

static void leave(const struct tool_line *l)
{
    struct tool_limit limit = { .line = l };

    tool_limit_begin(&limit);
    PMIx_tool_finalize();
    tool_limit_end(&limit);
}

int tool_server_run(const struct tool_line *l, bool server, int (*work)(void *arg), void *arg)
{
    int rc = server ? tool_server_connect(l) : begin_alone(l);

    if (rc != TOOL_GO_ON)
        return rc;
    rc = work(arg);
    leave(l);
    return rc;
}

static int list_servers(const struct tool_line *l, const struct tool_servers *s)
{
    struct tool_table t = { .heads = { ">PID", "SERVER", "ADDRESS" } };
    struct buf text = BUF_NULL(1 << 20);

    log_error(&l->log, "%zu servers run here; name one with --pid, --namespace or --uri:", s->n);
    for (size_t i = 0; i < s->n; i++) {
        tool_table_cell(&t, "%ld", s->items[i].pid);
        tool_table_cell(&t, "%s", s->items[i].name);
        tool_table_cell(&t, "%s", s->items[i].uri);
    }
    tool_table_print(&t, &text, 2);
    if (buf_cstr(&text))
        fputs(buf_cstr(&text), stderr);
    buf_free(&text);
    return TOOL_FAILED;
}

static int connect_only(const struct tool_line *l)
{
    struct tool_servers s;
    int rc = tool_servers_find(l, &s);

    if (rc != TOOL_GO_ON)
        return rc;
    if (s.n == 0) {
        log_error(&l->log, "no PMIx server of yours is found on this machine");
        rc = TOOL_FAILED;
    } else if (s.n > 1) {
        rc = list_servers(l, &s);
    } else {
        rc = tool_server_open(l, &s.items[0]);
    }
    tool_servers_free(&s);
    return rc;
}

static bool connect_in_order(const struct tool_line *l)
{
    struct slice rest = slice_str(l->values[OPTION_connect_order]);

    while (rest.len) {
        const char *key = kind_key(slice_cut(&rest, ','));
        struct wishes w = { .n = 0 };
        if (key && !*key)
            return connect_only(l) == TOOL_GO_ON;
        add(&w, key, NULL, PMIX_BOOL);
        add_text(&w, l, OPTION_tmpdir, PMIX_SYSTEM_TMPDIR);
        if (init_with(&w) == PMIX_SUCCESS)
            return true;
    }
    return false;
}

int tool_server_connect(const struct tool_line *l)
{
    struct wishes w = { .n = 0 };
    int rc = tool_server_check(l);
    pmix_status_t status;

    if (rc != TOOL_GO_ON)
        return rc;
    if (!tool_server_is_named(l))
        return connect_only(l);
    if (l->values[OPTION_connect_order]) {
        if (connect_in_order(l))
            return TOOL_GO_ON;
        log_error(&l->log, "there is no server of these kinds: %s",
                  l->values[OPTION_connect_order]);
        return TOOL_FAILED;
    }
    rc = add_search(&w, l);
    if (rc == TOOL_GO_ON)
        rc = add_name(&w, l);
    status = init_with(&w);
    if (status == PMIX_SUCCESS)
        return TOOL_GO_ON;
    log_error(&l->log, "the server that you name cannot be reached: %s", PMIx_Error_string(status));
    return TOOL_FAILED;
}
