/* pmix_session.c - fuzzes the server's side of PMIx connections.
 *
 * Input: records of a head of two bytes (who speaks and how; how many bytes follow) and what is
 * said. Three processes of one job and one that nobody knows speak in turn.  So that most mutations
 * get past the framing, a record can be framed for them: as a handshake, or as a message.  Nothing
 * is expected but that nobody crashes, and that every answer is whole messages. */
#include <arpa/inet.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A small store: making it is most of what a run costs. */
#define WORLD_STORE (1 << 20)

#include "server/pmix.h"
#include "base/buf.h"
#include "fuzz/own_memory.h"
#include "core/input.h"
#include "tests/world.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SPEAKERS = 4, RANKS = 3, RECORDS_MAX = 64 };

/* The head's first byte: speaker in the low bits, then what is put before the bytes. */
enum { AS_IT_IS = 0, A_HELLO = 1, A_MESSAGE = 2, A_V3_HELLO = 3 };

/* Its high bits, besides: the server is that of a launcher from now on; the bytes are what the
 * nodes have told, if they have been asked. */
enum { A_MANAGER = 0x10, OF_NODES = 0x20 };

static void put_header(struct buf *out, uint32_t tag, size_t n)
{
    uint32_t words[4] = { 0, htonl(tag), htonl((uint32_t)n), 0 };

    buf_put(out, words, sizeof words);
}

static void put_hello(struct buf *out, uint32_t rank, const char *encoding)
{
    struct buf body = BUF_NULL(4096);
    uint32_t words[4] = { UINT32_MAX, UINT32_MAX, 0, 0 }, number = htonl(rank);

    buf_put(&body, "native\0\0\0\0\0\0job_0", 18);
    buf_put(&body, &number, sizeof number);
    buf_put(&body, "4.2.2", 6);
    buf_put(&body, encoding, strlen(encoding) + 1);
    buf_put(&body, "\1hash", 6);
    words[2] = (uint32_t)buf_len(&body);
    buf_put(out, words, sizeof words);
    buf_slice_put(out, buf_slice(&body));
    buf_free(&body);
}

/* Past the welcome every answer is a whole message that is not empty. */
static void check_answers(struct peer *p, bool *welcome)
{
    struct slice rest = buf_slice(&p->out);

    if (!p->session || p->session->ops != &pmix_ops)
        return; /* the first byte made it a text protocol: other rules */
    if (rest.len && !*welcome) {
        if (rest.len < 8)
            abort();
        *welcome = true;
        rest = slice_skip(rest, 8);
    }
    /* A connection may be greeted again: from then on lengths begin elsewhere. */
    while (rest.len) {
        uint32_t n;
        if (rest.len < 16)
            break;
        memcpy(&n, rest.ptr + 8, sizeof n);
        n = ntohl(n);
        if (n > rest.len - 16)
            break;
        rest = slice_skip(rest, 16 + (size_t)n);
    }
    buf_take(&p->out, buf_len(&p->out));
}

struct room {
    struct world w;
    struct peer *peers[SPEAKERS];
    bool welcome[SPEAKERS], text[SPEAKERS];
};

static void send_bytes(struct room *m, uint32_t who, struct slice bytes)
{
    struct peer *p = m->peers[who];

    if (bytes.len && !p->session)
        m->text[who] = (unsigned char)bytes.ptr[0] != 0xff;
    world_write(&m->w, p, bytes);
    for (uint32_t i = 0; i < SPEAKERS; i++) {
        if (m->text[i])
            buf_take(&m->peers[i]->out, buf_len(&m->peers[i]->out));
        else
            check_answers(m->peers[i], &m->welcome[i]);
    }
}

static void answer_nodes(struct room *m, struct slice words)
{
    struct answer a = ANSWER_TO(node_parts, ANSWER_OK, .parts = words);

    if (m->w.last.kind == EFFECT_node_parts)
        server_answer(&m->w.server, m->w.last.u.node_parts.ticket, &a);
}

static void do_record(struct room *m, uint8_t head, struct slice words)
{
    struct buf out = BUF_NULL(1 << 16);
    uint32_t who = head % SPEAKERS;

    m->w.server.core.is_manager = m->w.server.core.is_manager || head & A_MANAGER;
    own_memory(true);
    switch (head / SPEAKERS % 4) {
    case A_HELLO: put_hello(&out, who, "v41"); break;
    case A_V3_HELLO: put_hello(&out, who, "v3"); break;
    case A_MESSAGE: put_header(&out, 101, words.len); break;
    default: break;
    }
    if (!(head & OF_NODES))
        buf_slice_put(&out, words);
    own_memory(false);
    send_bytes(m, who, buf_slice(&out));
    if (head & 0x80)
        server_deliver(&m->w.server, INPUT(hangup, .connection = m->peers[who]->id));
    if (head & OF_NODES)
        answer_nodes(m, words);
    if (head & 0x40)
        server_tick(&m->w.server, m->w.now += 3000000000U);
    world_settle(&m->w);
    buf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct room m;

    memset(&m, 0, sizeof m);
    own_memory(true);
    world_open(&m.w, RANKS, 2);
    for (uint32_t i = 0; i < SPEAKERS; i++)
        m.peers[i] = server_peer_new(&m.w.server, NULL, 0, false, NULL);
    own_memory(false);
    for (int i = 0; i < RECORDS_MAX && size >= 2; i++) {
        uint8_t head = data[0];
        size_t n = data[1] < size - 2 ? data[1] : size - 2;
        do_record(&m, head, slice_mem(data + 2, n));
        data += 2 + n;
        size -= 2 + n;
    }
    world_close(&m.w);
    return 0;
}
