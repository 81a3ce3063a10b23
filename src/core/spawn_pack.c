/* spawn_pack.c - see spawn_pack.h. */
#include "core/spawn_pack.h"

#include <errno.h>
#include <stddef.h>

#include "base/limit.h"
#include "wire/parts.h"

/* The request as Wireup's tables write it: the parts of all commands are concatenated. */
struct flat_spawn {
    struct part_uints numbers; /* of each command: processes, arguments, infos */
    struct part_texts programs, args;
    struct part_texts infos, preputs; /* key, value, key, value ... */
    uint64_t requestor;
};

static const struct part parts[] = {
    { "numbers", PART_UINTS, offsetof(struct flat_spawn, numbers) },
    { "programs", PART_TEXTS, offsetof(struct flat_spawn, programs) },
    { "args", PART_TEXTS, offsetof(struct flat_spawn, args) },
    { "infos", PART_TEXTS, offsetof(struct flat_spawn, infos) },
    { "preputs", PART_TEXTS, offsetof(struct flat_spawn, preputs) },
    { "requestor", PART_UINT, offsetof(struct flat_spawn, requestor) },
};

enum { NPARTS = sizeof parts / sizeof *parts, NUMBERS = 3 };

/* ---- writing --------------------------------------------------------------------------------- */

static void add_pairs(struct slice *items, uint32_t *n, const struct spawn_pair *pairs,
                      uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        items[(*n)++] = pairs[i].key;
        items[(*n)++] = pairs[i].value;
    }
}

static bool flatten(const struct spawn_request *rq, struct arena *a, struct flat_spawn *f)
{
    size_t nargs = 0, ninfos = 0;
    struct slice *program, *arg, *info, *preput;
    uint32_t *number;

    for (uint32_t i = 0; i < rq->ncommands; i++) {
        nargs += rq->commands[i].nargs;
        ninfos += rq->commands[i].ninfos;
    }
    number = arena_array(a, (size_t)rq->ncommands * NUMBERS + 1, sizeof *number);
    program = arena_array(a, (size_t)rq->ncommands + 1, sizeof *program);
    arg = arena_array(a, nargs + 1, sizeof *arg);
    info = arena_array(a, ninfos * 2 + 1, sizeof *info);
    preput = arena_array(a, (size_t)rq->npreputs * 2 + 1, sizeof *preput);
    if (!arena_ok(a))
        return false;
    for (uint32_t i = 0; i < rq->ncommands; i++) {
        const struct spawn_command *c = &rq->commands[i];
        number[f->numbers.n++] = c->nprocs;
        number[f->numbers.n++] = c->nargs;
        number[f->numbers.n++] = c->ninfos;
        program[f->programs.n++] = slice_str(c->program);
        for (uint32_t k = 0; k < c->nargs; k++)
            arg[f->args.n++] = slice_str(c->args[k]);
        add_pairs(info, &f->infos.n, c->infos, c->ninfos);
    }
    add_pairs(preput, &f->preputs.n, rq->preputs, rq->npreputs);
    f->numbers.items = number;
    f->programs.items = program;
    f->args.items = arg;
    f->infos.items = info;
    f->preputs.items = preput;
    f->requestor = rq->requestor;
    return true;
}

void spawn_pack(const struct spawn_request *rq, struct buf *out)
{
    struct arena a = ARENA_NULL((size_t)1 << 30);
    struct flat_spawn f = { .numbers = { NULL, 0 } };

    if (flatten(rq, &a, &f))
        parts_write(parts, NPARTS, &f, out);
    else
        out->error = BUF_NO_MEMORY;
    arena_free(&a);
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool take_pairs(struct arena *a, const struct part_texts *from, uint32_t *at, uint32_t n,
                       struct spawn_pair **pairs_p)
{
    if (n > (from->n - *at) / 2)
        return false;
    *pairs_p = arena_array(a, (size_t)n + 1, sizeof **pairs_p);
    for (uint32_t i = 0; *pairs_p && i < n; i++) {
        (*pairs_p)[i].key = arena_copy(a, from->items[(*at)++]);
        (*pairs_p)[i].value = arena_copy(a, from->items[(*at)++]);
    }
    return true;
}

static bool take_command(const struct flat_spawn *f, struct spawn_request *rq, uint32_t i,
                         uint32_t *arg, uint32_t *info)
{
    struct spawn_command *c = &rq->commands[i];
    const uint32_t *number = &f->numbers.items[(size_t)i * NUMBERS];

    c->nprocs = number[0];
    c->nargs = number[1];
    c->ninfos = number[2];
    if (c->nprocs > LIMIT_JOB_PROCS || c->nargs > f->args.n - *arg)
        return false;
    c->program = arena_str(&rq->arena, f->programs.items[i]);
    c->args = arena_array(&rq->arena, (size_t)c->nargs + 1, sizeof *c->args);
    for (uint32_t k = 0; c->args && k < c->nargs; k++)
        c->args[k] = arena_str(&rq->arena, f->args.items[(*arg)++]);
    return take_pairs(&rq->arena, &f->infos, info, c->ninfos, &c->infos);
}

static bool unflatten(const struct flat_spawn *f, struct spawn_request *rq)
{
    uint32_t arg = 0, info = 0, preput = 0;

    if (f->numbers.n != (uint64_t)f->programs.n * NUMBERS || f->programs.n == 0 ||
        f->programs.n > LIMIT_SPAWN_COMMANDS)
        return false;
    rq->requestor = (uint32_t)f->requestor;
    rq->ncommands = f->programs.n;
    rq->npreputs = f->preputs.n / 2;
    rq->commands = arena_array(&rq->arena, rq->ncommands, sizeof *rq->commands);
    for (uint32_t i = 0; rq->commands && i < rq->ncommands; i++) {
        if (!take_command(f, rq, i, &arg, &info))
            return false;
    }
    return take_pairs(&rq->arena, &f->preputs, &preput, rq->npreputs, &rq->preputs);
}

struct spawn_request *spawn_unpack(struct slice bytes, struct errmsg *err)
{
    struct arena a = ARENA_NULL((size_t)1 << 30);
    struct spawn_request *rq = spawn_new();
    struct flat_spawn f = { .numbers = { NULL, 0 } };
    bool good = rq && parts_read(parts, NPARTS, bytes, &a, &f) && unflatten(&f, rq);

    arena_free(&a);
    if (good && arena_ok(&rq->arena))
        return rq;
    if (!rq || !arena_ok(&rq->arena))
        errmsg_set(err, -ENOMEM, "out of memory for a spawn request");
    else
        errmsg_set(err, 1, "another daemon has sent an invalid spawn request");
    return spawn_free(rq);
}
