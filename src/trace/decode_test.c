/* decode_test.c - recorded conversations of real clients and servers, and synthetic ones of every
 * protocol, decoded: whole, in single bytes, cut off, and full of nonsense.
 *
 * Arguments: traces of tests/golden.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "pmix_common.h"
#include "trace/decode.h"
#include "tests/tap.h"
#include "wire/pmix_pack.h"

/* "protocol command name=value ...\n" per message; an unreadable one ends in `!`. */
static void describe(const struct decoded *m, struct buf *out)
{
    buf_printf(out, "%s " SLICE_FMT, m->protocol, SLICE_ARG(m->command));
    for (uint32_t i = 0; i < m->nfields; i++) {
        const struct decode_field *f = &m->fields[i];
        buf_printf(out, " " SLICE_FMT "=", SLICE_ARG(f->name));
        if (f->kind == DECODE_NUMBER)
            buf_i64(out, f->number);
        else if (f->kind == DECODE_FLAG)
            buf_str(out, f->number ? "TRUE" : "FALSE");
        else
            buf_slice_put(out, f->text);
    }
    buf_str(out, m->fault ? " !\n" : "\n");
}

static void read_along(struct decode *d, enum decode_way way, struct slice bytes, size_t step,
                       struct buf *out)
{
    struct decoded m;

    while (bytes.len) {
        decode_feed(d, way, slice_head(bytes, step));
        bytes = slice_skip(bytes, step);
        while (decode_next(d, way, &m) == DECODE_MESSAGE)
            describe(&m, out);
    }
}

/* In one piece, and byte by byte. */
static void expect(enum decode_way way, struct slice bytes, const char *want)
{
    for (size_t step = SIZE_MAX; step; step = step == 1 ? 0 : 1) {
        struct buf out = BUF_NULL(1 << 20);
        struct decode d;
        decode_init(&d);
        read_along(&d, way, bytes, step, &out);
        if (!OK_F(!strcmp(buf_cstr(&out), want), "%s: %.60s", step == 1 ? "bytes" : "whole", want))
            printf("# got: %s\n", buf_cstr(&out));
        decode_free(&d);
        buf_free(&out);
    }
}

#define BYTES(text) slice_mem("" text, sizeof(text) - 1)

static void test_pmi1(void)
{
    expect(DECODE_IN, BYTES("cmd=put key=a kvsname=k value=b c=d\n"),
           "PMI-1 put kvsname=k key=a value=b c=d\n");
    expect(DECODE_IN, BYTES("cmd=publish_name service=s port=p\n\ncmd=get_maxes\n"),
           "PMI-1 publish_name service=s port=p\nPMI-1 \nPMI-1 get_maxes\n");
    expect(DECODE_IN,
           BYTES("mcmd=spawn\nnprocs=2\nexecname=/bin/a b\ntotspawns=1\nspawnssofar=1\nargcnt=1\n"
                 "arg1=x y\npreput_num=0\ninfo_num=1\ninfo_key_0=wdir\ninfo_val_0=/\nendcmd\n"
                 "cmd=barrier_in\n"),
           "PMI-1 spawn nprocs=2 execname=/bin/a b totspawns=1 spawnssofar=1 argcnt=1 arg1=x y "
           "preput_num=0 info_num=1 info_key_0=wdir info_val_0=/\nPMI-1 barrier_in\n");
    expect(DECODE_IN,
           BYTES("cmd=mput_wireup count=2 bytes=17\n\1\0\3\0\0\0ka\nb\1\0\0\0\0\0kcmd=finalize\n"),
           "PMI-1 mput_wireup count=2 bytes=17 key=k value=a\nb key=k value=\nPMI-1 finalize\n");
    expect(DECODE_IN, BYTES("cmd=mput_wireup count=1 bytes=3\nabccmd=finalize\n"),
           "PMI-1 mput_wireup count=1 bytes=3 raw=abc\nPMI-1 finalize\n");
    expect(DECODE_OUT,
           BYTES("cmd=value_wireup rc=0 bytes=3\na\nbcmd=value_wireup rc=-1 msg=not_found\n"),
           "PMI-1 value_wireup rc=0 bytes=3 value=a\nb\nPMI-1 value_wireup rc=-1 msg=not_found\n");
    expect(DECODE_OUT, BYTES("cmd=put_ranks2hosts 12 1\n4 here 0,1, cmd=finalize_ack\n"),
           "PMI-1 put_ranks2hosts hosts=4 here 0,1, \nPMI-1 finalize_ack\n");
}

