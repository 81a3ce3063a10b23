/* store_counters_test.c - which ranks have counted at a key. */
#include "core/store_counters.h"
#include "tests/tap.h"

static struct store_counters *s;

static const struct store_counter *find(const char *key)
{
    for (int i = 0; s && i < STORE_COUNTERS; i++) {
        if (s->all[i].ranks && slice_is(store_counter_key(&s->all[i]), key))
            return &s->all[i];
    }
    return NULL;
}

static void add(const char *key, uint32_t rank, int64_t more, uint64_t now_ns)
{
    store_counters_add(&s, slice_str(key), rank, 9, more, now_ns);
}

int main(void)
{
    char key[STORE_COUNTER_KEY + 2];
    const struct store_counter *c;

    add("a", 0, 0, 1);
    OK_F(!find("a"), "who only asks is no meeting");
    add("a", 8, 1, 2);
    add("a", 3, 1, 3);
    add("a", 3, 1, 4);
    add("a", 8, 0, 5);
    c = find("a");
    OK(c && c->count == 2 && store_counter_has(c, 3) && store_counter_has(c, 8) &&
       !store_counter_has(c, 0));
    OK(c && c->since_ns == 2 && c->asked_ns == 5);
    for (uint32_t r = 0; r < 8; r++)
        add("a", r, 1, 6);
    OK_F(!find("a"), "nobody is missing");
    for (int i = 0; i <= STORE_COUNTERS; i++) {
        snprintf(key, sizeof key, "k%d", i);
        add(key, 1, 1, 10 + (uint64_t)i);
    }
    OK_F(!find("k0") && find("k1") && find("k16"), "the oldest is forgotten");
    memset(key, 'x', sizeof key - 1);
    key[sizeof key - 1] = '\0';
    add(key, 1, 1, 100);
    OK_F(find("k1") != NULL, "a long key is not kept");
    s = store_counters_free(s);
    return tap_done();
}
