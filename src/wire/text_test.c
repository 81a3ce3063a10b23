/* text_test.c - the text codec: messages of real clients, invalid ones, and a round trip of every
 * message of the tables, with every subset of its optional fields, cut at every byte. */
#include <stdlib.h>

#include "tests/tap.h"
#include "wire/pmi1.h"
#include "wire/pmi2.h"

static struct arena arena = ARENA_NULL(1 << 20);
static struct errmsg err;
static union pmi1_any any;

static int decode(struct slice line, unsigned *msg_p)
{
    return text_decode(&pmi1_proto, TEXT_BLANKS, line, &arena, msg_p, &any, sizeof any, &err);
}

static void test_reading(void)
{
    unsigned msg = 999;

    OK(decode(SLICE("cmd=put kvsname=K key=A value=V"), &msg) == 0 && msg == PMI1_put);
    OK(slice_is(any.put.kvsname, "K") && slice_is(any.put.key, "A") &&
       slice_is(any.put.value, "V"));
    OK(decode(SLICE("  cmd=put \t value=V=W=   x=1 key=A  kvsname=K "), &msg) == 0);
    OK_F(slice_is(any.put.value, "V=W=   x=1") && slice_is(any.put.kvsname, "K"),
         "any order, extra white space; a value ends before a tuple of the same message");
    OK(decode(SLICE("cmd=put junk kvsname=K new=1 key=A value=a b c= d "), &msg) == 0);
    OK_F(slice_is(any.put.value, "a b c= d "), "a last value keeps its blanks");
    OK(decode(SLICE("cmd=put key= value="), &msg) == 0 && any.put.key.len == 0);
    OK(decode(SLICE("cmd=universe_size size=-1"), &msg) == 0 && any.universe_size.size == -1);
    OK(decode(SLICE("cmd=barrier_in"), &msg) == 0 && any.barrier_in.has == 0);
    OK(decode(SLICE("cmd=barrier_in group=0,1:77"), &msg) == 0 &&
       slice_is(any.barrier_in.group, "0,1:77"));
    OK(decode(SLICE("cmd=abort exitcode=7 message=called MPI_Abort(x, 7) now"), &msg) == 0);
    OK(any.abort.exitcode == 7 && slice_is(any.abort.message, "called MPI_Abort(x, 7) now"));
    OK(decode(SLICE("cmd=put key=A"), &msg) == TEXT_MALFORMED && strstr(err.text, "'value'"));
    OK(decode(SLICE("cmd=put key=A key=B value=1"), &msg) == TEXT_MALFORMED);
    OK(decode(SLICE("cmd=init pmi_version=one"), &msg) == TEXT_MALFORMED);
    OK(decode(SLICE("cmd=init pmi_version=4294967296"), &msg) == TEXT_MALFORMED);
    msg = 999;
    OK(decode(SLICE("cmd=nonsense a=b"), &msg) == TEXT_UNKNOWN && msg == 999);
    OK(decode(SLICE("key=A cmd=put"), &msg) == TEXT_MALFORMED && strstr(err.text, "'value'"));
    OK(decode(SLICE("value=a  b key=A x cmd=put kvsname=K"), &msg) == 0 && msg == PMI1_put);
    OK_F(slice_is(any.put.value, "a  b") && slice_is(any.put.key, "A") &&
             slice_is(any.put.kvsname, "K"),
         "tuples may stand before the command");
    OK(decode(SLICE("key=A value= b cmd=put kvsname=K"), &msg) == 0);
    OK_F(slice_is(any.put.value, " b"), "a value ends before the command");
    OK(decode(SLICE("key=A value=b command=put"), &msg) == TEXT_MALFORMED);
    OK(decode(SLICE(""), &msg) == TEXT_MALFORMED && decode(SLICE("   "), &msg) == TEXT_MALFORMED);
    OK(decode(SLICE("mcmd=spawn nprocs=1"), &msg) == TEXT_MALFORMED);
}

