/* findings.c - see findings.h.  Reading order: sentences; each kind of finding; all of them. */
#include "report/findings.h"

#include <signal.h>
#include <string.h>

#include "core/proc_look.h"
#include "core/rank_ranges.h"

enum { FINDING_MAX = 1 << 20, FINDING_GROUPS = 3 };

struct findings {
    const struct job *job;
    const struct who_options *o;
    const struct stack_tree *tree;
    finding_fn *fn;
    void *arg;
    struct buf ranks, text;
    uint32_t n;
};

/* ---- sentences ---- */

const char *findings_state_word(char letter)
{
    switch (letter) {
    case 'R': return "running";
    case 'S': return "sleeping";
    case 'D': return "waiting for a device";
    case 'T': return "stopped";
    case 't': return "stopped by a debugger";
    case 'Z': return "ended";
    default: return NULL;
    }
}

static double seconds(uint64_t ns)
{
    return (double)ns / 1e9;
}

void findings_cpu(const struct proc_look *look, struct buf *out)
{
    if (look->over_ns)
        buf_printf(out, ", CPU %.1f s in %.1f s", seconds(look->cpu_ns), seconds(look->over_ns));
}

static const char *node_of(const struct job *j, uint32_t rank)
{
    return j->plan.nodes[j->plan.procs[rank].node].name;
}

/* "rank 3" or "ranks 0-2,5" */
static void put_ranks(struct buf *out, struct slice ranks)
{
    bool many = memchr(ranks.ptr, ',', ranks.len) || memchr(ranks.ptr, '-', ranks.len);

    buf_printf(out, "%s " SLICE_FMT, many ? "ranks" : "rank", SLICE_ARG(ranks));
}

static void emit(struct findings *f, const char *kind)
{
    struct finding one = { kind, buf_slice(&f->ranks), buf_slice(&f->text) };

    if (buf_ok(&f->ranks) && buf_ok(&f->text))
        f->fn(f->arg, &one);
    f->n++;
    buf_clear(&f->ranks);
    buf_clear(&f->text);
}

typedef bool proc_test(const struct findings *f, uint32_t rank);

/* The ranks for which the test is true are in f->ranks, the first one in *first_p; their number. */
static uint32_t collect(struct findings *f, proc_test *test, uint32_t *first_p)
{
    struct rank_ranges r = { .out = &f->ranks };
    uint32_t n = 0;

    buf_clear(&f->ranks);
    for (uint32_t rank = 0; rank < f->job->plan.nprocs; rank++) {
        if (!test(f, rank))
            continue;
        if (n++ == 0)
            *first_p = rank;
        rank_ranges_add(&r, rank);
    }
    rank_ranges_end(&r);
    return n;
}

/* "rank 2 (pid 2463 on n1)"; of several, the pids are in the list that follows. */
static void put_subject(struct findings *f, uint32_t n, uint32_t first)
{
    const struct proc *p = &f->job->procs[first];

    put_ranks(&f->text, buf_slice(&f->ranks));
    if (n == 1)
        buf_printf(&f->text, " (pid %d on %s)", p->look ? p->look->pid : p->pid,
                   node_of(f->job, first));
}

/* ---- nodes that do not answer ---- */

static void find_unreachable(struct findings *f)
{
    for (uint32_t i = 0; i < f->o->nsilent; i++) {
        const struct who_silent *node = &f->o->silent[i];
        struct rank_ranges r = { .out = &f->ranks };

        for (uint32_t rank = 0; rank < f->job->plan.nprocs; rank++) {
            if (!strcmp(node_of(f->job, rank), node->name))
                rank_ranges_add(&r, rank);
        }
        rank_ranges_end(&r);
        if (buf_len(&f->ranks) == 0)
            continue;
        buf_printf(&f->text, "node %s %s; it runs ", node->name,
                   node->lost ? "is lost: its daemon has ended, or the network is down"
                              : "does not answer: its daemon is stopped or hangs, or the node or "
                                "its network is down");
        put_ranks(&f->text, buf_slice(&f->ranks));
        emit(f, "unreachable");
    }
}

/* ---- stopped processes ---- */

static bool is_in(const struct findings *f, uint32_t rank, char state)
{
    const struct proc *p = &f->job->procs[rank];

    return p->look && p->state != PROC_STATE_GONE && p->look->state == state;
}

static bool is_stopped(const struct findings *f, uint32_t rank)
{
    return is_in(f, rank, 'T');
}

static bool is_debugged(const struct findings *f, uint32_t rank)
{
    return is_in(f, rank, 't');
}

