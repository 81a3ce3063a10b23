/* pmi_offer.c - see pmi_offer.h. */
#include "daemon/pmi_offer.h"

#include <string.h>

#include "daemon/path_search.h"
#include "daemon/starter_program.h"

/* The MPICH that chooses by itself reads all of these; Open MPI and earlier MPICHs do not. */
static const char *const chooser_names[] = { "MPIR_CVAR_PMI_VERSION=", "MPIR_CVAR_DEBUG_CVARS=",
                                             "PMIX_NAMESPACE=" };
const struct elf_marks pmi_offer_marks = { chooser_names, 3, "libmpi", false };

/* The words of a command that are looked through. */
enum { WORDS_MAX = 64, WALK_ROOM = 16 << 20 };

/* ---- one program ---- */

/* Who needs a library of ours or of another process manager. */
struct clients {
    bool chooser;           /* there is such an MPICH */
    bool its_pmi, its_pmix; /* it was built for a library */
    bool pmi, pmix;         /* others in the program need one */
};

static bool begins(const char *name, const char *head)
{
    return !strncmp(name, head, strlen(head));
}

static bool is_pmi(const char *name)
{
    return begins(name, "libpmi.so") || begins(name, "libpmi2.so");
}

static bool is_pmix(const char *name)
{
    return begins(name, "libpmix.so");
}

static void note_needs(struct clients *c, const struct elf_object *o)
{
    for (uint32_t i = 0; i < o->file->nneeded; i++) {
        bool pmi = is_pmi(o->file->needed[i]), pmix = is_pmix(o->file->needed[i]);
        if (o->marked) {
            c->its_pmi |= pmi;
            c->its_pmix |= pmix;
        } else {
            c->pmi |= pmi;
            c->pmix |= pmix;
        }
    }
}

static void note_all(struct clients *c, const struct elf_object *first)
{
    for (const struct elf_object *o = first; o; o = o->next) {
        c->chooser |= o->marked;
        if (o->file && !is_pmi(o->name) && !is_pmix(o->name))
            note_needs(c, o);
    }
}

/* The user's word to MPICH: it reads these, and the last one counts. */
static bool asks_for_pmix(char *const *env)
{
    static const char *const names[] = { "MPICH_PMI_VERSION=", "MPIR_PARAM_PMI_VERSION=",
                                         "MPIR_CVAR_PMI_VERSION=" };
    const char *word = "";

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        for (char *const *e = env; e && *e; e++)
            word = begins(*e, names[i]) ? *e + strlen(names[i]) : word;
    }
    return !strcmp(word, "x");
}

/* Built for both libraries it can do either; PMI is what it prefers. */
static enum job_map_pmi offer_of(const struct clients *c, char *const *env)
{
    bool takes_pmix = c->its_pmix && (!c->its_pmi || asks_for_pmix(env));

    if (!c->chooser || (takes_pmix ? c->pmi : c->pmix))
        return JOB_MAP_PMI_ALL;
    return takes_pmix ? JOB_MAP_PMI_X : JOB_MAP_PMI_1_OR_2;
}

static enum job_map_pmi look_at(const struct elf_object *first, char *const *env)
{
    struct clients c = { .chooser = false };

    note_all(&c, first);
    return offer_of(&c, env);
}

static enum job_map_pmi look_at_file(struct elf_cache *files, const char *program, char *const *env)
{
    enum job_map_pmi offer = JOB_MAP_PMI_ALL;
    struct arena a = ARENA_NULL(WALK_ROOM);
    struct elf_object *first = NULL;

    if (elf_walk(files, program, env, &pmi_offer_marks, &a, &first) == 0)
        offer = look_at(first, env);
    arena_free(&a);
    return offer;
}

/* ---- commands that start the program ---- */

static const char *search_path(char *const *env)
{
    for (; env && *env; env++) {
        if (begins(*env, "PATH="))
            return *env + 5;
    }
    return NULL;
}

/* The environment behind `env` and its like, to which words can be added in front, where they
 * count: NAME=VALUE.  NULL: no memory. */
static char **room_for_words(struct arena *a, char *const *env)
{
    size_t n = 0;
    char **all;

    while (env && env[n])
        n++;
    all = arena_array(a, WORDS_MAX + n + 1, sizeof *all);
    if (!all)
        return NULL;
    if (n)
        memcpy(all + WORDS_MAX, env, n * sizeof *all);
    all[WORDS_MAX + n] = NULL;
    return all + WORDS_MAX;
}

/* The first word that is a program which is not offered all decides. */
static enum job_map_pmi look_at_words(struct elf_cache *files, const struct job_map_app *app)
{
    enum job_map_pmi offer = JOB_MAP_PMI_ALL;
    struct arena a = ARENA_NULL(WALK_ROOM);
    char **env = room_for_words(&a, app->env);
    struct errmsg ignored;
    const char *path;

    for (uint32_t i = 1; env && i < app->argc && i < WORDS_MAX && offer == JOB_MAP_PMI_ALL; i++) {
        char *word = app->argv[i];
        if (word[0] == '-')
            continue;
        if (strchr(word, '='))
            *--env = word;
        else if (path_search_program(&a, word, app->wdir, search_path(env), false, &path,
                                     &ignored) == 0)
            offer = look_at_file(files, path, env);
    }
    arena_free(&a);
    return offer;
}

enum job_map_pmi pmi_offer_choose(struct elf_cache *files, const struct job_map_app *app,
                                  const struct elf_object *first)
{
    enum job_map_pmi offer = look_at(first, app->env);

    if (offer == JOB_MAP_PMI_ALL &&
        (starter_program_is(slice_str(app->path)) || (!first && starter_program_runs(app->path))))
        offer = look_at_words(files, app);
    return offer;
}