static void test_spawn_block(void)
{
    const struct slice block = SLICE("mcmd=spawn\narg1=a b\narg2=x=y\nargcnt=2\nnprocs=3\n"
                                     "execname=./my prog\ninfo_num=1\ninfo_key_0=wdir\n"
                                     "info_val_0=/tmp/a dir\nendcmd\n");
    unsigned msg;
    int rc = text_decode(&pmi1_proto, TEXT_LINES, block, &arena, &msg, &any, sizeof any, &err);

    OK(rc == 0 && msg == PMI1_spawn && any.spawn.nprocs == 3 && any.spawn.argcnt == 2);
    OK(any.spawn.arg.n == 2 && slice_is(any.spawn.arg.items[0], "a b") &&
       slice_is(any.spawn.arg.items[1], "x=y"));
    EQ(any.spawn.arg.first, 1);
    OK(slice_is(any.spawn.execname, "./my prog") &&
       slice_is(any.spawn.info_val.items[0], "/tmp/a dir") && any.spawn.preput_key.n == 0);
    rc = text_decode(&pmi1_proto, TEXT_LINES,
                     SLICE("mcmd=spawn\nnprocs=1\nexecname=x\narg0=a\narg1=b\nendcmd\n"), &arena,
                     &msg, &any, sizeof any, &err);
    OK_F(rc == 0 && any.spawn.arg.first == 0 && any.spawn.arg.n == 2 &&
             slice_is(any.spawn.arg.items[0], "a") && slice_is(any.spawn.arg.items[1], "b"),
         "arguments count from 0, too");
    rc = text_decode(&pmi1_proto, TEXT_LINES,
                     SLICE("mcmd=spawn\nnprocs=1\nexecname=x\narg0=a\narg2=b\nendcmd\n"), &arena,
                     &msg, &any, sizeof any, &err);
    OK_F(rc == TEXT_MALFORMED, "but none is left out: %s", err.text);
    rc = text_decode(&pmi1_proto, TEXT_LINES,
                     SLICE("mcmd=spawn\nnprocs=1\nexecname=x\narg65536=y\nendcmd\n"), &arena, &msg,
                     &any, sizeof any, &err);
    OK_F(rc == TEXT_MALFORMED, "an item far ahead takes no memory: %s", err.text);
}

static void put_text(struct buf *out)
{
    struct pmi1_get_result r = { .has = 0 };

    PMI1_SET(r, get_result, value, SLICE("twenty bytes of value"));
    OK(text_encode(&pmi1_proto, TEXT_BLANKS, PMI1_get_result, &r, out, &err) == 0);
}

static void put_frame(struct buf *out)
{
    struct pmi2_kvs_put m = { .has = 0 };

    PMI2_SET(m, kvs_put, key, SLICE("k"));
    PMI2_SET(m, kvs_put, value, SLICE("twenty bytes of value"));
    OK(pmi2_encode(PMI2_kvs_put, &m, out, &err) == 0);
}

/* Of a message that the buffer has no room for, the reader gets nothing: a frame whose length is
 * not yet written would be read as one. */
static void check_no_room(void (*put)(struct buf *), const char *first)
{
    for (size_t room = 0;; room++) {
        struct buf out = BUF_NULL(strlen(first) + room);
        bool all;
        buf_str(&out, first);
        put(&out);
        all = buf_ok(&out);
        OK_F(all || slice_is(buf_slice(&out), first), "with room for %zu bytes", room);
        buf_free(&out);
        if (all)
            break;
    }
}

static void test_no_room(void)
{
    check_no_room(put_text, "");
    check_no_room(put_text, "cmd=finalize_ack\n");
    check_no_room(put_frame, "");
    check_no_room(put_frame, "4     abcd");
}

