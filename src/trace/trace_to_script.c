/* trace_to_script.c - see trace_to_script.h.  Reading order: words; clients; messages; events of
 * jobs and processes. */
#include "trace/trace_to_script.h"

#include "trace/record.h"

#include <stdlib.h>
#include <string.h>

enum { SCRIPT_WORDS = 60, SCRIPT_ID_BASE = 1000 };

void trace_to_script_init(struct trace_to_script *c, struct buf *out)
{
    *c = (struct trace_to_script){ .out = out };
    buf_init(&c->job, 1 << 20);
    buf_init(&c->presets, 64 << 20);
}

void trace_to_script_free(struct trace_to_script *c)
{
    buf_free(&c->job);
    buf_free(&c->presets);
    free(c->spoken);
}

/* ---- words ----------------------------------------------------------------------------------- */

static void put_word(struct buf *out, struct slice s)
{
    buf_byte(out, '"');
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] == '%')
            buf_byte(out, '%'); /* a single one is a placeholder */
        buf_escaped(out, slice_mem(s.ptr + i, 1));
    }
    buf_byte(out, '"');
}

/* Names and numbers are not quoted. */
static void put_value(struct buf *out, struct slice s)
{
    bool plain = s.len > 0;

    for (size_t i = 0; i < s.len && plain; i++) {
        unsigned char c = (unsigned char)s.ptr[i];
        plain = c > ' ' && c < 0x7f && c != '"' && c != '\\' && c != '%' && c != '#' && c != '*';
    }
    if (plain)
        buf_slice_put(out, s);
    else
        put_word(out, s);
}

static void comment(struct trace_to_script *c, const char *what)
{
    buf_printf(c->out, "# cannot be expressed in scripts: %s\n", what);
}

/* ---- clients --------------------------------------------------------------------------------- */

/* The job's position among those that were added; the first is 0. */
static uint32_t position(const struct trace_to_script *c, int64_t job)
{
    for (uint32_t i = 0; i < c->njobs; i++) {
        if (c->names[i] == job)
            return i;
    }
    return 0;
}

static void put_process(struct trace_to_script *c, int64_t job, uint64_t rank)
{
    buf_printf(c->out, "%c%llu ", 'c' + (int)position(c, job), (unsigned long long)rank);
}

static void put_client(struct trace_to_script *c, const struct trace_reader_line *l)
{
    if (l->dialled)
        buf_printf(c->out, "s%u ", l->number);
    else
        put_process(c, l->job, l->rank);
}

/* ---- messages -------------------------------------------------------------------------------- */

static void put_field(struct buf *out, const struct decode_field *f, bool word)
{
    if (f->kind == DECODE_NUMBER)
        buf_i64(out, f->number);
    else if (f->kind == DECODE_FLAG)
        buf_str(out, f->number ? "TRUE" : "FALSE");
    else if (word)
        put_value(out, f->text);
    else
        buf_slice_put(out, f->text);
}

/* The message in the syntax of `tx`. */
static void rebuild(const struct decoded *m, bool framed, struct buf *out)
{
    bool block = slice_starts(m->bytes, SLICE("mcmd="));
    char gap = framed ? ';' : block ? '\n' : ' ';
    struct buf body = BUF_NULL(64 << 20);

    buf_printf(&body, "%scmd=" SLICE_FMT, block ? "m" : "", SLICE_ARG(m->command));
    for (uint32_t i = 0; i < m->nfields; i++) {
        buf_byte(&body, gap);
        buf_slice_put(&body, m->fields[i].name);
        buf_byte(&body, '=');
        put_field(&body, &m->fields[i], false);
    }
    if (framed)
        buf_printf(out, "%-6zu", buf_len(&body) + 1);
    buf_slice_put(out, buf_slice(&body));
    buf_str(out, framed ? ";" : block ? "\nendcmd\n" : "\n");
    buf_free(&body);
}

