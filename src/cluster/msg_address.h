/* msg_address.h - to whom messages between daemons go, and flags in them; for those who pass
 * messages (msg.h) on, or name a daemon, and need not know their contents. */
#ifndef WIREUP_CLUSTER_MSG_ADDRESS_H
#define WIREUP_CLUSTER_MSG_ADDRESS_H

#include <stdint.h>

struct msg;

/* Addresses besides positions. */
#define MSG_EVERYBODY UINT32_C(0xffffffff) /* all daemons but the sender, launcher included */
#define MSG_NEIGHBOUR UINT32_C(0xfffffffe) /* the daemon at the other end of the link */

enum {
    JOB_FLAG_HOSTNAME = 1,
    JOB_FLAG_ONE_SPEAKS = 2,
    JOB_FLAG_SPAWNED = 4,
    JOB_FLAG_ASKED = 8,
    JOB_FLAG_TIMED = 16,   /* report the start-up times (`startup`) */
    JOB_FLAG_HELD = 32,    /* report that this node's part can start (`checked`), and wait for
                            * `begin` */
    JOB_FLAG_REPLACES = 64 /* its lost nodes may be replaced (`node_replaced`) */
};
enum { LAUNCH_ERROR_REMARK, LAUNCH_ERROR_FAILED, LAUNCH_ERROR_LOST };

#endif
