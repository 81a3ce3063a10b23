/* options.c - see options.h.  One loop reads words; the meaning of a word is in the table. */
#include "launch/options.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/signal_name.h"
#include "base/env.h"
#include "base/limit.h"
#include "launch/allocation.h"
#include "launch/mpmd.h"
#include "launch/option_words.h"
#include "launch/parameter_file.h"
#include "launch/options_doc.h"
#include "launch/options_table.h"

/* Limit of texts for --help and the like: never reached, even by dry runs of very large jobs. */
#define ANSWER_MAX ((size_t)1 << 30)

#define REMARKS_MAX ((size_t)1 << 16)

/* Blocks, strings and lists of one command line. */
#define OPTIONS_MAX ((size_t)256 << 20)

struct option_parse {
    struct launch_options *opt;
    struct launch_block *block;
    char *const *next; /* words of the block that are not yet read */
    uint32_t left;
    bool nodes_for_all; /* this block's nodes are the job's */
    bool as_mpirun;     /* that is our name, or prterun */
    enum option_source source;
    const struct settings_file *file; /* that is being read; or NULL */
    const char *where;                /* its line: "/etc/wireup.conf:3" */
    char name[128];                   /* "-n", "HYDRA_DEBUG": for messages */
    struct errmsg *err;
};

/* ---- callbacks of options.def ---- */

static int bad_name(struct option_parse *p, int rc, const char *name)
{
    if (rc == ENVIRON_BAD_NAME)
        return errmsg_set(p->err, LAUNCH_USAGE, "%s: '%.100s' is not the name of a variable",
                          p->name, name);
    return rc;
}

static int missing_value(struct option_parse *p, const struct option_row *row)
{
    return errmsg_set(p->err, LAUNCH_USAGE, "%s needs a value: %s", p->name, row->arg);
}

static int set_variable(struct option_parse *p, const struct option_row *row,
                        struct env_rules *rules, const char *first)
{
    struct slice value = slice_str(first), name = value;

    if (strchr(first, '=')) {
        name = slice_cut(&value, '=');
    } else {
        if (p->left == 0)
            return missing_value(p, row);
        value = slice_str(*p->next++);
        p->left--;
    }
    return bad_name(p, environ_set(&p->opt->arena, rules, name, value), first);
}

static int on_env(struct option_parse *p, const struct option_row *row, const char *const *values)
{
    return set_variable(p, row, &p->block->env, values[0]);
}

static int on_genv(struct option_parse *p, const struct option_row *row, const char *const *values)
{
    return set_variable(p, row, &p->opt->env, values[0]);
}

static int on_export(struct option_parse *p, const struct option_row *row,
                     const char *const *values)
{
    if (strchr(values[0], '='))
        return set_variable(p, row, &p->block->env, values[0]);
    return bad_name(p, environ_export(&p->opt->arena, &p->block->env, slice_str(values[0])),
                    values[0]);
}

static int on_tune(struct option_parse *p, const struct option_row *row, const char *const *values)
{
    const char *before = p->opt->tune;

    (void)row;
    p->opt->tune =
        arena_printf(&p->opt->arena, "%s%s%s", before ? before : "", before ? "," : "", values[0]);
    return p->opt->tune ? 0 : -ENOMEM;
}

static int choose_forward(struct option_parse *p, struct env_rules *rules, enum env_forward how)
{
    if (rules->forward != ENV_UNSAID && (rules->forward != how || how == ENV_LIST))
        return errmsg_set(p->err, LAUNCH_USAGE,
                          "%s: another option has already selected which variables are forwarded",
                          p->name);
    rules->forward = how;
    return 0;
}

static int forward_list(struct option_parse *p, struct env_rules *rules, const char *names)
{
    int rc = choose_forward(p, rules, ENV_LIST);

    return rc ? rc : bad_name(p, environ_list(&p->opt->arena, rules, slice_str(names)), names);
}

#define FORWARD(function, rules, what)                                                             \
    static int function(struct option_parse *p, const struct option_row *row,                      \
                        const char *const *values)                                                 \
    {                                                                                              \
        (void)row, (void)values;                                                                   \
        return what;                                                                               \
    }

FORWARD(on_envlist, block, forward_list(p, &p->block->env, values[0]))
FORWARD(on_envnone, block, choose_forward(p, &p->block->env, ENV_NONE))
FORWARD(on_envall, block, choose_forward(p, &p->block->env, ENV_ALL))
FORWARD(on_genvlist, opt, forward_list(p, &p->opt->env, values[0]))
FORWARD(on_genvnone, opt, choose_forward(p, &p->opt->env, ENV_NONE))
FORWARD(on_genvall, opt, choose_forward(p, &p->opt->env, ENV_ALL))

/* Kept separately until the command line is read: it is only a default. */
static int on_hydra_env(struct option_parse *p, const struct option_row *row,
                        const char *const *values)
{
    (void)row;
    if (strcmp(values[0], "all") != 0 && strcmp(values[0], "none") != 0)
        return errmsg_set(p->err, LAUNCH_USAGE, "%s must be all or none, not '%.100s'", p->name,
                          values[0]);
    p->opt->env_default = values[0][0] == 'a' ? ENV_ALL : ENV_NONE;
    return 0;
}

static int on_hosts(struct option_parse *p, const struct option_row *row, const char *const *values)
{
    struct errmsg why;
    struct host_list *list = p->nodes_for_all ? &p->opt->hosts : &p->block->hosts;
    int rc = hosts_parse_list(&p->opt->arena, list, slice_str(values[0]), &why);

    (void)row;
    if (rc == HOSTS_BAD)
        return errmsg_set(p->err, LAUNCH_USAGE, "%s: %.800s", p->name, why.text);
    return rc;
}

static int on_hostfile(struct option_parse *p, const struct option_row *row,
                       const char *const *values)
{
    (void)row;
    *(p->nodes_for_all ? &p->opt->hostfile : &p->block->hostfile) = values[0];
    return 0;
}

static int on_default_hostfile(struct option_parse *p, const struct option_row *row,
                               const char *const *values)
{
    (void)row;
    p->opt->default_hostfile = strcmp(values[0], "none") ? values[0] : NULL;
    return 0;
}

