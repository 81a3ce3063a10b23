/* core_calls.c - see core_calls.h. */
#include "cluster/core_calls.h"

#include "cluster/msg.h"
#include "core/input.h"

bool core_context_deliver(const struct core_context *x, const struct msg *m, uint64_t now_ns)
{
    struct input in;

    return msg_input(m, now_ns, &in) && x->calls.deliver(x->arg, &in);
}
