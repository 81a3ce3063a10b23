/* prefork.c - see prefork.h. */
#include "daemon/prefork.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/own_libraries.h"
#include "daemon/pmi_offer.h"
#include "io/elf_symbols.h"
#include "io/zygote.h"

enum { WALK_ROOM = 64 << 20, LEAST_RANKS = 2 };

/* One program of the job. */
struct loaded {
    struct zygote zygote;
    struct local_job *job;
    uint32_t app;
    bool tried, ready;
};

struct prefork {
    uint32_t n;
    struct loaded apps[];
};

/* ---- words ---- */

/* The user has asked for it; of many nodes one speaks. */
static void report(const struct local_job *w, uint32_t app, const char *why)
{
    const struct job_map_app *a = &w->job->plan.apps[app];
    bool speaks = job_rank_is_here(w->job, a->first_rank);

    log_line(w->jobs->context->log, speaks ? LOG_WARN : LOG_INFO,
             "-prefork: %s is started as usual: %s", a->argv[0], why);
}

/* ---- what its files and the plan say ---- */

/* What is looked at before anything is started. */
struct look {
    const struct local_job *w;
    uint32_t app;
    const char *path;
    const struct elf_object *first; /* NULL: no ELF program for this machine */
    const char *library;            /* ours; NULL: not found */
    bool bound;
};

static bool loads(const struct look *l, const char *const *heads)
{
    for (const struct elf_object *o = l->first; o; o = o->next) {
        for (const char *const *h = heads; *h; h++) {
            if (!strncmp(o->name, *h, strlen(*h)))
                return true;
        }
    }
    return false;
}

static bool is_no_program(const struct look *l)
{
    return !l->first;
}

static bool is_static(const struct look *l)
{
    return !l->first->file || !l->first->file->nneeded;
}

static bool has_other_libc(const struct look *l)
{
    static const char *const names[] = { "libc.so.6", NULL };

    return !loads(l, names);
}

/* An elf_symbol_fn: goes on until it is found. */
static bool note_start(void *arg, const char *name, bool defined)
{
    bool *found_p = arg;

    *found_p = !defined && !strcmp(name, "__libc_start_main");
    return !*found_p;
}

/* It would not stop before its main function, but run: once more than it should. */
static bool has_own_start(const struct look *l)
{
    bool found = false;

    return elf_symbols_each(l->path, note_start, &found) != 0 || !found;
}

static bool has_rights(const struct look *l)
{
    return own_libraries_has_rights(l->path);
}

static bool is_sanitized(const struct look *l)
{
    static const char *const names[] = { "libasan.so", "libtsan.so",   "liblsan.so",
                                         "libhwasan.", "libclang_rt.", NULL };

    return loads(l, names);
}

static bool shows_rank_by_name(const struct look *l)
{
    return l->w->job->plan.apps[l->app].flags & JOB_MAP_APP_INDEX;
}

static bool has_devices(const struct look *l)
{
    const struct job_map *plan = &l->w->job->plan;

    for (uint32_t r = 0; r < plan->nprocs; r++) {
        if (plan->procs[r].app == l->app && job_rank_is_here(l->w->job, r) &&
            plan->procs[r].device_env)
            return true;
    }
    return false;
}

static bool lacks_library(const struct look *l)
{
    return !l->library;
}

static const struct {
    bool (*is_so)(const struct look *l);
    const char *why;
} rows[] = {
    { is_no_program, "it is a script, or no program for this machine" },
    { is_static, "it loads no shared libraries" },
    { has_other_libc, "its C library is not glibc (libc.so.6)" },
    { has_own_start, "it does not begin in the C library (__libc_start_main)" },
    { has_rights, "it is set-uid, set-gid or has capabilities" },
    { is_sanitized, "it is built with a sanitizer" },
    { shows_rank_by_name, "-index-argv-by-rank gives each of its processes another name" },
    { has_devices, "each of its processes gets devices of its own" },
    { lacks_library, "libwireup-prefork.so is not installed beside Wireup" },
};

static const char *why_not(const struct look *l)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].is_so(l))
            return rows[i].why;
    }
    return NULL;
}

const char *prefork_library(struct arena *a)
{
    static const char file[] = "zygote/libwireup-prefork.so";
    const char *base = own_libraries_base(a, file);

    return base ? arena_printf(a, "%s/%s", base, file) : NULL;
}

/* ---- loading ---- */

static struct loaded *loaded_of(const struct local_job *w, uint32_t rank)
{
    return w->prefork ? &w->prefork->apps[w->job->plan.procs[rank].app] : NULL;
}