static int on_nnodes(struct option_parse *p, const struct option_row *row,
                     const char *const *values)
{
    (void)row;
    if (node_range_read(slice_str(values[0]), &p->opt->nnodes))
        return errmsg_set(p->err, LAUNCH_USAGE,
                          "%s must be a number of nodes, N or MIN:MAX, not '%.100s'", p->name,
                          values[0]);
    return 0;
}

/* "7000-7100", or with ':' as in MPICH's variable. */
static int on_port_range(struct option_parse *p, const struct option_row *row,
                         const char *const *values)
{
    struct slice high = slice_str(values[0]), low;
    struct launch_options *opt = p->opt;

    (void)row;
    low = slice_cut(&high, strchr(values[0], ':') ? ':' : '-');
    if (!slice_u32(low, &opt->port_low) || !slice_u32(high, &opt->port_high) ||
        opt->port_low == 0 || opt->port_low > opt->port_high || opt->port_high > 65535)
        return errmsg_set(p->err, LAUNCH_USAGE, "%s must be two ports, LOW-HIGH, not '%.100s'",
                          p->name, values[0]);
    return 0;
}

/* "USR1@120" */
static int on_timeout_signal(struct option_parse *p, const struct option_row *row,
                             const char *const *values)
{
    struct slice seconds = slice_str(values[0]), word = slice_cut(&seconds, '@');
    struct launch_options *o = p->opt;

    (void)row;
    o->warning = signal_number(word);
    o->warning_s = 60;
    if (!o->warning || (seconds.len && !slice_u32(seconds, &o->warning_s)))
        return option_wrong(p, "'%.100s' is not a signal, as in USR1 or USR1@120", values[0]);
    return 0;
}

/* "30", "warn:60" */
static int on_exit_timeout(struct option_parse *p, const struct option_row *row,
                           const char *const *values)
{
    struct slice seconds = slice_str(values[0]);
    struct launch_options *o = p->opt;

    (void)row;
    o->exit_warns = slice_starts(seconds, SLICE("warn:"));
    if (o->exit_warns)
        slice_cut(&seconds, ':');
    if (!slice_u32(seconds, &o->exit_wait_s) || o->exit_wait_s > 1000000000 ||
        (o->exit_warns && o->exit_wait_s == 0))
        return option_wrong(p, "'%.100s' is not a number of seconds, as in 30 or warn:30",
                            values[0]);
    return 0;
}

static int read_rank(struct option_parse *p, const char *text, const char *or_else,
                     uint32_t *rank_p)
{
    if (!slice_u32(slice_str(text), rank_p) || *rank_p >= LIMIT_JOB_PROCS)
        return errmsg_set(p->err, LAUNCH_USAGE, "%s must be a rank%s, not '%.100s'", p->name,
                          or_else, text);
    return 0;
}

static int on_stdin(struct option_parse *p, const struct option_row *row, const char *const *values)
{
    (void)row;
    if (strcmp(values[0], "all") == 0)
        p->opt->stdin_to = LAUNCH_STDIN_ALL;
    else if (strcmp(values[0], "none") == 0)
        p->opt->stdin_to = LAUNCH_STDIN_NONE;
    else
        p->opt->stdin_to = LAUNCH_STDIN_RANK;
    return p->opt->stdin_to == LAUNCH_STDIN_RANK
               ? read_rank(p, values[0], ", all or none", &p->opt->stdin_rank)
               : 0;
}

static int on_output_from(struct option_parse *p, const struct option_row *row,
                          const char *const *values)
{
    (void)row;
    p->opt->output_from_given = true;
    return read_rank(p, values[0], "", &p->opt->output_from);
}

static int on_pmi_args(struct option_parse *p, const struct option_row *row,
                       const char *const *values)
{
    struct launch_singleton s = { 0, values[1], values[2], 0 };

    (void)row;
    if (!slice_u32(slice_str(values[0]), &s.port) || s.port == 0 || s.port > 65535)
        return errmsg_set(p->err, LAUNCH_USAGE, "%s: '%.100s' is not a port", p->name, values[0]);
    if (!slice_u32(slice_str(values[3]), &s.pid))
        return errmsg_set(p->err, LAUNCH_USAGE, "%s: '%.100s' is not a process id", p->name,
                          values[3]);
    p->opt->singleton = s;
    return 0;
}

static int add_attr(struct launch_options *opt, struct slice key, struct slice value)
{
    if (opt->njob_attrs == opt->job_attrs_room) {
        uint32_t room = opt->job_attrs_room ? opt->job_attrs_room * 2 : 8;
        struct spawn_pair *more = arena_array(&opt->arena, room, sizeof *more);
        if (!more)
            return -ENOMEM;
        if (opt->njob_attrs)
            memcpy(more, opt->job_attrs, opt->njob_attrs * sizeof *more);
        opt->job_attrs = more;
        opt->job_attrs_room = room;
    }
    opt->job_attrs[opt->njob_attrs++] =
        (struct spawn_pair){ arena_copy(&opt->arena, key), arena_copy(&opt->arena, value) };
    return arena_ok(&opt->arena) ? 0 : -ENOMEM;
}

/* Attributes that clients can read. */
static int on_job_attr(struct option_parse *p, const struct option_row *row,
                       const char *const *values)
{
    struct slice value = slice_str(values[0]), key = slice_cut(&value, '=');

    (void)row;
    if (!strchr(values[0], '=') || key.len == 0)
        return errmsg_set(p->err, LAUNCH_USAGE, "%s must be KEY=VALUE, not '%.100s'", p->name,
                          values[0]);
    if (key.len >= LIMIT_PMI_KEY || value.len >= LIMIT_PMI_VALUE)
        return errmsg_set(p->err, LAUNCH_USAGE,
                          "%s: a key may have %d characters and a value %d: '%.100s'", p->name,
                          LIMIT_PMI_KEY - 1, LIMIT_PMI_VALUE - 1, values[0]);
    return add_attr(p->opt, key, value);
}