static void test_writing(void)
{
    struct buf out = BUF_NULL(4096);
    struct pmi1_get_result r = { .has = 0 };
    struct pmi1_finalize_ack f = { .has = 0 };

    PMI1_SET(r, get_result, rc, 0);
    PMI1_SET(r, get_result, value, SLICE("a b"));
    OK(text_encode(&pmi1_proto, TEXT_BLANKS, PMI1_get_result, &r, &out, &err) == 0);
    OK(slice_is(buf_slice(&out), "cmd=get_result rc=0 value=a b\n"));
    buf_clear(&out);
    PMI1_SET(r, get_result, value, SLICE("a rc=1 value=2 b=c"));
    OK_F(text_encode(&pmi1_proto, TEXT_BLANKS, PMI1_get_result, &r, &out, &err) == 0,
         "words like fields that were said, or that nobody knows, are part of the value");
    buf_clear(&out);
    PMI1_SET(r, get_result, value, SLICE("a msg=b"));
    OK_F(text_encode(&pmi1_proto, TEXT_BLANKS, PMI1_get_result, &r, &out, &err) == TEXT_UNSAYABLE,
         "a word that would be read as a field cannot be said");
    OK(text_encode(&pmi1_proto, TEXT_BLANKS, PMI1_finalize_ack, &f, &out, &err) == 0);
    OK(slice_is(buf_slice(&out), "cmd=finalize_ack\n"));
    PMI1_SET(r, get_result, value, SLICE("a\nb"));
    OK(text_encode(&pmi1_proto, TEXT_BLANKS, PMI1_get_result, &r, &out, &err) == TEXT_UNSAYABLE);
    PMI1_SET(r, get_result, msg, SLICE("a b"));
    OK(text_encode(&pmi1_proto, TEXT_BLANKS, PMI1_get_result, &r, &out, &err) == TEXT_UNSAYABLE);
    OK_F(buf_len(&out) == 17, "a message that cannot be expressed writes nothing");
    buf_free(&out);
    OK(text_sayable_pmi1(SLICE("a=b\\")) && !text_sayable_pmi1(SLICE("")) &&
       text_sayable_pmi1(SLICE("a b\t")) && !text_sayable_pmi1(SLICE("a\nb")) &&
       !text_sayable_pmi1(slice_mem("a\0b", 3)));
}

/* ---- PMI-2 ---------------------------------------------------------------------------------- */

static int decode2(const char *text, unsigned *msg_p, union pmi2_any *m)
{
    return text_decode(&pmi2_proto, TEXT_SEMICOLONS, slice_str(text), &arena, msg_p, m, sizeof *m,
                       &err);
}

static void test_groups(void)
{
    union pmi2_any m;
    const struct pmi2_subcmd *c;
    unsigned id;
    int rc = decode2("cmd=spawn;thrid=t;ncmds=2;preputcount=1;ppkey0=P;ppval0=tag#0$x;subcmd=/a b;"
                     "maxprocs=2;argc=2;argv0=a b;argv1=x=y;;z;infokeycount=1;infokey0=wdir;"
                     "infoval0=/tmp;subcmd=c;maxprocs=1;argc=0;other=1;",
                     &id, &m);

    OK_F(rc == 0 && id == PMI2_spawn, "a spawn request with two commands: %s", err.text);
    OK(m.spawn.commands.n == 2 && slice_is(m.spawn.thrid, "t") && m.spawn.ppkey.n == 1);
    c = m.spawn.commands.items;
    OK(slice_is(c[0].subcmd, "/a b") && c[0].maxprocs == 2 && c[0].argv.n == 2);
    OK(slice_is(c[0].argv.items[1], "x=y;z") && slice_is(c[0].infoval.items[0], "/tmp"));
    OK(slice_is(c[1].subcmd, "c") && c[1].maxprocs == 1 && c[1].argv.n == 0 &&
       !PMI2_HAS(&c[1], subcmd, infokeycount));
    OK(decode2("cmd=spawn;ncmds=1;subcmd=a;argc=0;", &id, &m) == TEXT_MALFORMED);
    OK_F(strstr(err.text, "maxprocs"), "each command is checked: %s", err.text);
    OK(decode2("cmd=spawn;ncmds=1;", &id, &m) == TEXT_MALFORMED);
    OK(decode2("cmd=spawn;subcmd=a;maxprocs=1;maxprocs=2;", &id, &m) == TEXT_MALFORMED);
    arena_free(&arena);
}

