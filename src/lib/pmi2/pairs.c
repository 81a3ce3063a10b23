/* pairs.c - see pairs.h. */
#include "lib/pmi2/pairs.h"

#include <fcntl.h>
#include <pmi2.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/limit.h"

enum { PROBE_BYTES = 256 }; /* at a time; a pipe takes them without blocking */

struct mpich_pair {
    const char *key, *val;
};

/* Bytes go through a pipe: the kernel refuses unreadable memory, on which a plain read would
 * crash. */
struct probe {
    int ends[2];
};

/* Not by write(): memory checkers watch it, and part of the range may be unallocated. */
static bool can_read(const struct probe *p, const void *from, void *to, size_t n)
{
    long sent = syscall(SYS_write, p->ends[1], from, n);

    if (sent <= 0)
        return false;
    return read(p->ends[0], to, (size_t)sent) == sent && (size_t)sent == n;
}

/* The number of bytes from there to the end of the page. */
static size_t up_to_page_end(const char *at)
{
    size_t left = 4096 - (uintptr_t)at % 4096;

    return left < PROBE_BYTES ? left : PROBE_BYTES;
}

static bool is_word_byte(unsigned char c)
{
    return c > ' ' && c != 0x7f;
}

/* Terminated by a NUL within the limit; a word has at least one byte, and no blank. */
static bool is_text(const struct probe *p, const char *text, size_t most, bool word)
{
    unsigned char bytes[PROBE_BYTES];

    for (size_t len = 0; len < most;) {
        size_t n = up_to_page_end(text + len);
        if (!can_read(p, text + len, bytes, n))
            return false;
        for (size_t i = 0; i < n; i++, len++) {
            if (bytes[i] == '\0')
                return len > 0 || !word;
            if (word && !is_word_byte(bytes[i]))
                return false;
        }
    }
    return false;
}

static bool is_pair(const struct probe *p, const char *key, const char *value)
{
    return key && is_text(p, key, LIMIT_PMI_LINE, true) &&
           (!value || is_text(p, value, LIMIT_PMI_SPAWN, false));
}

static bool is_slurms(const struct probe *p, const char *list, int n, bool by_pointer)
{
    for (int i = 0; i < n; i++) {
        const char *at = list + (size_t)i * sizeof(struct MPID_Info);
        struct MPID_Info info;
        if (by_pointer && !can_read(p, list + (size_t)i * sizeof at, &at, sizeof at))
            return false;
        if (!can_read(p, at, &info, sizeof info) || !is_pair(p, info.key, info.value))
            return false;
    }
    return true;
}

static bool is_mpichs(const struct probe *p, const char *list, int n)
{
    for (int i = 0; i < n; i++) {
        struct mpich_pair pair;
        if (!can_read(p, list + (size_t)i * sizeof pair, &pair, sizeof pair) ||
            !is_pair(p, pair.key, pair.val))
            return false;
    }
    return true;
}

enum pairs_form pairs_form_of(const void *list, int n, bool by_pointer)
{
    enum pairs_form form = PAIRS_UNKNOWN;
    struct probe p;

    if (n <= 0)
        return PAIRS_SLURM;
    if (pipe2(p.ends, O_CLOEXEC | O_NONBLOCK) < 0)
        return PAIRS_UNKNOWN;
    /* After MPICH's infos there may be other pairs, which read as the end of Slurm's structs;
     * the numbers at the front of these read as pointers to text far less often.  A Slurm
     * pre-put whose numbers were not set may read as a word; the bytes of a word never read as
     * two good pointers.
     */
    if (by_pointer && is_slurms(&p, list, n, true))
        form = PAIRS_SLURM;
    else if (is_mpichs(&p, list, n))
        form = PAIRS_MPICH;
    else if (!by_pointer && is_slurms(&p, list, n, false))
        form = PAIRS_SLURM;
    close(p.ends[0]);
    close(p.ends[1]);
    return form;
}

struct spawn_pair_text pairs_get(const void *list, int i, bool by_pointer, enum pairs_form form)
{
    const struct MPID_Info *info;
    const struct mpich_pair *pair;

    if (form == PAIRS_MPICH) {
        pair = (const struct mpich_pair *)list + i;
        return (struct spawn_pair_text){ pair->key, pair->val ? pair->val : "" };
    }
    info = by_pointer ? ((const struct MPID_Info *const *)list)[i]
                      : (const struct MPID_Info *)list + i;
    return (struct spawn_pair_text){ info->key, info->value ? info->value : "" };
}
