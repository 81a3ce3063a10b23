/* bootstrap.c - fuzzes what a new daemon reads on its standard input, and what it answers among
 * somebody's login messages.  What is accepted reads the same when it has been written again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/launch_methods.h"
#include "daemon/bootstrap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool good)
{
    if (!good)
        abort();
}

static void check_record(struct bootstrap *b, struct arena *a)
{
    struct buf once = BUF_NULL(1 << 24), twice = BUF_NULL(1 << 24);
    struct agent_spec spec;
    struct errmsg err;
    struct bootstrap back = { 0 };

    if (bootstrap_write(b, &once) == 0) {
        must(bootstrap_length(buf_slice(&once)) == buf_len(&once));
        must(bootstrap_read(&back, a, buf_slice(&once), &err) == 0 &&
             bootstrap_write(&back, &twice) == 0);
        must(buf_len(&once) == buf_len(&twice) &&
             memcmp(buf_slice(&once).ptr, buf_slice(&twice).ptr, buf_len(&once)) == 0);
    }
    agent_spec_get(&spec, b, &err);
    bootstrap_wipe(&back);
    buf_free(&once);
    buf_free(&twice);
}

static void check_answers(struct slice text)
{
    while (text.len) {
        struct slice line = slice_cut(&text, '\n'), message;
        struct buf out = BUF_NULL(1 << 20);
        uint32_t position, back;
        struct slice again, written;
        enum bootstrap_answer what = bootstrap_answer_read(line, &position, &message);
        char words[256];

        if (what != BOOTSTRAP_NOISE && message.len < sizeof words &&
            !memchr(message.ptr, 0, message.len)) {
            memcpy(words, message.ptr, message.len);
            words[message.len] = '\0';
            bootstrap_answer_write(&out, what, position, words);
            written = buf_slice(&out);
            must(bootstrap_answer_read(slice_cut(&written, '\n'), &back, &again) == what &&
                 back == position && again.len == message.len && written.len == 0);
        }
        buf_free(&out);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice text = slice_mem(data, size);
    struct arena a = ARENA_NULL(64u << 20);
    struct errmsg err;
    struct bootstrap b;
    size_t n = bootstrap_length(text);

    must(n <= size);
    if (bootstrap_read(&b, &a, n ? slice_head(text, n) : text, &err) == 0)
        check_record(&b, &a);
    bootstrap_wipe(&b);
    check_answers(text);
    arena_free(&a);
    return 0;
}
