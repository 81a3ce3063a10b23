/* server_inputs.c - the inputs that come from many places of a host, as functions: a place that
 * delivers one need not be compiled again with every change of proto/operations.def. */
#include <stdarg.h>
#include <stdio.h>

#include "core/input.h"
#include "server/server.h"

void server_abort(struct server *s, const struct job *j, uint32_t culprit, int exit_code,
                  const char *format, ...)
{
    struct errmsg reason;
    va_list args;

    va_start(args, format);
    vsnprintf(reason.text, sizeof reason.text, format, args);
    va_end(args);
    server_deliver(s, INPUT(abort, .job = j->id, .culprit = culprit, .code = exit_code,
                            .reason = slice_str(reason.text)));
}

bool server_proc_state(struct server *s, const struct job *j, uint32_t rank, enum proc_event event,
                       int code, int pid)
{
    return server_deliver(
        s, INPUT(proc_state, .job = j->id, .rank = rank, .event = event, .code = code, .pid = pid));
}

bool server_preset(struct server *s, const struct job *j, struct slice key, struct slice value)
{
    return server_deliver(s, INPUT(preset, .job = j->id, .key = key, .value = value));
}

bool server_output(struct server *s, const struct job *j, uint32_t rank, uint16_t channel,
                   struct slice bytes)
{
    s->output_redirected = false;
    return server_deliver(
        s, INPUT(output, .job = j->id, .rank = rank, .channel = channel, .bytes = bytes));
}

void server_job_gone(struct server *s, const struct job *j)
{
    server_deliver(s, INPUT(job_gone, .job = j->id));
}

void server_job_failed(struct server *s, const struct job *j, int code, struct slice reason)
{
    server_deliver(s, INPUT(job_failed, .job = j->id, .code = code, .reason = reason));
}

void server_abort_connected(struct server *s, const struct job *j)
{
    server_deliver(s, INPUT(abort_connected, .job = j->id));
}

bool server_node_replaced(struct server *s, const struct op_node_replaced *o)
{
    struct input in = { .kind = INPUT_node_replaced };

    in.u.node_replaced = *o;
    return server_deliver(s, &in);
}

void server_node_down(struct server *s, const struct job *j, uint32_t node)
{
    server_deliver(s, INPUT(node_down, .job = j->id, .node = node));
}

void server_dvm_news(struct server *s, int code, struct slice name, uint32_t slots)
{
    server_deliver(s, INPUT(dvm_news, .code = code, .name = name, .slots = slots));
}

void server_read(struct server *s, struct peer *p, uint64_t now_ns, struct slice bytes)
{
    server_deliver_from(s, p, INPUT_AT(now_ns, in, .connection = p->id, .bytes = bytes));
}

void server_hangup(struct server *s, const struct peer *p)
{
    server_deliver(s, INPUT(hangup, .connection = p->id));
}

bool server_greet(struct server *s, const struct peer *p)
{
    return server_deliver(s, INPUT(greet, .connection = p->id));
}

void server_owner(struct server *s, const struct peer *p, uint32_t uid, uint32_t gid)
{
    server_deliver(s, INPUT(owner, .connection = p->id, .uid = uid, .gid = gid));
}

void server_rights_lost(struct server *s, struct peer *p)
{
    server_deliver_from(s, p, INPUT(rights_lost, .connection = p->id));
}

bool server_unpublish(struct server *s, struct slice service, const struct name_entry *e)
{
    if (!e)
        return server_deliver(s, INPUT(unpublish, .service = service));
    return server_deliver(s, INPUT(unpublish, .service = service, .range = e->scope.range,
                                   .owner_job = e->owner.job, .owner_rank = e->owner.rank));
}

void server_answer(struct server *s, uint64_t ticket, const struct answer *a)
{
    const struct answer_parts *p = &a->parts;

    server_deliver(s, INPUT(answer, .ticket = ticket, .status = a->status, .text = a->text,
                            .number = p->number, .key = p->key, .value = p->value, .type = p->type,
                            .about = p->about ? p->about->id : JOB_NO_RANK, .rank = p->rank,
                            .codes = p->codes));
}
