/* program_check.c - see program_check.h. */
#include "daemon/program_check.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "core/rank_ranges.h"

/* ---- programs for other machines ---- */

static const char *machine_name(unsigned machine)
{
    switch (machine) {
    case EM_386: return "i386";
    case EM_X86_64: return "x86_64";
    case EM_ARM: return "arm";
    case EM_AARCH64: return "aarch64";
    case EM_PPC64: return "ppc64";
    case EM_S390: return "s390x";
    case EM_RISCV: return "riscv";
    default: return NULL;
    }
}

/* The machine that an ELF file is for; -1: not an ELF file. */
static int machine_of(const char *path)
{
    unsigned char head[20];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    ssize_t n = fd >= 0 ? read(fd, head, sizeof head) : -1;
    bool big;

    if (fd >= 0)
        close(fd);
    if (n != (ssize_t)sizeof head || memcmp(head, ELFMAG, SELFMAG) != 0)
        return -1;
    big = head[EI_DATA] == ELFDATA2MSB;
    return head[big ? 18 : 19] << 8 | head[big ? 19 : 18];
}

bool program_is_foreign(const char *path, struct errmsg *why)
{
    int its = machine_of(path), ours = machine_of("/proc/self/exe");
    const char *name;

    if (its < 0)
        return false;
    name = machine_name((unsigned)its);
    if (its == ours)
        errmsg_set(why, 0, "%s is damaged, or not a program", path);
    else if (name && machine_name((unsigned)ours))
        errmsg_set(why, 0, "%s is for %s; this machine is %s", path, name,
                   machine_name((unsigned)ours));
    else
        errmsg_set(why, 0, "%s is for another machine (ELF machine %d)", path, its);
    return true;
}

/* ---- shared libraries that are not found ---- */

#define LOADER_WORDS ": error while loading shared libraries: "
#define NOT_FOUND    ": cannot open shared object file: No such file or directory"

/* The ranks that failed with the same line. */
struct reason {
    struct list link;
    uint32_t *ranks;
    uint32_t n, room;
    size_t len;
    char line[];
};

bool program_is_unloaded(struct slice line)
{
    size_t words = strlen(LOADER_WORDS);

    if (line.len <= words + 1 || slice_find(line, '\n') != line.len - 1)
        return false;
    return memmem(line.ptr + 1, line.len - 1, LOADER_WORDS, words) != NULL;
}

static struct reason *reason_of(struct unloaded *u, struct slice line)
{
    struct reason *r;

    LIST_EACH(l, &u->all)
    {
        r = LIST_OF(l, struct reason, link);
        if (slice_eq(line, slice_mem(r->line, r->len)))
            return r;
    }
    r = calloc(1, sizeof *r + line.len);
    if (!r)
        return NULL;
    r->len = line.len;
    memcpy(r->line, line.ptr, line.len);
    list_init(&r->link);
    list_append(&u->all, &r->link);
    return r;
}

void unloaded_add(struct unloaded *u, uint32_t rank, struct slice line)
{
    struct reason *r = reason_of(u, line);

    if (r && r->n == r->room) {
        uint32_t room = r->room ? r->room * 2 : 16;
        uint32_t *more = realloc(r->ranks, room * sizeof *more);
        if (!more)
            return;
        r->ranks = more;
        r->room = room;
    }
    if (r)
        r->ranks[r->n++] = rank;
}

bool unloaded_has(const struct unloaded *u, uint32_t rank)
{
    LIST_EACH(l, &u->all)
    {
        const struct reason *r = LIST_OF(l, struct reason, link);
        for (uint32_t i = 0; i < r->n; i++) {
            if (r->ranks[i] == rank)
                return true;
        }
    }
    return false;
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

static void put_ranks(struct reason *r, struct buf *out)
{
    struct rank_ranges ranges = { .out = out };

    qsort(r->ranks, r->n, sizeof *r->ranks, by_number);
    buf_str(out, r->n > 1 ? "ranks " : "rank ");
    for (uint32_t i = 0; i < r->n; i++)
        rank_ranges_add(&ranges, r->ranks[i]);
    rank_ranges_end(&ranges);
}

static void put_reason(const struct reason *r, struct buf *out)
{
    struct slice line = slice_mem(r->line, r->len - 1), why;
    size_t at =
        (size_t)((const char *)memmem(line.ptr, line.len, LOADER_WORDS, strlen(LOADER_WORDS)) -
                 line.ptr);
    size_t tail = strlen(NOT_FOUND);

    why = slice_skip(line, at + strlen(LOADER_WORDS));
    buf_printf(out, " could not start " SLICE_FMT ": ", SLICE_ARG(slice_head(line, at)));
    if (why.len > tail && memcmp(why.ptr + why.len - tail, NOT_FOUND, tail) == 0)
        buf_printf(out, SLICE_FMT " is not found", SLICE_ARG(slice_head(why, why.len - tail)));
    else
        buf_slice_put(out, why);
}

void unloaded_report(struct unloaded *u, const struct log *log)
{
    LIST_EACH(l, &u->all)
    {
        struct reason *r = LIST_OF(l, struct reason, link);
        struct buf text = BUF_NULL(1 << 20);
        put_ranks(r, &text);
        put_reason(r, &text);
        if (buf_ok(&text))
            log_error(log, SLICE_FMT, SLICE_ARG(buf_slice(&text)));
        buf_free(&text);
    }
}

void unloaded_free(struct unloaded *u)
{
    LIST_EACH(l, &u->all)
    {
        struct reason *r = LIST_OF(l, struct reason, link);
        list_unlink(l);
        free(r->ranks);
        free(r);
    }
}