static void test_turns(void)
{
    struct slice keys[] = { SLICE("k0"), SLICE("k1") }, values[] = { SLICE("v;0"), SLICE("") };
    struct pmi2_subcmd c = { .has = 0 };
    struct pmi2_spawn m = { .has = 0 };
    struct buf out = BUF_NULL(4096);

    PMI2_SET(c, subcmd, subcmd, SLICE("x"));
    PMI2_SET(c, subcmd, maxprocs, 3);
    PMI2_SET(m, spawn, ppkey, (struct text_list){ 2, 2, keys });
    PMI2_SET(m, spawn, ppval, (struct text_list){ 2, 2, values });
    PMI2_SET(m, spawn, commands, (struct text_group){ 1, 1, &c });
    OK(pmi2_encode(PMI2_spawn, &m, &out, &err) == 0);
    OK_F(slice_is(buf_slice(&out),
                  "70    cmd=spawn;ppkey0=k0;ppval0=v;;0;ppkey1=k1;ppval1=;subcmd=x;maxprocs=3;"),
         "neighbouring lists are written in turn: " SLICE_FMT, SLICE_ARG(buf_slice(&out)));
    buf_clear(&out);
    c.subcmd = slice_mem("a\0b", 3);
    OK_F(pmi2_encode(PMI2_spawn, &m, &out, &err) == TEXT_UNSAYABLE && buf_len(&out) == 0,
         "a NUL inside a group is refused: %s", err.text);
    buf_free(&out);
}

static void test_frames(void)
{
    static char long_value[PMI2_BODY_MAX];
    struct pmi2_kvs_put m = { .has = 0 };
    struct buf out = BUF_NULL(1 << 21);
    struct slice body;

    OK(pmi2_frame(SLICE("38   "), &body) == PMI2_FRAME_SHORT);
    OK(pmi2_frame(SLICE("4     cmd"), &body) == PMI2_FRAME_SHORT);
    OK(pmi2_frame(SLICE("4     cmd=rest"), &body) == PMI2_FRAME_WHOLE && slice_is(body, "cmd="));
    OK(pmi2_frame(SLICE("     4cmd=rest"), &body) == PMI2_FRAME_WHOLE && slice_is(body, "cmd="));
    OK(pmi2_frame(SLICE("000004cmd=rest"), &body) == PMI2_FRAME_WHOLE && slice_is(body, "cmd="));
    OK(pmi2_frame(SLICE("0     "), &body) == PMI2_FRAME_WHOLE && body.len == 0);
    OK(pmi2_frame(SLICE("      cmd="), &body) == PMI2_FRAME_BAD);
    OK(pmi2_frame(SLICE("-1    cmd="), &body) == PMI2_FRAME_BAD);
    OK(pmi2_frame(SLICE("4 4   cmd="), &body) == PMI2_FRAME_BAD);
    memset(long_value, 'v', sizeof long_value);
    buf_str(&out, "before");
    PMI2_SET(m, kvs_put, key, SLICE("k"));
    PMI2_SET(m, kvs_put, value, slice_mem(long_value, sizeof long_value));
    OK_F(pmi2_encode(PMI2_kvs_put, &m, &out, &err) == TEXT_UNSAYABLE &&
             slice_is(buf_slice(&out), "before"),
         "a body that six digits cannot say is refused: %s", err.text);
    m.value.len -= strlen("cmd=kvs-put;key=k;value=;");
    OK(pmi2_encode(PMI2_kvs_put, &m, &out, &err) == 0);
    OK(pmi2_frame(slice_skip(buf_slice(&out), 6), &body) == PMI2_FRAME_WHOLE &&
       body.len == PMI2_BODY_MAX);
    buf_free(&out);
}

