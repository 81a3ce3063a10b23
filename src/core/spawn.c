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

struct spawn_pair *spawn_copy_pairs(struct arena *a, const struct text_list *keys,
                                    const struct text_list *values)
{
    struct spawn_pair *pairs = arena_array(a, keys->n + (size_t)1, sizeof *pairs);

    for (uint32_t i = 0; pairs && i < keys->n; i++) {
        pairs[i].key = arena_copy(a, keys->items[i]);
        pairs[i].value = arena_copy(a, values->items[i]);
    }
    return pairs;
}

struct spawn_command spawn_copy_command(struct arena *a, struct slice program, uint32_t nprocs,
                                        const struct text_list *args, const struct text_list *keys,
                                        const struct text_list *values)
{
    struct spawn_command c = { .program = arena_str(a, program),
                               .args = arena_array(a, args->n + (size_t)1, sizeof *c.args),
                               .nargs = args->n,
                               .nprocs = nprocs,
                               .infos = spawn_copy_pairs(a, keys, values),
                               .ninfos = keys->n };

    for (uint32_t i = 0; c.args && i < args->n; i++)
        c.args[i] = arena_str(a, args->items[i]);
    return c;
}

struct slice spawn_info(const struct spawn_command *cmd, const char *key)
{
    for (uint32_t i = 0; i < cmd->ninfos; i++) {
        if (slice_is(cmd->infos[i].key, key))
            return cmd->infos[i].value;
    }
    return SLICE_NULL;
}

struct slice spawn_info_of_all(const struct spawn_command *commands, uint32_t n, const char *key)
{
    struct slice value = SLICE_NULL;

    for (uint32_t i = 0; i < n && !value.len; i++)
        value = spawn_info(&commands[i], key);
    return value;
}

uint64_t spawn_nprocs(const struct spawn_request *rq)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < rq->ncommands; i++)
        n += rq->commands[i].nprocs;
    return n;
}
