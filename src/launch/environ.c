/* environ.c - see environ.h.  The names set and the names listed go into maps, so that the cost is
 * linear in all of them: one pass over inherited variables, one over those set. */
#include "launch/environ.h"

#include <errno.h>
#include <string.h>

#include "base/env.h"
#include "base/map.h"
#include "daemon/environment_style.h"

static const char *const reserved[] = {
#define RESERVED(name) name,
#define LOGIN(name)
#include "launch/environ.def"
#undef RESERVED
#undef LOGIN
};

static const char *const login[] = {
#define RESERVED(name)
#define LOGIN(name) name,
#include "launch/environ.def"
#undef RESERVED
#undef LOGIN
};

static struct slice name_of(const char *text)
{
    struct slice whole = slice_str(text);

    return slice_head(whole, slice_find(whole, '='));
}

static bool matches(struct slice name, const char *row)
{
    size_t n = strlen(row);

    if (row[n - 1] == '*')
        return slice_starts(name, slice_mem(row, n - 1));
    return name.len == n && memcmp(name.ptr, row, n) == 0;
}

bool environ_reserved(struct slice name)
{
    if (name.len == 0 || !strchr("HMOPW", name.ptr[0])) /* avoids the walk for nearly all names */
        return false;
    for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++) {
        if (matches(name, reserved[i]))
            return true;
    }
    return false;
}

static bool is_login(struct slice name)
{
    for (size_t i = 0; i < sizeof login / sizeof login[0]; i++) {
        if (matches(name, login[i]))
            return true;
    }
    return false;
}

static bool good_name(struct slice name)
{
    return name.len > 0 && slice_find(name, '=') == name.len && !memchr(name.ptr, 0, name.len);
}

static void append(struct env_entry **first, struct env_entry **last, struct env_entry *e)
{
    if (*last)
        (*last)->next = e;
    else
        *first = e;
    *last = e;
}

int environ_set(struct arena *a, struct env_rules *r, struct slice name, struct slice value)
{
    struct env_entry *e;
    char *text;

    if (!good_name(name))
        return ENVIRON_BAD_NAME;
    e = arena_alloc(a, sizeof *e);
    text = arena_alloc(a, name.len + value.len + 2);
    if (!e || !text)
        return -ENOMEM;
    memcpy(text, name.ptr, name.len);
    text[name.len] = '=';
    if (value.len)
        memcpy(text + name.len + 1, value.ptr, value.len);
    *e = (struct env_entry){ NULL, slice_mem(text, name.len), text };
    append(&r->sets, &r->sets_last, e);
    return 0;
}

static int add_name(struct arena *a, struct env_entry **first, struct env_entry **last,
                    struct slice name)
{
    struct env_entry *e;

    if (!good_name(name))
        return ENVIRON_BAD_NAME;
    e = arena_alloc(a, sizeof *e);
    if (!e)
        return -ENOMEM;
    e->name = arena_copy(a, name);
    if (!e->name.ptr)
        return -ENOMEM;
    append(first, last, e);
    return 0;
}

int environ_export(struct arena *a, struct env_rules *r, struct slice name)
{
    return add_name(a, &r->sets, &r->sets_last, name);
}

int environ_list(struct arena *a, struct env_rules *r, struct slice names)
{
    int rc = names.len ? 0 : ENVIRON_BAD_NAME;

    while (rc == 0 && names.len)
        rc = add_name(a, &r->list, &r->list_last, slice_trim(slice_cut(&names, ',')));
    return rc;
}

void environ_defaults(struct env_rules *r, struct env_rules *defaults)
{
    if (!defaults->sets)
        return;
    defaults->sets_last->next = r->sets;
    if (!r->sets)
        r->sets_last = defaults->sets_last;
    r->sets = defaults->sets;
    defaults->sets = defaults->sets_last = NULL;
}

/* The state of one build. */
struct build {
    struct map sets;   /* name -> the last entry that sets or exports it */
    struct map listed; /* name -> entry, when only a list is forwarded */
    enum env_forward forward;
    bool nested; /* the inherited variables are those of a process of another launcher */
    char **out;
    size_t count;
};

static int index_entries(struct map *m, struct env_entry *e)
{
    int rc = 0;

    for (; e && rc == 0; e = e->next)
        rc = map_put(m, e->name, e, NULL);
    return rc;
}

static size_t entries(const struct env_entry *e)
{
    size_t n = 0;

    for (; e; e = e->next)
        n++;
    return n;
}

static size_t strings(char *const *env)
{
    size_t n = 0;

    while (env && env[n])
        n++;
    return n;
}

static bool forwarded(const struct build *b, struct slice name)
{
    const struct env_entry *set = map_get(&b->sets, name);

    if (environ_reserved(name))
        return false;
    if (set)
        return set->text == NULL; /* exported: the inherited value; set: our value comes later */
    if (b->nested && environment_style_has(name))
        return false; /* its place in the other job */
    switch (b->forward) {
    case ENV_NONE: return is_login(name);
    case ENV_LIST: return is_login(name) || map_get(&b->listed, name);
    default: return true;
    }
}

static int take_inherited(struct arena *a, struct build *b, char *const *inherited)
{
    for (; inherited && *inherited; inherited++) {
        struct slice name = name_of(*inherited);
        if (name.len == 0 || (*inherited)[name.len] != '=' || !forwarded(b, name))
            continue;
        b->out[b->count] = arena_str(a, slice_str(*inherited));
        if (!b->out[b->count++])
            return -ENOMEM;
    }
    return 0;
}

static int take_sets(struct arena *a, struct build *b, const struct env_entry *e, bool manager)
{
    for (; e; e = e->next) {
        if (!e->text || map_get(&b->sets, e->name) != e)
            continue;
        if (!manager && environ_reserved(e->name))
            continue;
        b->out[b->count] = arena_str(a, slice_str(e->text));
        if (!b->out[b->count++])
            return -ENOMEM;
    }
    return 0;
}

int environ_build(struct arena *a, char *const *inherited, const struct env_rules *job,
                  const struct env_rules *block, const struct env_rules *manager, char ***env_p)
{
    const struct env_rules *chosen = block->forward != ENV_UNSAID ? block : job;
    bool nested = env_value(inherited, ENVIRONMENT_STYLE_NOTE) != NULL;
    struct build b = { MAP_NULL(0), MAP_NULL(0), chosen->forward, nested, NULL, 0 };
    int rc;

    b.out = arena_array(a,
                        strings(inherited) + entries(job->sets) + entries(block->sets) +
                            entries(manager->sets) + 1,
                        sizeof *b.out);
    rc = b.out ? index_entries(&b.sets, job->sets) : -ENOMEM;
    if (rc == 0)
        rc = index_entries(&b.sets, block->sets);
    if (rc == 0)
        rc = index_entries(&b.sets, manager->sets);
    if (rc == 0)
        rc = index_entries(&b.listed, chosen->list);
    if (rc == 0)
        rc = take_inherited(a, &b, inherited);
    if (rc == 0)
        rc = take_sets(a, &b, job->sets, false);
    if (rc == 0)
        rc = take_sets(a, &b, block->sets, false);
    if (rc == 0)
        rc = take_sets(a, &b, manager->sets, true);
    *env_p = b.out;
    map_free(&b.sets);
    map_free(&b.listed);
    return rc;
}