static bool is_sayable(const struct decoded *m, enum decode_way way, bool framed)
{
    struct buf again = BUF_NULL(64 << 20);
    bool same;

    if (m->fault || m->nfields > SCRIPT_WORDS || !strcmp(m->protocol, "PMIx"))
        return false;
    for (uint32_t i = 0; i < m->nfields; i++) {
        if (m->fields[i].item || m->fields[i].kind == DECODE_BYTES)
            return false;
    }
    if (way == DECODE_OUT)
        return !slice_is(m->command, "put_ranks2hosts");
    rebuild(m, framed, &again);
    same = slice_eq(buf_slice(&again), m->bytes);
    buf_free(&again);
    return same;
}

/* Names that exist in both protocols belong to the one announced last. */
static void print_protocol(struct trace_to_script *c, const struct trace_reader_line *l,
                           const struct decoded *m)
{
    bool framed = !strcmp(m->protocol, "PMI-2");

    if (l->number >= c->nspoken) {
        uint32_t n = l->number * 2 + 64;
        const char **more = realloc(c->spoken, n * sizeof *more);
        if (!more)
            return;
        memset(more + c->nspoken, 0, (n - c->nspoken) * sizeof *more);
        c->spoken = more;
        c->nspoken = n;
    }
    if (framed == (c->spoken[l->number] != NULL))
        return;
    c->spoken[l->number] = framed ? "PMI-2" : NULL;
    put_client(c, l);
    buf_str(c->out, framed ? "speaks pmi2\n" : "speaks pmi1\n");
}

/* An `initack`; the test's own world provides the identity of this process. */
static bool is_initack(const struct trace_reader_line *l, enum decode_way way,
                       const struct decoded *m)
{
    return l->dialled && way == DECODE_IN && slice_is(m->command, "initack") && l->job >= 0;
}

/* appnum is meaningful only in jobs of one program, and those of the script are. */
static bool is_any(const struct decode_field *f)
{
    return slice_is(f->name, "appnum");
}

void trace_to_script_message(void *arg, const struct trace_reader_line *l, enum decode_way way,
                             const struct decoded *m, uint64_t time_ns)
{
    struct trace_to_script *c = arg;
    bool framed = !strcmp(m->protocol, "PMI-2");

    (void)time_ns;
    if (is_initack(l, way, m)) {
        put_client(c, l);
        buf_printf(c->out, "tx initack pmiid=%u\n", SCRIPT_ID_BASE + l->rank);
        return;
    }
    if (!is_sayable(m, way, framed)) {
        put_client(c, l);
        buf_str(c->out, way == DECODE_IN ? "raw " : "bytes ");
        put_word(c->out, m->bytes);
        buf_byte(c->out, '\n');
        return;
    }
    print_protocol(c, l, m);
    put_client(c, l);
    buf_printf(c->out, "%s " SLICE_FMT, way == DECODE_IN ? "tx" : "rx", SLICE_ARG(m->command));
    for (uint32_t i = 0; i < m->nfields; i++) {
        buf_printf(c->out, " " SLICE_FMT "=", SLICE_ARG(m->fields[i].name));
        if (way == DECODE_OUT && is_any(&m->fields[i]))
            buf_byte(c->out, '*');
        else
            put_field(c->out, &m->fields[i], true);
    }
    buf_byte(c->out, '\n');
}

/* ---- jobs and processes ---------------------------------------------------------------------- */

static uint64_t count_procs(const struct part_uints *runs)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i + 3 < runs->n; i += 4)
        n += runs->items[i];
    return n;
}

static void on_job(struct trace_to_script *c, const struct record_job *j)
{
    struct buf *out = &c->job;

    if (c->njobs < 8)
        c->names[c->njobs++] = (uint32_t)j->job;
    buf_clear(out);
    buf_printf(out, "job n=%llu name=", (unsigned long long)count_procs(&j->runs));
    put_value(out, j->nspace);
    buf_printf(out, " clients=%c nodes=%u universe=%lld", 'c' + (int)position(c, (int64_t)j->job),
               j->nodes.n, (long long)j->universe);
    if (j->keep_going)
        buf_str(out, " keep-going");
    c->has_job = true;
}

