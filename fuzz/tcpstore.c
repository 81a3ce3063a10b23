/* tcpstore.c - fuzz target: a TCPStore's client that may send any bytes.
 *
 * The first byte says in which dialect, and in which pieces the bytes arrive; the rest is what the
 * client says. Beside it a second process of the job waits for a key.  Whatever is said, the server
 * answers or closes, no process of the job fails by it, and what the two keep is given back with
 * the job. */
#include <stdint.h>

#define WORLD_STORE (1 << 16)
#include "tests/world.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char validate[] = "\x00\xce\xf7\x85\x3c";
static const char waits[] = "\x06\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0k";

static void send_bytes(struct world *w, struct peer *p, const void *bytes, size_t n)
{
    world_write(w, p, slice_mem(bytes, n));
    if (buf_ok(&p->out))
        buf_take(&p->out, buf_len(&p->out));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct peer *p, *other;
    struct world w;
    size_t step;

    if (size < 1)
        return 0;
    world_open(&w, 2, 1);
    p = server_store_peer_new(&w.server, w.jobs[0].job, 0, NULL);
    other = server_store_peer_new(&w.server, w.jobs[0].job, 1, NULL);
    if (!p || !other)
        abort();
    send_bytes(&w, other, validate, sizeof validate - 1);
    send_bytes(&w, other, waits, sizeof waits - 1);
    if (data[0] & 1)
        send_bytes(&w, p, validate, sizeof validate - 1);
    step = data[0] & 64 ? 1 : data[0] & 32 ? 7 : size;
    for (size_t at = 1; at < size && !p->closing; at += step)
        send_bytes(&w, p, data + at, at + step < size ? step : size - at);
    if (other->closing || w.jobs[0].job->phase != JOB_RUNNING)
        abort();
    server_peer_free(&w.server, p);
    world_settle(&w);
    world_close(&w);
    return 0;
}
