/* share.c - see share.h.  Reading order: effects out; coming and going; messages in; the cluster's
 * news; birth and end.
 *
 * The rest stands beside: tell.h (how anything is said), places.h, announce.h, questions.h,
 * notices.h, overhear.h and loss.h. */
#include "wireupd/share.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/limit.h"
#include "wireupd/announce.h"
#include "wireupd/ending.h"
#include "wireupd/errand.h"
#include "wireupd/loss.h"
#include "wireupd/notices.h"
#include "wireupd/overhear.h"
#include "wireupd/places.h"
#include "wireupd/preflight.h"
#include "wireupd/questions.h"
#include "wireupd/share_priv.h"
#include "wireupd/signals.h"
#include "wireupd/tell.h"

/* ---- effects, as messages ---- */

static void tell_tie(struct share *s, const struct effect *e)
{
    struct msg m = { .kind = MSG_tie };

    m.u.tie.job = e->job;
    m.u.tie.other = (uint64_t)e->number;
    m.u.tie.on = e->code != 0;
    tell_to(s, &m, MSG_EVERYBODY);
}

static void tell_space(struct share *s, const struct effect *e)
{
    struct msg m = { .kind = MSG_space };

    m.u.space.job = e->job;
    m.u.space.name = effect_key(e);
    tell_to(s, &m, MSG_EVERYBODY);
}

static void tell_bond(struct share *s, const struct effect *e)
{
    struct msg m = { .kind = MSG_bond };

    m.u.bond.bond = effect_value(e);
    m.u.bond.on = e->code != 0;
    tell_to(s, &m, 0);
}

void share_effect(struct share *s, struct effect *e)
{
    switch (e->kind) {
    case EFFECT_CONTRIBUTE: weave_contribute(&s->weave, e->contribution); break;
    case EFFECT_FETCH:
    case EFFECT_CARDS:
    case EFFECT_REPLY:
    case EFFECT_NAMES:
    case EFFECT_ROUND:
    case EFFECT_SPAWN: questions_effect(s, e); break;
    case EFFECT_NEWS: tell_news(s, e); break;
    case EFFECT_ABORT: announce_ask_abort(s, e); break;
    case EFFECT_EVENT:
    case EFFECT_HEED: notices_effect(s, e); break;
    case EFFECT_LISTEN: overhear_ask(s, e); break;
    case EFFECT_TIE: tell_tie(s, e); break;
    case EFFECT_SPACE: tell_space(s, e); break;
    case EFFECT_BOND: tell_bond(s, e); break;
    case EFFECT_ANSWER:
    case EFFECT_ATTR:
    case EFFECT_KILL:
    case EFFECT_SIGNAL:
    case EFFECT_ROOT:
    case EFFECT_PLACE:
    case EFFECT_SWEEP:
    case EFFECT_LOG:
    case EFFECT_HELP:
    case EFFECT_CREDENTIAL:
    case EFFECT_INPUT:
    case EFFECT_TOOL:
    case EFFECT_JOB_ENDED: break; /* the node's own */
    }
    effect_drop(e);
}

/* Who is to end is everybody's to know: its end is judged by its own node and by the launcher. */
void share_signal(struct share *s, const struct job *j, uint32_t rank, int sig, bool meant)
{
    uint32_t to = !j || rank == JOB_NO_RANK || meant ? MSG_EVERYBODY : places_rank(s, j, rank);
    struct msg m = { .kind = MSG_signal };

    m.u.signal.job = j ? (int64_t)j->id : -1;
    m.u.signal.rank = rank == JOB_NO_RANK ? -1 : (int64_t)rank;
    m.u.signal.number = (uint64_t)sig;
    m.u.signal.meant = meant;
    if (to != s->cluster.config.me)
        tell_to(s, &m, to);
}

void share_input(struct share *s, const struct job *j, uint32_t rank, struct slice bytes)
{
    struct msg m = { .kind = MSG_input };

    m.u.input.job = j->id;
    m.u.input.rank = rank == JOB_NO_RANK ? -1 : (int64_t)rank;
    m.u.input.bytes = bytes;
    tell_to(s, &m, rank == JOB_NO_RANK ? MSG_EVERYBODY : places_rank(s, j, rank));
}

