/* iof_queue_test.c - what a subscription asks for: sizes, times, formats, and what is dropped of
 * output that its client does not read. */
#include "server/iof_queue.h"

#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "server/session.h"
#include "tests/tap.h"

static size_t held;

static bool put(struct iof_queue *q, uint32_t rank, uint16_t channel, const char *text,
                bool blocked)
{
    struct spoken o = { .nspace = "job", .rank = rank, .channel = channel };

    o.bytes = slice_str(text);
    return iof_queue_put(q, &o, blocked);
}

/* All pieces, "RANK CHANNEL[text]" with a dot behind the last one of a stream; they are taken. */
static bool gives(struct iof_queue *q, const char *want)
{
    struct buf text = BUF_NULL(SIZE_MAX);
    struct iof_piece *p;
    bool same;

    while ((p = iof_queue_first(q))) {
        buf_printf(&text, "%u %u[", p->rank, p->channel);
        buf_slice_put(&text, buf_slice(&p->bytes));
        buf_str(&text, p->ends ? "]." : "]");
        iof_queue_drop(q, p);
    }
    same = slice_is(buf_slice(&text), want);
    if (!same)
        printf("# got '%s'\n", buf_len(&text) ? buf_cstr(&text) : "");
    buf_free(&text);
    return same;
}

/* (A queue may not be copied: its lists point at themselves.) */
#define BEGIN(q, ...)                                                                              \
    struct iof_queue q;                                                                            \
    held = 0;                                                                                      \
    iof_queue_init(&q, &(struct iof_options){ __VA_ARGS__ }, &held)

static void end(struct iof_queue *q)
{
    iof_queue_free(q);
    OK_F(held == 0, "nothing is held in the end");
}

static void test_drops(void)
{
    BEGIN(q, .cache = 4);
    OK(!put(&q, 0, 2, "abcdef", false));
    OK_F(gives(&q, "0 2[abcdef]"), "who reads gets all");
    put(&q, 0, 2, "abc", true);
    put(&q, 1, 2, "de", true);
    put(&q, 0, 4, "xyz", true);
    OK_F(gives(&q, "0 2[bc]1 2[de]0 4[xyz]"), "the oldest goes, of that channel alone");
    put(&q, 0, 2, "abc", true);
    put(&q, 0, 2, "defghi", true);
    put(&q, 0, 2, "", true);
    put(&q, 1, 2, "0123456789", true);
    OK_F(gives(&q, "0 2[].1 2[6789]"), "ends stay");
    q.options.drop_newest = true;
    put(&q, 0, 2, "abc", true);
    put(&q, 1, 2, "def", true);
    put(&q, 1, 2, "ghi", true);
    put(&q, 1, 2, "", true);
    OK_F(gives(&q, "0 2[abc]1 2[d]."), "the newest goes");
    put(&q, 0, 2, "abc", true);
    put(&q, 0, 2, "d", true);
    OK_F(gives(&q, "0 2[abcd]"), "room becomes free");
    put(&q, 0, 2, "left", true);
    end(&q);
}

static void test_gathering(void)
{
    const uint64_t s = 1000000000;

    BEGIN(q, .cache = 100, .gather = 4, .gather_ns = 3 * s);
    OK_F(put(&q, 0, 2, "ab", false), "its time begins to count");
    OK(gives(&q, ""));
    OK(iof_queue_tick(&q, 10 * s, 0, false) == 13 * s && gives(&q, ""));
    OK(!put(&q, 0, 2, "c", false) && gives(&q, ""));
    OK(!put(&q, 0, 2, "def", false) && gives(&q, "0 2[abcdef]"));
    OK(iof_queue_tick(&q, 14 * s, 0, false) == UINT64_MAX && gives(&q, ""));
    OK(put(&q, 0, 2, "ab", false) && iof_queue_tick(&q, 20 * s, 0, false) == 23 * s);
    OK(iof_queue_tick(&q, 22 * s, 0, false) == 23 * s && gives(&q, ""));
    OK(iof_queue_tick(&q, 23 * s, 0, false) == UINT64_MAX && gives(&q, "0 2[ab]"));
    put(&q, 0, 2, "c", false);
    put(&q, 1, 2, "d", false);
    put(&q, 0, 2, "", false);
    OK_F(gives(&q, "0 2[c]."), "the end brings what there is");
    iof_queue_flush(&q);
    OK_F(gives(&q, "1 2[d]"), "and so does the end of the subscription");
    put(&q, 0, 2, "x", false);
    end(&q);
}

