/* reservation_test.c - reservations of nodes: which are given, to whom, and until when. */
#include <string.h>

#include "core/reservation.h"
#include "tests/tap.h"

enum { NODES = 4, ME = 7, OTHER = 8 };

static struct reservations all;

static void begin(void)
{
    static const char *const names[NODES] = { "n1", "n2", "n3", "n4" };

    reservations_open(&all, NODES);
    for (uint32_t i = 0; i < NODES; i++)
        reservations_name_node(&all, i, names[i], i + 1);
}

static const char *nodes_of(const struct reservation *of)
{
    static char text[64];
    struct buf out = BUF_NULL(sizeof text);

    reservation_list(&all, of, &out);
    snprintf(text, sizeof text, "%s", buf_cstr(&out) ? buf_cstr(&out) : "");
    buf_free(&out);
    return text;
}

static struct reservation *make(struct reservation_wish w, enum answer_status want)
{
    struct reservation *of;

    w.owner = w.owner ? w.owner : ME;
    OK(reservation_make(&all, "here", &w, &of) == want);
    OK((of != NULL) == (want == ANSWER_OK));
    return of;
}

#define WISH(...) ((struct reservation_wish){ __VA_ARGS__ })

static void choice(void)
{
    struct reservation *a, *b;

    begin();
    all.nodes[0].busy = 2;
    all.nodes[2].lost = true;
    a = make(WISH(.num_nodes = 2), ANSWER_OK);
    OK_F(!strcmp(nodes_of(a), "n2,n4"), "those that are idle, and not lost: %s", nodes_of(a));
    OK(!strcmp(a->id, "here-alloc-1") && a->number == 1 && a->deadline_ns == UINT64_MAX);
    make(WISH(.num_nodes = 2), ANSWER_OVER_QUOTA);
    OK(reservation_of(&all, SLICE("n1")) == NULL);
    b = make(WISH(.num_nodes = 1), ANSWER_OK);
    OK_F(!strcmp(nodes_of(b), "n1"), "then those where processes run: %s", nodes_of(b));
    OK(reservation_of(&all, SLICE("n1")) == b && reservation_of(&all, SLICE("nowhere")) == NULL);
    reservation_end(&all, a);
    a = make(WISH(.num_cpus = 3), ANSWER_OK);
    OK_F(!strcmp(nodes_of(a), "n2,n4"), "as many nodes as have the processors: %s", nodes_of(a));
    OK(a->number == 3);
    reservations_close(&all);
}

static void named(void)
{
    struct reservation *a;

    begin();
    a = make(WISH(.nodes = SLICE("n3, n1")), ANSWER_OK);
    OK_F(!strcmp(nodes_of(a), "n1,n3"), "all that are named: %s", nodes_of(a));
    make(WISH(.nodes = SLICE("n3")), ANSWER_OVER_QUOTA);
    make(WISH(.nodes = SLICE("n9")), ANSWER_NOT_FOUND);
    make(WISH(.num_nodes = 0), ANSWER_BAD_VALUE);
    a = make(WISH(.num_nodes = 1, .exclude = SLICE("n2")), ANSWER_OK);
    OK_F(!strcmp(nodes_of(a), "n4"), "none that is excluded: %s", nodes_of(a));
    reservations_close(&all);
}

static void owners(void)
{
    struct reservation *a, *b;

    begin();
    a = make(WISH(.num_nodes = 1, .req_id = SLICE("mine")), ANSWER_OK);
    make(WISH(.num_nodes = 1, .req_id = SLICE("mine")), ANSWER_DUPLICATE);
    b = make(WISH(.owner = OTHER, .num_nodes = 1, .req_id = SLICE("mine")), ANSWER_OK);
    OK(reservation_find(&all, SLICE_NULL, 0, SLICE("mine"), ME) == a);
    OK(reservation_find(&all, SLICE_NULL, 0, SLICE("mine"), OTHER) == b);
    OK(reservation_find(&all, SLICE("here-alloc-2"), 0, SLICE_NULL, ME) == b);
    OK(reservation_find(&all, SLICE("here-alloc-2"), 1, SLICE_NULL, ME) == NULL);
    OK(reservation_find(&all, SLICE_NULL, 1, SLICE_NULL, ME) == a);
    OK(reservation_find(&all, SLICE_NULL, 0, SLICE_NULL, ME) == NULL);
    reservations_close(&all);
}

