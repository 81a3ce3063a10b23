/* deadline.c - see deadline.h. */
#include "io/deadline.h"

#include "base/clock.h"

enum { STEPS = 8, MOST_ABSENCES = 8 * STEPS };

/* Later by a whole step: this process did not come to its loop. */
static bool was_away(const struct deadline *d)
{
    return d->step_ms && clock_now_ns() > d->timer.due_ns + d->step_ms * NS_PER_MS;
}

static void on_step(void *arg)
{
    struct deadline *d = arg;

    if (d->absences < MOST_ABSENCES && was_away(d))
        d->absences++;
    else
        d->left--;
    if (d->left == 0 || timer_set(&d->timer, d->step_ms) < 0)
        d->fn(d->arg);
}

void deadline_init(struct deadline *d, struct loop *l, loop_fn *fn, void *arg)
{
    *d = (struct deadline){ .fn = fn, .arg = arg };
    timer_init(&d->timer, l, on_step, d);
}

int deadline_set(struct deadline *d, uint64_t ms)
{
    d->step_ms = (ms + STEPS - 1) / STEPS;
    d->left = d->step_ms ? STEPS : 1;
    d->absences = 0;
    return timer_set(&d->timer, d->step_ms);
}

void deadline_stop(struct deadline *d)
{
    timer_stop(&d->timer);
}

bool deadline_is_set(const struct deadline *d)
{
    return d->timer.set;
}