/* Its first process shows how it is connected. */
static void write_job(struct trace_to_script *c, const char *how)
{
    if (!c->has_job)
        return;
    c->has_job = false;
    buf_slice_put(c->out, buf_slice(&c->job));
    buf_printf(c->out, "%s\n", how);
    buf_slice_put(c->out, buf_slice(&c->presets));
    buf_clear(&c->presets);
}

static void on_preset(struct trace_to_script *c, const struct flat_preset *p)
{
    struct buf *out = c->has_job ? &c->presets : c->out;

    buf_str(out, "host preset ");
    put_word(out, p->key);
    buf_byte(out, ' ');
    put_word(out, p->value);
    buf_byte(out, '\n');
}

static void on_proc_state(struct trace_to_script *c, const struct flat_proc_state *e)
{
    if (slice_is(e->event, "started")) {
        write_job(c, " port");
    } else if (slice_is(e->event, "exit") || slice_is(e->event, "death")) {
        put_process(c, e->job, (uint64_t)e->rank);
        buf_printf(c->out, "%s %lld\n", slice_is(e->event, "exit") ? "exit" : "dies",
                   (long long)e->code);
    } else {
        comment(c, "a process that could not be started");
    }
}

static void on_answer(struct trace_to_script *c, const struct flat_answer *a)
{
    if (slice_is(a->status, "success")) {
        buf_str(c->out, "host spawned ");
        put_word(c->out, a->value);
    } else {
        buf_str(c->out, "host refused ");
        for (uint32_t i = 0; i < a->codes.n; i++)
            buf_printf(c->out, "%s%d", i ? "," : "", a->codes.items[i]);
    }
    buf_byte(c->out, '\n');
}

static void on_open(struct trace_to_script *c, const struct trace_reader_line *l,
                    const struct record_open *o)
{
    if (o->job >= 0)
        write_job(c, o->fds ? " fds" : "");
    else
        buf_printf(c->out, "stranger s%u\n", l->number);
}

static void print(struct trace_to_script *c, const struct trace_reader_line *l, const char *what)
{
    put_client(c, l);
    buf_printf(c->out, "%s\n", what);
}

void trace_to_script_record(void *arg, const struct trace_reader_line *l, const struct record *r)
{
    struct trace_to_script *c = arg;

    switch (r->kind) {
    case RECORD_begin:
        buf_printf(c->out,
                   "# Made by wireup trace --conversation from a trace of wireup " SLICE_FMT
                   ".\ntest \"a trace\"\n",
                   SLICE_ARG(r->u.begin.version));
        break;
    case RECORD_job: on_job(c, &r->u.job); break;
    case RECORD_preset: on_preset(c, &r->u.of.preset); break;
    case RECORD_proc_state: on_proc_state(c, &r->u.of.proc_state); break;
    case RECORD_answer: on_answer(c, &r->u.of.answer); break;
    case RECORD_effect_answer: break;
    case RECORD_effect_kill: buf_str(c->out, "expect kill\n"); break;
    case RECORD_effect_job_ended:
        buf_printf(c->out, "expect ended\nexpect code %lld\n", (long long)r->u.of.job_ended.code);
        break;
    case RECORD_effect_spawn:
        buf_str(c->out, "expect spawn ");
        put_word(c->out, r->u.of.spawn.request_program);
        buf_printf(c->out, " %llu\n", (unsigned long long)r->u.of.spawn.request_processes);
        break;
    case RECORD_open: on_open(c, l, &r->u.open); break;
    case RECORD_hangup: print(c, l, "hangup"); break;
    case RECORD_out:
        if (r->u.out.store)
            print(c, l, "store");
        break;
    case RECORD_close:
        if (!l->hung_up)
            print(c, l, "closed");
        break;
    case RECORD_abort: comment(c, "the host ends the job"); break;
    case RECORD_names_reply:
    case RECORD_unpublish: comment(c, "neighbours and their names"); break;
    case RECORD_greet: comment(c, "a greeting"); break;
    case RECORD_owner: comment(c, "a client of another user or group"); break;
    case RECORD_rights_lost: comment(c, "another user writes here"); break;
    default: break;
    }
}