/* A name for people, of a job or a DVM. */
static int take_name(struct option_parse *p, const char *name, const char **name_p)
{
    size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-");

    if (!((*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z')) || name[len] ||
        len > LIMIT_JOB_NAME)
        return errmsg_set(
            p->err, LAUNCH_USAGE,
            "%s must begin with a letter and have at most %d letters, digits and . _ -, "
            "not '%.100s'",
            p->name, LIMIT_JOB_NAME, name);
    *name_p = name;
    return 0;
}

static int on_job_name(struct option_parse *p, const struct option_row *row,
                       const char *const *values)
{
    (void)row;
    return take_name(p, values[0], &p->opt->job_name);
}

static int add_staged(struct option_parse *p, const char *value, bool several)
{
    struct launch_staged **at = &p->opt->stage, *s = arena_alloc(&p->opt->arena, sizeof *s);

    if (!s)
        return -ENOMEM;
    while (*at)
        at = &(*at)->next;
    *s = (struct launch_staged){ .paths = slice_str(value), .several = several };
    *at = s;
    return 0;
}

static int on_stage(struct option_parse *p, const struct option_row *row, const char *const *values)
{
    (void)row;
    return add_staged(p, values[0], false);
}

static int on_preload_files(struct option_parse *p, const struct option_row *row,
                            const char *const *values)
{
    (void)row;
    return add_staged(p, values[0], true);
}

/* batch.h takes it where it belongs: among the options of `wireup run`. */
static int on_batch(struct option_parse *p, const struct option_row *row, const char *const *values)
{
    (void)row;
    return errmsg_set(p->err, LAUNCH_USAGE,
                      "%s is for wireup run: wireup run -batch %.200s [OPTIONS]", p->name,
                      values[0]);
}

static int on_batch_stop(struct option_parse *p, const struct option_row *row,
                         const char *const *values)
{
    (void)row, (void)values;
    return errmsg_set(p->err, LAUNCH_USAGE, "%s is for wireup run -batch FILE", p->name);
}

static int on_dvm_name(struct option_parse *p, const struct option_row *row,
                       const char *const *values)
{
    (void)row;
    return take_name(p, values[0], &p->opt->dvm_name);
}

static const char *const interfaces[] = { "PMIx 3 to 5", "PMI 2.0", "PMI 1.2", "PMI 1.1" };

enum { INTERFACES = sizeof interfaces / sizeof *interfaces };

void options_version(struct buf *out)
{
    buf_str(out, "wireup " WIREUP_VERSION "\nInterfaces:");
    for (int i = 0; i < INTERFACES; i++)
        buf_printf(out, "%s %s", i ? "," : "", interfaces[i]);
    buf_byte(out, '\n');
}

void options_version_json(struct json *j)
{
    json_str(j, "version", WIREUP_VERSION);
    json_array(j, "interfaces");
    for (int i = 0; i < INTERFACES; i++)
        json_str(j, NULL, interfaces[i]);
    json_array_end(j);
}

static int on_version(struct option_parse *p, const struct option_row *row,
                      const char *const *values)
{
    (void)row, (void)values;
    options_version(&p->opt->answer);
    return LAUNCH_SHOW;
}

static int on_help(struct option_parse *p, const struct option_row *row, const char *const *values)
{
    (void)row, (void)values;
    options_help(&p->opt->answer);
    return LAUNCH_SHOW;
}

/* ---- the table ---- */

#define JOB(field) .offset = offsetof(struct launch_options, field)
#define PLACES(field)                                                                              \
    .offset = offsetof(struct launch_options, field), .own = offsetof(struct launch_block, field)
#define BLOCK(field) .in_block = true, .offset = offsetof(struct launch_block, field)
#define ON           TAKE_ON
#define OFF          TAKE_OFF
#define U32          TAKE_U32
#define TEXT         TAKE_TEXT
#define WORD         TAKE_WORD
#define CALL         TAKE_CALL

enum { FIRST = __COUNTER__ + 1 };

struct option_row option_row_at(size_t i)
{
    switch (i) {
#define ROW(kind, ...)                                                                             \
    case __COUNTER__ - FIRST:                                                                      \
        return (struct option_row){ __VA_ARGS__, .at = i };
#include "launch/options_rows.def"
#undef ROW
    }
    return (struct option_row){ .names = "" };
}

enum { ROWS = __COUNTER__ - FIRST };

const size_t option_row_count = ROWS;

/* For find_row(): an option is looked for before anything starts, and would be compared with the
 * names in some 300 rows of code. */
static const struct row_names {
    enum { OF_GROUP, OF_OPTION, OF_SETTING, OF_SYNONYM, OF_CALLED } kind;
    char names[76];
} row_names[ROWS] = {
#define FIRST_OF(names, ...) names
#define ROW(of, ...)         { .kind = OF_##of, FIRST_OF(__VA_ARGS__, ) },
#include "launch/options_rows.def"
#undef ROW
};

#undef ON
#undef OFF
#undef U32
#undef TEXT
#undef WORD
#undef CALL

uint32_t option_values(const struct option_row *row)
{
    bool one = row->take == TAKE_U32 || row->take == TAKE_TEXT || row->take == TAKE_WORD;

    return one ? 1 : row->count;
}

/* Without cutting the names into slices: an option is looked for in all rows, before anything
 * starts. */
static bool has_name(const char *names, struct slice name)
{
    for (const char *at = names; at; at = strchr(at, '|')) {
        at += *at == '|';
        if (*at == *name.ptr && strncmp(at, name.ptr, name.len) == 0 &&
            (at[name.len] == '|' || at[name.len] == '\0'))
            return true;
    }
    return false;
}

/* The first row of a name, of those for our own names, or for mpirun's. */
static bool find_row(struct slice name, bool called, struct option_row *row_p)
{
    if (name.len == 0 || memchr(name.ptr, '|', name.len))
        return false;
    for (size_t i = 0; i < ROWS; i++) {
        if (row_names[i].kind != OF_GROUP && (row_names[i].kind == OF_CALLED) == called &&
            has_name(row_names[i].names, name)) {
            *row_p = option_row_at(i);
            return true;
        }
    }
    return false;
}

bool option_find(struct slice name, struct option_row *row_p)
{
    return find_row(name, false, row_p) &&
           (row_p->take != TAKE_ALIAS || find_row(slice_str(row_p->as), false, row_p));
}

static bool find_called(const struct option_parse *p, struct slice name, struct option_row *row_p)
{
    return (p->as_mpirun && find_row(name, true, row_p)) || option_find(name, row_p);
}

static bool is_alias_of(size_t i, const struct option_row *row)
{
    struct option_row alias = option_row_at(i);

    return alias.take == TAKE_ALIAS && slice_is(option_name(row), alias.as);
}

bool option_each_name(const struct option_row *row, size_t *at_p, struct slice *rest_p,
                      struct slice *name_p)
{
    if (*at_p == 0) {
        *rest_p = slice_str(row->names);
        *at_p = 1;
    }
    while (!option_next_name(rest_p, name_p)) {
        while (*at_p <= ROWS && !is_alias_of(*at_p - 1, row))
            (*at_p)++;
        if (*at_p > ROWS)
            return false;
        *rest_p = slice_str(row_names[(*at_p)++ - 1].names);
    }
    return true;
}

/* ---- one option ---- */

/* The option stands in front of a program after the first. */
static bool is_own(const struct option_parse *p)
{
    return p->source == OPTION_TYPED && p->opt->nblocks > 0;
}

static void *field_of(struct option_parse *p, const struct option_row *row)
{
    char *base = row->in_block ? (char *)p->block : (char *)p->opt;

    if (row->own && is_own(p))
        return (char *)p->block + row->own;
    return base + row->offset;
}

static int set_u32(struct option_parse *p, const struct option_row *row, const char *text)
{
    uint32_t value;

    if (!slice_u32(slice_str(text), &value) || value < row->min || value > row->max)
        return errmsg_set(p->err, LAUNCH_USAGE, "%s must be a number from %u to %u, not '%.100s'",
                          p->name, row->min, row->max, text);
    *(uint32_t *)field_of(p, row) = value;
    return 0;
}

static int set_word(struct option_parse *p, const struct option_row *row, const char *text)
{
    struct slice rest = slice_str(row->words), word;
    uint32_t at = 0;

    for (; option_next_name(&rest, &word); at++) {
        if (word.len == strlen(text) && strncasecmp(word.ptr, text, word.len) == 0) {
            *(uint32_t *)field_of(p, row) = at;
            return 0;
        }
    }
    return errmsg_set(p->err, LAUNCH_USAGE, "%s must be one of %s, not '%.100s'", p->name,
                      row->words, text);
}

static int refuse(struct option_parse *p, const struct option_row *row)
{
    return errmsg_set(p->err, LAUNCH_USAGE, "%s is not supported: %s", p->name, row->help);
}

/* Settings of a file that give way together to what comes later. */
static void forget_set(struct launch_options *o, enum option_set set)
{
    switch (set) {
    case SET_NODES:
        o->hosts = (struct host_list){ 0 };
        o->hostfile = NULL;
        break;
    case SET_PLACES:
        o->map_by = o->rank_by = o->rankmap = o->rankfile = NULL;
        o->ppn = o->cpus_per_rank = o->gpus_per_rank = o->ranks_per_device = 0;
        break;
    case SET_ROOM: o->oversubscribe = o->no_oversubscribe = false; break;
    case SET_FORWARD:
        o->env.forward = ENV_UNSAID;
        o->env.list = o->env.list_last = NULL;
        break;
    case SET_OUTPUT:
        o->outfile_pattern = o->errfile_pattern = NULL;
        o->output_file = o->output_directory = NULL;
        break;
    case SET_LIMIT:
        o->timeout_s = o->warning_s = 0;
        o->warning = 0;
        break;
    case SET_NONE:
    case OPTION_SETS: break;
    }
}

static bool by_file(enum option_source source)
{
    return source > OPTION_DEFAULT && source < OPTION_ENVIRONMENT;
}

/* The nodes of a later program are its own, as its places are. */
static void take_decision(struct option_parse *p, const struct option_row *row)
{
    enum option_source *by = &p->opt->set_by[row->set];

    if (row->set == SET_NONE || (row->set == SET_NODES && !p->nodes_for_all) ||
        (row->own && is_own(p)))
        return;
    if (by_file(*by) && p->source > *by)
        forget_set(p->opt, row->set);
    *by = p->source;
}

/* For `wireup config`. */
static int note_setting(struct option_parse *p, const struct option_row *row, const char *value)
{
    struct launch_options *o = p->opt;
    struct option_setting *s = arena_alloc(&o->arena, sizeof *s);
    const char *where = p->where ? p->where : arena_str(&o->arena, slice_str(p->name));

    if (!s || !value || !where)
        return -ENOMEM;
    *s = (struct option_setting){ NULL, row->at, p->source, value, where };
    if (o->last_setting)
        o->last_setting->next = s;
    else
        o->settings = s;
    o->last_setting = s;
    return 0;
}

/* "KEY VALUE": the second may be a word that the callback takes itself. */
static const char *values_text(struct option_parse *p, const struct option_row *row,
                               const char *const *values)
{
    uint32_t n = option_values(row);

    if (n == 0)
        return "yes";
    if (n == 1 && p->where && p->left)
        return arena_printf(&p->opt->arena, "%s %s", values[0], *p->next);
    return n == 1 ? arena_str(&p->opt->arena, slice_str(values[0]))
                  : arena_printf(&p->opt->arena, "%s %s", values[0], values[1]);
}

/* What a file cannot say. */
static int check_setting(struct option_parse *p, const struct option_row *row, const char *value)
{
    if (row->typed)
        return option_wrong(p, "this belongs on the command line: %s", row->typed);
    if (p->file && p->file->found && row->take != TAKE_NOTHING &&
        (!row->project || strstr(value, "file=")))
        return option_wrong(p,
                            "a file that nobody has named cannot say this; to use it: -config %s",
                            p->file->name);
    return 0;
}

/* A setting of a file, or of the environment. */
static int check_and_note(struct option_parse *p, const struct option_row *row, const char *value)
{
    int rc = value ? 0 : -ENOMEM;

    if (rc == 0 && by_file(p->source))
        rc = check_setting(p, row, value);
    return rc ? rc : note_setting(p, row, value);
}

static int store(struct option_parse *p, const struct option_row *row, const char *const *values)
{
    switch (row->take) {
    case TAKE_ON: *(bool *)field_of(p, row) = true; return 0;
    case TAKE_OFF: *(bool *)field_of(p, row) = false; return 0;
    case TAKE_U32: return set_u32(p, row, values[0]);
    case TAKE_TEXT: *(const char **)field_of(p, row) = values[0]; return 0;
    case TAKE_WORD: return set_word(p, row, values[0]);
    case TAKE_CALL: return row->call(p, row, values);
    case TAKE_REFUSED: return refuse(p, row);
    case TAKE_AS:
    case TAKE_NOTHING:
    case TAKE_ALIAS:
    case TAKE_GROUP: break;
    }
    return 0;
}

static int apply(struct option_parse *p, const struct option_row *row, const char *const *values)
{
    int rc = 0;

    if (row->take == TAKE_AS)
        return option_apply(p, row->as, row->count ? values[0] : NULL);
    if (p->source != OPTION_DEFAULT && p->source != OPTION_TYPED)
        rc = check_and_note(p, row, values_text(p, row, values));
    if (rc == 0)
        take_decision(p, row);
    return rc ? rc : store(p, row, values);
}

/* "ppr:%:socket" with the value in its place. */
static const char *fill_in(struct option_parse *p, struct slice text, const char *value)
{
    struct slice rest = text, head = slice_cut(&rest, '%');

    if (head.len == text.len)
        return arena_str(&p->opt->arena, text);
    return arena_printf(&p->opt->arena, SLICE_FMT "%s" SLICE_FMT, SLICE_ARG(head),
                        value ? value : "", SLICE_ARG(rest));
}

int option_apply(struct option_parse *p, const char *as, const char *value)
{
    struct slice rest = slice_str(as);
    int rc = 0;

    while (rest.len && rc == 0) {
        struct option_row row;
        bool known = option_find(slice_cut(&rest, ' '), &row);
        const char *given[4] = { NULL };
        for (uint32_t i = 0; known && i < option_values(&row); i++) {
            given[i] = fill_in(p, slice_cut(&rest, ' '), value);
            if (!given[i])
                return -ENOMEM;
        }
        rc = known ? apply(p, &row, given) : -EINVAL;
    }
    return rc;
}

int option_set_variable(struct option_parse *p, const char *name, const char *typed,
                        const char *value)
{
    int rc = environ_set(&p->opt->arena, &p->opt->env, slice_str(name), slice_str(value));

    return bad_name(p, rc, typed);
}

int option_wrong(struct option_parse *p, const char *format, ...)
{
    struct errmsg why;
    va_list args;

    va_start(args, format);
    vsnprintf(why.text, sizeof why.text, format, args);
    va_end(args);
    return errmsg_set(p->err, LAUNCH_USAGE, "%s: %.900s", p->name, why.text);
}

void option_name_variable(struct option_parse *p, struct slice name)
{
    snprintf(p->name, sizeof p->name, "the variable " SLICE_FMT, SLICE_ARG(slice_head(name, 100)));
}

void option_set_restarts(struct option_parse *p, uint32_t n, bool replace)
{
    p->opt->restarts = n;
    p->opt->replace = replace;
}

struct arena *option_arena(struct option_parse *p)
{
    return &p->opt->arena;
}

const char **option_map_by(struct option_parse *p)
{
    return is_own(p) ? &p->block->map_by : &p->opt->map_by;
}

const char **option_bind_to(struct option_parse *p)
{
    return is_own(p) ? &p->block->bind_to : &p->opt->bind_to;
}

/* Defaults and environment are given as text.  For a flag the text says whether the option applies.
 */
static int apply_text(struct option_parse *p, const struct option_row *row, const char *text)
{
    if ((row->take == TAKE_ON || row->take == TAKE_OFF) && option_words_is_false(text))
        return 0;
    return apply(p, row, &text);
}

bool option_is_setting(size_t i)
{
    return row_names[i].kind == OF_SETTING;
}

/* The next row that is a setting, from *at_p on. */
static bool next_setting(size_t *at_p, struct option_row *row_p)
{
    while (*at_p < ROWS && !option_is_setting(*at_p))
        (*at_p)++;
    if (*at_p == ROWS)
        return false;
    *row_p = option_row_at((*at_p)++);
    return true;
}

static int apply_fallbacks(struct option_parse *p)
{
    struct option_row row;
    int rc = 0;

    for (size_t at = 0; rc == 0 && next_setting(&at, &row);) {
        if (row.fallback)
            rc = apply_text(p, &row, row.fallback);
    }
    return rc;
}

/* The first of the row's variables that says something. */
static const char *variable_of(struct option_parse *p, const struct option_row *row,
                               char *const *envp)
{
    struct slice rest = slice_str(row->env ? row->env : ""), one;

    while (option_next_name(&rest, &one)) {
        const char *name = arena_str(&p->opt->arena, one);
        const char *value = name ? env_value(envp, name) : NULL;
        if (value && *value) {
            option_name_variable(p, one);
            return value;
        }
    }
    return NULL;
}

static int apply_environment(struct option_parse *p, char *const *envp)
{
    int rc = option_words_environment(p, envp);
    struct option_row row;

    for (size_t at = 0; rc == 0 && next_setting(&at, &row);) {
        const char *value = variable_of(p, &row, envp);
        if (value)
            rc = apply_text(p, &row, value);
    }
    return rc;
}

/* ---- files of settings, and the command line ---- */

static int unknown(struct option_parse *p, struct slice name)
{
    struct slice best = SLICE_NULL;
    unsigned nearest = name.len > 5 ? 3 : 2; /* names at a larger distance are not suggested */

    for (size_t i = 0; i < ROWS; i++) {
        struct option_row row = option_row_at(i);
        struct slice rest = slice_str(row.names), one;
        if (row.take == TAKE_GROUP || row.hidden)
            continue;
        while (option_next_name(&rest, &one)) {
            unsigned d = slice_distance(name, one);
            if (d < nearest && one.len > 1) {
                nearest = d;
                best = one;
            }
        }
    }
    if (best.len)
        return errmsg_set(p->err, LAUNCH_USAGE, "unknown option '%s'; did you mean -" SLICE_FMT "?",
                          p->name, SLICE_ARG(best));
    return errmsg_set(p->err, LAUNCH_USAGE, "unknown option '%s'; --help lists all", p->name);
}

static bool is_flag(const struct option_row *row)
{
    return row->take == TAKE_ON || row->take == TAKE_OFF;
}

/* "prepend-rank yes" is "prepend-rank"; no: as if no weaker file had said it. */
static int read_flag(struct option_parse *p, const struct option_row *row, const char *text)
{
    static const char *const yes[] = { "yes", "true", "on", "1" };
    int rc = check_and_note(p, row, text);

    for (size_t i = 0; i < sizeof yes / sizeof *yes && rc == 0; i++) {
        if (strcasecmp(text, yes[i]) == 0)
            return store(p, row, NULL);
    }
    if (rc == 0 && !option_words_is_false(text))
        rc = option_wrong(p, "must be yes or no, not '%.100s'", text);
    if (rc == 0)
        *(bool *)field_of(p, row) = row->take == TAKE_OFF;
    return rc;
}

/* The words of a line behind the name.  A callback may take one more itself. */
static int read_line_values(struct option_parse *p, const struct option_row *row,
                            const char *behind_equals)
{
    const char *values[4] = { behind_equals };
    uint32_t have = behind_equals && *behind_equals, need = option_values(row);
    int rc;

    if (!have && p->left && strcmp(*p->next, "=") == 0)
        p->next++, p->left--;
    if (is_flag(row) && p->left + have == 1)
        return read_flag(p, row, have ? behind_equals : *p->next);
    for (; have < need && p->left; have++, p->left--)
        values[have] = *p->next++;
    if (have < need && row->take != TAKE_REFUSED)
        return missing_value(p, row);
    rc = row->take == TAKE_REFUSED ? refuse(p, row) : apply(p, row, values);
    if (rc == 0 && p->left)
        rc =
            option_wrong(p, "'%.100s' is one word too many; quotes keep blanks together", *p->next);
    return rc;
}

static int read_setting(struct option_parse *p, struct mpmd_words words)
{
    struct slice rest = slice_str(words.items[0]), name;
    struct option_row row;
    bool equals = strchr(words.items[0], '=') != NULL;

    while (rest.len && rest.ptr[0] == '-')
        rest = slice_skip(rest, 1);
    name = slice_cut(&rest, '=');
    p->next = words.items + 1;
    p->left = words.count - 1;
    snprintf(p->name, sizeof p->name, SLICE_FMT, SLICE_ARG(slice_head(name, 100)));
    return option_find(name, &row) ? read_line_values(p, &row, equals ? rest.ptr : NULL)
                                   : unknown(p, name);
}

static int apply_parameter(struct option_parse *p, const struct parameter *q)
{
    const char *const values[] = { q->key, q->value };

    switch (q->kind) {
    case PARAMETER_MCA: return option_words_mca(p, NULL, values);
    case PARAMETER_PRTEMCA: return option_words_prtemca(p, NULL, values);
    case PARAMETER_PMIXMCA: return option_words_pmixmca(p, NULL, values);
    default: break;
    }
    if (q->value)
        return option_set_variable(p, q->key, q->key, q->value);
    return bad_name(p, environ_export(&p->opt->arena, &p->opt->env, slice_str(q->key)), q->key);
}

/* A line of a file of -tune. */
static int read_parameters(struct option_parse *p, struct mpmd_words words)
{
    struct parameter q;
    int rc;

    snprintf(p->name, sizeof p->name, "-tune");
    while ((rc = parameter_next(&p->opt->arena, &words, &q, p->err)) == 0) {
        rc = apply_parameter(p, &q);
        if (rc)
            return rc;
    }
    return rc == PARAMETER_BAD ? LAUNCH_USAGE : rc == PARAMETER_END ? 0 : rc;
}

static int read_settings(struct option_parse *p, const struct settings_file *f)
{
    struct config_reader in = { f->name, f->text, 1 };
    struct errmsg *err = p->err, why = { "" };
    struct mpmd_words words;
    unsigned line;
    int rc;

    p->source = f->source;
    p->file = f;
    while ((rc = mpmd_config_next(&p->opt->arena, &in, &words, &line, err)) == 0) {
        p->err = &why;
        p->where = arena_printf(&p->opt->arena, "%s:%u", f->name, line);
        if (!p->where)
            rc = -ENOMEM;
        else
            rc = f->parameters ? read_parameters(p, words) : read_setting(p, words);
        p->err = err;
        if (rc)
            return rc > 0 ? errmsg_set(err, LAUNCH_USAGE, "%.300s: %.800s", p->where, why.text)
                          : rc;
    }
    p->file = NULL;
    p->where = NULL;
    return rc == MPMD_BAD ? LAUNCH_USAGE : rc == MPMD_END ? 0 : rc;
}

static int apply_files(struct option_parse *p)
{
    int rc = 0;

    p->nodes_for_all = true;
    for (const struct settings_file *f = p->opt->files; f && rc == 0; f = f->next)
        rc = read_settings(p, f);
    p->left = 0;
    return rc;
}

static bool asks_help(const char *word)
{
    return word[0] == '-' &&
           (strcmp(word, "-h") == 0 || strcmp(word, "-help") == 0 || strcmp(word, "--help") == 0);
}

/* Collects the values after an option (the first may follow '=') and applies it. */
static int read_values(struct option_parse *p, const struct option_row *row,
                       const char *behind_equals)
{
    const char *values[4] = { behind_equals };
    uint32_t need = option_values(row), have = behind_equals != NULL;

    if (behind_equals && need == 0)
        return errmsg_set(p->err, LAUNCH_USAGE, "%s takes no value", p->name);
    if (!behind_equals && p->left && row->take != TAKE_REFUSED && asks_help(*p->next)) {
        options_help_one(&p->opt->answer, row);
        return LAUNCH_SHOW;
    }
    if (row->take == TAKE_REFUSED) /* whether or not its values follow */
        return refuse(p, row);
    for (; have < need; have++, p->left--) {
        if (p->left == 0)
            return missing_value(p, row);
        values[have] = *p->next++;
    }
    return apply(p, row, values);
}

/* "-n4": a name of an option that takes a number, and the number. */
static bool find_glued(struct slice name, struct option_row *row_p, const char **number_p)
{
    size_t n = name.len;

    while (n && name.ptr[n - 1] >= '0' && name.ptr[n - 1] <= '9')
        n--;
    *number_p = name.ptr + n;
    return n < name.len && option_find(slice_head(name, n), row_p) && row_p->take == TAKE_U32;
}

static int read_option(struct option_parse *p, const char *word)
{
    const char *equals = strchr(word, '=');
    struct slice name = slice_str(word);
    struct option_row row;
    const char *value = equals ? equals + 1 : NULL;

    while (name.len && name.ptr[0] == '-')
        name = slice_skip(name, 1);
    if (equals)
        name.len = (size_t)(equals - name.ptr);
    snprintf(p->name, sizeof p->name, "-" SLICE_FMT, SLICE_ARG(slice_head(name, 100)));
    if (find_called(p, name, &row) || (!equals && find_glued(name, &row, &value)))
        return read_values(p, &row, value);
    return unknown(p, name);
}

static int new_block(struct option_parse *p, const char *where)
{
    struct launch_block *b;

    if (p->opt->nblocks == LIMIT_SPAWN_COMMANDS)
        return errmsg_set(p->err, LAUNCH_USAGE, "a job can have at most %d programs",
                          LIMIT_SPAWN_COMMANDS);
    b = arena_alloc(&p->opt->arena, sizeof *b);
    if (!b)
        return -ENOMEM;
    *b = p->opt->common;
    b->where = where;
    p->block = b;
    return 0;
}

static void keep_block(struct option_parse *p)
{
    if (p->opt->last_block)
        p->opt->last_block->next = p->block;
    else
        p->opt->blocks = p->block;
    p->opt->last_block = p->block;
    p->opt->nblocks++;
}

static int take_program(struct option_parse *p)
{
    struct launch_block *b = p->block;

    if (p->left == 0)
        return errmsg_set(p->err, LAUNCH_USAGE, "no program to run%s",
                          p->opt->nblocks ? " after the last ':'" : "; see --help");
    if (**p->next == '\0')
        return errmsg_set(p->err, LAUNCH_USAGE, "the name of the program is empty");
    b->argc = p->left;
    b->argv = arena_array(&p->opt->arena, (size_t)p->left + 1, sizeof *b->argv);
    if (!b->argv)
        return -ENOMEM;
    memcpy(b->argv, p->next, p->left * sizeof *b->argv);
    keep_block(p);
    return 0;
}

static int read_options(struct option_parse *p, struct mpmd_words words)
{
    p->next = words.items;
    p->left = words.count;
    while (p->left && (*p->next)[0] == '-') {
        const char *word = *p->next++;
        int rc;
        p->left--;
        if (strcmp(word, "--") == 0)
            break;
        rc = read_option(p, word);
        if (rc)
            return rc;
    }
    return 0;
}

/* The command line has no program of its own because -configfile brings it.  Options there for one
 * program then apply to each line of the file. */
static int leave_to_config(struct option_parse *p, bool alone)
{
    if (!alone)
        return errmsg_set(p->err, LAUNCH_USAGE,
                          "use either -configfile or a program on the command line");
    if (!env_rules_empty(&p->block->env))
        return errmsg_set(
            p->err, LAUNCH_USAGE,
            "with -configfile, only the -genv options may be on the command line, not -env");
    p->opt->common = *p->block;
    return 0;
}

static int read_command_line(struct option_parse *p, struct mpmd_words rest)
{
    bool more = true;

    p->nodes_for_all = true;
    while (more) {
        struct mpmd_words words = mpmd_cut(&rest, &more);
        int rc = new_block(p, NULL);
        if (rc == 0)
            rc = read_options(p, words);
        if (rc == 0 && p->opt->singleton.port)
            return 0;
        if (rc == 0 && p->opt->configfile)
            return leave_to_config(p, p->opt->nblocks == 0 && p->left == 0 && !more);
        if (rc == 0)
            rc = take_program(p);
        if (rc)
            return rc;
        p->nodes_for_all = false;
    }
    return 0;
}

/* The name by which we are called. */
static const char *self_of(int argc, char *const *argv)
{
    const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;

    return slash ? slash + 1 : argc > 0 ? argv[0] : "";
}

static bool is_mpirun(const char *self)
{
    static const char *const names[] = { "mpirun", "orterun", "prterun", "prun" };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!strcmp(self, names[i]))
            return true;
    }
    return false;
}

