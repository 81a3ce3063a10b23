/* trace.c - see trace.h. */
#include "tools/trace.h"

#include <stdio.h>

#include "base/limit.h"
#include "server/replay.h"
#include "tools/command_json.h"
#include "tools/trace_file.h"
#include "tools/trace_merge.h"
#include "tools/trace_set.h"
#include "trace/trace_reader.h"
#include "trace/trace_to_script.h"

/* ---- a script -------------------------------------------------------------------------------- */

enum { SCRIPT_QUEUE = 64 << 10 };

struct script_print {
    struct trace_reader reader;
    struct errmsg err;
    struct buf out;
    bool broken; /* nobody reads our output */
};

static void flush(struct script_print *t)
{
    struct slice s = buf_slice(&t->out);

    if (s.len && fwrite(s.ptr, 1, s.len, stdout) < s.len)
        t->broken = true;
    buf_clear(&t->out);
}

static int feed_script(void *arg, struct slice bytes)
{
    struct script_print *t = arg;

    if (trace_reader_feed(&t->reader, bytes, &t->err))
        return 2;
    if (buf_len(&t->out) >= SCRIPT_QUEUE)
        flush(t);
    return t->broken ? 1 : 0;
}

/* After the last byte: the exit code, and messages about the file. */
static int end_script(const struct command_line *l, struct script_print *t, int code)
{
    if (code == 0 && trace_reader_end(&t->reader, &t->err))
        code = 2;
    flush(t);
    if (fflush(stdout) != 0 || t->broken)
        code = code ? code : 1;
    if (t->err.text[0])
        log_error(l->log, "%s: %s", trace_file_name(l->operand), t->err.text);
    else if (code == 0 && !t->reader.ended)
        log_warn(l->log, "%s is incomplete: the launcher was killed, or it is still running",
                 trace_file_name(l->operand));
    return code;
}

static int print_script(const struct command_line *l)
{
    struct script_print t = { .err = { "" } };
    struct trace_to_script c;
    int code;

    buf_init(&t.out, (size_t)LIMIT_TRACE_RECORD * 8);
    trace_to_script_init(&c, &t.out);
    trace_reader_init(&t.reader, (struct trace_reader_printer){ trace_to_script_record,
                                                                trace_to_script_message, &c });
    code = trace_file_read(l->log, l->operand, feed_script, &t);
    code = end_script(l, &t, code);
    trace_reader_free(&t.reader);
    buf_free(&t.out);
    trace_to_script_free(&c);
    return code;
}

int trace_print(const struct command_line *l)
{
    struct trace_filter f;
    int code = 2;

    if (l->choices[CHOICE_trace_conversation])
        return print_script(l);
    if (trace_filter_read(&f, l))
        code = trace_merge(l->log, l->operand, &f, l->choices[CHOICE_trace_follow] != NULL);
    trace_filter_free(&f);
    return code;
}

/* ---- replay ---------------------------------------------------------------------------------- */

struct playing {
    struct replay *replay;
    struct errmsg err;
};

static int feed_replay(void *arg, struct slice bytes)
{
    struct playing *p = arg;
    int rc = replay_feed(p->replay, bytes, &p->err);

    return rc < 0 ? 2 : rc;
}

static const char *const verdicts[] = {
    [REPLAY_SAME] = "same", [REPLAY_DIFFERS] = "differs", [REPLAY_BAD] = "bad"
};

static void put_replayed(struct json *j, const char *path, int code, const struct playing *p,
                         const struct replay_count *n)
{
    json_object(j, NULL);
    json_str(j, "trace", path);
    json_str(j, "result", code >= 0 && code <= REPLAY_BAD ? verdicts[code] : "bad");
    json_str(j, "text", p->err.text);
    json_u64(j, "jobs", n->jobs);
    json_u64(j, "connections", n->connections);
    json_u64(j, "bytes_in", n->bytes_in);
    json_u64(j, "bytes_out", n->bytes_out);
    json_u64(j, "effects", n->effects);
    json_bool(j, "masked", n->masked);
    json_bool(j, "complete", n->ended);
    json_object_end(j);
}

static void print_count(const char *path, const struct replay_count *n)
{
    printf("%s: the same again: %u jobs, %u connections, %llu bytes heard, %llu bytes said, "
           "%llu effects%s%s\n",
           trace_file_name(path), n->jobs, n->connections, (unsigned long long)n->bytes_in,
           (unsigned long long)n->bytes_out, (unsigned long long)n->effects,
           n->masked ? "; credentials are overwritten in it" : "",
           n->ended ? ""
                    : "; the trace is incomplete: the launcher was killed, or it is still running");
}

/* The trace of one node: its server's.  j: where the verdict is put; NULL: it is printed. */
static int replay_one(const struct trace_set *set, uint32_t member, struct json *j)
{
    const char *path = set->members[member].name;
    struct playing p = { replay_new(LIMIT_REPLAY_STORE), { "" } };
    struct replay_count n = { 0 };
    int code = p.replay ? trace_set_pass(set, member, feed_replay, &p) : 2;

    if (code == 0)
        code = replay_end(p.replay, &n, &p.err);
    replay_free(p.replay);
    if (p.err.text[0])
        log_error(set->log, "%s: %s", trace_file_name(path), p.err.text);
    if (j)
        put_replayed(j, path, code, &p, &n);
    else if (code == 0)
        print_count(path, &n);
    return code;
}

/* A server's trace has all that the other nodes have sent it, so each is replayed alone; the job is
 * the same again when all of them are. */
static int replay_all(const struct command_line *l, struct json *j)
{
    struct trace_set set;
    int code = 0;

    if (trace_set_init(&set, l->log, l->operand) < 0) {
        log_error(l->log, "out of memory");
        return 2;
    }
    trace_set_scan(&set);
    for (uint32_t i = 0; i < set.n; i++) {
        int one = set.members[i].missing ? 0 : replay_one(&set, i, j);
        code = one > code ? one : code;
    }
    if (code == 0)
        trace_set_warn(&set);
    trace_set_free(&set);
    return code;
}

int trace_replay(const struct command_line *l)
{
    struct command_json o;
    int code;

    if (!l->choices[CHOICE_replay_json]) {
        code = replay_all(l, NULL);
        return fflush(stdout) == 0 ? code : 2;
    }
    command_json_begin(&o, "wireup-replay-1");
    json_array(&o.json, "traces");
    code = replay_all(l, &o.json);
    json_array_end(&o.json);
    return command_json_end(&o, code);
}