bool prefork_is_wanted(const struct local_job *w, uint32_t rank)
{
    const struct job_map *plan = &w->job->plan;
    const struct loaded *l = loaded_of(w, rank);

    return plan->apps[plan->procs[rank].app].flags & JOB_MAP_APP_PREFORK && !(l && l->tried) &&
           !w->job->procs[rank].restarts;
}

static struct prefork *prefork_new(struct local_job *w)
{
    struct prefork *p = calloc(1, sizeof *p + w->job->plan.napps * sizeof *p->apps);

    for (uint32_t i = 0; p && i < w->job->plan.napps; i++) {
        p->apps[i].zygote = ZYGOTE_NULL;
        p->apps[i].job = w;
        p->apps[i].app = i;
    }
    if (p)
        p->n = w->job->plan.napps;
    return p;
}

static void on_decided(void *arg, const char *why)
{
    struct loaded *l = arg;

    l->ready = !why;
    if (why) {
        report(l->job, l->app, why);
        zygote_close(&l->zygote);
    }
    local_job_step(l->job, LOCAL_JOB_EVENT_LOADED);
}

/* Its ranks on this node. */
static uint32_t count_ranks(const struct local_job *w, uint32_t app, bool *bound_p)
{
    const struct job_map *plan = &w->job->plan;
    uint32_t n = 0;

    for (uint32_t r = 0; r < plan->nprocs; r++) {
        if (plan->procs[r].app != app || !job_rank_is_here(w->job, r))
            continue;
        n++;
        *bound_p |= plan->procs[r].cpus != NULL;
    }
    return n;
}

static bool open_zygote(struct loaded *l, const struct look *look, const struct child_plan *like)
{
    struct errmsg err = { "" };
    int rc = zygote_open(&l->zygote, l->job->jobs->context->loop, like, look->library, look->bound,
                         on_decided, l, &err);

    /* If it cannot be run at all, the first rank says so. */
    if (rc < 0)
        log_info(l->job->jobs->context->log, "-prefork: %s", err.text);
    return rc == 0;
}

bool prefork_load(struct local_job *w, uint32_t rank, struct elf_cache *files,
                  const struct child_plan *like)
{
    struct arena work = ARENA_NULL(WALK_ROOM);
    struct look look = { .w = w, .app = w->job->plan.procs[rank].app, .path = like->path };
    struct elf_object *first = NULL;
    struct loaded *l;
    const char *why;
    bool opened = false;

    if (!w->prefork && !(w->prefork = prefork_new(w)))
        return false;
    l = loaded_of(w, rank);
    l->tried = true;
    if (count_ranks(w, look.app, &look.bound) < LEAST_RANKS)
        return false; /* nothing to gain, and nothing to say */
    if (elf_walk(files, like->path, like->env, &pmi_offer_marks, &work, &first) == 0)
        look.first = first;
    look.library = prefork_library(&work);
    why = why_not(&look);
    if (why)
        report(w, look.app, why);
    else
        opened = open_zygote(l, &look, like);
    arena_free(&work);
    if (opened)
        local_job_step(w, LOCAL_JOB_EVENT_LOAD);
    return opened;
}

/* ---- ranks ---- */

int prefork_start(struct local_job *w, uint32_t rank, const struct child_plan *plan, pid_t *pid_p)
{
    struct loaded *l = loaded_of(w, rank);

    if (!l || !l->ready || plan->stopped)
        return PREFORK_NOT;
    if (zygote_child(&l->zygote, plan, pid_p) == 0)
        return 0;
    l->ready = false;
    zygote_close(&l->zygote);
    report(w, l->app, "the process that is forked for it has ended or does not answer");
    return PREFORK_NOT;
}

/* ---- the end ---- */

bool prefork_reaped(struct local_jobs *jobs, pid_t pid)
{
    LIST_EACH(at, &jobs->all)
    {
        struct prefork *p = LIST_OF(at, struct local_job, link)->prefork;
        for (uint32_t i = 0; p && i < p->n; i++) {
            if (zygote_reaped(&p->apps[i].zygote, pid))
                return true;
        }
    }
    return false;
}

void prefork_all_tried(struct local_job *w)
{
    bool is_needed = false;

    for (uint32_t i = 0; w->prefork && i < w->prefork->n; i++) {
        struct loaded *l = &w->prefork->apps[i];
        bool stays = l->ready && w->job->plan.apps[i].restarts > 0;
        is_needed = is_needed || stays;
        if (!stays)
            zygote_close(&l->zygote);
    }
    if (!is_needed)
        prefork_close(w);
}

void prefork_close(struct local_job *w)
{
    for (uint32_t i = 0; w->prefork && i < w->prefork->n; i++)
        zygote_close(&w->prefork->apps[i].zygote);
    free(w->prefork);
    w->prefork = NULL;
}