/* The sub-command `run` may be left out; `mpiexec run` runs a program of that name. */
static struct mpmd_words words_of(int argc, char *const *argv)
{
    const char *self = self_of(argc, argv);
    int skip = argc > 0;

    if (argc > 1 && strcmp(argv[1], "run") == 0 && strncmp(self, "mpi", 3) != 0)
        skip = 2;
    return (struct mpmd_words){ argv + skip, (uint32_t)(argc - skip) };
}

/* ---- options that make up others ------------------------------------------------------------- */

static int check_outputs(const struct launch_options *o, struct errmsg *err)
{
    int given =
        (o->outfile_pattern || o->errfile_pattern) + !!o->output_file + !!o->output_directory;

    if (given < 2)
        return 0;
    return errmsg_set(err, LAUNCH_USAGE,
                      "use one of -output-file, -output-directory and -outfile-pattern");
}

/* -gpus-per-rank and -ranks-per-device are a mapping. */
static int complete_devices(struct launch_options *o, struct errmsg *err)
{
    const char *given = o->map_by ? o->map_by : "device=gpu", *device = given + strlen("device=");

    if (!o->gpus_per_rank && !o->ranks_per_device)
        return 0;
    if (strcmp(given, "device=gpu") != 0 && (strcmp(given, "device=nic") != 0 || o->gpus_per_rank))
        return errmsg_set(err, LAUNCH_USAGE, "use either %s or -map-by %.100s",
                          o->gpus_per_rank ? "-gpus-per-rank" : "-ranks-per-device", given);
    if (o->ppn)
        return errmsg_set(err, LAUNCH_USAGE,
                          "use either %s or -ppn: the devices say how many processes a node has",
                          o->gpus_per_rank ? "-gpus-per-rank" : "-ranks-per-device");
    o->map_by =
        arena_printf(&o->arena, "ppr:%u:%s:%u", o->ranks_per_device ? o->ranks_per_device : 1,
                     device, o->gpus_per_rank ? o->gpus_per_rank : 1);
    return o->map_by ? 0 : -ENOMEM;
}

