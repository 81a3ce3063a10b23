/* help_topics_test.c - which messages are shown, which are counted, and the limit of memory. */
#include "core/help_topics.h"

#include <stdio.h>

#include "base/limit.h"
#include "tests/tap.h"

struct reported {
    unsigned calls;
    uint32_t more;
};

static void note_topic(void *arg, struct slice topic, uint32_t more)
{
    struct reported *t = arg;

    (void)topic;
    t->calls++;
    t->more += more;
}

static struct reported report(struct help_topics *t)
{
    struct reported reported = { 0 };

    OK(help_topics_report(t, note_topic, &reported) == (reported.calls > 0));
    return reported;
}

static void test_counts(void)
{
    struct help_topics t;
    struct reported reported;

    help_topics_init(&t);
    OK_F(help_topics_note(&t, SLICE("a / b"), 1000), "the first one is shown");
    EQ(report(&t).calls, 0);
    for (uint32_t p = 0; p < 1000; p++)
        OK(!help_topics_note(&t, SLICE("a / b"), p));
    OK(!help_topics_note(&t, SLICE("a / b"), 7) && !help_topics_note(&t, SLICE("a / b"), 1000));
    OK_F(help_topics_note(&t, SLICE("a / c"), 7), "another topic is another matter");
    reported = report(&t);
    EQ(reported.calls, 1);
    OK_F(reported.more == 1000, "each process counts once: %u", reported.more);
    EQ(report(&t).calls, 0);
    OK(!help_topics_note(&t, SLICE("a / c"), 8));
    EQ(report(&t).more, 1);
    help_topics_free(&t);
    help_topics_free(&t);
}

static void test_bound(void)
{
    struct help_topics t;
    unsigned shown = 0;
    char topic[32];

    help_topics_init(&t);
    for (unsigned round = 0; round < 2; round++) {
        for (unsigned i = 0; i < 2 * LIMIT_HELP_TOPICS; i++) {
            snprintf(topic, sizeof topic, "t%u", i);
            shown += help_topics_note(&t, slice_str(topic), 0);
        }
    }
    OK_F(t.count == LIMIT_HELP_TOPICS && shown == 3 * LIMIT_HELP_TOPICS,
         "topics that are not remembered are shown: %u", shown);
    help_topics_free(&t);
}

int main(void)
{
    test_counts();
    test_bound();
    return tap_done();
}