static void test_formats(void)
{
    BEGIN(q, .cache = 100, .format = IOF_TAGGED);
    put(&q, 3, 2, "one\ntw", false);
    OK_F(gives(&q, "3 2[[job,3]<stdout>: one\n]"), "whole lines");
    put(&q, 3, 4, "err\n", false);
    put(&q, 3, 2, "o\nthree", false);
    put(&q, 3, 2, "", false);
    OK(gives(&q, "3 4[[job,3]<stderr>: err\n]3 2[[job,3]<stdout>: two\n[job,3]<stdout>: three]."));
    q.options.format = IOF_RANKED;
    put(&q, 3, 4, "err\n", false);
    OK(gives(&q, "3 4[[3]<stderr>: err\n]"));
    q.options.format = IOF_XML;
    put(&q, 0, 2, "a<b&\tc>\n", false);
    OK(gives(&q, "0 2[<stdout nspace=\"job\" rank=\"0\">a&lt;b&amp;&#009;c&gt;&#010;</stdout>\n]"));
    q.options.format = IOF_TIMED | IOF_TAGGED;
    OK_F(put(&q, 1, 2, "x\n", false) && gives(&q, ""), "the time is known by the next tick");
    OK(iof_queue_tick(&q, 5, UINT64_C(1700000000123000000), false) == UINT64_MAX);
    OK(gives(&q, "1 2[2023-11-14T22:13:20.123Z [job,1]<stdout>: x\n]"));
    put(&q, 1, 2, "y", false);
    OK(put(&q, 1, 2, "", false));
    iof_queue_tick(&q, 6, 0, false);
    OK(gives(&q, "1 2[1970-01-01T00:00:00.000Z [job,1]<stdout>: y]."));
    q.options.format = IOF_TIMED | IOF_XML;
    put(&q, 1, 2, "z\n", false);
    iof_queue_tick(&q, 7, 1000000, false);
    OK(gives(&q, "1 2[<stdout nspace=\"job\" rank=\"1\" timestamp=\"1970-01-01T00:00:00.001Z\">"
                 "z&#010;</stdout>\n]"));
    end(&q);
}

/* A line that does not end, and a client that asks for much, are not kept for ever. */
static void test_limits(void)
{
    char *text = malloc(LIMIT_LISTENER_LINE + 1);
    size_t most = 0;

    BEGIN(q, .cache = 1, .gather = LIMIT_LISTENER_QUEUE);
    memset(text, 'x', LIMIT_LISTENER_LINE);
    text[LIMIT_LISTENER_LINE] = '\0';
    for (uint32_t i = 0; i < 1000; i++) {
        put(&q, i, 2, text, true);
        most = held > most ? held : most;
    }
    OK_F(most < 2 * (size_t)LIMIT_LISTENER_CACHE, "%zu bytes at most", most);
    iof_queue_free(&q);
    iof_queue_init(&q, &(struct iof_options){ .cache = 1u << 20, .format = IOF_TAGGED }, &held);
    put(&q, 0, 2, text, false);
    OK_F(iof_queue_first(&q) != NULL, "a long line comes in parts");
    end(&q);
    free(text);
}

static pmix_info_t number(const char *key, uint32_t n)
{
    pmix_info_t i;

    memset(&i, 0, sizeof i);
    strncpy(i.key, key, PMIX_MAX_KEYLEN);
    i.value = (pmix_value_t){ .type = PMIX_UINT32, .data.uint32 = n };
    return i;
}

static void test_options(void)
{
    struct iof_options o;
    pmix_info_t infos[] = { number(PMIX_IOF_CACHE_SIZE, 7), number(PMIX_IOF_BUFFERING_TIME, 2),
                            number(PMIX_IOF_BUFFERING_SIZE, 9) };

    OK(iof_options_read(&o, NULL, 0) == PMIX_SUCCESS && o.cache == LIMIT_LISTENER_QUEUE &&
       !o.gather && !o.format && !o.drop_newest);
    OK(iof_options_read(&o, infos, 3) == PMIX_SUCCESS && o.cache == 7 && o.gather == 9 &&
       o.gather_ns == UINT64_C(2000000000));
    infos[0].value.data.uint32 = LIMIT_LISTENER_CACHE + 1;
    OK(iof_options_read(&o, infos, 3) == PMIX_ERR_OUT_OF_RESOURCE);
    infos[0].value.data.uint32 = 1;
    infos[2].value.data.uint32 = UINT32_MAX;
    OK(iof_options_read(&o, infos, 3) == PMIX_ERR_OUT_OF_RESOURCE);
}

int main(void)
{
    test_drops();
    test_gathering();
    test_formats();
    test_limits();
    test_options();
    return tap_done();
}