/* -cpus-per-rank is a modifier of the mapping. */
static void complete_cores(struct launch_options *o)
{
    if (o->cpus_per_rank)
        o->map_by =
            arena_printf(&o->arena, "%s:pe=%u", o->map_by ? o->map_by : "", o->cpus_per_rank);
    o->cpus_per_rank = 0;
    for (struct launch_block *b = o->blocks; b; b = b->next) {
        const char *base = b->map_by ? b->map_by : o->map_by;
        if (b->cpus_per_rank)
            b->map_by = arena_printf(&o->arena, "%s:pe=%u", base ? base : "", b->cpus_per_rank);
        b->cpus_per_rank = 0;
    }
}

static int complete(struct launch_options *o, struct errmsg *err)
{
    int rc = complete_devices(o, err);

    if (rc == 0 && o->topology && !o->dry_run)
        rc = errmsg_set(err, LAUNCH_USAGE, "-topology needs -dry-run: this machine is as it is");
    if (rc == 0 && o->restarts && o->restart_job)
        rc = errmsg_set(err, LAUNCH_USAGE,
                        "use either -on-failure restart, where the others go on, or -restart-job, "
                        "where all begin anew");
    if (rc == 0 && o->replace && o->stage)
        rc = errmsg_set(err, LAUNCH_USAGE,
                        "use either -on-failure replace or -stage: a node that takes the place of "
                        "another has not got the files");
    if (rc == 0 && o->warning && o->timeout_s <= o->warning_s)
        rc = errmsg_set(err, LAUNCH_USAGE, "-timeout-signal needs a -timeout of more than its %u s",
                        o->warning_s);
    if (rc)
        return rc;
    complete_cores(o);
    if (o->prepend_time && !o->prepend_pattern)
        o->prepend_pattern = o->prepend_rank ? "[%t] [%r] " : "[%t] ";
    return arena_ok(&o->arena) ? check_outputs(o, err) : -ENOMEM;
}

