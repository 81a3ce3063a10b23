/* rankfile.c - see rankfile.h. */
#include "launch/rankfile.h"

#include <errno.h>
#include <string.h>

#include "base/limit.h"
#include "base/map.h"
#include "topo/slots.h"

struct reader {
    struct arena *arena;
    struct rankfile *file;
    struct rankfile_rank *lines; /* in the order of the file */
    uint32_t *rank;              /* of each line */
    uint32_t count, room, at;
    struct errmsg *err;
};

static int bad(struct reader *r, const char *what, struct slice text)
{
    return errmsg_set(r->err, RANKFILE_BAD, "%.250s:%u: %s, not '" SLICE_FMT "'", r->file->name,
                      r->at, what, SLICE_ARG(slice_head(text, 100)));
}

static struct slice cut_word(struct slice *rest)
{
    size_t n = 0;
    struct slice word;

    *rest = slice_trim(*rest);
    while (n < rest->len && rest->ptr[n] != ' ' && rest->ptr[n] != '\t')
        n++;
    word = slice_head(*rest, n);
    *rest = slice_trim(slice_skip(*rest, n));
    return word;
}

static int make_room(struct reader *r)
{
    uint32_t room = r->room ? r->room * 2 : 64;
    struct rankfile_rank *lines;
    uint32_t *rank;

    if (r->count < r->room)
        return 0;
    lines = arena_array(r->arena, room, sizeof *lines);
    rank = arena_array(r->arena, room, sizeof *rank);
    if (!lines || !rank)
        return -ENOMEM;
    if (r->count) {
        memcpy(lines, r->lines, r->count * sizeof *lines);
        memcpy(rank, r->rank, r->count * sizeof *rank);
    }
    r->lines = lines;
    r->rank = rank;
    r->room = room;
    return 0;
}

/* Consecutive texts are mostly equal: kept once. */
static const char *keep(struct reader *r, struct slice text, const char *last)
{
    return last && slice_is(text, last) ? last : arena_str(r->arena, text);
}

static int read_host(struct reader *r, struct slice host, struct rankfile_rank *line)
{
    const char *last = r->count ? r->lines[r->count - 1].host : NULL;
    struct slice number = slice_skip(host, 2);

    if (host.len && host.ptr[0] == '+') {
        if (host.len < 3 || (host.ptr[1] != 'n' && host.ptr[1] != 'N') ||
            !slice_u32(number, &line->number))
            return bad(r, "a position in the node list is written +n0, +n1, ...", host);
        return 0;
    }
    if (host.len == 0 || host.len > 255)
        return bad(r, "expected 'rank N=NODE'", host);
    line->host = keep(r, host, last);
    return line->host ? 0 : -ENOMEM;
}

static int read_slots(struct reader *r, struct slice word, struct rankfile_rank *line)
{
    const char *last = r->count ? r->lines[r->count - 1].slots : NULL;
    struct slice list = slice_trim(slice_skip(word, strlen("slot=")));
    struct errmsg why;

    if (word.len == 0)
        return 0;
    if (!slice_starts(word, SLICE("slot=")))
        return bad(r, "expected slot=PLACES after the node", word);
    if (slots_check(list, &why))
        return errmsg_set(r->err, RANKFILE_BAD, "%.250s:%u: %.600s", r->file->name, r->at,
                          why.text);
    line->slots = keep(r, list, last);
    r->file->binds = true;
    return line->slots ? 0 : -ENOMEM;
}

/* rank N=NODE [slot=PLACES], blanks around the first '=' are allowed. */
static int read_line(struct reader *r, struct slice text)
{
    struct rankfile_rank line = { .line = r->at };
    struct slice rest = text, number, host, word = cut_word(&rest);
    uint32_t rank;
    int rc;

    if (!slice_is(word, "rank"))
        return bad(r, "expected 'rank N=NODE slot=PLACES'", text);
    number = slice_trim(slice_cut(&rest, '='));
    if (!slice_u32(number, &rank) || rank >= LIMIT_JOB_PROCS)
        return bad(r, "expected a number after 'rank'", number);
    host = cut_word(&rest);
    rc = make_room(r);
    if (rc == 0)
        rc = read_host(r, host, &line);
    if (rc == 0)
        rc = read_slots(r, rest, &line);
    if (rc)
        return rc;
    r->rank[r->count] = rank;
    r->lines[r->count++] = line;
    return 0;
}

