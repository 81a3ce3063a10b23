/* spawn.c - see spawn.h. */
#include "core/spawn.h"

#include <stdlib.h>

#include "base/limit.h"

struct spawn_request *spawn_new(void)
{
    struct spawn_request *rq = calloc(1, sizeof *rq);

    /* Pointers and copies take several times the size of the text they come from. */
    if (rq)
        arena_init(&rq->arena, (size_t)LIMIT_PMI_SPAWN * 4);
    return rq;
}

struct spawn_request *spawn_free(struct spawn_request *rq)
{
    if (rq)
        arena_free(&rq->arena);
    free(rq);
    return NULL;
}

struct slice spawn_info(const struct spawn_command *cmd, const char *key)
{
    for (uint32_t i = 0; i < cmd->ninfos; i++) {
        if (slice_is(cmd->infos[i].key, key))
            return cmd->infos[i].value;
    }
    return SLICE_NULL;
}

uint64_t spawn_nprocs(const struct spawn_request *rq)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < rq->ncommands; i++)
        n += rq->commands[i].nprocs;
    return n;
}
