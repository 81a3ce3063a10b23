/* pmi2_session.c - fuzz target: a PMI-2 client that may send any bytes.
 *
 * The first byte says how far the conversation has come already, and in which pieces the bytes
 * arrive; the rest is what the client says.  Beside it a second process of the job waits in a fence
 * and for an attribute.  Whatever is said, the server answers in whole frames or closes, and the
 * job can end.  (session.c plays whole conversations; this one looks at frames, lengths and raw
 * blocks.) */
#include <stdint.h>

#define WORLD_STORE (1 << 16)
#include "tests/world.h"
#include "core/input.h"
#include "wire/pmi2.h"
#include "core/job_event.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const starts[] = {
    "",
    "cmd=init pmi_version=2 pmi_subversion=0\n",
    "cmd=init pmi_version=2 pmi_subversion=0\n38    cmd=fullinit;pmirank=0;threaded=FALSE;",
    "cmd=init pmi_version=2 pmi_subversion=0\n    23cmd=fullinit;pmirank=0;",
    "cmd=init pmi_version=2 pmi_subversion=0 wireup=1\n",
};

static void send_bytes(struct world *w, struct peer *p, const void *bytes, size_t n)
{
    world_write(w, p, slice_mem(bytes, n));
}

static void send_text(struct world *w, struct peer *p, const char *text)
{
    send_bytes(w, p, text, strlen(text));
}

/* What the server has said: lines at the start, then frames (and raw blocks of ours, which are not
 * looked into). */
static void check_words(struct peer *p, bool ours)
{
    struct slice out = buf_slice(&p->out), body;

    if (!buf_ok(&p->out))
        return;
    while (out.len && !ours) {
        if (slice_starts(out, SLICE("cmd="))) {
            size_t end = slice_find(out, '\n');
            if (end == out.len)
                abort();
            out = slice_skip(out, end + 1);
        } else if (pmi2_frame(out, &body) != PMI2_FRAME_WHOLE) {
            abort();
        } else {
            out = slice_skip(out, PMI2_HEAD + body.len);
        }
    }
    buf_take(&p->out, buf_len(&p->out));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct peer *p, *other;
    struct world w;
    size_t step;
    bool ours;

    if (size < 1)
        return 0;
    world_open(&w, 2, 1 + data[0] % 2);
    p = w.jobs[0].peers[0];
    other = w.jobs[0].peers[1];
    send_text(&w, other, starts[2]);
    send_text(&w, other,
              "24    cmd=kvs-fence;thrid=one;"
              "49    cmd=info-getnodeattr;thrid=two;key=n;wait=TRUE;");
    ours = data[0] % 5 == 4;
    send_text(&w, p, starts[data[0] % 5]);
    step = data[0] & 64 ? 1 : data[0] & 32 ? 7 : size;
    for (size_t at = 1; at < size && !p->closing; at += step)
        send_bytes(&w, p, data + at, at + step < size ? step : size - at);
    /* PMI-1's own answers may be anything but frames. */
    check_words(p, ours || p->session == NULL || strcmp(p->session->ops->name, "PMI-2") != 0);
    check_words(other, false);
    for (int r = 0; r < 2; r++) {
        server_deliver(&w.server, INPUT(hangup, .connection = w.jobs[0].peers[r]->id));
        job_event(w.jobs[0].job, (uint32_t)r, PROC_EVENT_EXIT, 0);
    }
    world_settle(&w);
    if (w.jobs[0].job->phase != JOB_ENDED)
        abort();
    world_close(&w);
    return 0;
}
