/* pmix_command.h - the commands of a PMIx client: the number that a message begins with. */
#ifndef WIREUP_WIRE_PMIX_COMMAND_H
#define WIREUP_WIRE_PMIX_COMMAND_H

enum pmix_command {
    CMD_REQ = 0,
    CMD_ABORT = 1,
    CMD_COMMIT = 2,
    CMD_FENCE = 3,
    CMD_GET = 4,
    CMD_FINALIZE = 5,
    CMD_PUBLISH = 6,
    CMD_LOOKUP = 7,
    CMD_UNPUBLISH = 8,
    CMD_SPAWN = 9,
    CMD_CONNECT = 10,
    CMD_DISCONNECT = 11,
    CMD_NOTIFY = 12,
    CMD_REGEVENTS = 13,
    CMD_DEREGEVENTS = 14,
    CMD_QUERY = 15,
    CMD_LOG = 16,
    CMD_ALLOC = 17,
    CMD_JOB_CONTROL = 18,
    CMD_MONITOR = 19,
    CMD_GET_CREDENTIAL = 20,
    CMD_VALIDATE_CREDENTIAL = 21,
    CMD_IOF_PULL = 22,
    CMD_IOF_PUSH = 23,
    CMD_GROUP_CONSTRUCT = 24,
    CMD_GROUP_LEAVE = 27,
    CMD_GROUP_DESTRUCT = 28,
    CMD_IOF_DEREG = 29,
    CMD_FABRIC_REGISTER = 30,
    CMD_FABRIC_UPDATE = 31,
    CMD_DISTANCES = 32,
    CMD_REFRESH_CACHE = 33,
    CMD_RESOURCE_BLOCK = 34,
    CMD_SESSION_CONTROL = 35,
    CMD_RESOLVE_PEERS = 37,
    CMD_RESOLVE_NODES = 38,
    CMD_NONE = 255 /* not a PMIx command: a request of Wireup's own, without a reply */
};

#endif