static void times(void)
{
    struct reservation *a, *b;

    begin();
    make(WISH(.num_nodes = 1), ANSWER_OK);
    OK(reservation_first_due(&all) == NULL);
    a = make(WISH(.num_nodes = 1, .now_ns = 100, .duration_ns = 50), ANSWER_OK);
    b = make(WISH(.num_nodes = 1, .now_ns = 100, .duration_ns = 40), ANSWER_OK);
    OK(reservation_first_due(&all) == b && b->deadline_ns == 140);
    OK(reservation_extend(&all, b, &WISH(.duration_ns = 60)) == ANSWER_OK);
    OK(reservation_first_due(&all) == a && b->deadline_ns == 200);
    reservations_close(&all);
}

static void changes(void)
{
    struct reservation *a, *b;

    begin();
    a = make(WISH(.num_nodes = 2), ANSWER_OK);
    OK(reservation_extend(&all, a, &WISH(.num_nodes = 3)) == ANSWER_OVER_QUOTA);
    OK_F(!strcmp(nodes_of(a), "n1,n2"), "a failure changes nothing: %s", nodes_of(a));
    OK(reservation_extend(&all, a, &WISH(.num_nodes = 1)) == ANSWER_OK);
    OK_F(!strcmp(nodes_of(a), "n1,n2,n3"), "extended: %s", nodes_of(a));
    OK(reservation_extend(&all, a, &WISH(.num_nodes = 0)) == ANSWER_BAD_VALUE);
    OK(reservation_reacquire(&all, a) == ANSWER_NOT_FOUND);
    OK(reservation_lend(&all, a, SLICE("n2,n4")) == ANSWER_NOT_FOUND);
    OK(reservation_lend(&all, a, SLICE("n2")) == ANSWER_OK);
    OK_F(!strcmp(nodes_of(a), "n1,n3"), "lent: %s", nodes_of(a));
    b = make(WISH(.owner = OTHER, .nodes = SLICE("n2")), ANSWER_OK);
    OK(reservation_reacquire(&all, a) == ANSWER_OVER_QUOTA);
    reservation_end(&all, b);
    OK(reservation_reacquire(&all, a) == ANSWER_OK);
    OK_F(!strcmp(nodes_of(a), "n1,n2,n3"), "taken back: %s", nodes_of(a));
    OK(reservation_lend(&all, a, SLICE("n2")) == ANSWER_OK);
    reservation_end(&all, a);
    OK(reservation_of(&all, SLICE("n1")) == NULL && !all.nodes[1].lent_by);
    reservations_close(&all);
    reservations_close(&all);
}

/* Nodes that have joined for a reservation leave when none has them. */
static void visitors(void)
{
    struct buf names = BUF_NULL(4096);
    struct reservation *a;

    begin();
    OK(reservations_add_node(&all, "n5", 2) == 0 && reservations_add_node(&all, "n6", 2) == 0);
    a = make(WISH(.nodes = SLICE("n1,n5,n6")), ANSWER_OK);
    reservation_visits(&all, a, SLICE("n5,n6,n2"));
    reservation_leavers(&all, &names);
    OK_F(buf_len(&names) == 0, "not while it has them");
    OK(reservation_lend(&all, a, SLICE("n6,n1")) == ANSWER_OK);
    reservation_leavers(&all, &names);
    OK_F(!strcmp(buf_cstr(&names), "n6"), "given back: %s", buf_cstr(&names));
    OK(reservation_reacquire(&all, a) == ANSWER_OK);
    OK_F(!strcmp(nodes_of(a), "n1,n5"), "and not taken back: %s", nodes_of(a));
    buf_clear(&names);
    reservation_end(&all, a);
    reservation_leavers(&all, &names);
    OK_F(!strcmp(buf_cstr(&names), "n5"), "at the end: %s", buf_cstr(&names));
    buf_free(&names);
    reservations_close(&all);
}

int main(void)
{
    choice();
    named();
    owners();
    times();
    changes();
    visitors();
    return tap_done();
}
