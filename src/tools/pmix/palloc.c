/* palloc.c - the tool palloc: asks a PMIx server for an allocation. */
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>

#include "pmix_tool.h"
#include "tools/pmix/tool_infos.h"
#include "tools/pmix/tool_limit.h"
#include "tools/pmix/tool_print.h"
#include "tools/pmix/tool_server.h"

enum { NODES_TEXT = 1 << 16 };

/* The words of a file as "a,b"; # begins a comment. */
static bool read_file(const char *path, struct buf *nodes)
{
    FILE *f = fopen(path, "re");
    char line[1024];

    while (f && fgets(line, sizeof line, f)) {
        char *rest = line, *word;
        line[strcspn(line, "#\n")] = '\0';
        while ((word = strsep(&rest, " \t,"))) {
            if (*word)
                buf_printf(nodes, "%s%s", buf_len(nodes) ? "," : "", word);
        }
    }
    if (f)
        fclose(f);
    return f && buf_len(nodes) && buf_ok(nodes);
}

static int add_nodes(struct tool_infos *i, const struct tool_line *l)
{
    const char *list = l->values[OPTION_nodelist];
    struct buf nodes = BUF_NULL(NODES_TEXT);
    uint64_t n = 0;
    int rc = TOOL_GO_ON;

    if (!tool_number(l, OPTION_num_nodes, UINT32_MAX, &n))
        return TOOL_USAGE;
    if (n)
        tool_infos_add(i, PMIX_ALLOC_NUM_NODES, &n, PMIX_UINT64);
    if (list && strncmp(list, "file:", 5) != 0)
        tool_infos_add(i, PMIX_ALLOC_NODE_LIST, list, PMIX_STRING);
    else if (list && read_file(list + 5, &nodes))
        tool_infos_add(i, PMIX_ALLOC_NODE_LIST, buf_cstr(&nodes), PMIX_STRING);
    else if (list)
        rc = tool_wrong(l, "--nodelist: the file %s cannot be read, or names no node", list + 5);
    buf_free(&nodes);
    tool_infos_text(i, l, OPTION_exclude, PMIX_ALLOC_EXCLUDE);
    return rc;
}

static int add_owner(struct tool_infos *i, const struct tool_line *l)
{
    const char *user = l->values[OPTION_uid], *group = l->values[OPTION_gid];
    uint32_t id;

    if (user && !slice_u32(slice_str(user), &id)) {
        struct passwd *p = getpwnam(user);
        if (!p)
            return tool_wrong(l, "--uid: there is no user %s", user);
        id = p->pw_uid;
    }
    if (user)
        tool_infos_add(i, PMIX_USERID, &id, PMIX_UINT32);
    if (group && !slice_u32(slice_str(group), &id)) {
        struct group *g = getgrnam(group);
        if (!g)
            return tool_wrong(l, "--gid: there is no group %s", group);
        id = g->gr_gid;
    }
    if (group)
        tool_infos_add(i, PMIX_GRPID, &id, PMIX_UINT32);
    return TOOL_GO_ON;
}

static int add_all(struct tool_infos *i, const struct tool_line *l)
{
    int rc = add_nodes(i, l);

    if (rc == TOOL_GO_ON)
        rc = add_owner(i, l);
    tool_infos_text(i, l, OPTION_request_id, PMIX_ALLOC_REQ_ID);
    tool_infos_text(i, l, OPTION_alloc_id, PMIX_ALLOC_ID);
    tool_infos_text(i, l, OPTION_queue, PMIX_ALLOC_QUEUE);
    tool_infos_text(i, l, OPTION_image, PMIX_ALLOC_IMAGE);
    tool_infos_flag(i, l, OPTION_wait_all_nodes, PMIX_ALLOC_WAIT_ALL_NODES);
    tool_infos_text(i, l, OPTION_time, PMIX_ALLOC_TIME);
    tool_infos_flag(i, l, OPTION_share, PMIX_ALLOC_SHARE);
    tool_infos_text(i, l, OPTION_begin, PMIX_ALLOC_BEGIN);
    tool_infos_text(i, l, OPTION_dependency, PMIX_ALLOC_DEPENDENCY);
    tool_infos_flag(i, l, OPTION_do_not_wait, PMIX_ALLOC_NOT_WAITING);
    return rc;
}

