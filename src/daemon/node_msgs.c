/* node_msgs.c - see node_msgs.h. */
#include "daemon/node_msgs.h"

#include "cluster/msg.h"
#include "daemon/cluster_io.h"

void node_msgs_quit(struct cluster_io *s)
{
    cluster_io_send(s, &(struct msg){ .kind = MSG_quit }, MSG_EVERYBODY);
}

void node_msgs_startup(struct cluster_io *s, uint32_t job, struct slice part)
{
    struct msg m = MSG_WITH(startup, .job = job, .part = part);

    cluster_io_send(s, &m, 0);
}

void node_msgs_stage(struct cluster_io *s, uint32_t job, struct slice bytes)
{
    struct msg m = MSG_WITH(stage, .job = job, .bytes = bytes);

    cluster_io_send(s, &m, MSG_EVERYBODY);
}

void node_msgs_staged(struct cluster_io *s, uint32_t job, uint64_t count)
{
    struct msg m = MSG_WITH(staged, .job = job, .count = count);

    cluster_io_send(s, &m, 0);
}