static void find_stopped(struct findings *f)
{
    uint32_t first, n = collect(f, is_stopped, &first);

    if (n) {
        put_subject(f, n, first);
        buf_printf(&f->text, " %s stopped (by SIGSTOP or SIGTSTP); SIGCONT continues %s",
                   n == 1 ? "is" : "are", n == 1 ? "it" : "them");
        emit(f, "stopped");
    }
    n = collect(f, is_debugged, &first);
    if (n) {
        put_subject(f, n, first);
        buf_printf(&f->text, " %s stopped by a debugger", n == 1 ? "is" : "are");
        emit(f, "debugged");
    }
}

/* ---- ended processes ---- */

static bool goes_on(const struct proc *p)
{
    return p->state == PROC_STATE_ATTACHED || p->state == PROC_STATE_RUNNING;
}

static bool any_goes_on(const struct job *j)
{
    for (uint32_t r = 0; r < j->plan.nprocs; r++) {
        if (goes_on(&j->procs[r]) && !(j->procs[r].look && j->procs[r].look->state == 'Z'))
            return true;
    }
    return false;
}

/* A process that never joined owes no finalize, unless others have joined. */
static bool has_ended(const struct findings *f, uint32_t rank)
{
    const struct proc *p = &f->job->procs[rank];

    if (p->state == PROC_STATE_GONE)
        return p->signalled || p->code != 0 || (p->unreachable && !p->left);
    return p->state == PROC_STATE_LOST || (goes_on(p) && is_in(f, rank, 'Z'));
}

static void put_end(struct findings *f, const struct proc *p)
{
    const char *abbrev = p->signalled ? sigabbrev_np(p->code) : NULL;

    if (p->state == PROC_STATE_LOST)
        buf_str(&f->text, " has closed its connection without finalize");
    else if (p->signalled)
        buf_printf(&f->text, " was killed by SIG%s", abbrev ? abbrev : "?");
    else if (p->state == PROC_STATE_GONE)
        buf_printf(&f->text, " has ended without finalize (exit code %d)", p->code);
    else
        buf_str(&f->text, " has ended without finalize (its exit is not known yet)");
}

static void find_ended(struct findings *f)
{
    uint32_t first, n = any_goes_on(f->job) ? collect(f, has_ended, &first) : 0;

    if (n == 0)
        return;
    put_subject(f, n, first);
    if (n == 1)
        put_end(f, &f->job->procs[first]);
    else
        buf_str(&f->text, " have ended without finalize");
    buf_str(&f->text, "; the others go on");
    emit(f, "ended");
}

/* ---- MPI libraries ---- */

static const char *file_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* MPICH's family names its library libmpi.so.12, too. */
static const char *family_of(const struct proc *p)
{
    const char *file = p->look ? file_of(p->look->mpi) : "";

    if (p->state == PROC_STATE_GONE || !*file)
        return NULL;
    if (!strncmp(file, "libmpi.so.", 10) && strncmp(file, "libmpi.so.12", 12) != 0)
        return "Open MPI";
    if (!strncmp(file, "libmpich.so", 11) || !strncmp(file, "libmpi.so.12", 12))
        return "MPICH";
    return "another";
}

static const char *first_family(const struct findings *f, const char *other_than)
{
    for (uint32_t r = 0; r < f->job->plan.nprocs; r++) {
        const char *family = family_of(&f->job->procs[r]);
        if (family && (!other_than || strcmp(family, other_than) != 0))
            return family;
    }
    return NULL;
}

/* "ranks 0-1 that of MPICH (libmpich.so.12)" */
static void put_family(struct findings *f, const char *family)
{
    struct buf ranks = BUF_NULL(FINDING_MAX);
    struct rank_ranges all = { .out = &f->ranks }, r = { .out = &ranks };
    const char *file = "";

    if (buf_len(&f->ranks))
        buf_byte(&f->ranks, ';');
    for (uint32_t rank = 0; rank < f->job->plan.nprocs; rank++) {
        const struct proc *p = &f->job->procs[rank];
        const char *own = family_of(p);
        if (!own || strcmp(own, family) != 0)
            continue;
        file = file_of(p->look->mpi);
        rank_ranges_add(&r, rank);
        rank_ranges_add(&all, rank);
    }
    rank_ranges_end(&r);
    rank_ranges_end(&all);
    put_ranks(&f->text, buf_slice(&ranks));
    buf_printf(&f->text, ": %s (%s)", family, file);
    buf_free(&ranks);
}