int options_parse(struct launch_options *opt, int argc, char *const *argv, char *const *envp,
                  struct errmsg *err)
{
    struct option_parse p = { .opt = opt, .block = &opt->common, .err = err };
    int rc = apply_fallbacks(&p);

    p.as_mpirun = is_mpirun(self_of(argc, argv));
    opt->path_only = strcmp(self_of(argc, argv), "mpiexec.hydra") == 0;
    if (rc == 0)
        rc = apply_files(&p);
    p.source = OPTION_ENVIRONMENT;
    if (rc == 0)
        rc = apply_environment(&p, envp);
    p.source = OPTION_TYPED;
    if (rc == 0)
        rc = read_command_line(&p, words_of(argc, argv));
    return rc ? rc : complete(opt, err);
}

static int read_config_line(struct option_parse *p, struct mpmd_words words, const char *where)
{
    const char *configfile = p->opt->configfile, *config = p->opt->config, *tune = p->opt->tune;
    int rc = new_block(p, where);

    if (rc == 0)
        rc = read_options(p, words);
    if (rc == 0 && p->opt->configfile != configfile)
        rc = errmsg_set(p->err, LAUNCH_USAGE,
                        "-configfile is not allowed within a configuration file");
    if (rc == 0 && p->opt->config != config)
        rc = errmsg_set(p->err, LAUNCH_USAGE, "-config must be on the command line");
    if (rc == 0 && p->opt->tune != tune)
        rc = errmsg_set(p->err, LAUNCH_USAGE, "-tune must be on the command line");
    return rc ? rc : take_program(p);
}