/* Sorts the lines by rank.  A rank that is too large leaves a hole below: that is reported. */
static int sort_ranks(struct reader *r)
{
    struct rankfile_rank *ranks = arena_array(r->arena, (size_t)r->count + 1, sizeof *ranks);
    uint32_t hole = 0;

    if (!ranks)
        return -ENOMEM;
    for (uint32_t i = 0; i < r->count; i++) {
        uint32_t rank = r->rank[i];
        if (rank < r->count && ranks[rank].line)
            return errmsg_set(r->err, RANKFILE_BAD, "%.250s:%u: rank %u is already in line %u",
                              r->file->name, r->lines[i].line, rank, ranks[rank].line);
        if (rank < r->count)
            ranks[rank] = r->lines[i];
    }
    while (hole < r->count && ranks[hole].line)
        hole++;
    if (hole < r->count || r->count == 0)
        return errmsg_set(r->err, RANKFILE_BAD, "%.250s: the rank file has no line for rank %u",
                          r->file->name, hole);
    r->file->ranks = ranks;
    r->file->count = r->count;
    return 0;
}

int rankfile_parse(struct arena *a, const char *name, struct slice text, struct rankfile *file_p,
                   struct errmsg *err)
{
    struct reader r = { .arena = a, .file = file_p, .err = err };
    int rc = 0;

    *file_p = (struct rankfile){ .name = name };
    while (text.len && rc == 0) {
        struct slice line = slice_cut(&text, '\n');
        r.at++;
        line = slice_trim(slice_cut(&line, '#'));
        if (line.len)
            rc = read_line(&r, line);
    }
    return rc ? rc : sort_ranks(&r);
}

int rankfile_hosts(const struct rankfile *file, struct arena *a, struct host_list *list,
                   struct errmsg *err)
{
    struct map seen = MAP_NULL(0); /* number of the entry + 1 */
    int rc = 0;

    for (uint32_t i = 0; i < file->count && rc == 0; i++) {
        const struct rankfile_rank *r = &file->ranks[i];
        uintptr_t known;
        if (!r->host) {
            rc = errmsg_set(
                err, RANKFILE_BAD,
                "%.250s:%u: +n%u is a position in the node list, but there is no node list",
                file->name, r->line, r->number);
            break;
        }
        known = (uintptr_t)map_get(&seen, slice_str(r->host));
        if (known) {
            list->items[known - 1].slots++;
            continue;
        }
        rc = hosts_add(a, list, (struct host){ .name = r->host, .slots = 1 });
        if (rc == 0)
            rc = map_put(&seen, slice_str(r->host), (void *)(uintptr_t)list->count, NULL);
    }
    map_free(&seen);
    return rc;
}

struct finder {
    const struct rankfile *file;
    struct map entries; /* number + 1 */
    rankfile_here_fn *here;
    void *arg;
    const char *here_name;
    const char *last; /* the last name that was looked up, and its entry + 1 */
    uintptr_t found;
};

static uintptr_t find_name(struct finder *f, const char *name)
{
    if (name == f->last)
        return f->found;
    f->last = name;
    f->found = (uintptr_t)map_get(&f->entries, slice_str(name));
    if (!f->found && f->here_name && f->here(f->arg, name))
        f->found = (uintptr_t)map_get(&f->entries, slice_str(f->here_name));
    return f->found;
}

static int find_rank(struct finder *f, const struct rankfile_rank *r, uint32_t count,
                     uint32_t *entry_p, struct errmsg *err)
{
    uintptr_t entry = r->host ? find_name(f, r->host) : (uintptr_t)r->number + 1;

    if (!r->host && r->number >= count)
        return errmsg_set(err, RANKFILE_BAD,
                          "%.250s:%u: +n%u, but the node list has only %u entries", f->file->name,
                          r->line, r->number, count);
    if (!entry)
        return errmsg_set(err, RANKFILE_BAD, "%.250s:%u: node %.200s is not in the node list",
                          f->file->name, r->line, r->host);
    *entry_p = (uint32_t)entry - 1;
    return 0;
}

int rankfile_entries(const struct rankfile *file, const struct host_list *list, struct arena *a,
                     rankfile_here_fn *here, void *arg, const char *here_name,
                     const uint32_t **entries_p, struct errmsg *err)
{
    struct finder f = {
        .file = file, .entries = MAP_NULL(0), .here = here, .arg = arg, .here_name = here_name
    };
    uint32_t *entries = arena_array(a, (size_t)file->count + 1, sizeof *entries);
    int rc = entries ? 0 : -ENOMEM;

    for (uint32_t i = list->count; i-- > 0 && rc == 0;) /* the first one of a name wins */
        rc = map_put(&f.entries, slice_str(list->items[i].name), (void *)((uintptr_t)i + 1), NULL);
    for (uint32_t i = 0; i < file->count && rc == 0; i++)
        rc = find_rank(&f, &file->ranks[i], list->count, &entries[i], err);
    *entries_p = entries;
    map_free(&f.entries);
    return rc;
}
