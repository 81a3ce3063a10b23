/* server_priv.h - declarations shared by the files of the server. */
#ifndef WIREUP_SERVER_SERVER_PRIV_H
#define WIREUP_SERVER_SERVER_PRIV_H

#include "server/server.h"
#include "wire/pmix_message.h"

struct effect;
struct input;
struct record;
struct request;
struct request_notify;
struct request_recall;
struct request_monitor;
struct request_define_pset;

/* To the recorder, which is set. */
static inline void server_notify(const struct server *s, struct record *r)
{
    s->recorder(s->recorder_arg, r);
}

/* One branch when there is no trace. */
#define RECORD_OUTPUT(s, id, ...)                                                                  \
    do {                                                                                           \
        if ((s)->recorder)                                                                         \
            server_notify(s, &(struct record){ .kind = RECORD_##id, .u.id = { __VA_ARGS__ } });    \
    } while (0)

/* Tickets of requests that the host has brought from another node: it gets their answers. */
#define TICKET_OF_HOST (UINT64_C(1) << 63)

/* Those of requests that a monitor makes by itself. */
#define TICKET_OF_MONITOR (UINT64_C(1) << 62)

/* The next effect of any kind, recorded; and the delivery of one that is an answer. */
bool server_effect_next(struct server *s, struct effect *e_p);
void server_effect_answer(struct server *s, struct effect *e);

/* The answer to a request, from any source. */
void server_give_answer(struct server *s, uint64_t ticket, const struct answer *a);

/* The connection of that number, or NULL. */
static inline struct peer *server_peer(struct server *s, uint32_t id)
{
    if (!s->latest || s->latest->id != id)
        s->latest = map_get(&s->by_id, slice_mem(&id, sizeof id));
    return s->latest;
}

/* ---- server_deliver.c ---- */

/* All that the input names is there: jobs, their ranks, connections. */
bool server_input_is_known(struct server *s, const struct input *in);

/* Handlers of inputs in other files, for jobs and processes that are known: server_on_ and the id
 * of the row. */
struct op_event;
struct op_file_seen;
struct op_dvm_news;
struct op_greet;
struct op_hangup;
struct op_in;
struct op_iof_data;
struct op_launcher_ready;
struct op_node_down;
struct op_schedule;
struct op_session_event;
struct op_output;
struct op_pset_define;
struct op_rights_lost;
struct op_owner;
struct op_tool_reply;

bool server_on_greet(struct server *s, const struct op_greet *o, uint64_t now_ns);
bool server_on_in(struct server *s, const struct op_in *o, uint64_t now_ns);
bool server_on_hangup(struct server *s, const struct op_hangup *o, uint64_t now_ns);
bool server_on_rights_lost(struct server *s, const struct op_rights_lost *o, uint64_t now_ns);
bool server_on_owner(struct server *s, const struct op_owner *o, uint64_t now_ns);
bool server_on_tool_reply(struct server *s, const struct op_tool_reply *o, uint64_t now_ns);
bool server_on_event(struct server *s, const struct op_event *o, uint64_t now_ns);
bool server_on_node_down(struct server *s, const struct op_node_down *o, uint64_t now_ns);
bool server_on_dvm_news(struct server *s, const struct op_dvm_news *o, uint64_t now_ns);
bool server_on_schedule(struct server *s, const struct op_schedule *o, uint64_t now_ns);
bool server_on_launcher_ready(struct server *s, const struct op_launcher_ready *o, uint64_t now_ns);
bool server_on_session_event(struct server *s, const struct op_session_event *o, uint64_t now_ns);
bool server_on_output(struct server *s, const struct op_output *o, uint64_t now_ns);
bool server_on_iof_data(struct server *s, const struct op_iof_data *o, uint64_t now_ns);

/* The answer to a request of the host: it becomes an effect. */
void server_reply(struct server *s, uint64_t ticket, const struct answer *a);
/* The answer to a pending request, as an effect for the host. */
void server_turn_to_reply(struct server *s, struct effect *e);
/* The requests of sessions that owe some; after every operation. */
void server_run_owing(struct server *s, uint64_t now_ns);
/* It has something to write or to close. */
static inline void server_mark_dirty(struct server *s, struct peer *p)
{
    if (list_empty(&p->dirty))
        list_append(&s->dirty, &p->dirty);
}

/* ---- server_events.c ---- */

/* The targets that a notification names, whatever its range: as with OpenPMIx, it is for them
 * alone. */
struct event_targets {
    bool named;
    struct pmsg_infos m;
    const pmix_proc_t *procs;
    size_t n;
};

bool server_event_is_for(const struct event_targets *t, const char *nspace, uint32_t rank);
void server_event_notify(struct server *s, struct peer *p, const struct request_notify *rq);
void server_event_recall(struct server *s, struct peer *p, const struct request_recall *rq);
void server_events_free(struct server *s);
/* To the clients of this node that registered for it; and to other nodes when it is for more than
 * this one. */
void server_event_spread(struct server *s, const struct job *j, const struct notice *n);
/* An event of the server's own about a process or a job, for everybody: other nodes get it only
 * when they have subscribed to those (EFFECT_subscribe_exits). */
bool server_event_is_end(const struct notice *n);

/* ---- server_own_events.c ---- */

/* A process changes: what was known of it and its job before. */
struct server_change {
    enum proc_event event;
    int status; /* the event that the change is to others, or 0: none */
    uint32_t started;
    uint8_t ready;
};

struct server_change server_change_begins(const struct job *j, uint32_t rank,
                                          enum proc_event event);
/* It has changed; code: as in job_event(). */
void server_notify_change(struct server *s, struct job *j, uint32_t rank,
                          const struct server_change *c, int code);
/* It has finalized, and may still be connected to others (core/proc_connect.h). */
void server_notify_finalized(struct server *s, struct job *j, uint32_t rank);
/* It has asked for the end of its job, as the first one, and it ends. */
void server_notify_abort(struct server *s, const struct job *j, uint32_t rank, int code);
/* It is started again, which the controlling node says to everybody. */
void server_notify_restart(struct server *s, const struct job *j, uint32_t rank);
void server_notify_lost(struct server *s, const struct job *j, uint32_t rank);
/* A monitor of that process has nothing to report any more; or it has samples. */
struct monitor_alert {
    int code;
    uint8_t range;
    const char *id; /* as the process has named the monitor, or NULL */
    const pmix_info_t *samples;
    size_t nsamples;
};
void server_notify_alert(struct server *s, const struct job *j, uint32_t rank,
                         const struct monitor_alert *a);
void server_notify_job_end(struct server *s, const struct job *j);
/* A set has new members, or fewer; n 0: it is deleted. */
void server_notify_set(struct server *s, const struct job *j, const struct pset *set);
/* Tells the other nodes what it is now, which raise no event; without members they delete it. */
void server_pset_publish(struct server *s, const struct pset *set);
void server_notify_node_down(struct server *s, const struct job *j, uint32_t node);

/* ---- server_debug.c ---- */

struct event_targets;

/* A process says that it waits for a debugger: at a stop of its plan, or where it likes. */
void server_debug_ready(struct server *s, struct job *j, uint32_t rank);
/* A debugger releases processes. */
void server_debug_release(struct server *s, const struct notice *n, const struct event_targets *t);

/* ---- server_output.c ---- */

/* A client has subscribed to output, or may do so late. */
bool server_output_wanted(const struct server *s, const struct op_output *o);
enum answer_status server_recall_output(struct server *s, struct peer *p);
/* To clients that gather output; as server_monitors_tick(). */
uint64_t server_outputs_tick(struct server *s, uint64_t now_ns, bool *notified_p);
void server_outputs_free(struct server *s);

/* ---- server_psets.c ---- */

/* RESERVED, NOT_FOUND: as for a signal to the members. */
enum answer_status server_pset_request(struct server *s, struct peer *p,
                                       const struct request_define_pset *rq, uint64_t now_ns);
bool server_on_pset_define(struct server *s, const struct op_pset_define *o, uint64_t now_ns);
/* Before the job is removed, on the node that leads it: its processes leave their sets, and all are
 * told. */
void server_psets_job_ends(struct server *s, const struct job *j);

/* ---- server_monitor.c ---- */

enum answer_status server_monitor_request(struct server *s, struct peer *p,
                                          const struct request_monitor *rq, uint64_t ticket,
                                          uint64_t now_ns);
enum answer_status server_monitor_beat(struct server *s, const struct peer *p);
bool server_on_file_seen(struct server *s, const struct op_file_seen *o, uint64_t now_ns);
/* The nodes have told what a monitor of usage wants to know. */
void server_monitor_sampled(struct server *s, uint64_t ticket, const struct answer *a);
/* Reports processes whose heartbeats are overdue, and asks for looks at files and for samples of
 * usage; returns when the next one may be due, or UINT64_MAX. */
uint64_t server_monitors_tick(struct server *s, uint64_t now_ns, bool *notified_p);
void server_monitors_drop(struct server *s, const struct peer *p);
void server_monitors_free(struct server *s);

#endif
