/* cospawn.c - see cospawn.h. */
#include "daemon/cospawn.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/job.h"

static bool is_beside(const struct spawn_command *c)
{
    return spawn_info(c, SPAWN_BESIDE).len > 0;
}

bool cospawn_is_wanted(const struct spawn_request *rq)
{
    return spawn_info_of_all(rq->commands, rq->ncommands, SPAWN_BESIDE).len > 0;
}

static void take_commands(const struct spawn_request *rq, bool beside, struct spawn_request *part)
{
    for (uint32_t i = 0; i < rq->ncommands; i++) {
        if (is_beside(&rq->commands[i]) == beside)
            part->commands[part->ncommands++] = rq->commands[i];
    }
}

int cospawn_split(struct spawn_request *rq, struct spawn_request parts[2], struct errmsg *err)
{
    for (int i = 0; i < 2; i++) {
        parts[i] = *rq;
        parts[i].ncommands = 0;
        parts[i].commands = arena_array(&rq->arena, rq->ncommands, sizeof *rq->commands);
        if (!parts[i].commands)
            return -ENOMEM;
        take_commands(rq, i == 1, &parts[i]);
    }
    parts[1].npreputs = 0;
    if (parts[0].ncommands == 0)
        return errmsg_set(err, SPAWN_BAD_REQUEST,
                          "all applications are to be beside the job, which would have none");
    return 0;
}

struct cospawn *cospawn_new(struct list *all, uint64_t ticket)
{
    struct cospawn *k = calloc(1, sizeof *k);

    if (!k)
        return NULL;
    k->ticket = ticket;
    k->waiting = 2;
    list_append(all, &k->link);
    return k;
}

void cospawn_free(struct cospawn *k)
{
    list_unlink(&k->link);
    free(k->name);
    free(k);
}

bool cospawn_tried(struct cospawn *k, bool name_it, uint32_t job, const struct answer *a)
{
    struct answer_spawn s = answer_to_spawn(a);

    if (a->status != ANSWER_OK && !k->failure)
        k->failure = s.failure ? (enum spawn_failure)s.failure : SPAWN_NOT_STARTED;
    if (a->status == ANSWER_OK && job != JOB_NO_RANK)
        k->jobs[k->njobs++] = job;
    if (a->status == ANSWER_OK && name_it) {
        k->name = strndup(s.nspace.ptr, s.nspace.len);
        if (!k->name && !k->failure)
            k->failure = SPAWN_NO_RESOURCES;
    }
    return --k->waiting == 0;
}

struct answer cospawn_answer(const struct cospawn *k)
{
    return ANSWER_TO(spawn, k->failure ? ANSWER_FAILED : ANSWER_OK,
                     .nspace = slice_str(k->name ? k->name : ""), .failure = k->failure);
}
