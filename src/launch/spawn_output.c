/* spawn_output.c - see spawn_output.h. */
#include "launch/spawn_output.h"

#include <errno.h>

struct reader {
    struct arena *a;
    const struct spawn_command *commands;
    uint32_t n;
};

/* Empty: no command has it. */
static struct slice word_of(const struct reader *r, const char *key)
{
    return spawn_info_of_all(r->commands, r->n, key);
}

static bool has(const struct reader *r, const char *key)
{
    return word_of(r, key).len != 0;
}

static const char *read_label(const struct reader *r)
{
    const char *time = has(r, SPAWN_OUT_TIME) ? "[%t] " : "";
    const char *tag = has(r, SPAWN_OUT_NODE)   ? "[%g,%r][%h:%i] "
                      : has(r, SPAWN_OUT_NAME) ? "[%n,%r] "
                      : has(r, SPAWN_OUT_TAG)  ? "[%g,%r] "
                      : has(r, SPAWN_OUT_RANK) ? "[%r] "
                                               : "";

    return *time || *tag ? arena_printf(r->a, "%s%s", time, tag) : NULL;
}

/* A path as a pattern that means itself. */
static const char *literal(struct arena *a, struct slice path)
{
    char *text = arena_alloc(a, 2 * path.len + 1), *to = text;

    for (size_t i = 0; text && i < path.len; i++) {
        *to++ = path.ptr[i];
        if (path.ptr[i] == '%')
            *to++ = '%';
    }
    if (text)
        *to = '\0';
    return text;
}

/* All nodes get the same absolute path. */
static const char *absolute(struct arena *a, const char *wdir, struct slice path, bool pattern)
{
    const char *text = pattern ? arena_str(a, path) : literal(a, path);
    const char *dir = wdir ? literal(a, slice_str(wdir)) : NULL;

    return text && dir && text[0] != '/' ? arena_printf(a, "%s/%s", dir, text) : text;
}

const struct spawn_output_names spawn_output_file = { ".%n.%r.stdout", ".%n.%r.stderr" };
const struct spawn_output_names spawn_output_directory = { "/%n/rank.%r/stdout",
                                                           "/%n/rank.%r/stderr" };
static const struct spawn_output_names each = { ".%r", ".%r" };

static const struct file_names {
    const char *key;
    const struct spawn_output_names *names;
} kinds[] = {
    { SPAWN_OUT_EACH, &each },
    { SPAWN_OUT_FILE, &spawn_output_file },
    { SPAWN_OUT_DIRECTORY, &spawn_output_directory },
};

static const struct file_names *kind_of(const struct reader *r, struct errmsg *err, int *rc_p)
{
    const struct file_names *found = NULL;

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!has(r, kinds[i].key))
            continue;
        if (found)
            *rc_p =
                errmsg_set(err, SPAWN_BAD_REQUEST, "use either %s or %s", found->key, kinds[i].key);
        found = &kinds[i];
    }
    return found;
}

int spawn_output_files(struct job_map *plan, const char *wdir, struct slice path,
                       const struct spawn_output_names *names)
{
    struct job_map_output *o = &plan->output;
    const char *start = absolute(&plan->arena, wdir, path, false);

    if (!start)
        return -ENOMEM;
    o->outfile = arena_printf(&plan->arena, "%s%s", start, names->out);
    o->errfile = o->merged ? o->outfile : arena_printf(&plan->arena, "%s%s", start, names->err);
    return o->outfile && o->errfile ? 0 : -ENOMEM;
}

static int read_files(const struct reader *r, struct job_map *plan, struct errmsg *err)
{
    const char *wdir = r->n ? plan->apps[0].wdir : NULL;
    int rc = 0;
    const struct file_names *k = kind_of(r, err, &rc);

    if (rc || !k)
        return rc;
    if (!has(r, SPAWN_OUT_PATTERN))
        return spawn_output_files(plan, wdir, word_of(r, k->key), k->names);
    plan->output.outfile = plan->output.errfile = absolute(r->a, wdir, word_of(r, k->key), true);
    return plan->output.outfile ? 0 : -ENOMEM;
}

int spawn_output_read(struct job_map *plan, const struct spawn_command *commands, uint32_t n,
                      struct errmsg *err)
{
    struct reader r = { &plan->arena, commands, n };
    struct job_map_output *o = &plan->output;
    int rc;

    o->merged = has(&r, SPAWN_OUT_MERGE);
    o->raw = has(&r, SPAWN_OUT_RAW);
    o->xml = has(&r, SPAWN_OUT_XML);
    o->timed = has(&r, SPAWN_OUT_TIME);
    o->label = read_label(&r);
    rc = read_files(&r, plan, err);
    return rc == 0 && !arena_ok(&plan->arena) ? -ENOMEM : rc;
}