/* Assumptions of the code about every row (pmi2.h). */
static void test_first_fields(void)
{
    bool good = true;

    for (unsigned id = 0; id < PMI2_COUNT; id++) {
        const struct text_msg *m = &pmi2_proto.msgs[id];
        const struct text_field *f = m->fields;
        if (m->who & TEXT_CLIENT)
            good = good && !strcmp(f->name, "thrid") &&
                   f->offset == offsetof(struct pmi2_request, thrid);
        if (m->who & TEXT_SERVER)
            good = good && !strcmp(f[0].name, "thrid") && !strcmp(f[1].name, "rc") &&
                   !strcmp(f[2].name, "errmsg") && f[1].kind == TEXT_INT &&
                   f[0].offset == offsetof(struct pmi2_response, thrid) &&
                   f[1].offset == offsetof(struct pmi2_response, rc) &&
                   f[2].offset == offsetof(struct pmi2_response, errmsg);
    }
    OK_F(good, "all requests begin with thrid, all answers with thrid, rc, errmsg");
}

/* ---- every message of the tables ------------------------------------------------------------ */

struct grammar {
    const struct text_proto *proto;
    unsigned spawn; /* the message that is a block of lines in PMI-1 */
    bool framed;
};

static void fill(const struct grammar *g, const struct text_msg *m, uint32_t has, char *in);

static void fill_list(struct text_list *list)
{
    list->items = arena_array(&arena, 3, sizeof *list->items);
    for (; list->n < 3; list->n++)
        list->items[list->n] = SLICE("item");
}

static void fill_group(const struct grammar *g, const struct text_field *f,
                       struct text_group *group)
{
    int id = text_find(g->proto, slice_mem(f->name, f->name_len));
    const struct text_msg *row = &g->proto->msgs[id];

    group->items = arena_array(&arena, 2, row->size);
    for (; group->n < 2; group->n++)
        fill(g, row, (UINT32_C(1) << row->nfields) - 1,
             (char *)group->items + group->n * row->size);
}

static void fill(const struct grammar *g, const struct text_msg *m, uint32_t has, char *in)
{
    memset(in, 0, m->size);
    ((struct text_head *)(void *)in)->has = has;
    for (int i = 0; i < m->nfields; i++) {
        void *place = in + m->fields[i].offset;
        if (!(has & UINT32_C(1) << i))
            continue;
        switch ((enum text_kind)m->fields[i].kind) {
        case TEXT_WORD:
            *(struct slice *)place = g->framed ? SLICE(";;w or;d=\\\n;") : SLICE("w=ord\\");
            break;
        case TEXT_REST: *(struct slice *)place = SLICE("r e=st"); break;
        case TEXT_INT: *(int64_t *)place = -12345 + i; break;
        case TEXT_UINT: *(uint32_t *)place = 4294967295u - (uint32_t)i; break;
        case TEXT_BOOL: *(bool *)place = true; break;
        case TEXT_LIST0:
        case TEXT_LIST1: fill_list(place); break;
        case TEXT_GROUP: fill_group(g, &m->fields[i], place); break;
        }
    }
}

static bool same(const struct grammar *g, const struct text_msg *m, const char *a, const char *b);

static bool same_group(const struct grammar *g, const struct text_field *f,
                       const struct text_group *x, const struct text_group *y)
{
    int id = text_find(g->proto, slice_mem(f->name, f->name_len));
    const struct text_msg *row = &g->proto->msgs[id];

    for (uint32_t i = 0; i < x->n && x->n == y->n; i++) {
        if (!same(g, row, (char *)x->items + i * row->size, (char *)y->items + i * row->size))
            return false;
    }
    return x->n == y->n;
}

