/* spawn.h - a request for more processes, independent of any protocol's encoding.
 *
 * Collected by a session (several messages in PMI-1, one in PMI-2), handed over whole.  All of it
 * lives in its own arena; the holder of the request frees it with spawn_free().
 */
#ifndef WIREUP_CORE_SPAWN_H
#define WIREUP_CORE_SPAWN_H

#include <stdint.h>

#include "base/arena.h"
#include "base/slice.h"
#include "wire/text.h"

struct spawn_pair {
    struct slice key, value;
};

struct spawn_command {
    char *program;
    char **args; /* without the program; NULL-terminated */
    uint32_t nargs;
    uint32_t nprocs;
    struct spawn_pair *infos;
    uint32_t ninfos;
};

struct spawn_request {
    struct arena arena;
    struct spawn_command *commands;
    uint32_t ncommands;
    struct spawn_pair *preputs; /* put into the new job's store before it starts */
    uint32_t npreputs;
};

/* An info: the job goes on when one of its processes fails, whatever its parent does. */
#define SPAWN_RECOVERABLE "recoverable"

struct spawn_request *spawn_new(void);                      /* NULL: no memory */
struct spawn_request *spawn_free(struct spawn_request *rq); /* returns NULL; NULL is harmless */

/* Copies, in the request's arena, of texts from a message; NULL: no memory. */
struct spawn_pair *spawn_copy_pairs(struct arena *a, const struct text_list *keys,
                                    const struct text_list *values);
/* A command with its arguments and infos, the same way. */
struct spawn_command spawn_copy_command(struct arena *a, struct slice program, uint32_t nprocs,
                                        const struct text_list *args, const struct text_list *keys,
                                        const struct text_list *values);

/* The value of an info key of one command, or the empty slice. */
struct slice spawn_info(const struct spawn_command *cmd, const char *key);

/* The sum of nprocs over all commands. */
uint64_t spawn_nprocs(const struct spawn_request *rq);

#endif
