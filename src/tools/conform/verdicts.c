/* verdicts.c - see verdicts.h. */
#include "tools/conform/verdicts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "io/write_all.h"

static const char *const words[] = { [VERDICT_CONFORMS] = "conforms",
                                     [VERDICT_DIFFERS] = "differs",
                                     [VERDICT_NOT_OFFERED] = "not offered" };

void verdicts_init(struct verdicts *v)
{
    *v = (struct verdicts){ .arena = ARENA_NULL(16 << 20) };
}

void verdicts_free(struct verdicts *v)
{
    arena_free(&v->arena);
    free(v->rows);
    v->rows = NULL;
    v->n = v->room = 0;
}

static struct verdict_row *find(struct verdicts *v, const char *name)
{
    for (uint32_t i = 0; i < v->n; i++) {
        if (!strcmp(v->rows[i].name, name))
            return &v->rows[i];
    }
    return NULL;
}

void verdicts_add(struct verdicts *v, const char *name, enum conformance verdict, const char *why)
{
    struct verdict_row *row = find(v, name);

    if (row && (row->verdict == VERDICT_DIFFERS || verdict == VERDICT_CONFORMS))
        return;
    if (!row && v->n == v->room) {
        uint32_t room = v->room ? v->room * 2 : 32;
        struct verdict_row *more = realloc(v->rows, room * sizeof *more);
        if (!more)
            abort(); /* a verdict that is lost would be a false one */
        v->rows = more;
        v->room = room;
    }
    if (!row)
        row = &v->rows[v->n++];
    *row = (struct verdict_row){ arena_str(&v->arena, slice_str(name)), verdict,
                                 arena_str(&v->arena, slice_str(why)) };
    if (!arena_ok(&v->arena))
        abort();
}

static uint32_t count(const struct verdicts *v, enum conformance verdict)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < v->n; i++)
        n += v->rows[i].verdict == verdict;
    return n;
}

static void put_json(const struct verdicts *v, const char *role, const char *subject,
                     struct buf *out)
{
    struct json j;

    json_init_spaced(&j, out);
    json_object(&j, NULL);
    json_str(&j, "schema", "wireup-conform-1");
    json_str(&j, "role", role);
    json_str(&j, "subject", subject);
    json_array(&j, "rows");
    for (uint32_t i = 0; i < v->n; i++) {
        json_break(&j);
        json_object(&j, NULL);
        json_str(&j, "name", v->rows[i].name);
        json_str(&j, "verdict", words[v->rows[i].verdict]);
        json_str(&j, "why", v->rows[i].why);
        json_object_end(&j);
    }
    json_array_end(&j);
    json_object_end(&j);
    json_done(&j);
    buf_byte(out, '\n');
}

static void put_text(const struct verdicts *v, struct buf *out)
{
    for (uint32_t i = 0; i < v->n; i++)
        buf_printf(out, "%-28s %s%s%s\n", v->rows[i].name, words[v->rows[i].verdict],
                   v->rows[i].why[0] ? ": " : "", v->rows[i].why);
    buf_printf(out, "%u conform, %u differ, %u not offered\n", count(v, VERDICT_CONFORMS),
               count(v, VERDICT_DIFFERS), count(v, VERDICT_NOT_OFFERED));
}

int verdicts_print(const struct verdicts *v, const char *role, const char *subject, bool json)
{
    struct buf out = BUF_NULL(16 << 20);
    int rc;

    if (json)
        put_json(v, role, subject, &out);
    else
        put_text(v, &out);
    rc = buf_ok(&out) ? write_all_slice(STDOUT_FILENO, buf_slice(&out)) : -1;
    buf_free(&out);
    return rc < 0 || count(v, VERDICT_DIFFERS) || !count(v, VERDICT_CONFORMS);
}
