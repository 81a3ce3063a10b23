/* services.c - see services.h. */
#include "lib/pmi/services.h"

#include <errno.h>
#include <string.h>

#include "base/limit.h"
#include "lib/common/spawn_texts.h"
#include "lib/pmi/pmi1_rpc.h"

/* ---- name service ---------------------------------------------------------------------------- */

/* A legacy server ends every word of a line at the first blank. */
static int check_word(const struct pmi1_client *c, const char *what, const char *text,
                      struct errmsg *err)
{
    struct slice s = slice_str(text);

    if (s.len == 0 || s.len >= LIMIT_PMI_VALUE)
        return errmsg_set(err, CLIENT_BAD_ARG, "the %s has %zu bytes; 1 to %d are allowed", what,
                          s.len, LIMIT_PMI_VALUE - 1);
    if (slice_find(s, '\n') < s.len ||
        (c->kind != CLIENT_OURS && (slice_find(s, ' ') < s.len || slice_find(s, '\t') < s.len)))
        return errmsg_set(err, CLIENT_BAD_ARG,
                          "the %s holds a %s, which the process manager's protocol cannot carry",
                          what, slice_find(s, '\n') < s.len ? "newline" : "blank");
    return CLIENT_OK;
}

/* Some servers reply with `rc`, some with `info`, some with both (and then MPICH's `info=ok
 * rc=1` is a refusal). */
static int verdict(int64_t rc, struct slice info, struct slice msg, const char *what,
                   const char *name, struct errmsg *err)
{
    if (rc == 0 && !slice_is(info, "fail"))
        return CLIENT_OK;
    return errmsg_set(err, CLIENT_FAILED, "%s '%.80s' was refused: " SLICE_FMT, what, name,
                      SLICE_ARG(slice_head(msg, 200)));
}

int services_publish(struct pmi1_client *c, const char *name, const char *port, struct errmsg *err)
{
    const struct pmi1_publish_result *r = &c->reply.publish_result;
    struct pmi1_publish_name m = { .has = 0 };
    int rc = pmi1_rpc_begin(c, err);

    if (rc != CLIENT_OK)
        return rc;
    PMI1_SET(m, publish_name, service, slice_str(name));
    PMI1_SET(m, publish_name, port, slice_str(port));
    rc = check_word(c, "service name", name, err);
    if (rc == CLIENT_OK)
        rc = check_word(c, "port", port, err);
    if (rc == CLIENT_OK)
        rc = pmi1_rpc_call(c, PMI1_publish_name, &m, PMI1_publish_result, err);
    if (rc == CLIENT_OK)
        rc = verdict(r->rc, r->info, r->msg, "publishing", name, err);
    pmi1_rpc_end(c);
    return rc;
}

int services_unpublish(struct pmi1_client *c, const char *name, struct errmsg *err)
{
    const struct pmi1_unpublish_result *r = &c->reply.unpublish_result;
    struct pmi1_unpublish_name m = { .has = 0 };
    int rc = pmi1_rpc_begin(c, err);

    if (rc != CLIENT_OK)
        return rc;
    PMI1_SET(m, unpublish_name, service, slice_str(name));
    rc = check_word(c, "service name", name, err);
    if (rc == CLIENT_OK)
        rc = pmi1_rpc_call(c, PMI1_unpublish_name, &m, PMI1_unpublish_result, err);
    if (rc == CLIENT_OK)
        rc = verdict(r->rc, r->info, r->msg, "unpublishing", name, err);
    pmi1_rpc_end(c);
    return rc;
}

static int take_port(const struct pmi1_lookup_result *r, const char *name, char *port, size_t room,
                     struct errmsg *err)
{
    int rc = verdict(r->rc, r->info, r->msg, "looking up", name, err);

    if (rc != CLIENT_OK)
        return rc;
    if (!PMI1_HAS(r, lookup_result, port) || r->port.len >= room)
        return errmsg_set(err, CLIENT_FAILED, "the port of '%.80s' %s", name,
                          r->port.len ? "is too long" : "is missing in the answer");
    memcpy(port, r->port.ptr, r->port.len);
    port[r->port.len] = '\0';
    return CLIENT_OK;
}

