/* server_calls.c - see server_calls.h. */
#include "daemon/server_calls.h"

#include "server/server.h"

static bool deliver(void *arg, const struct input *in)
{
    return server_deliver(arg, in);
}

static void kept_exits(void *arg, core_exit_fn *fn, void *fn_arg)
{
    server_kept_exits(arg, fn, fn_arg);
}

static void recall(void *arg, struct slice nspace, uint32_t rank, core_output_fn *fn, void *fn_arg)
{
    server_recall(arg, nspace, rank, fn, fn_arg);
}

struct core_calls server_calls(void)
{
    return (struct core_calls){ .deliver = deliver, .kept_exits = kept_exits, .recall = recall };
}