static void hear_input(struct share *s, const struct msg_input *m)
{
    const struct job *j = share_job(s, m->job);

    if (j)
        node_input(s->node, j, m->rank < 0 ? JOB_NO_RANK : (uint32_t)m->rank, m->bytes, 0);
}

/* ---- coming, going ---- */

/* A daemon that has ended and told everything leaves; the launcher waits for their links. */
static void maybe_over(struct share *s)
{
    if (!s->quitting || !streams_over(&s->streams))
        return;
    if (!share_is_root(s) && !s->left) {
        s->left = true;
        /* All of ours is gone when the launcher has ended, which may take us with it. */
        tape_close(&s->node->tape);
        desk_close(&s->node->desk);
        if (s->node->config.sessions)
            session_dir_remove(s->node->config.sessions);
        cluster_end(&s->cluster);
    }
    if (share_is_root(s) && s->closed && !s->told) {
        s->told = true;
        if (!s->calls.on_gone || s->calls.on_gone(s->arg))
            ending_unshared(s->node);
    }
}

void share_gone(struct share *s)
{
    ending_unshared(s->node);
}

void share_streams_ended(struct share *s)
{
    maybe_over(s);
}

void share_quit(struct share *s)
{
    struct msg m = { .kind = MSG_quit };

    if (s->quitting)
        return;
    s->quitting = true;
    if (share_is_root(s)) {
        if (s->calls.on_quit)
            s->calls.on_quit(s->arg);
        tell_to(s, &m, MSG_EVERYBODY);
        cluster_leave(&s->cluster);
        cluster_end(&s->cluster);
    } else {
        cluster_leave(&s->cluster);
        ending_quit(s->node);
    }
    maybe_over(s);
}

static void hear_trouble(struct share *s, const struct msg_trouble *m)
{
    char why[ERRMSG_MAX];
    bool known = m->position > 0 && m->position < s->cluster.config.count;

    snprintf(why, sizeof why, SLICE_FMT, SLICE_ARG(m->text));
    if (m->fatal == TROUBLE_LOST && known && s->calls.on_lost)
        s->calls.on_lost(s->arg, (uint32_t)m->position, why);
    else if (s->calls.on_trouble)
        s->calls.on_trouble(s->arg, m->fatal ? m->position : -1, m->text);
    if (!share_is_root(s) || !m->fatal || !known)
        return;
    loss_reason(s, (uint32_t)m->position, why);
    weave_lose(&s->weave, (uint32_t)m->position);
}

static void hear_tie(struct share *s, const struct msg_tie *m)
{
    struct job *j = share_job(s, m->job);

    if (j)
        server_tied(share_server(s), j, (uint32_t)m->other, m->on != 0);
}

static void hear_space(struct share *s, const struct msg_space *m)
{
    struct job *j = share_job(s, m->job);

    if (j)
        server_space_gone(share_server(s), j, m->name);
}

void share_hear(struct share *s, const struct msg *m)
{
    if (s->errands && errand_hear(s->errands, m))
        return;
    switch (m->kind) {
    case MSG_trouble: hear_trouble(s, &m->u.trouble); break;
    case MSG_hardware:
        if (s->calls.on_hardware)
            s->calls.on_hardware(s->arg, m->from, m->u.hardware.view, m->u.hardware.text);
        break;
    case MSG_quit: share_quit(s); break;
    case MSG_job:
    case MSG_news:
    case MSG_unloaded:
    case MSG_abort:
    case MSG_kill:
    case MSG_over: announce_hear(s, m); break;
    case MSG_signal:
        signals_order(s->node, m->u.signal.job, m->u.signal.rank, (int)m->u.signal.number,
                      m->u.signal.meant != 0);
        break;
    case MSG_checked:
    case MSG_begin: preflight_hear(s, m); break;
    case MSG_tie: hear_tie(s, &m->u.tie); break;
    case MSG_space: hear_space(s, &m->u.space); break;
    case MSG_bond: server_bonded(share_server(s), m->u.bond.bond, m->u.bond.on != 0); break;
    case MSG_listen:
    case MSG_said: overhear_hear(s, m); break;
    case MSG_help: help_hear(s->node, &m->u.help); break;
    case MSG_input: hear_input(s, &m->u.input); break;
    case MSG_data:
    case MSG_credit:
    case MSG_unread: streams_hear(&s->streams, m); break;
    case MSG_fetch:
    case MSG_cards:
    case MSG_name:
    case MSG_spawn:
    case MSG_answer:
    case MSG_who:
    case MSG_round:
    case MSG_heard: questions_hear(s, m); break;
    case MSG_startup:
        timing_heard(&s->node->timing, m->from, m->u.startup.job, m->u.startup.part);
        break;
    case MSG_event:
    case MSG_heed: notices_hear(s, m); break;
    case MSG_overlay: weave_hear(&s->weave, m); break;
    case MSG_ready:
    case MSG_lost:
    case MSG_exec:
    case MSG_noted:
    case MSG_meet: /* the cluster's */
    case MSG_KINDS: break;
    }
    node_settle(s->node);
}

