/* trace_clock.c - see trace_clock.h. */
#include "daemon/trace_clock.h"

#include "base/clock.h"
#include "cluster/msg.h"
#include "daemon/child_daemons.h"
#include "daemon/cluster_io.h"
#include "daemon/trace_writer.h"

/* The first trips are longer: the job begins at the same time. */
enum { CLOCK_QUESTIONS = 5 };

static void ask(struct cluster_io *s)
{
    struct msg m = MSG_WITH(clock, .asked_ns = clock_now_ns());

    s->clock_questions++;
    cluster_io_send(s, &m, 0);
}

void trace_clock_begin(struct cluster_io *s)
{
    s->clock_questions = 0;
    ask(s);
}

void trace_clock_up(struct cluster_io *s, uint32_t position)
{
    const struct remote_exec *agent = s->child_daemons ? s->child_daemons->agent : NULL;
    struct remote_exec_times t, own = { .position = position };

    if (!cluster_io_is_root(s) || !s->names || !s->trace_writer->server)
        return;
    for (uint32_t i = 0; agent && remote_exec_times(agent, i, &t); i++) {
        if (t.position == position)
            own = t;
    }
    trace_writer_daemon(s->trace_writer, s->names[position], own.asked_ns, own.runs_ns);
}

static void answer(struct cluster_io *s, uint32_t to, const struct op_clock *m)
{
    struct msg reply = MSG_WITH(clock, .asked_ns = m->asked_ns, .answer_ns = clock_now_ns());

    cluster_io_send(s, &reply, to);
}

void trace_clock_receive(struct cluster_io *s, uint32_t from, const struct op_clock *m)
{
    if (cluster_io_is_root(s)) {
        if (!m->answer_ns && from < s->router.config.count)
            answer(s, from, m);
        return;
    }
    if (from != 0 || !m->answer_ns)
        return;
    trace_writer_clock(s->trace_writer, m->asked_ns, m->answer_ns);
    if (s->clock_questions < CLOCK_QUESTIONS)
        ask(s);
}
