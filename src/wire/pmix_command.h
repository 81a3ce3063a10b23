/* pmix_command.h - the commands of a PMIx client: the number that a message begins with
 * (proto/pmix_commands.def). */
#ifndef WIREUP_WIRE_PMIX_COMMAND_H
#define WIREUP_WIRE_PMIX_COMMAND_H

enum pmix_command {
#define COMMAND(NAME, number, name, who, request, reply, since) CMD_##NAME = (number),
#define MSG(id)
#define FIELD(id, shape, type, member, need, first, last)
#define END(id)
#include "proto/pmix_commands.def"
#undef COMMAND
#undef MSG
#undef FIELD
#undef END
    CMD_NONE = 255 /* not a PMIx command: a request of Wireup's own, without a reply */
};

/* Of the Standard's binary interface, stable and provisional: it has not published any yet. */
#define PMIX_ABI_VERSION "0.0"

#endif