static int check(const struct tool_line *l)
{
    bool named = l->values[OPTION_request_id] || l->values[OPTION_alloc_id];

    if (l->values[OPTION_end_signal])
        return tool_wrong(l, "--signal: no PMIx attribute asks for a signal before the end");
    if (l->values[OPTION_immediate])
        return tool_wrong(l, "--immediate: no PMIx attribute asks for it; Wireup's servers give "
                             "nodes at once or not at all");
    if (l->values[OPTION_extend] && l->values[OPTION_shrink])
        return tool_wrong(l, "--extend and --shrink exclude each other");
    if ((l->values[OPTION_extend] || l->values[OPTION_shrink]) && !named)
        return tool_wrong(l,
                          "--extend and --shrink: name the allocation with --id or --request-id");
    if (!l->values[OPTION_shrink] && !l->values[OPTION_num_nodes] && !l->values[OPTION_nodelist])
        return tool_wrong(l, "name the nodes with --nodes or --nodelist");
    return TOOL_GO_ON;
}

static const char *text_of(const pmix_info_t *infos, size_t n, const char *key)
{
    for (size_t i = 0; i < n; i++) {
        if (PMIx_Check_key(infos[i].key, key) && infos[i].value.type == PMIX_STRING)
            return infos[i].value.data.string;
    }
    return NULL;
}

static int print(const struct tool_line *l, const pmix_info_t *infos, size_t n)
{
    const char *id = text_of(infos, n, PMIX_ALLOC_ID),
               *nodes = text_of(infos, n, PMIX_ALLOC_NODE_LIST);
    struct tool_out o;

    tool_out_begin(&o, l);
    if (o.is_json) {
        json_str(&o.json, "id", id);
        json_str(&o.json, "nodes", nodes);
        json_array(&o.json, "results");
        for (size_t i = 0; i < n; i++)
            tool_json_info(&o.json, &infos[i]);
        json_array_end(&o.json);
    } else {
        buf_printf(&o.text, "allocation %s %s%s%s\n", id ? id : "",
                   l->values[OPTION_shrink] ? "given back" : "granted", nodes ? ": " : "",
                   nodes ? nodes : "");
    }
    return tool_out_end(&o, TOOL_FINE);
}

struct palloc_request {
    const struct tool_line *line;
    struct tool_infos *infos;
};

static int request(void *arg)
{
    const struct palloc_request *r = arg;
    const struct tool_line *l = r->line;
    struct tool_limit limit = { .line = l };
    pmix_alloc_directive_t what = l->values[OPTION_extend]   ? PMIX_ALLOC_EXTEND
                                  : l->values[OPTION_shrink] ? PMIX_ALLOC_RELEASE
                                                             : PMIX_ALLOC_NEW;
    pmix_info_t *infos = NULL;
    size_t n = 0;
    pmix_status_t status;

    tool_limit_begin(&limit);
    status = PMIx_Allocation_request(what, r->infos->items, r->infos->n, &infos, &n);
    tool_limit_end(&limit);
    return tool_results(l, status, infos, n, print);
}

int main(int argc, char **argv)
{
    struct tool_infos infos = { .n = 0 };
    struct tool_line l;
    int rc = tool_line_read(&l, TOOL_palloc, argc, argv);

    if (rc == TOOL_GO_ON)
        rc = check(&l);
    if (rc == TOOL_GO_ON)
        rc = add_all(&infos, &l);
    if (rc == TOOL_GO_ON)
        rc = tool_server_run(&l, true, request, &(struct palloc_request){ &l, &infos });
    tool_infos_free(&infos);
    return rc;
}