int options_parse_config(struct launch_options *opt, const char *name, struct slice text,
                         struct errmsg *err)
{
    struct config_reader in = { name, text, 1 };
    struct errmsg why;
    struct option_parse p = { .opt = opt, .err = &why, .source = OPTION_TYPED };
    struct mpmd_words words;
    unsigned line;
    int rc;

    p.nodes_for_all = by_file(opt->set_by[SET_NODES]) || (opt->hosts.count == 0 && !opt->hostfile);
    while ((rc = mpmd_config_next(&opt->arena, &in, &words, &line, err)) == 0) {
        const char *where = arena_printf(&opt->arena, "%s:%u", name, line);
        rc = where ? read_config_line(&p, words, where) : -ENOMEM;
        if (rc)
            return rc > LAUNCH_SHOW ? errmsg_set(err, rc, "%.200s: %.800s", where, why.text) : rc;
        p.nodes_for_all = false;
    }
    if (rc == MPMD_BAD)
        return LAUNCH_USAGE;
    if (rc == MPMD_END && opt->nblocks == 0)
        return errmsg_set(err, LAUNCH_USAGE, "the configuration file %.200s has no program", name);
    if (rc != MPMD_END)
        return rc;
    complete_cores(opt);
    return arena_ok(&opt->arena) ? LAUNCH_GO : -ENOMEM;
}

void launch_options_init(struct launch_options *opt)
{
    memset(opt, 0, sizeof *opt);
    arena_init(&opt->arena, OPTIONS_MAX);
    buf_init(&opt->answer, ANSWER_MAX);
    buf_init(&opt->remarks, REMARKS_MAX);
}

void launch_options_free(struct launch_options *opt)
{
    arena_free(&opt->arena);
    buf_free(&opt->answer);
    buf_free(&opt->remarks);
    launch_options_init(opt);
}

int launch_exit_code(int rc)
{
    switch (rc) {
    case LAUNCH_GO:
    case LAUNCH_SHOW: return 0;
    case LAUNCH_USAGE: return 2;
    case LAUNCH_NOT_FOUND: return 127;
    case LAUNCH_NOT_EXECUTABLE: return 126;
    default: return 125;
    }
}
