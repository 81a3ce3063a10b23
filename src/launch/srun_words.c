/* srun_words.c - see srun_words.h.  Reading order: words; values; the table; options; programs. */
#include "launch/srun_words.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/limit.h"
#include "launch/hostlist.h"
#include "launch/mpmd.h"
#include "launch/options.h"
#include "launch/options_table.h"

enum { WORDS_MAX = 1 << 20 };

/* One part of the command line, up to a `:`. */
struct srun_part {
    struct arena *a;
    struct errmsg *err;
    const char *option; /* "--output": for messages */
    char **words;
    uint32_t n, room;
    uint32_t nodes, tasks; /* 0: not said */
    uint32_t plane;        /* so many ranks on each node in turn; 0: not said */
    bool kill, has_input, has_errfile;
    const char *errfile;         /* that of --output */
    const char *hosts, *exclude; /* NULL: not said */
    struct buf *answer, *remarks;
    srun_words_file *file;
    bool many; /* --multi-prog */
};

/* ---- words ----------------------------------------------------------------------------------- */

static int wrong(struct srun_part *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static int wrong(struct srun_part *p, const char *format, ...)
{
    struct errmsg why;
    va_list args;

    va_start(args, format);
    vsnprintf(why.text, sizeof why.text, format, args);
    va_end(args);
    return errmsg_set(p->err, LAUNCH_USAGE, "%s: %.900s", p->option, why.text);
}

static int add(struct srun_part *p, const char *word)
{
    if (!word || p->n == WORDS_MAX)
        return -ENOMEM;
    if (p->n == p->room) {
        uint32_t room = p->room ? p->room * 2 : 32;
        char **more = arena_array(p->a, room, sizeof *more);
        if (!more)
            return -ENOMEM;
        if (p->n)
            memcpy(more, p->words, p->n * sizeof *more);
        p->words = more;
        p->room = room;
    }
    p->words[p->n++] = (char *)(uintptr_t)word;
    return 0;
}

static int add_two(struct srun_part *p, const char *option, const char *value)
{
    int rc = add(p, option);

    return rc ? rc : add(p, value);
}

static int add_number(struct srun_part *p, const char *option, uint32_t value)
{
    return add_two(p, option, arena_printf(p->a, "%u", value));
}

/* ---- values ---------------------------------------------------------------------------------- */

static int read_count(struct srun_part *p, struct slice text, uint32_t *n_p)
{
    if (!slice_u32(text, n_p) || *n_p == 0 || *n_p > LIMIT_JOB_PROCS)
        return wrong(p, "'" SLICE_FMT "' is not a number from 1 on",
                     SLICE_ARG(slice_head(text, 100)));
    return 0;
}

static int read_tasks(struct srun_part *p, const char *value)
{
    return read_count(p, slice_str(value), &p->tasks);
}

/* "4", or the most of "2-4". */
static int read_nodes(struct srun_part *p, const char *value)
{
    struct slice most = slice_str(value), least = slice_cut(&most, '-');

    return read_count(p, most.len ? most : least, &p->nodes);
}

struct choice {
    const char *word, *option, *value;
};

static const struct choice *choose(const struct choice *all, size_t n, struct slice word)
{
    for (size_t i = 0; i < n; i++) {
        if (slice_is(word, all[i].word))
            return &all[i];
    }
    return NULL;
}

#define CHOOSE(all, word) choose((all), sizeof(all) / sizeof *(all), (word))

static int add_choice(struct srun_part *p, const struct choice *c)
{
    if (!c->option)
        return 0;
    return c->value ? add_two(p, c->option, c->value) : add(p, c->option);
}

static int read_distribution(struct srun_part *p, const char *value)
{
    static const struct choice nodes[] = { { "block", "-map-by", "slot" },
                                           { "cyclic", "-map-by", "node" },
                                           { "*", NULL, NULL } };
    static const struct choice sockets[] = { { "", NULL, NULL },
                                             { "*", NULL, NULL },
                                             { "block", NULL, NULL },
                                             { "cyclic", "-map-by", "socket" } };
    struct slice rest = slice_str(value), first = slice_cut(&rest, ':');
    const struct choice *a = CHOOSE(nodes, first), *b = CHOOSE(sockets, rest);
    bool spread = a && a->value && !strcmp(a->value, "node");

    if (slice_starts(first, SLICE("plane=")) && !rest.len)
        return read_count(p, slice_skip(first, 6), &p->plane);
    if (!a || !b || (spread && b->value))
        return wrong(
            p, "'%.100s' is not supported: block, cyclic, block:block, block:cyclic or plane=N",
            value);
    return add_choice(p, b->value ? b : a);
}

/* One mask in hexadecimal digits: its processors, with '+' between them. */
static const char *mask_text(struct srun_part *p, struct slice mask)
{
    const char *text = "";

    if (slice_starts(mask, SLICE("0x")))
        mask = slice_skip(mask, 2);
    for (size_t i = 0; i < mask.len && text; i++) {
        static const char digits[] = "0123456789abcdef";
        const char *digit = memchr(digits, mask.ptr[mask.len - 1 - i] | 0x20, 16);
        if (!digit || i > 1000)
            return NULL;
        for (unsigned b = 0; b < 4 && text; b++) {
            if ((digit - digits) & 1 << b)
                text = arena_printf(p->a, "%s%s%zu", text, *text ? "+" : "", i * 4 + b);
        }
    }
    return text && *text ? text : NULL;
}

/* "mask_cpu:0x3,0xc": user:0+1,2+3 */
static int read_masks(struct srun_part *p, struct slice rest)
{
    const char *all = "";

    while (rest.len && all) {
        struct slice mask = slice_cut(&rest, ',');
        const char *one = mask_text(p, mask);
        if (!one)
            return wrong(p, "'" SLICE_FMT "' is not a mask of processors",
                         SLICE_ARG(slice_head(mask, 100)));
        all = arena_printf(p->a, "%s%s%s", all, *all ? "," : "", one);
    }
    return all && *all ? add_two(p, "-bind-to", arena_printf(p->a, "user:%s", all))
                       : wrong(p, "a mask of processors must follow mask_cpu:");
}

/* "verbose,cores" */
static int read_cpu_bind(struct srun_part *p, const char *value)
{
    static const struct choice all[] = {
        { "none", "-bind-to", "none" },
        { "no", "-bind-to", "none" },
        { "threads", "-bind-to", "hwthread" },
        { "cores", "-bind-to", "core" },
        { "sockets", "-bind-to", "socket" },
        { "ldoms", "-bind-to", "numa" },
        { "rank", "-bind-to", "rr" },
        { "verbose", "-report-bindings", NULL },
        { "v", "-report-bindings", NULL },
        { "quiet", NULL, NULL },
        { "q", NULL, NULL },
    };
    struct slice rest = slice_str(value);
    int rc = 0;

    while (rest.len && rc == 0) {
        const struct choice *c;
        if (slice_starts(rest, SLICE("map_cpu:")))
            return add_two(p, "-bind-to",
                           arena_printf(p->a, "user:" SLICE_FMT, SLICE_ARG(slice_skip(rest, 8))));
        if (slice_starts(rest, SLICE("mask_cpu:")))
            return read_masks(p, slice_skip(rest, 9));
        c = CHOOSE(all, slice_cut(&rest, ','));
        rc = c ? add_choice(p, c)
               : wrong(p,
                       "'%.100s' is not supported: none, threads, cores, sockets, ldoms, rank "
                       "map_cpu:LIST or mask_cpu:LIST",
                       value);
    }
    return rc;
}

static int read_input(struct srun_part *p, const char *value)
{
    uint32_t rank;

    p->has_input = true;
    if (strcmp(value, "all") != 0 && strcmp(value, "none") != 0 &&
        !slice_u32(slice_str(value), &rank))
        return wrong(p, "redirect the file: wireup srun ... <'%.100s'", value);
    return add_two(p, "-stdin", value);
}

/* "%t" of Slurm is our "%r". */
static const char *pattern_of(struct srun_part *p, const char *value)
{
    static const char theirs[] = "tNnjJ%", ours[] = "rhpnn%";
    char *text = arena_str(p->a, slice_str(value));

    for (char *at = text; at && (at = strchr(at, '%')) != NULL; at += at[1] ? 2 : 1) {
        const char *found = at[1] ? strchr(theirs, at[1]) : NULL;
        if (!found) {
            wrong(p, "'%.2s' in '%.100s' is not supported: %%t, %%N, %%n, %%j and %%J are", at,
                  value);
            return NULL;
        }
        at[1] = ours[found - theirs];
    }
    return text;
}

static int read_output(struct srun_part *p, const char *value)
{
    uint32_t rank;
    const char *pattern;

    if (!strcmp(value, "all"))
        return 0;
    if (slice_u32(slice_str(value), &rank))
        return add_two(p, "-output-from", value);
    pattern = strcmp(value, "none") != 0 ? pattern_of(p, value) : "/dev/null";
    p->errfile = strcmp(value, "none") != 0 ? pattern : NULL;
    return pattern ? add_two(p, "-outfile-pattern", pattern) : LAUNCH_USAGE;
}

static int read_error(struct srun_part *p, const char *value)
{
    const char *pattern = strcmp(value, "none") != 0 ? pattern_of(p, value) : "/dev/null";

    p->has_errfile = true;
    if (!strcmp(value, "all"))
        return 0;
    return pattern ? add_two(p, "-errfile-pattern", pattern) : LAUNCH_USAGE;
}

static int read_kill(struct srun_part *p, const char *value)
{
    if (value && strcmp(value, "0") != 0 && strcmp(value, "1") != 0)
        return wrong(p, "'%.100s' is neither 0 nor 1", value);
    p->kill = !value || value[0] == '1';
    return 0;
}

static int export_one(struct srun_part *p, struct slice item)
{
    const char *text = arena_str(p->a, item);

    return text ? add_two(p, "-x", text) : -ENOMEM;
}

static int read_export(struct srun_part *p, const char *value)
{
    struct slice rest = slice_str(value);
    bool all = false;
    uint32_t at;
    int rc;

    rc = add(p, "-envnone"); /* becomes -envall when the list says so */
    at = p->n - 1;
    while (rest.len && rc == 0) {
        struct slice item = slice_cut(&rest, ',');
        if (slice_is(item, "ALL"))
            all = true;
        else if (!slice_is(item, "NONE"))
            rc = export_one(p, item);
    }
    if (rc == 0 && all)
        p->words[at] = (char *)(uintptr_t) "-envall";
    return rc;
}

/* Numbers from the right end: seconds, minutes, hours. */
static bool read_clock(struct slice text, bool days, uint64_t *seconds_p)
{
    uint64_t part[3] = { 0 }, n = 0;

    while (text.len && n < 3) {
        if (!slice_u64(slice_cut(&text, ':'), &part[n++]) || part[n - 1] > 1000000)
            return false;
    }
    if (text.len || n == 0)
        return false;
    if (days)
        *seconds_p = part[0] * 3600 + part[1] * 60 + part[2];
    else if (n == 3)
        *seconds_p = part[0] * 3600 + part[1] * 60 + part[2];
    else
        *seconds_p = part[0] * 60 + part[1];
    return true;
}

static int read_time(struct srun_part *p, const char *value)
{
    struct slice clock = slice_str(value), days = SLICE_NULL;
    uint64_t seconds, ndays = 0;
    bool dashed = strchr(value, '-') != NULL;

    if (dashed)
        days = slice_cut(&clock, '-');
    if ((dashed && (!slice_u64(days, &ndays) || ndays > 10000)) ||
        !read_clock(clock, dashed, &seconds))
        return wrong(p, "'%.100s' is not a time: MINUTES, M:S, H:M:S, D-H, D-H:M or D-H:M:S",
                     value);
    seconds += ndays * 86400;
    if (seconds > 1000000000)
        return wrong(p, "'%.100s' is too long", value);
    return add_number(p, "-timeout", (uint32_t)seconds);
}

/* The text of a file of the command line, in the arena. */
static int read_file(struct srun_part *p, const char *name, struct slice *text_p)
{
    struct buf text = BUF_NULL((size_t)64 << 20);
    int rc = p->file(name, &text);
    const char *kept = rc < 0 ? NULL : arena_str(p->a, buf_slice(&text));

    buf_free(&text);
    if (rc < 0)
        return wrong(p, "cannot read %.200s: %s", name, err_text(rc));
    *text_p = slice_str(kept ? kept : "");
    return kept ? 0 : -ENOMEM;
}

/* Lists of nodes in lines: one list. */
static int read_nodefile(struct srun_part *p, const char *value)
{
    struct slice rest = SLICE_NULL;
    const char *all = "";
    int rc = read_file(p, value, &rest);

    while (rc == 0 && rest.len && all) {
        struct slice line = slice_trim(slice_cut(&rest, '\n'));
        if (line.len)
            all = arena_printf(p->a, "%s%s" SLICE_FMT, all, *all ? "," : "", SLICE_ARG(line));
    }
    if (rc == 0 && all && !*all)
        return wrong(p, "%.200s names no node", value);
    p->hosts = all;
    return rc || all ? rc : -ENOMEM;
}

static int read_nodelist(struct srun_part *p, const char *value)
{
    if (strchr(value, '/'))
        return read_nodefile(p, value);
    p->hosts = value;
    return 0;
}

static int read_exclude(struct srun_part *p, const char *value)
{
    p->exclude = value;
    return 0;
}

/* The nodes of -w without those of -x, in our own words. */
static int complete_hosts(struct srun_part *p)
{
    struct host_list all = { .count = 0 }, out = { .count = 0 };
    const char *text = "";
    int rc;

    if (!p->hosts)
        return errmsg_set(p->err, LAUNCH_USAGE,
                          "srun --exclude needs the nodes to choose from: give "
                          "the nodes to use by -w");
    rc = hostlist_nodes(p->a, &all, slice_str(p->hosts), "srun -w", p->err);
    if (rc == 0 && p->exclude)
        rc = hostlist_nodes(p->a, &out, slice_str(p->exclude), "srun -x", p->err);
    if (rc)
        return rc < 0 ? rc : LAUNCH_USAGE;
    for (uint32_t i = 0; i < all.count && text; i++) {
        if (!hosts_has(&out, all.items[i].name))
            text = arena_printf(p->a, "%s%s%s", text, *text ? "," : "", all.items[i].name);
    }
    if (text && !*text)
        return errmsg_set(p->err, LAUNCH_USAGE, "srun --exclude leaves no node");
    return add_two(p, "-hosts", text);
}

static int add_ppr(struct srun_part *p, const char *value, const char *object)
{
    uint32_t n;
    int rc = read_count(p, slice_str(value), &n);

    return rc ? rc : add_two(p, "-map-by", arena_printf(p->a, "ppr:%u:%s", n, object));
}

static int read_per_socket(struct srun_part *p, const char *value)
{
    return add_ppr(p, value, "socket");
}

static int read_per_core(struct srun_part *p, const char *value)
{
    return add_ppr(p, value, "core");
}

static int read_choice(struct srun_part *p, const char *value, const struct choice *all, size_t n)
{
    const struct choice *c = choose(all, n, slice_str(value));

    return c ? add_choice(p, c) : wrong(p, "'%.100s' is not supported", value);
}

static int read_gpu_bind(struct srun_part *p, const char *value)
{
    static const struct choice all[] = { { "closest", NULL, NULL }, { "none", NULL, NULL } };

    return read_choice(p, value, all, sizeof all / sizeof *all);
}

static int read_tres_bind(struct srun_part *p, const char *value)
{
    const char *gpu = "gres/gpu:";

    if (strncmp(value, gpu, strlen(gpu)) != 0)
        return wrong(p, "'%.100s' is not supported: gres/gpu:closest or gres/gpu:none", value);
    return read_gpu_bind(p, value + strlen(gpu));
}

/* "cpu=4", "gres/gpu=1", "gres/gpu:a100=2" */
static int read_one_tres(struct srun_part *p, struct slice text)
{
    struct slice count = text, name = slice_cut(&count, '=');
    uint32_t n;
    bool gpu = slice_is(name, "gres/gpu") || slice_starts(name, SLICE("gres/gpu:"));
    int rc;

    if (!gpu && !slice_is(name, "cpu"))
        return wrong(p, "'" SLICE_FMT "' is not supported: cpu=N and gres/gpu=N are",
                     SLICE_ARG(slice_head(text, 100)));
    rc = read_count(p, count, &n);
    return rc ? rc : add_number(p, gpu ? "-gpus-per-rank" : "-cpus-per-rank", n);
}

static int read_tres(struct srun_part *p, const char *value)
{
    struct slice rest = slice_str(value);
    int rc = rest.len ? 0 : read_one_tres(p, rest);

    while (rest.len && rc == 0)
        rc = read_one_tres(p, slice_cut(&rest, ','));
    return rc;
}

/* "USR1@120"; B: and R: of Slurm are for batch scripts and reservations. */
static int read_signal(struct srun_part *p, const char *value)
{
    if (strchr(value, ':'))
        return wrong(p, "'%.100s' is not supported: SIGNAL or SIGNAL@SECONDS", value);
    return add_two(p, "-timeout-signal", value);
}

/* 0: no limit, but srun warns after a minute. */
static int read_wait(struct srun_part *p, const char *value)
{
    uint32_t seconds;

    if (!slice_u32(slice_str(value), &seconds) || seconds > 1000000000)
        return wrong(p, "'%.100s' is not a number of seconds", value);
    return add_two(p, "-exit-timeout", seconds ? value : "warn:60");
}

static int read_open_mode(struct srun_part *p, const char *value)
{
    if (!strcmp(value, "truncate") || !strcmp(value, "t"))
        return 0;
    return wrong(p, "'%.100s' is not supported: to append, redirect the output of srun: >>FILE",
                 value);
}

static int read_threads(struct srun_part *p, const char *value)
{
    uint32_t n;
    int rc = read_count(p, slice_str(value), &n);

    return rc ? rc : add_two(p, "-bind-to", n == 1 ? "core" : "hwthread");
}

static int read_hint(struct srun_part *p, const char *value)
{
    static const struct choice all[] = { { "nomultithread", "-bind-to", "core" },
                                         { "compute_bound", "-bind-to", "core" },
                                         { "memory_bound", "-bind-to", "core" },
                                         { "multithread", "-bind-to", "hwthread" } };

    return read_choice(p, value, all, sizeof all / sizeof *all);
}

static int read_mem_bind(struct srun_part *p, const char *value)
{
    static const struct choice all[] = {
        { "local", NULL, NULL },   { "none", NULL, NULL },        { "quiet", NULL, NULL },
        { "verbose", NULL, NULL }, { "quiet,local", NULL, NULL }, { "verbose,local", NULL, NULL }
    };

    return read_choice(p, value, all, sizeof all / sizeof *all);
}

static int read_no_kill(struct srun_part *p, const char *value)
{
    if (value && strcmp(value, "off") != 0)
        return wrong(p, "'%.100s' is not supported: off, or no value", value);
    return value ? 0 : add(p, "-disable-auto-cleanup");
}

/* Nothing else is the answer: the caller prints the help. */
static int read_help(struct srun_part *p, const char *value)
{
    (void)p;
    (void)value;
    return LAUNCH_SHOW;
}

static int read_version(struct srun_part *p, const char *value)
{
    (void)value;
    options_version(p->answer);
    return LAUNCH_SHOW;
}

static int read_mpi(struct srun_part *p, const char *value)
{
    if (!strcmp(value, "list"))
        buf_str(p->answer, "PMI-1, PMI-2 and PMIx are served at once; nothing is to be chosen.\n");
    return !strcmp(value, "list") ? LAUNCH_SHOW : 0;
}

/* ---- the table ------------------------------------------------------------------------------- */

struct row {
    size_t at;                    /* among all, from 1; 0: there is none */
    const char *names, *arg, *as; /* "n|ntasks": the letter, if there is one, and the names */
    int (*read)(struct srun_part *p, const char *value);
    const char *why, *help;
    bool noted; /* not refused */
};

#define ROW(...)                                                                                   \
    case __COUNTER__ - FIRST: return (struct row){ i + 1, __VA_ARGS__ };

enum { FIRST = __COUNTER__ + 1 };

/* As in synonyms.c: code, because a launcher that is not called as srun reads none of them. */
static struct row row_at(size_t i)
{
    switch (i) {
#define SRUN_SAME(names, arg, as, help) ROW(names, arg, as, NULL, NULL, help, false)
#define SRUN_READ(names, arg, fn, help) ROW(names, arg, NULL, fn, NULL, help, false)
#define SRUN_NOTED(names, arg, why)     ROW(names, arg, NULL, NULL, why, NULL, true)
#define SRUN_REFUSED(names, arg, why)   ROW(names, arg, NULL, NULL, why, NULL, false)
#include "launch/synonyms.def"
    }
    return (struct row){ .names = "" };
}

enum { ROWS = __COUNTER__ - FIRST };

/* 0: it has none. */
static char letter_of(const struct row *r)
{
    return r->names[1] == '|' ? r->names[0] : '\0';
}

/* A word of the command line, and what it means. */
struct hit {
    struct row row;    /* none: nothing */
    struct slice name; /* the whole one */
};

static struct slice first_name(const struct row *r)
{
    struct slice rest = slice_str(r->names), name = SLICE_NULL;

    if (option_next_name(&rest, &name) && letter_of(r))
        option_next_name(&rest, &name);
    return name;
}

static struct hit find_letter(char letter)
{
    for (size_t i = 0; i < ROWS; i++) {
        struct row row = row_at(i);
        if (letter_of(&row) == letter)
            return (struct hit){ row, first_name(&row) };
    }
    return (struct hit){ 0 };
}

/* A name, or the beginning of names of exactly one row. */
static struct hit find_name(struct slice wanted)
{
    struct hit found = { 0 };
    bool several = false;

    for (size_t i = 0; i < ROWS; i++) {
        struct row row = row_at(i);
        struct slice rest = slice_str(row.names), name;
        while (option_next_name(&rest, &name)) {
            if (name.len == 1 || !slice_starts(name, wanted))
                continue;
            if (name.len == wanted.len)
                return (struct hit){ row, name };
            several = several || (found.row.at && found.row.at != row.at);
            found = (struct hit){ row, name };
        }
    }
    return several ? (struct hit){ 0 } : found;
}

static bool is_optional(const struct row *r)
{
    return r->arg && r->arg[0] == '[';
}

/* "  -n, --ntasks" */
static void put_names(struct buf *out, const struct row *r)
{
    struct slice rest = slice_str(r->names), name;
    const char *before = letter_of(r) ? "  " : "       ";

    for (; option_next_name(&rest, &name); before = ", ")
        buf_printf(out, "%s%s" SLICE_FMT, before, name.len > 1 ? "--" : "-", SLICE_ARG(name));
}

static void put_refused(struct buf *out, const struct row *r)
{
    struct slice rest = slice_str(r->names), name;

    while (option_next_name(&rest, &name)) {
        if (name.len > 1)
            buf_printf(out, " --" SLICE_FMT, SLICE_ARG(name));
    }
}

static void print_help(struct buf *out)
{
    buf_str(out,
            "Usage: wireup srun OPTIONS PROGRAM ARGS [: OPTIONS PROGRAM ARGS]...\n"
            "Starts programs as Slurm's srun does, by its words, on the nodes of -w or of the\n"
            "allocation. Other options of wireup are refused here.\n\n");
    for (size_t i = 0; i < ROWS; i++) {
        const struct row here = row_at(i), *r = &here;
        if (r->why && !r->noted)
            continue;
        put_names(out, r);
        buf_printf(out, "%s%s\n        %s%s\n", r->arg ? "=" : "", r->arg ? r->arg : "",
                   r->noted ? "No effect, and a remark says so: " : r->help,
                   r->noted ? r->why : "");
    }
    buf_str(out, "\nNot supported:");
    for (size_t i = 0; i < ROWS; i++) {
        struct row row = row_at(i);
        if (row.why && !row.noted)
            put_refused(out, &row);
    }
    buf_byte(out, '\n');
}

/* ---- options --------------------------------------------------------------------------------- */

/* "-hosts %" */
static int add_as(struct srun_part *p, const char *as, const char *value)
{
    struct slice rest = slice_str(as), option = slice_cut(&rest, ' ');
    const char *word = option.len ? arena_str(p->a, option) : NULL;

    if (!option.len)
        return 0;
    return rest.len ? add_two(p, word, value) : add(p, word);
}

static int apply(struct srun_part *p, struct hit hit, const char *value)
{
    const struct row *r = &hit.row;

    p->option = arena_printf(p->a, "--" SLICE_FMT, SLICE_ARG(hit.name));
    if (!p->option)
        return -ENOMEM;
    if (r->noted) {
        buf_printf(p->remarks, "srun %s has no effect: %s\n", p->option, r->why);
        return 0;
    }
    if (r->why)
        return errmsg_set(p->err, LAUNCH_USAGE, "srun %s is not supported: %s", p->option, r->why);
    if (value && !r->arg)
        return wrong(p, "it takes no value");
    if (slice_is(hit.name, "multi-prog"))
        p->many = true;
    return r->read ? r->read(p, value) : add_as(p, r->as, value);
}

/* The value: behind the option's own word, or the next word. */
static int with_value(struct srun_part *p, struct hit hit, const char *value,
                      struct mpmd_words *left)
{
    const struct row *r = &hit.row;

    if (value || !r->arg || is_optional(r) || (r->why && !r->noted))
        return apply(p, hit, value);
    if (left->count == 0)
        return errmsg_set(p->err, LAUNCH_USAGE, "srun --" SLICE_FMT " needs a value: %s",
                          SLICE_ARG(hit.name), r->arg);
    value = *left->items++;
    left->count--;
    return apply(p, hit, value);
}

static int unknown(struct srun_part *p, const char *word)
{
    return errmsg_set(p->err, LAUNCH_USAGE,
                      "srun: unknown option '%.100s'; wireup srun --help lists all", word);
}

/* "--name", "--name=value" */
static int read_long(struct srun_part *p, const char *word, struct mpmd_words *left)
{
    const char *equals = strchr(word, '=');
    struct slice name = slice_str(word + 2);
    struct hit hit;

    if (equals)
        name.len = (size_t)(equals - word - 2);
    hit = find_name(name);
    return hit.row.at ? with_value(p, hit, equals ? equals + 1 : NULL, left) : unknown(p, word);
}

/* "-n4", "-n 4", "-lK": flags may stand in one word. */
static int read_short(struct srun_part *p, const char *word, struct mpmd_words *left)
{
    int rc = 0;

    for (const char *at = word + 1; *at && rc == 0; at++) {
        struct hit hit = find_letter(*at);
        if (!hit.row.at)
            return unknown(p, word);
        if (hit.row.arg)
            return with_value(p, hit, at[1] ? at + (at[1] == '=' ? 2 : 1) : NULL, left);
        rc = apply(p, hit, NULL);
    }
    return rc;
}

static int read_options(struct srun_part *p, struct mpmd_words *left)
{
    int rc = 0;

    while (rc == 0 && left->count && (*left->items)[0] == '-' && (*left->items)[1]) {
        const char *word = *left->items++;
        left->count--;
        if (!strcmp(word, "--"))
            break;
        rc = word[1] == '-' ? read_long(p, word, left) : read_short(p, word, left);
    }
    return rc;
}

/* When all nodes have had their turn, the first is the next one: of which nodes, -N does not say.
 */
static int add_plane(struct srun_part *p, uint32_t tasks)
{
    if (p->nodes && (uint64_t)p->nodes * p->plane < tasks)
        return errmsg_set(p->err, LAUNCH_USAGE,
                          "srun -m plane=%u: %u nodes take %u tasks in one turn; name the nodes by "
                          "-w instead of -N",
                          p->plane, p->nodes, p->nodes * p->plane);
    return add_number(p, "-ppn", p->plane);
}

/* What several options say together, and Slurm's defaults. */
static int complete(struct srun_part *p)
{
    uint32_t tasks = p->tasks ? p->tasks : p->nodes;
    int rc = p->hosts || p->exclude ? complete_hosts(p) : 0;

    if (rc == 0 && tasks && !p->many)
        rc = add_number(p, "-n", tasks);

    if (rc == 0 && p->plane)
        rc = add_plane(p, tasks);
    else if (rc == 0 && p->nodes)
        rc = add_number(p, "-ppn", tasks / p->nodes + (tasks % p->nodes != 0));
    if (rc == 0 && !p->kill)
        rc = add(p, "-disable-auto-cleanup");
    if (rc == 0 && !p->has_input)
        rc = add_two(p, "-stdin", "all");
    if (rc == 0 && p->errfile && !p->has_errfile)
        rc = add_two(p, "-errfile-pattern", p->errfile);
    return rc;
}

/* ---- programs -------------------------------------------------------------------------------- */

/* "%t" and "%o" in a word of a program. */
static const char *fill_in(struct srun_part *p, const char *word, uint32_t rank, uint32_t offset)
{
    struct buf out = BUF_NULL(1 << 20);
    char *text;

    for (const char *at = word; *at; at++) {
        if (*at == '%' && (at[1] == 't' || at[1] == 'o'))
            buf_u64(&out, *++at == 't' ? rank : offset);
        else
            buf_byte(&out, *at);
    }
    text = buf_ok(&out) ? arena_str(p->a, buf_slice(&out)) : NULL;
    buf_free(&out);
    return text;
}

static bool has_rank(struct mpmd_words line)
{
    for (uint32_t i = 1; i < line.count; i++) {
        if (strstr(line.items[i], "%t") || strstr(line.items[i], "%o"))
            return true;
    }
    return false;
}

/* The ranks from first on that run one program. */
struct range {
    uint32_t first, n;
};

static int add_block(struct srun_part *p, struct mpmd_words line, struct range r, uint32_t offset)
{
    int rc = r.first ? add(p, ":") : 0;

    if (rc == 0)
        rc = add_number(p, "-n", r.n);
    for (uint32_t i = 1; i < line.count && rc == 0; i++)
        rc = add(p, fill_in(p, line.items[i], r.first, offset));
    return rc;
}

/* Programs that want their rank are blocks of one. */
static int add_program(struct srun_part *p, struct mpmd_words line, struct range r)
{
    int rc = 0;

    if (!has_rank(line))
        return add_block(p, line, r, 0);
    for (uint32_t i = 0; i < r.n && rc == 0; i++)
        rc = add_block(p, line, (struct range){ r.first + i, 1 }, i);
    return rc;
}

/* "0-3", "4", "*": ranks follow each other. */
static int read_range(struct srun_part *p, const char *text, uint32_t next, struct range *r_p)
{
    struct slice last = slice_str(text), first = slice_cut(&last, '-');
    uint32_t from, to;

    if (!strcmp(text, "*")) {
        from = next;
        to = p->tasks ? p->tasks - 1 : next;
    } else if (!slice_u32(first, &from) || (last.len && !slice_u32(last, &to))) {
        return wrong(p, "'%.100s' is not a range of ranks", text);
    } else if (!last.len) {
        to = from;
    }
    if (from != next || to < from || to >= LIMIT_JOB_PROCS)
        return wrong(p, "'%.100s' must begin with rank %u, which has no program yet", text, next);
    *r_p = (struct range){ from, to - from + 1 };
    return 0;
}

static int read_programs(struct srun_part *p, struct slice text, const char *name)
{
    struct config_reader in = { name, text, 1 };
    struct mpmd_words line;
    struct range r = { 0, 0 };
    unsigned number;
    int rc;

    while ((rc = mpmd_config_next(p->a, &in, &line, &number, p->err)) == 0) {
        if (line.count < 2)
            return wrong(p, "line %u of %.200s has no program", number, name);
        rc = read_range(p, line.items[0], r.first + r.n, &r);
        if (rc == 0)
            rc = add_program(p, line, r);
        if (rc)
            return rc;
    }
    if (rc != MPMD_END)
        return rc == MPMD_BAD ? LAUNCH_USAGE : rc;
    if (r.first + r.n == 0 || (p->tasks && r.first + r.n != p->tasks))
        return wrong(p, "%.200s has programs for %u ranks%s", name, r.first + r.n,
                     p->tasks ? ", not for all of -n" : "");
    return 0;
}

static int add_many(struct srun_part *p, struct mpmd_words left)
{
    struct slice text;
    int rc;

    p->option = "--multi-prog";
    if (left.count != 1)
        return wrong(p, "it needs one word, the name of its file");
    rc = read_file(p, left.items[0], &text);
    return rc ? rc : read_programs(p, text, left.items[0]);
}

static int read_part(struct srun_part *p, struct mpmd_words left)
{
    int rc = read_options(p, &left);

    if (rc == 0)
        rc = complete(p);
    if (rc == 0 && p->many)
        return add_many(p, left);
    if (rc == 0 && left.count == 0)
        return errmsg_set(p->err, LAUNCH_USAGE, "srun: no program to run; see wireup srun --help");
    for (uint32_t i = 0; i < left.count && rc == 0; i++)
        rc = add(p, left.items[i]);
    return rc;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

bool srun_words_meant(int argc, char *const *argv)
{
    if (argc < 1)
        return false;
    return !strcmp(name_of(argv[0]), "srun") ||
           (argc > 1 && !strcmp(argv[1], "srun") && !strcmp(name_of(argv[0]), "wireup"));
}

int srun_words_translate(struct arena *a, int argc, char *const *argv, srun_words_file *file,
                         struct srun_words *w, struct errmsg *err)
{
    int skip = strcmp(name_of(argv[0]), "srun") == 0 ? 1 : 2, rc;
    struct mpmd_words rest = { argv + skip, (uint32_t)(argc - skip) };
    struct srun_part all = { .a = a, .err = err, .option = "the variable SLURM_WAIT" };
    bool more = true;

    rc = add(&all, argv[0]);
    if (rc == 0 && w->wait && *w->wait)
        rc = read_wait(&all, w->wait);
    while (more && rc == 0) {
        struct srun_part p = {
            .a = a, .err = err, .file = file, .answer = &w->answer, .remarks = &w->remarks
        };
        struct mpmd_words one = mpmd_cut(&rest, &more);
        rc = read_part(&p, one);
        for (uint32_t i = 0; i < p.n && rc == 0; i++)
            rc = add(&all, p.words[i]);
        if (rc == 0 && more)
            rc = add(&all, ":");
    }
    if (rc == LAUNCH_SHOW && buf_len(&w->answer) == 0)
        print_help(&w->answer);
    if (rc)
        return rc;
    w->argc = (int)all.n;
    rc = add(&all, "");
    w->argv = all.words;
    if (rc == 0)
        w->argv[w->argc] = NULL;
    return rc ? rc : LAUNCH_GO;
}