static void find_libraries(struct findings *f)
{
    const char *one = first_family(f, NULL), *other = one ? first_family(f, one) : NULL;

    if (!other)
        return;
    buf_clear(&f->ranks);
    buf_str(&f->text, "the ranks have different MPI libraries (");
    put_family(f, one);
    buf_str(&f->text, "; ");
    put_family(f, other);
    buf_str(&f->text, "); one MPI job needs one");
    emit(f, "libraries");
}

/* ---- stacks ---- */

static bool is_one_of(struct slice call, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (slice_is(call, names[i]))
            return true;
    }
    return false;
}

static bool sends(struct slice call)
{
    static const char *const names[] = { "MPI_Send",  "MPI_Ssend",  "MPI_Rsend",  "MPI_Bsend",
                                         "mpi_send_", "mpi_ssend_", "mpi_rsend_", "mpi_bsend_" };

    return is_one_of(call, names, sizeof names / sizeof *names);
}

static bool receives(struct slice call)
{
    static const char *const names[] = { "MPI_Recv",  "MPI_Mrecv",  "MPI_Probe",  "MPI_Mprobe",
                                         "mpi_recv_", "mpi_mrecv_", "mpi_probe_", "mpi_mprobe_" };

    return is_one_of(call, names, sizeof names / sizeof *names);
}

static bool all_groups(const struct stack_tree *t, bool (*test)(struct slice call))
{
    for (uint32_t i = 0; i < t->ngroups; i++) {
        if (!test(t->groups[i].place.call))
            return false;
    }
    return t->ngroups > 0;
}

static void put_call(struct buf *out, struct slice call)
{
    buf_escaped(out, call);
}

static void put_group(struct findings *f, const struct stack_group *g)
{
    struct buf ranks = BUF_NULL(FINDING_MAX);
    const struct proc *p = &f->job->procs[g->ranks[0]];
    const char *state = p->look ? findings_state_word(p->look->state) : NULL;

    stack_ranks(g->ranks, g->n, &ranks);
    put_ranks(&f->text, buf_slice(&ranks));
    if (g->n == 1)
        buf_printf(&f->text, " (pid %d on %s)", p->look ? p->look->pid : p->pid,
                   node_of(f->job, g->ranks[0]));
    buf_printf(&f->text, " %s in ", g->n == 1 ? "is" : "are");
    put_call(&f->text, g->place.call);
    if (g->place.caller.len && !slice_is(g->place.caller, "?")) {
        buf_str(&f->text, ", called by ");
        put_call(&f->text, g->place.caller);
    }
    if (g->n == 1 && state && !g->place.communicates) {
        buf_printf(&f->text, " (%s", state);
        findings_cpu(p->look, &f->text);
        buf_byte(&f->text, ')');
    }
    buf_free(&ranks);
}

static uint32_t count_stacks(const struct stack_tree *t)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < t->ngroups; i++)
        n += t->groups[i].n;
    return n;
}

static void find_stacks(struct findings *f)
{
    const struct stack_tree *t = f->tree;
    uint32_t all = count_stacks(t);

    if (t->ngroups == 0 || (all == 1 && f->job->plan.nprocs > 1))
        return;
    buf_clear(&f->ranks);
    stack_ranks(t->groups[0].ranks, t->groups[0].n, &f->ranks);
    if (all == f->job->plan.nprocs && all > 1 && all_groups(t, sends))
        buf_str(&f->text, "all processes send and none receives, a deadlock: ");
    else if (all == f->job->plan.nprocs && all > 1 && all_groups(t, receives))
        buf_str(&f->text, "all processes wait to receive and none sends, a deadlock: ");
    for (uint32_t i = 0; i < t->ngroups && i < FINDING_GROUPS; i++) {
        buf_str(&f->text, i ? "; " : "");
        put_group(f, &t->groups[i]);
    }
    if (t->ngroups > FINDING_GROUPS)
        buf_str(&f->text, "; the others elsewhere");
    emit(f, "stacks");
}

/* ---- all of them ---- */

uint32_t findings_each(const struct job *j, const struct who_options *o,
                       const struct stack_tree *tree, finding_fn *fn, void *arg)
{
    struct findings f = { .job = j, .o = o, .tree = tree, .fn = fn, .arg = arg };

    buf_init(&f.ranks, FINDING_MAX);
    buf_init(&f.text, FINDING_MAX);
    find_unreachable(&f);
    find_stopped(&f);
    find_ended(&f);
    find_libraries(&f);
    find_stacks(&f);
    buf_free(&f.ranks);
    buf_free(&f.text);
    return f.n;
}
