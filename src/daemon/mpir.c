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
enum { BOARD_BYTES = 64 << 20, REASON_MAX = 512 };

typedef struct {
    char *host_name;
    char *executable_name;
    int pid;
} MPIR_PROCDESC;

/* The rest of the shared memory: the table grows upwards, the texts downwards. */
struct board {
    char reason[REASON_MAX];
    int n;
    size_t texts; /* offset of the lowest */
    MPIR_PROCDESC table[];
};

SHARED SEEN_BY_DEBUGGERS _Alignas(SHARED_BYTES) MPIR_PROCDESC *MPIR_proctable;
SHARED SEEN_BY_DEBUGGERS int MPIR_proctable_size;
SHARED SEEN_BY_DEBUGGERS volatile int MPIR_being_debugged;
SHARED SEEN_BY_DEBUGGERS volatile int MPIR_debug_state;
SHARED SEEN_BY_DEBUGGERS char *MPIR_debug_abort_string;
SHARED SEEN_BY_DEBUGGERS volatile int MPIR_i_am_starter;      /* that it is there is its meaning */
SHARED SEEN_BY_DEBUGGERS volatile int MPIR_partial_attach_ok; /* likewise */
SHARED static struct board *board;
SHARED __attribute__((used)) static _Alignas(SHARED_BYTES) char behind_shared;

SEEN_BY_DEBUGGERS void MPIR_Breakpoint(void);

__attribute__((noinline)) void MPIR_Breakpoint(void)
{
    __asm__ volatile("");
}

/* Makes the variables shared ones, with the values that they have. */
static bool share_variables(void)
{
    int debugged = MPIR_being_debugged;
    char *at = (char *)&MPIR_proctable;

    __asm__("" : "+r"(at)); /* the compiler knows nothing of the order of variables */
    if (at + SHARED_BYTES != &behind_shared ||
        mmap(at, SHARED_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1,
             0) == MAP_FAILED)
        return false;
    MPIR_being_debugged = debugged;
    return true;
}

void mpir_open(void)
{
    void *p = mmap(NULL, BOARD_BYTES, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (p == MAP_FAILED || !share_variables())
        return;
    board = p;
    MPIR_i_am_starter = MPIR_partial_attach_ok = 0; /* or the linker would leave them out */
    board->texts = BOARD_BYTES;
}

bool mpir_is_debugged(void)
{
    return board && MPIR_being_debugged;
}

/* What the table takes with n entries. */
static size_t table_end(size_t n)
{
    return sizeof *board + n * sizeof *board->table;
}

/* NULL: there is no room. */
static char *add_text(const char *text, size_t nprocs)
{
    size_t n = strlen(text) + 1;

    if (board->texts < n || board->texts - n < table_end((size_t)board->n + nprocs))
        return NULL;
    board->texts -= n;
    return memcpy((char *)board + board->texts, text, n);
}

/* The name of the rank's node, or of its program: those of neighbours are mostly the same. */
static char *name_of(const struct job *j, uint32_t rank, bool node)
{
    const struct job_map_proc *p = &j->plan.procs[rank], *last = rank ? p - 1 : NULL;
    const MPIR_PROCDESC *before = rank ? &board->table[board->n - 1] : NULL;
    const char *name = node ? j->plan.nodes[p->node].name : j->plan.apps[p->app].path;

    if (last && node && last->node == p->node)
        return before->host_name;
    if (last && !node && last->app == p->app)
        return before->executable_name;
    return add_text(name ? name : "", j->plan.nprocs - rank);
}

/* False: there is no table, or no room for the whole job; a part would be taken for the whole. */
static bool add_procs(const struct job *j)
{
    int first = board ? board->n : 0;

    for (uint32_t r = 0; board && r < j->plan.nprocs; r++) {
        MPIR_PROCDESC d = { name_of(j, r, true), name_of(j, r, false), j->procs[r].pid };
        if (!d.host_name || !d.executable_name || board->texts < table_end((size_t)board->n + 1)) {
            board->n = first;
            return false;
        }
        board->table[board->n++] = d;
    }
    return board != NULL;
}

bool mpir_add(const struct job *j)
{
    if (!add_procs(j))
        return false;
    MPIR_proctable = board->table;
    MPIR_proctable_size = board->n;
    MPIR_debug_abort_string = NULL;
    MPIR_debug_state = MPIR_DEBUG_SPAWNED;
    return mpir_is_debugged();
}

bool mpir_abort(const char *reason)
{
    if (!board)
        return false;
    snprintf(board->reason, sizeof board->reason, "%s", reason);
    MPIR_debug_abort_string = board->reason;
    MPIR_debug_state = MPIR_DEBUG_ABORTING;
    return mpir_is_debugged();
}

void mpir_stop_for_debugger(void)
{
    MPIR_Breakpoint();
}