static void on_message(void *arg, const struct msg *m)
{
    share_hear(arg, m);
}

static void on_ready(void *arg, uint32_t position, struct slice host)
{
    struct share *s = arg;

    (void)host;
    if (share_is_root(s))
        streams_show(&s->streams, position);
    timing_ready(&s->node->timing, position);
    if (s->calls.on_ready)
        s->calls.on_ready(s->arg, position);
}

static bool on_near(void *arg, uint32_t position)
{
    struct share *s = arg;

    if (!s->linked_ns)
        s->linked_ns = clock_now_ns();
    if (!weave_near(&s->weave, position))
        return false;
    if (s->cluster.parent && position == hop_position(s->cluster.parent))
        streams_flow(&s->streams);
    if (s->calls.on_near)
        s->calls.on_near(s->arg, position);
    node_settle(s->node);
    return true;
}

static void on_lost(void *arg, uint32_t position, const char *why)
{
    struct share *s = arg;

    if (s->calls.on_lost)
        s->calls.on_lost(s->arg, position, why);
    loss_reason(s, position, why);
    weave_far(&s->weave, position);
    node_settle(s->node);
}

static void on_orphan(void *arg, const char *why)
{
    struct share *s = arg;

    snprintf(s->why, sizeof s->why, "%s", why);
    if (!weave_seek(&s->weave))
        ending_orphan(s->node);
}

void share_end(struct share *s, const char *why)
{
    snprintf(s->why, sizeof s->why, "%s", why);
    if (share_is_root(s)) {
        log_error(&s->node->config.log, "%s", why);
        node_give_up(s->node, 1);
    } else {
        ending_orphan(s->node);
    }
}

static void on_closed(void *arg)
{
    struct share *s = arg;

    s->closed = true;
    if (!share_is_root(s)) {
        ending_gone(s->node);
        return;
    }
    for (uint32_t p = 1; p < s->cluster.config.count; p++)
        streams_cut(&s->streams, p);
    maybe_over(s);
}

int share_open(struct share *s, struct node *n, const struct cluster_config *config,
               const struct weave_config *weave, const int far[STREAM_KINDS], struct errmsg *err)
{
    struct cluster_config c = *config;
    int rc;

    memset(s, 0, sizeof *s);
    s->node = n;
    list_init(&s->placed);
    list_init(&s->reasons);
    list_init(&s->asked);
    ears_init(&s->ears);
    buf_init(&s->scratch, LIMIT_HOP_MESSAGE);
    tell_open(s);
    c.calls =
        (struct cluster_calls){ on_message, on_ready, on_lost, on_orphan, on_closed, on_near };
    c.arg = s;
    c.quota = &n->quota;
    s->heeding = config->me == 0 ? calloc(config->count, sizeof *s->heeding) : NULL;
    if (config->me == 0 && !s->heeding)
        return errmsg_set(err, -ENOMEM, "out of memory for %u daemons", config->count);
    rc = cluster_open(&s->cluster, &c, err);
    if (rc < 0)
        return rc;
    rc = streams_open(&s->streams, s, far);
    if (rc == 0)
        rc = weave_open(&s->weave, s, weave);
    return rc < 0 ? errmsg_set(err, rc, "out of memory for %u daemons", config->count) : 0;
}

void share_close(struct share *s)
{
    if (!s->node)
        return;
    streams_close(&s->streams);
    free(s->heeding);
    s->heeding = NULL;
    weave_close(&s->weave);
    cluster_close(&s->cluster);
    places_free(s);
    loss_free(s);
    questions_free(s);
    tell_close(s);
    buf_free(&s->scratch);
    ears_free(&s->ears);
    s->node = NULL;
}
