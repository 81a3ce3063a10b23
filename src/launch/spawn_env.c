/* spawn_env.c - see spawn_env.h. */
#include "launch/spawn_env.h"

#include <errno.h>
#include <string.h>

#include "launch/environ.h"

struct env_list {
    struct arena *a;
    char **vars;
    size_t n;
};

/* What an info says: NAME, VALUE and, of two of them, the separator. */
struct edit {
    struct slice name, value, separator;
};

static size_t position(const struct env_list *e, struct slice name)
{
    size_t i = 0;

    while (i < e->n &&
           !(strncmp(e->vars[i], name.ptr, name.len) == 0 && e->vars[i][name.len] == '='))
        i++;
    return i;
}

static const char *value_at(const struct env_list *e, size_t i, struct slice name)
{
    return i < e->n ? e->vars[i] + name.len + 1 : NULL;
}

static void put(struct env_list *e, size_t i, struct slice name, struct slice first,
                struct slice separator, struct slice second)
{
    e->vars[i] = arena_printf(e->a, SLICE_FMT "=" SLICE_FMT SLICE_FMT SLICE_FMT, SLICE_ARG(name),
                              SLICE_ARG(first), SLICE_ARG(separator), SLICE_ARG(second));
    e->n += i == e->n;
}

static void do_set(struct env_list *e, const struct edit *d)
{
    put(e, position(e, d->name), d->name, d->value, SLICE(""), SLICE(""));
}

static void do_add(struct env_list *e, const struct edit *d)
{
    if (position(e, d->name) == e->n)
        do_set(e, d);
}

static void do_unset(struct env_list *e, const struct edit *d)
{
    size_t i = position(e, d->name);

    if (i < e->n)
        e->vars[i] = e->vars[--e->n];
    e->vars[e->n] = NULL;
}

/* An empty value has no other side that a separator would keep apart. */
static void do_prepend(struct env_list *e, const struct edit *d)
{
    size_t i = position(e, d->name);
    const char *old = value_at(e, i, d->name);

    if (old && *old)
        put(e, i, d->name, d->value, d->separator, slice_str(old));
    else
        do_set(e, d);
}

/* Unless it is the first one already. */
static void do_first(struct env_list *e, const struct edit *d)
{
    const char *old = value_at(e, position(e, d->name), d->name);
    struct slice rest = old ? slice_str(old) : SLICE_NULL;

    if (!old || !slice_starts(rest, d->value) ||
        (rest.len > d->value.len && rest.ptr[d->value.len] != d->separator.ptr[0]))
        do_prepend(e, d);
}

static void do_append(struct env_list *e, const struct edit *d)
{
    size_t i = position(e, d->name);
    const char *old = value_at(e, i, d->name);

    if (old && *old)
        put(e, i, d->name, slice_str(old), d->separator, d->value);
    else
        do_set(e, d);
}

static const struct edit_kind {
    const char *key;
    void (*carry_out)(struct env_list *e, const struct edit *d);
    bool separated, bare; /* begins with a separator; is a name alone */
} edits[] = {
    { SPAWN_ENV_SET, do_set, false, false },    { SPAWN_ENV_ADD, do_add, false, false },
    { SPAWN_ENV_UNSET, do_unset, false, true }, { SPAWN_ENV_PREPEND, do_prepend, true, false },
    { SPAWN_ENV_FIRST, do_first, true, false }, { SPAWN_ENV_APPEND, do_append, true, false },
};

static const struct edit_kind *edit_kind(struct slice key)
{
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        if (slice_is(key, edits[i].key))
            return &edits[i];
    }
    return NULL;
}

static bool read_edit(const struct edit_kind *k, struct slice text, struct edit *d)
{
    *d = (struct edit){ .separator = slice_head(text, k->separated) };
    if (k->separated && text.len == 0)
        return false;
    d->value = slice_skip(text, k->separated);
    if (!k->bare && slice_find(d->value, '=') == d->value.len)
        return false;
    d->name = slice_cut(&d->value, '=');
    return d->name.len > 0 && (!k->bare || slice_find(text, '=') == text.len);
}

static int edit(struct env_list *e, const struct edit_kind *k, struct slice text,
                struct errmsg *err)
{
    struct edit d;

    if (!read_edit(k, text, &d))
        return errmsg_set(err, SPAWN_BAD_REQUEST, "%s: '%.*s' names no variable", k->key,
                          (int)slice_head(text, 200).len, text.ptr);
    if (environ_reserved(d.name))
        return errmsg_set(err, SPAWN_BAD_REQUEST,
                          "%s: the process manager alone sets the variable %.*s", k->key,
                          (int)slice_head(d.name, 200).len, d.name.ptr);
    k->carry_out(e, &d);
    return arena_ok(e->a) ? 0 : -ENOMEM;
}

static int edit_all(struct env_list *e, const struct spawn_command *c, struct errmsg *err)
{
    int rc = 0;

    for (uint32_t i = 0; i < c->ninfos && rc == 0; i++) {
        const struct edit_kind *k = edit_kind(c->infos[i].key);
        if (k)
            rc = edit(e, k, c->infos[i].value, err);
    }
    return rc;
}

/* ---- what comes first ---- */

static int take_line(struct arena *a, struct env_rules *rules, struct slice value)
{
    struct slice name = slice_cut(&value, '=');
    int rc = name.len ? environ_set(a, rules, name, value) : 0;

    return rc < 0 ? rc : 0;
}

static int take_lines(struct arena *a, struct env_rules *rules, struct slice text)
{
    int rc = 0;

    while (text.len && rc == 0)
        rc = take_line(a, rules, slice_cut(&text, '\n'));
    return rc;
}

static int take_rules(struct arena *a, const struct spawn_command *c, struct env_rules *rules)
{
    int rc = 0;

    for (uint32_t i = 0; i < c->ninfos && rc == 0; i++) {
        if (slice_is(c->infos[i].key, "env"))
            rc = take_lines(a, rules, c->infos[i].value);
        else if (slice_is(c->infos[i].key, SPAWN_ENV_VALUE))
            rc = take_line(a, rules, c->infos[i].value);
    }
    return rc;
}

/* Copies with room for all edits: the parent may end first. */
static int copy(struct env_list *e, char *const *from, size_t room)
{
    while (from[e->n])
        e->n++;
    e->vars = arena_array(e->a, e->n + room + 1, sizeof *e->vars);
    for (size_t i = 0; e->vars && i < e->n; i++)
        e->vars[i] = arena_str(e->a, slice_str(from[i]));
    return arena_ok(e->a) ? 0 : -ENOMEM;
}

int spawn_env_build(struct arena *a, char *const *inherited, const struct spawn_command *c,
                    char ***env_p, struct errmsg *err)
{
    struct env_rules none = { 0 }, infos = { 0 };
    struct env_list e = { .a = a };
    char **base;
    int rc = take_rules(a, c, &infos);

    if (rc == 0)
        rc = environ_build(a, inherited, &none, &infos, &none, &base);
    if (rc == 0)
        rc = copy(&e, base, c->ninfos);
    if (rc == 0)
        rc = edit_all(&e, c, err);
    if (rc == 0)
        e.vars[e.n] = NULL;
    *env_p = e.vars;
    return rc;
}
