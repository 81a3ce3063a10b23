/* overlay_parts.c - fuzzes what messages between daemons carry, as far as it has a form of its own:
 * plans, spawn requests, blocks of values, parts of reports, what a machine has, who is bound to
 * whom.
 *
 * The first byte says what the others are.  Whatever is accepted must be usable, and reads the same
 * when it has been written again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "core/block.h"
#include "core/proc_connect.h"
#include "core/job_map_pack.h"
#include "core/spawn_pack.h"
#include "core/startup.h"
#include "report/startup_report.h"
#include "report/who_part.h"
#include "topo/view_pack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool good)
{
    if (!good)
        abort();
}

static bool same(const struct buf *a, const struct buf *b)
{
    struct slice one = buf_slice(a), two = buf_slice(b);

    return one.len == two.len && (one.len == 0 || memcmp(one.ptr, two.ptr, one.len) == 0);
}

static void try_plan(struct slice bytes)
{
    struct buf once = BUF_NULL(1 << 28), twice = BUF_NULL(1 << 28);
    struct job_map p, q;
    struct errmsg err;

    if (job_map_unpack(bytes, &p, &err) == 0) {
        job_map_pack(&p, &once);
        must(buf_ok(&once) && job_map_unpack(buf_slice(&once), &q, &err) == 0);
        job_map_pack(&q, &twice);
        must(same(&once, &twice));
        job_map_free(&q);
    }
    job_map_free(&p);
    buf_free(&once);
    buf_free(&twice);
}

static void try_spawn(struct slice bytes)
{
    struct buf once = BUF_NULL(1 << 28), twice = BUF_NULL(1 << 28);
    struct errmsg err;
    struct spawn_request *one = spawn_unpack(bytes, &err), *two;

    if (one) {
        spawn_pack(one, &once);
        two = spawn_unpack(buf_slice(&once), &err);
        must(two != NULL);
        spawn_pack(two, &twice);
        must(same(&once, &twice));
        spawn_free(two);
    }
    spawn_free(one);
    buf_free(&once);
    buf_free(&twice);
}

static void try_block(struct slice bytes)
{
    struct block_reader r;
    size_t seen = 0;
    int rc;

    block_open(&r, bytes);
    while ((rc = block_next(&r)) == BLOCK_RANK || rc == BLOCK_ENTRY) {
        if (rc == BLOCK_RANK)
            continue;
        for (size_t i = 0; i < r.item.key.len; i++)
            seen += (unsigned char)r.item.key.ptr[i];
        for (size_t i = 0; i < r.item.value.len; i++)
            seen += (unsigned char)r.item.value.ptr[i];
    }
    block_close(&r);
    must(seen != SIZE_MAX); /* all of it was there to be read */
}

static void try_who(struct slice bytes)
{
    struct who_options o = { .now_ns = 1, .json = bytes.len % 2 };
    struct buf report = BUF_NULL(1 << 24);
    struct who_picture *p;
    struct core c;

    core_init(&c, 1);
    p = who_picture_new(&c, 1);
    if (p) {
        who_picture_add(p, bytes);
        who_picture_report(p, &o, &report);
    }
    who_picture_free(p);
    buf_free(&report);
    core_free(&c);
}

static void try_startup(struct slice bytes)
{
    struct buf once = BUF_NULL(1 << 24), twice = BUF_NULL(1 << 24);
    struct arena a = ARENA_NULL(1 << 24);
    struct startup_part p, q;

    if (startup_part_read(bytes, &a, &p)) {
        startup_part_write(&p, &once);
        must(buf_ok(&once) && startup_part_read(buf_slice(&once), &a, &q));
        startup_part_write(&q, &twice);
        must(same(&once, &twice));
    }
    arena_free(&a);
    buf_free(&once);
    buf_free(&twice);
}

static void try_view(struct slice bytes)
{
    struct buf once = BUF_NULL(1 << 28), twice = BUF_NULL(1 << 28);
    struct arena a = ARENA_NULL(1 << 28);
    struct bind_machine m, n;
    struct errmsg err;

    if (view_unpack(&a, bytes, &m, &err) == 0) {
        view_pack(&m, &once);
        must(buf_ok(&once) && view_unpack(&a, buf_slice(&once), &n, &err) == 0);
        view_pack(&n, &twice);
        must(same(&once, &twice));
    }
    arena_free(&a);
    buf_free(&once);
    buf_free(&twice);
}

static void try_connect(struct slice bytes)
{
    struct core c;

    core_init(&c, 1);
    proc_connect_receive(&c, bytes, true);
    proc_connect_receive(&c, bytes, false);
    core_free(&c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const tries[])(struct slice bytes) = { try_plan,   try_spawn,   try_block,
                                                         try_who,    try_startup, try_view,
                                                         try_connect };

    if (size > 0)
        tries[data[0] % (sizeof tries / sizeof *tries)](slice_mem(data + 1, size - 1));
    return 0;
}
