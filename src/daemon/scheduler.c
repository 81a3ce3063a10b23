/* scheduler.c - see scheduler.h. */
#include "daemon/scheduler.h"

#include <stdlib.h>

#include "base/clock.h"
#include "core/effect.h"
#include "core/input.h"
#include "core/job.h"
#include "core/reservation.h"
#include "pmix_common.h"
#include "server/server.h"

/* Numbers have as many bits in the tags of messages. */
enum { NUMBER_MAX = 0x3fffffff };

struct scheduler_request {
    struct list link;
    uint32_t number;
    struct effect *request; /* EFFECT_allocate */
};

void scheduler_open(struct scheduler *s, struct server *server)
{
    *s = (struct scheduler){ .server = server };
    list_init(&s->asked);
}

static struct effect *release(struct scheduler_request *a)
{
    struct effect *e = a->request;

    list_unlink(&a->link);
    free(a);
    return e;
}

void scheduler_close(struct scheduler *s)
{
    struct effect *e;

    while (s->server && (e = scheduler_take_any(s))) {
        effect_drop(e);
        free(e);
    }
    s->server = NULL;
}

/* A copy; NULL: no memory. */
static struct scheduler_request *keep(struct scheduler *s, const struct op_allocate *e)
{
    struct scheduler_request *a = calloc(1, sizeof *a);
    struct effect *copy = calloc(1, sizeof *copy);

    if (copy)
        *copy = (struct effect){ .kind = EFFECT_allocate, .u.allocate = *e };
    if (!a || !copy || !effect_own(copy)) {
        free(a);
        free(copy);
        return NULL;
    }
    s->last = s->last % NUMBER_MAX + 1;
    a->number = s->last;
    a->request = copy;
    list_append(&s->asked, &a->link);
    return a;
}

bool scheduler_ask(struct scheduler *s, const struct op_allocate *e, uint32_t *number_p)
{
    const struct core *core = &s->server->core;
    struct scheduler_request *a;

    *number_p = 0;
    if (!core->scheduler.connection || core->scheduler.job == e->job ||
        e->directive >= RESERVATION_SIGNAL)
        return false;
    a = keep(s, e);
    if (!a)
        return true;
    if (server_deliver(s->server, INPUT(schedule, .connection = core->scheduler.connection,
                                        .number = a->number, .directive = e->directive,
                                        .job = e->job, .rank = e->rank, .infos = e->infos))) {
        *number_p = a->number;
        return true;
    }
    a->request->u.allocate.ticket = 0;
    effect_drop(a->request);
    free(release(a));
    return true;
}

uint32_t scheduler_ask_new(struct scheduler *s, uint32_t job, uint32_t rank,
                           const struct reservation_wish *w, struct slice infos)
{
    const struct op_allocate e = { .job = job,
                                   .rank = rank,
                                   .directive = PMIX_ALLOC_NEW,
                                   .req_id = w->req_id,
                                   .num_nodes = w->num_nodes,
                                   .num_cpus = w->num_cpus,
                                   .nodes = w->nodes,
                                   .exclude = w->exclude,
                                   .seconds = (uint32_t)(w->duration_ns / NS_PER_S),
                                   .infos = infos };
    uint32_t number = 0;

    return scheduler_ask(s, &e, &number) ? number : 0;
}

struct effect *scheduler_take(struct scheduler *s, uint32_t number)
{
    LIST_EACH(l, &s->asked)
    {
        struct scheduler_request *a = LIST_OF(l, struct scheduler_request, link);
        if (a->number == number)
            return release(a);
    }
    return NULL;
}

struct effect *scheduler_take_any(struct scheduler *s)
{
    struct list *first = list_first(&s->asked);

    return first ? release(LIST_OF(first, struct scheduler_request, link)) : NULL;
}

bool scheduler_ended(struct scheduler *s, const struct job *j)
{
    struct core *core = &s->server->core;

    if (!core->scheduler.connection || core->scheduler.job != j->id)
        return false;
    core->scheduler.connection = 0;
    return true;
}
