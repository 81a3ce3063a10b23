/* session.c - fuzzes the server with whole conversations of several clients.
 *
 * An input is text, line by line: lines of a script (tests/conversation/script.h) or of a recording
 * (tests/golden: `0> cmd=init ...\n`), mixed as one likes.  A line that is neither is skipped, so
 * most mutations still mean something, and a finding can be read, shortened by hand and kept as a
 * script.  Nothing is expected of a step; after each of them the replies must have manners, and at
 * the end everybody leaves and every job must have ended.
 *
 * The mutator of our own puts in whole messages made from the protocols' tables. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/conversation/golden.h"
#include "tests/conversation/play.h"
#include "wire/pmi1.h"
#include "wire/pmi2.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max) __attribute__((weak));

enum { LINES_MAX = 300, FLOOD_MAX = 40 };

/* ---- one input ------------------------------------------------------------------------------- */

static const char FIRST[] = "job n=4 nodes=2 fds\n"
                            "stranger p0\n"
                            "job n=2 name=child clients=d parent=kvs_test keep-going\n";

struct input {
    struct script script;
    struct script_reader *reader;
    struct errmsg err;
    struct play play;
    uint32_t done; /* steps */
};

static bool affordable(const struct input *in, const struct step *st)
{
    if (st->kind == STEP_SEND)
        return st->client < in->play.world.nclients; /* a recording of somebody else */
    return st->kind != STEP_FLOOD || st->number <= FLOOD_MAX;
}

static void do_new_steps(struct input *in)
{
    for (; in->done < in->script.nsteps; in->done++) {
        const struct step *st = &in->script.steps[in->done];
        const char *fault;

        if (!affordable(in, st))
            continue;
        play_do(&in->play, st);
        fault = play_replies(&in->play);
        if (fault) {
            fprintf(stderr, "line %u: a reply %s\n", st->line, fault);
            abort();
        }
    }
}

static void do_line(struct input *in, struct slice line)
{
    if (golden_line(&in->script, line) != 0 && script_line(in->reader, line) != 0)
        return;
    do_new_steps(in);
}

static void do_lines(struct input *in, struct slice text)
{
    for (int i = 0; i < LINES_MAX && text.len; i++)
        do_line(in, slice_cut(&text, '\n'));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice text = slice_mem(data, size);
    static struct input in;

    in.done = 0;
    in.reader = script_begin(&in.script, &in.err);
    if (!in.reader)
        return 0;
    play_open(&in.play, &in.script, -1, &in.err);
    if (!slice_starts(text, SLICE("test ")))
        do_lines(&in, slice_mem(FIRST, sizeof FIRST - 1));
    do_lines(&in, text);
    if (play_close(&in.play) < 0) {
        fprintf(stderr, "%s\n", in.err.text);
        abort();
    }
    free(in.reader);
    script_free(&in.script);
    return 0;
}

/* ---- the mutator ----------------------------------------------------------------------------- */

static const char *const VALUES[] = {
    "0",
    "1",
    "2",
    "-1",
    "4294967295",
    "18446744073709551615",
    "a",
    "k1",
    "kvs_test",
    "child",
    "kvs_test.1",
    "PMI_x",
    "PMI_process_mapping",
    "WORLD:1",
    "NODE:2",
    "0,1:3",
    "1,0:3",
    "3:4",
    "1000",
    "1001",
    "TRUE",
    "FALSE",
    "x y",
    "x;y",
    "",
    "1234567890123456789012345678901234567890123456789012345678901234567890",
};
static const char *const VERBS[] = { "hangup", "exit 0", "exit 3",      "dies 9",
                                     "deaf",   "hears",  "speaks pmi2", "speaks pmi1" };
static const char *const CLIENTS[] = { "c0", "c1", "c2", "c3", "all", "d0", "d1", "p0" };
static const char *const HOST[] = { "host spawned x", "host refused 1,2", "host preset a b" };

#define PICK(list) list[(unsigned)rand_r(seed) % (sizeof(list) / sizeof *(list))]

static void put_field(struct buf *out, const char *name, int number, unsigned *seed)
{
    const char *value = PICK(VALUES);

    buf_printf(out, " %s", name);
    if (number >= 0)
        buf_printf(out, "%d", number);
    buf_printf(out, "=\"%s\"", value);
}

static void put_message(struct buf *out, unsigned *seed)
{
    const struct text_proto *proto = rand_r(seed) % 3 ? &pmi1_proto : &pmi2_proto;
    const struct text_msg *m = &proto->msgs[(unsigned)rand_r(seed) % proto->nmsgs];

    buf_printf(out, "%s tx %s", PICK(CLIENTS), m->name);
    for (int i = 0; i < m->nfields; i++) {
        const struct text_field *f = &m->fields[i];
        bool list = f->kind == TEXT_LIST0 || f->kind == TEXT_LIST1;
        if (f->need == TEXT_REQ ? rand_r(seed) % 16 == 0 : rand_r(seed) % 3 == 0)
            continue;
        for (int n = 0; n < (list ? rand_r(seed) % 3 : 1); n++)
            put_field(out, f->name, list ? n + (f->kind == TEXT_LIST1) : -1, seed);
    }
    buf_byte(out, '\n');
}

static void put_line(struct buf *out, unsigned *seed)
{
    switch (rand_r(seed) % 8) {
    case 0: buf_printf(out, "%s %s\n", PICK(CLIENTS), PICK(VERBS)); break;
    case 1: buf_printf(out, "%s\n", PICK(HOST)); break;
    case 2:
        buf_printf(out, "all tx init pmi_version=%u wireup=1\n", 1U + (unsigned)rand_r(seed) % 2);
        break;
    default: put_message(out, seed); break;
    }
}

/* The start of a line somewhere in the input. */
static size_t some_line(const uint8_t *data, size_t size, unsigned *seed)
{
    size_t at = size ? (size_t)rand_r(seed) % size : 0;

    while (at && data[at - 1] != '\n')
        at--;
    return at;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed_value)
{
    unsigned *seed = &seed_value;
    struct buf line = BUF_NULL(1 << 16);
    size_t at, n;

    if (rand_r(seed) % 3 == 0 && LLVMFuzzerMutate)
        return LLVMFuzzerMutate(data, size, max);
    at = some_line(data, size, seed);
    if (rand_r(seed) % 4 == 0) { /* one line less */
        for (n = at; n < size && data[n] != '\n'; n++)
            ;
        n += n < size;
        memmove(data + at, data + n, size - n);
        return size - (n - at);
    }
    put_line(&line, seed);
    n = buf_len(&line);
    if (buf_ok(&line) && size + n <= max) {
        memmove(data + at + n, data + at, size - at);
        memcpy(data + at, buf_slice(&line).ptr, n);
        size += n;
    }
    buf_free(&line);
    return size;
}
