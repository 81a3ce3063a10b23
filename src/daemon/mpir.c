/* mpir.c - see mpir.h.
 *
 * The names, types and values here are those of the MPIR interface; debuggers look for them in the
 * symbol table. */
#include "daemon/mpir.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "core/job.h"

#define SEEN_BY_DEBUGGERS __attribute__((used, visibility("default")))

/* The variables have this memory for themselves, whole pages on every machine, so that it can be
 * shared: the first is aligned to it, and so is what follows the last.  (Variables of a section
 * stay in order.) */
enum { SHARED_BYTES = 64 << 10 };

#if defined(__has_attribute) && __has_attribute(no_reorder)
#define IN_ORDER __attribute__((no_reorder))
#else
#define IN_ORDER
#endif
#define SHARED IN_ORDER __attribute__((section(".bss.mpir")))

enum { MPIR_NULL, MPIR_DEBUG_SPAWNED, MPIR_DEBUG_ABORTING };

/* Untouched pages cost nothing: room for a million processes, and for the names of their nodes. */
enum { LARGE_BYTES = 64 << 20, REASON_MAX = 512, SMALL_BYTES = 3 << 10 };

typedef struct {
    char *host_name;
    char *executable_name;
    int pid;
} MPIR_PROCDESC;

/* Where the table is: it grows upwards, the texts from the end downwards. */
struct board {
    MPIR_PROCDESC *table;
    int n;
    char *texts; /* the lowest */
};

SHARED SEEN_BY_DEBUGGERS _Alignas(SHARED_BYTES) MPIR_PROCDESC *MPIR_proctable;
SHARED SEEN_BY_DEBUGGERS int MPIR_proctable_size;
SHARED SEEN_BY_DEBUGGERS volatile int MPIR_being_debugged;
SHARED SEEN_BY_DEBUGGERS volatile int MPIR_debug_state;
SHARED SEEN_BY_DEBUGGERS char *MPIR_debug_abort_string;
SHARED SEEN_BY_DEBUGGERS volatile int MPIR_i_am_starter;      /* that it is there is its meaning */
SHARED SEEN_BY_DEBUGGERS volatile int MPIR_partial_attach_ok; /* likewise */
/* The table of a small job lies behind the variables, in the same page: each page that is touched
 * is fetched from the system, which takes longer than all the rest here. */
SHARED static char reason_text[REASON_MAX];
SHARED static _Alignas(MPIR_PROCDESC) char small[SMALL_BYTES];
SHARED __attribute__((used)) static _Alignas(SHARED_BYTES) char behind_shared;

SEEN_BY_DEBUGGERS void MPIR_Breakpoint(void);

__attribute__((noinline)) void MPIR_Breakpoint(void)
{
    __asm__ volatile("");
}

/* Only the worker's: the table so far, and the memory for a large one, LARGE_BYTES, which is NULL
 * before mpir_open(). */
static struct board board;
static char *large;

/* Makes the variables shared ones, with the values that they have: the memory at `from` moves to
 * them. */
static bool share_variables(char *from)
{
    int debugged = MPIR_being_debugged;
    char *at = (char *)&MPIR_proctable;

    __asm__("" : "+r"(at)); /* the compiler knows nothing of the order of variables */
    if (at + SHARED_BYTES != &behind_shared ||
        mremap(from, SHARED_BYTES, SHARED_BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, at) == MAP_FAILED)
        return false;
    MPIR_being_debugged = debugged;
    return true;
}

static void use_memory(char *bytes, size_t n)
{
    MPIR_PROCDESC *table = (void *)bytes;

    if (board.n)
        memcpy(table, board.table, (size_t)board.n * sizeof *table);
    board.table = table;
    board.texts = bytes + n;
}

void mpir_open(void)
{
    char *p = mmap(NULL, SHARED_BYTES + LARGE_BYTES, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (p == MAP_FAILED || !share_variables(p))
        return;
    large = p + SHARED_BYTES;
    MPIR_i_am_starter = MPIR_partial_attach_ok = 0; /* or the linker would leave them out */
    use_memory(small, sizeof small);
}

bool mpir_is_debugged(void)
{
    return large && MPIR_being_debugged;
}

/* There is room for the table with n entries, and for so many bytes of texts. */
static bool has_room(size_t n, size_t bytes)
{
    size_t room = (size_t)(board.texts - (char *)board.table);

    return bytes <= room && n <= (room - bytes) / sizeof *board.table;
}

/* NULL: there is no room. */
static char *add_text(const char *text, size_t nprocs)
{
    size_t n = strlen(text) + 1;

    if (!has_room((size_t)board.n + nprocs, n))
        return NULL;
    board.texts -= n;
    return memcpy(board.texts, text, n);
}

/* The name of the rank's node, or of its program: those of neighbours are mostly the same. */
static char *name_of(const struct job *j, uint32_t rank, bool node)
{
    const struct job_map_proc *p = &j->plan.procs[rank], *last = rank ? p - 1 : NULL;
    const MPIR_PROCDESC *before = rank ? &board.table[board.n - 1] : NULL;
    const char *name = node ? j->plan.nodes[p->node].name : j->plan.apps[p->app].path;

    if (last && node && last->node == p->node)
        return before->host_name;
    if (last && !node && last->app == p->app)
        return before->executable_name;
    return add_text(name ? name : "", j->plan.nprocs - rank);
}

/* False: there is no room for the whole job; a part would be taken for the whole. */
static bool add_procs(const struct job *j)
{
    int first = board.n;

    for (uint32_t r = 0; r < j->plan.nprocs; r++) {
        MPIR_PROCDESC d = { name_of(j, r, true), name_of(j, r, false), j->procs[r].pid };
        if (!d.host_name || !d.executable_name || !has_room((size_t)board.n + 1, 0)) {
            board.n = first;
            return false;
        }
        board.table[board.n++] = d;
    }
    return true;
}

/* Names of jobs before stay where they are. */
static bool add_to_large(const struct job *j)
{
    if (board.table == (void *)large)
        return false;
    use_memory(large, LARGE_BYTES);
    return add_procs(j);
}

bool mpir_add(const struct job *j)
{
    if (!large || (!add_procs(j) && !add_to_large(j)))
        return false;
    MPIR_proctable = board.table;
    MPIR_proctable_size = board.n;
    MPIR_debug_abort_string = NULL;
    MPIR_debug_state = MPIR_DEBUG_SPAWNED;
    return mpir_is_debugged();
}

bool mpir_abort(const char *reason)
{
    if (!large)
        return false;
    snprintf(reason_text, sizeof reason_text, "%s", reason);
    MPIR_debug_abort_string = reason_text;
    MPIR_debug_state = MPIR_DEBUG_ABORTING;
    return mpir_is_debugged();
}

void mpir_stop_for_debugger(void)
{
    MPIR_Breakpoint();
}