static void test_pmi2(void)
{
    expect(DECODE_IN,
           BYTES("cmd=init pmi_version=2 pmi_subversion=0\n"
                 "    40cmd=fullinit;pmirank=1;threaded=FALSE;  "
                 "30    cmd=kvs-put;key=a;value=b;;c; "
                 "cmd=init pmi_version=1\n"),
           "PMI-1 init pmi_version=2 pmi_subversion=0\n"
           "PMI-2 fullinit pmirank=1 threaded=FALSE\n"
           "PMI-2 kvs-put key=a value=b;c\n"
           "PMI-1 init pmi_version=1\n");
    expect(
        DECODE_IN,
        BYTES("87    cmd=spawn;ncmds=2;preputcount=0;subcmd=a;maxprocs=1;argc=1;argv0=x;subcmd=b;"
              "maxprocs=2;"),
        "PMI-2 spawn ncmds=2 preputcount=0 subcmd=a maxprocs=1 argc=1 argv0=x subcmd=b "
        "maxprocs=2\n");
    expect(DECODE_IN,
           BYTES("    34cmd=mput-wireup;count=1;bytes=10; \4\0\0\0\0\0cardcmd=finalize\n"),
           "PMI-2 mput-wireup count=1 bytes=10 key=card value=\nPMI-1 finalize\n");
    expect(DECODE_OUT,
           BYTES("51    cmd=get-wireup-response;rc=0;found=TRUE;bytes=3;   "
                 "a;b36    cmd=kvs-fence-response;rc=1;errmsg=x"),
           "PMI-2 get-wireup-response rc=0 found=TRUE bytes=3 value=a;b\n"
           "PMI-2 kvs-fence-response rc=1 errmsg=x\n");
}

static void test_nonsense(void)
{
    expect(DECODE_IN, BYTES("hello\ncmd=wedding guest=9\ncmd=put\ncmd=get_maxes\n"),
           "PMI-1  !\nPMI-1 wedding !\nPMI-1 put !\nPMI-1 get_maxes\n");
    expect(DECODE_IN, BYTES("11    cmd=nope;x=cmd=get_maxes\n"), "PMI-2 nope !\nPMI-1 get_maxes\n");
    expect(DECODE_IN, BYTES("1 2 3 \ncmd=get_maxes\n"), "PMI-1  !\nPMI-1 get_maxes\n");
}

static void put_pmix(struct decode *d, enum decode_way way, char tag, uint16_t type, int value,
                     struct buf *out)
{
    char head[16] = { 0 };
    struct buf body = BUF_NULL(256);
    struct ppack w;

    ppack_init(&w, &body, ptype_flavour(SLICE("v41")));
    w.described = true;
    if (type == PMIX_COMMAND)
        ppack_byte(&w, type, (uint8_t)value);
    else
        ppack_status(&w, value);
    head[7] = tag;
    head[11] = (char)buf_len(&body);
    read_along(d, way, slice_mem(head, sizeof head), 1, out);
    read_along(d, way, buf_slice(&body), 1, out);
    buf_free(&body);
}

static void test_pmix(void)
{
    static const char hello[] = "\377\377\377\377\0\0\0\0\42\0\0\0\0\0\0\0"
                                "none\0"
                                "\0\0\0\0"
                                "\0"
                                "job\0"
                                "\0\0\0\2"
                                "4.2.2\0"
                                "v41\0"
                                "\2"
                                "hash";
    static const char welcome[] = "\0\0\0\0\0\0\0\2";
    struct buf out = BUF_NULL(4096);
    struct decode d;

    decode_init(&d);
    read_along(&d, DECODE_IN, slice_mem(hello, sizeof hello), 1, &out);
    read_along(&d, DECODE_OUT, slice_mem(welcome, sizeof welcome - 1), 1, &out);
    put_pmix(&d, DECODE_IN, 7, PMIX_COMMAND, 5, &out);
    put_pmix(&d, DECODE_OUT, 7, PMIX_STATUS, -46, &out);
    OK_F(strstr(buf_cstr(&out), "PMIx hello") &&
             strstr(buf_cstr(&out), "PMIx welcome status=0 index=2") &&
             strstr(buf_cstr(&out), "PMIx finalize tag=7\n") &&
             strstr(buf_cstr(&out), "PMIx finalize tag=7 status=-46\n"),
         "PMIx: handshake, a request and its reply: %s", buf_cstr(&out));
    decode_free(&d);
    buf_free(&out);
}

static void test_rest(void)
{
    struct decoded m;
    struct decode d;

    decode_init(&d);
    decode_feed(&d, DECODE_IN, SLICE("cmd=get_maxes\ncmd=fini"));
    OK(decode_next(&d, DECODE_IN, &m) == DECODE_MESSAGE && !m.fault);
    EQ(decode_next(&d, DECODE_IN, &m), DECODE_MORE);
    OK(decode_rest(&d, DECODE_IN, &m) == DECODE_MESSAGE && slice_is(m.bytes, "cmd=fini") &&
       m.fault);
    EQ(decode_rest(&d, DECODE_IN, &m), DECODE_MORE);
    EQ(decode_rest(&d, DECODE_OUT, &m), DECODE_MORE);
    decode_free(&d);
}

