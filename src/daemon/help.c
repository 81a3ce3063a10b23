/* help.c - see help.h. */
#include "daemon/help.h"

#include <string.h>
#include <strings.h>

#include "base/limit.h"
#include "cluster/msg.h"
#include "core/effect.h"
#include "cluster/send_queue.h"

static void warn_repeated(void *arg, struct slice topic, uint32_t more)
{
    const struct help *h = arg;

    log_warn(h->log, "%u more process%s sent help message " SLICE_FMT, more,
             more == 1 ? " has" : "es have", SLICE_ARG(topic));
}

void help_report(struct help *h)
{
    timer_stop(&h->timer);
    h->waiting = false;
    if (!help_topics_report(&h->topics, warn_repeated, h) || h->hinted)
        return;
    h->hinted = true;
    log_warn(h->log, "-mca orte_base_help_aggregate 0 shows all help messages (Open MPI 5: "
                     "-mca opal_base_help_aggregate 0)");
}

static void on_timer(void *arg)
{
    help_report(arg);
}

void help_open(struct help *h, struct loop *l, const struct core *core, struct output *output,
               const struct log *log)
{
    *h = (struct help){ .core = core, .output = output, .log = log };
    help_topics_init(&h->topics);
    timer_init(&h->timer, l, on_timer, h);
}

void help_close(struct help *h)
{
    timer_stop(&h->timer);
    help_topics_free(&h->topics);
}

/* Open MPI 4 expects the launcher to obey its parameter. */
static bool wants_all(const struct job *j, uint32_t rank)
{
    static const char name[] = "OMPI_MCA_orte_base_help_aggregate=";
    const struct job_map *p = &j->plan;
    char *const *env = p->apps && rank < p->nprocs ? p->apps[p->procs[rank].app].env : NULL;

    if (p->ways & JOB_MAP_EACH_HELP)
        return true;
    for (; env && *env; env++) {
        const char *value = *env + sizeof name - 1;
        if (strncmp(*env, name, sizeof name - 1) == 0)
            return !strcmp(value, "0") || !strcasecmp(value, "false") || !strcasecmp(value, "no");
    }
    return false;
}

static void show(struct help *h, const struct job *j, uint32_t rank, struct slice topic,
                 struct slice text)
{
    if (wants_all(j, rank) || help_topics_note(&h->topics, topic, j->base + rank)) {
        if (text.len)
            sink_print(output_err(h->output), text);
    } else if (!h->waiting) {
        h->waiting = timer_set(&h->timer, LIMIT_HELP_REPORT_MS) == 0;
    }
}

void help_effect(struct help *h, const struct op_help *e, struct send_queue *queue)
{
    struct job *j = core_job(h->core, e->job);
    struct msg m = { .kind = MSG_help, .u.help = *e };

    if (j && j->follows) {
        send_queue_to(queue, &m, 0);
    } else if (j) {
        show(h, j, e->rank, e->topic, e->text);
    }
}

void help_receive(struct help *h, const struct op_help *m)
{
    struct job *j = core_job(h->core, m->job);

    if (j && !j->follows && m->rank < j->plan.nprocs)
        show(h, j, m->rank, m->topic, m->text);
}