int services_lookup(struct pmi1_client *c, const char *name, char *port, size_t room,
                    struct errmsg *err)
{
    struct pmi1_lookup_name m = { .has = 0 };
    int rc = pmi1_rpc_begin(c, err);

    if (rc != CLIENT_OK)
        return rc;
    PMI1_SET(m, lookup_name, service, slice_str(name));
    rc = check_word(c, "service name", name, err);
    if (rc == CLIENT_OK)
        rc = pmi1_rpc_call(c, PMI1_lookup_name, &m, PMI1_lookup_result, err);
    if (rc == CLIENT_OK)
        rc = take_port(&c->reply.lookup_result, name, port, room, err);
    pmi1_rpc_end(c);
    return rc;
}

/* ---- spawning -------------------------------------------------------------------------------- */

static void add_arguments(struct arena *a, const char **argv, struct text_list *list)
{
    uint32_t n = 0;

    while (argv && argv[n] && n < LIMIT_SPAWN_ITEMS)
        n++;
    list->items = arena_array(a, n, sizeof *list->items);
    if (!arena_ok(a))
        return;
    for (; list->n < n; list->n++)
        list->items[list->n] = slice_str(argv[list->n]);
}

static int put_command(struct pmi1_client *c, const struct services_spawn *s, uint32_t i,
                       struct errmsg *err)
{
    const struct services_command *cmd = &s->commands[i];
    struct arena a = ARENA_NULL(LIMIT_PMI_SPAWN);
    struct pmi1_spawn m = { .has = 0 };
    int rc;

    PMI1_SET(m, spawn, nprocs, cmd->nprocs);
    PMI1_SET(m, spawn, execname, slice_str(cmd->program));
    PMI1_SET(m, spawn, totspawns, s->count);
    PMI1_SET(m, spawn, spawnssofar, i + 1);
    add_arguments(&a, cmd->argv, &m.arg);
    PMI1_SET(m, spawn, argcnt, m.arg.n);
    if (i == 0) { /* once for the whole request */
        spawn_texts_pairs(&a, s->preputs, s->npreputs, &m.preput_key, &m.preput_val);
        PMI1_SET(m, spawn, preput_num, s->npreputs);
    }
    spawn_texts_pairs(&a, cmd->infos, cmd->ninfos, &m.info_key, &m.info_val);
    PMI1_SET(m, spawn, info_num, cmd->ninfos);
    m.has |= PMI1_BIT(spawn, arg) | PMI1_BIT(spawn, info_key) | PMI1_BIT(spawn, info_val) |
             PMI1_BIT(spawn, preput_key) | PMI1_BIT(spawn, preput_val);
    rc = arena_ok(&a) ? pmi1_rpc_put(c, PMI1_spawn, &m, err)
                      : errmsg_set(err, -ENOMEM, "out of memory");
    arena_free(&a);
    return rc;
}

int services_spawn(struct pmi1_client *c, const struct services_spawn *s, struct errmsg *err)
{
    const struct pmi1_spawn_result *r = &c->reply.spawn_result;
    int rc = client_promote(c, err);

    if (rc == CLIENT_OK)
        rc = pmi1_rpc_begin(c, err);
    spawn_texts_errors(SLICE_NULL, s->errors, s->nprocs, -1);
    if (rc != CLIENT_OK)
        return rc;
    for (uint32_t i = 0; i < s->count && rc == CLIENT_OK; i++)
        rc = put_command(c, s, i, err);
    if (rc == CLIENT_OK)
        rc = pmi1_rpc_send(c, err);
    if (rc == CLIENT_OK)
        rc = pmi1_rpc_read_puts(c, err);
    if (rc == CLIENT_OK)
        rc = pmi1_rpc_read(c, PMI1_spawn_result, err);
    if (rc == CLIENT_OK) {
        spawn_texts_errors(r->errcodes, s->errors, s->nprocs, r->rc == 0 ? 0 : -1);
        if (r->rc != 0)
            rc = errmsg_set(err, CLIENT_FAILED, "the process manager did not spawn: " SLICE_FMT,
                            SLICE_ARG(slice_head(r->msg, 200)));
    }
    pmi1_rpc_end(c);
    return rc;
}