static uint32_t dice(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 8;
}

/* Every byte comes out again, in messages or as the rest. */
static void test_random(void)
{
    static const char *const words[] = { "cmd=",
                                         "mcmd=spawn\n",
                                         "endcmd\n",
                                         "put",
                                         " key=",
                                         "\n",
                                         "12    ",
                                         "     9",
                                         "cmd=kvs-put;",
                                         "value=",
                                         ";",
                                         "cmd=mput_wireup count=1 bytes=7\n",
                                         "\377\377",
                                         "x",
                                         " " };
    uint32_t seed = 7;
    bool good = true;

    for (int round = 0; round < 3000 && good; round++) {
        struct buf text = BUF_NULL(4096);
        enum decode_way way = (enum decode_way)(round % 2);
        size_t out = 0;
        struct decoded m;
        struct decode d;
        for (uint32_t n = dice(&seed) % 20; n; n--)
            buf_str(&text, words[dice(&seed) % (sizeof words / sizeof *words)]);
        decode_init(&d);
        decode_feed(&d, way, buf_slice(&text));
        while (decode_next(&d, way, &m) == DECODE_MESSAGE)
            out += m.bytes.len;
        if (decode_rest(&d, way, &m) == DECODE_MESSAGE)
            out += m.bytes.len;
        good = out == buf_len(&text);
        decode_free(&d);
        buf_free(&text);
    }
    OK_F(good, "nothing is lost of three thousand pieces of nonsense");
}

/* ---- recordings of real programs ------------------------------------------------------------- */

enum { RANKS = 16 };

static int hex(char c)
{
    return c <= '9' ? c - '0' : (c | 32) - 'a' + 10;
}

static void unescape(struct slice s, struct buf *out)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        if (c == '\\' && i + 1 < s.len) {
            c = s.ptr[++i];
            if (c == 'x' && i + 2 < s.len) {
                c = (char)(hex(s.ptr[i + 1]) * 16 + hex(s.ptr[i + 2]));
                i += 2;
            } else {
                c = c == 'n' ? '\n' : c == 't' ? '\t' : c;
            }
        }
        buf_byte(out, c);
    }
}

/* One line: `RANK> bytes` or `RANK< bytes`.  Counts messages and faults. */
static void golden_line(struct decode *ranks, struct slice line, unsigned *n, unsigned *faults)
{
    size_t at = 0;
    uint32_t rank;
    enum decode_way way;
    struct buf bytes = BUF_NULL(1 << 20);
    struct decoded m;

    while (at < line.len && line.ptr[at] != '>' && line.ptr[at] != '<')
        at++;
    if (!slice_u32(slice_head(line, at), &rank) || rank >= RANKS)
        return;
    way = line.ptr[at] == '>' ? DECODE_IN : DECODE_OUT;
    unescape(slice_skip(line, at + 2), &bytes);
    decode_feed(&ranks[rank], way, buf_slice(&bytes));
    while (decode_next(&ranks[rank], way, &m) == DECODE_MESSAGE) {
        ++*n;
        if (m.fault || (m.command.len == 0 && !slice_is(m.bytes, "\n"))) {
            printf("# " SLICE_FMT "\n", SLICE_ARG(m.bytes));
            ++*faults;
        }
    }
    buf_free(&bytes);
}

static void test_golden(const char *path)
{
    struct decode ranks[RANKS];
    unsigned n = 0, faults = 0;
    size_t room = 0, left = 0;
    char *line = NULL;
    struct decoded m;
    FILE *f = fopen(path, "re");

    for (int i = 0; i < RANKS; i++)
        decode_init(&ranks[i]);
    while (f && getline(&line, &room, f) > 0)
        golden_line(ranks, slice_head(slice_str(line), strcspn(line, "\n")), &n, &faults);
    for (int i = 0; i < RANKS; i++) {
        while (decode_rest(&ranks[i], DECODE_IN, &m) || decode_rest(&ranks[i], DECODE_OUT, &m))
            left++;
        decode_free(&ranks[i]);
    }
    OK_F(f && n > 8 && faults == 0 && left == 0, "%s: %u messages", strrchr(path, '/') + 1, n);
    if (f)
        fclose(f);
    free(line);
}

int main(int argc, char **argv)
{
    test_pmi1();
    test_pmi2();
    test_nonsense();
    test_pmix();
    test_rest();
    test_random();
    for (int i = 1; i < argc; i++)
        test_golden(argv[i]);
    OK(argc > 1);
    return tap_done();
}