static bool same_field(const struct grammar *g, const struct text_field *f, const char *a,
                       const char *b)
{
    const void *x = a + f->offset, *y = b + f->offset;

    switch ((enum text_kind)f->kind) {
    case TEXT_INT: return *(const int64_t *)x == *(const int64_t *)y;
    case TEXT_UINT: return *(const uint32_t *)x == *(const uint32_t *)y;
    case TEXT_BOOL: return *(const bool *)x == *(const bool *)y;
    case TEXT_LIST0:
    case TEXT_LIST1: return ((const struct text_list *)x)->n == ((const struct text_list *)y)->n;
    case TEXT_GROUP: return same_group(g, f, x, y);
    default: return slice_eq(*(const struct slice *)x, *(const struct slice *)y);
    }
}

static bool same(const struct grammar *g, const struct text_msg *m, const char *a, const char *b)
{
    if (((const struct text_head *)(const void *)a)->has !=
        ((const struct text_head *)(const void *)b)->has)
        return false;
    for (int i = 0; i < m->nfields; i++) {
        if (!same_field(g, &m->fields[i], a, b))
            return false;
    }
    return true;
}

union any_message {
    union pmi1_any pmi1;
    union pmi2_any pmi2;
};

/* Decodes from a heap copy of the exact length, so that a sanitizer sees any overrun. */
static int decode_exact(const struct grammar *g, enum text_style style, struct slice bytes)
{
    char *copy = malloc(bytes.len ? bytes.len : 1);
    union any_message m;
    unsigned msg;
    int rc;

    memcpy(copy, bytes.ptr, bytes.len);
    rc = text_decode(g->proto, style, slice_mem(copy, bytes.len), &arena, &msg, &m, sizeof m, &err);
    free(copy);
    return rc;
}

static bool round_trip(const struct grammar *g, unsigned id, uint32_t has)
{
    const struct text_msg *m = &g->proto->msgs[id];
    enum text_style style = g->framed ? TEXT_SEMICOLONS : id == g->spawn ? TEXT_LINES : TEXT_BLANKS;
    struct buf out = BUF_NULL(1 << 16);
    union any_message in, back;
    unsigned got = 0;
    struct slice text;
    bool good;

    fill(g, m, has, (char *)&in);
    if (text_encode(g->proto, style, id, &in, &out, &err) != 0)
        return false;
    text = buf_slice(&out);
    for (size_t cut = 0; cut + 1 < text.len; cut++)
        decode_exact(g, style, slice_head(text, cut));
    if (style == TEXT_BLANKS)
        text.len--;
    good = text_decode(g->proto, style, text, &arena, &got, &back, sizeof back, &err) == 0 &&
           got == id && same(g, m, (char *)&in, (char *)&back);
    buf_free(&out);
    arena_free(&arena);
    return good;
}

static void test_every_message(const struct grammar *g)
{
    for (unsigned id = 0; id < g->proto->nmsgs; id++) {
        const struct text_msg *m = &g->proto->msgs[id];
        uint32_t all = (UINT32_C(1) << m->nfields) - 1, required = 0, seen = 0;
        bool good = true;

        for (int i = 0; i < m->nfields; i++)
            required |= m->fields[i].need == TEXT_REQ ? UINT32_C(1) << i : 0;
        for (uint32_t has = 0; has <= all; has += all > 4096 ? 37 : 1) {
            if ((has & required) == required) {
                good = good && round_trip(g, id, has);
                seen++;
            }
        }
        OK_F(good && seen, "%s %s: %u combinations, cut at every byte", g->proto->name, m->name,
             seen);
    }
}

int main(void)
{
    test_reading();
    test_spawn_block();
    test_writing();
    test_no_room();
    test_groups();
    test_turns();
    test_frames();
    test_first_fields();
    test_every_message(&(struct grammar){ &pmi1_proto, PMI1_spawn, false });
    test_every_message(&(struct grammar){ &pmi2_proto, PMI2_COUNT, true });
    arena_free(&arena);
    return tap_done();
}
