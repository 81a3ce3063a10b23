/* effect_host_test.c - the part that all hosts share: an effect goes to the function of its kind,
 * one that nobody carries out is refused, and deadlines are asked for once.
 */
#include "tests/world.h"

static unsigned nspawns, nwritten, nrings;
static uint64_t now, asked;

static void on_spawn(void *arg, struct effect *e)
{
    (void)arg;
    (void)e;
    nspawns++;
}

static void write_out(void *arg, struct peer *p)
{
    struct world *w = arg;

    nwritten += (unsigned)buf_len(&p->out);
    server_wrote(&w->server, p, buf_len(&p->out));
}

static uint64_t now_ns(void *arg)
{
    (void)arg;
    return now;
}

static void ring_at(void *arg, uint64_t due_ns)
{
    (void)arg;
    nrings++;
    asked = due_ns;
}

static const char spawn[] = "mcmd=spawn\nnprocs=1\nexecname=x\ntotspawns=1\nspawnssofar=1\n"
                            "argcnt=0\npreput_num=0\ninfo_num=0\nendcmd\n";

static void test_kinds(void)
{
    static effect_fn *const kinds[OPERATIONS] = { [EFFECT_spawn] = on_spawn };
    static const struct effect_handlers some = { .kinds = kinds }, none = { .others = NULL };
    const char *answer;
    struct world w;
    struct peer *p;

    world_open(&w, 1, 1);
    p = w.jobs[0].peers[0];
    world_write(&w, p, SLICE("cmd=init pmi_version=1 pmi_subversion=1\n"));
    world_received(p);
    effect_host_init(&w.host, &w.server, &some, &w);
    world_write(&w, p, slice_str(spawn));
    OK_F(nspawns == 1 && !*world_received(p), "the effect goes to the function of its kind");
    effect_host_init(&w.host, &w.server, &none, &w);
    world_write(&w, p, slice_str(spawn));
    answer = world_received(p);
    OK_F(strstr(answer, "rc=") && !strstr(answer, "rc=0"),
         "an effect that nobody carries out is refused");
    world_close(&w);
}

static void test_time(void)
{
    static const struct effect_handlers timed = { .write = write_out,
                                                  .now_ns = now_ns,
                                                  .ring_at = ring_at };
    struct world w;

    world_open(&w, 1, 1);
    effect_host_init(&w.host, &w.server, &timed, &w);
    world_write(&w, w.jobs[0].peers[0], SLICE("cmd=init pmi_version=1 pmi_subversion=1\n"));
    OK_F(nwritten > 0 && list_empty(&w.server.dirty), "the output of the server is sent");
    EQ(nrings, 0);
    effects_tick_by(&w.server.core.effects, 5000);
    now = 1000;
    effect_host_settle(&w.host);
    effect_host_settle(&w.host);
    OK_F(nrings == 1, "a deadline is asked for once");
    effect_host_ring(&w.host);
    now = 6000;
    effect_host_settle(&w.host);
    OK_F(w.host.due_ns == UINT64_MAX, "and again only when there is another");
    world_close(&w);
}

int main(void)
{
    test_kinds();
    test_time();
    return tap_done();
}
