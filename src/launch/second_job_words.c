/* second_job_words.c - see second_job_words.h. */
#include "launch/second_job_words.h"

#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/limit.h"
#include "daemon/join_request.h"
#include "io/join_token.h"

enum { WORDS_MAX = 32, WORDS_TEXT = 8 << 10 };

struct submit_words {
    struct arena *a;
    const char **words;
    size_t n;
};

struct second_job_manager {
    const char *name;
    const char *keep;    /* of the variables that begin with a prefix of `drop`, the one to keep */
    const char *drop[4]; /* prefixes of variables that are about the first job */
    const char *cancel[5]; /* what cancels a job that waits; by_name and its name follow */
    const char *by_name;
    void (*put_submit)(struct submit_words *l, const struct second_job *j);
    void (*put_script)(struct buf *out, const struct second_job *j);
};

/* ---- words ----------------------------------------------------------------------------------- */

static const char *get(char *const *envp, const char *name)
{
    size_t n = strlen(name);

    for (char *const *e = envp; *e; e++) {
        if (!strncmp(*e, name, n) && (*e)[n] == '=' && (*e)[n + 1])
            return *e + n + 1;
    }
    return NULL;
}

static void put(struct submit_words *l, const char *word)
{
    if (l->words && l->n + 1 < WORDS_MAX)
        l->words[l->n++] = word;
}

/* OPTION=VALUE, if there is one. */
static void put_value(struct submit_words *l, const char *option, const char *value)
{
    if (value && *value)
        put(l, arena_printf(l->a, "%s=%s", option, value));
}

static void put_number(struct submit_words *l, const char *option, uint64_t value)
{
    if (value)
        put(l, arena_printf(l->a, "%s=%llu", option, (unsigned long long)value));
}

/* For a shell. */
static void put_quoted(struct buf *out, const char *word)
{
    buf_byte(out, '\'');
    for (; *word; word++) {
        if (*word == '\'')
            buf_str(out, "'\\''");
        else
            buf_byte(out, *word);
    }
    buf_byte(out, '\'');
}

/* ---- Slurm ----------------------------------------------------------------------------------- */

/* The processors of the first node: "16(x2),8". */
static uint32_t slurm_processors(char *const *envp)
{
    const char *text = get(envp, "SLURM_JOB_CPUS_PER_NODE");
    uint32_t n = 0;

    return text && slice_u32(slice_mem(text, strspn(text, "0123456789")), &n) ? n : 0;
}

/* What is left of the first job's time, in minutes; 0: that is not known. */
static uint64_t slurm_minutes(const struct second_job *j)
{
    const char *text = get(j->envp, "SLURM_JOB_END_TIME");
    uint64_t end = 0;

    if (!text || !slice_u64(slice_str(text), &end) || end == 0)
        return 0;
    return end >= j->now_s + 120 ? (end - j->now_s) / 60 : 1;
}

/* Nodes as the first one of the first job is, for no longer than that job. */
static void slurm_submit(struct submit_words *l, const struct second_job *j)
{
    static const struct {
        const char *option, *variable;
    } same[] = {
        { "--partition", "SLURM_JOB_PARTITION" },
        { "--account", "SLURM_JOB_ACCOUNT" },
        { "--qos", "SLURM_JOB_QOS" },
        { "--reservation", "SLURM_JOB_RESERVATION" },
        { "--mem", "SLURM_MEM_PER_NODE" },
        { "--mem-per-cpu", "SLURM_MEM_PER_CPU" },
        { "--gpus-per-node", "SLURM_GPUS_PER_NODE" },
    };
    static const char *const fixed[] = { "sbatch",
                                         "--parsable",
                                         "--wait",
                                         "--export=ALL",
                                         "--no-requeue",
                                         "--no-kill",
                                         "--input=none",
                                         "--output=/dev/null",
                                         "--error=/dev/null",
                                         "--ntasks-per-node=1" };
    const char *ours = get(j->envp, "SLURM_JOB_NODELIST");

    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        put(l, fixed[i]);
    put(l, arena_printf(l->a, "--job-name=wireup-%u", j->request));
    put_number(l, "--nodes", j->nodes);
    put_number(l, "--cpus-per-task", slurm_processors(j->envp));
    put_number(l, "--time", slurm_minutes(j));
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        put_value(l, same[i].option, get(j->envp, same[i].variable));
    if (ours || *j->without)
        put(l, arena_printf(l->a, "--exclude=%s%s%s", ours ? ours : "",
                            ours && *j->without ? "," : "", j->without));
}

/* Who leaves first does not end the others. */
static void slurm_script(struct buf *out, const struct second_job *j)
{
    uint32_t cpus = slurm_processors(j->envp);

    buf_printf(out,
               "#!/bin/sh\nexec srun --nodes=%u --ntasks-per-node=1 --wait=0 --kill-on-bad-exit=0 "
               "--no-kill --mpi=none --cpu-bind=none ",
               j->nodes);
    if (cpus)
        buf_printf(out, "--cpus-per-task=%u ", cpus);
    put_quoted(out, j->wireupd);
    buf_printf(out, " --join --timeout %u", LIMIT_SECOND_JOB_JOIN_S);
    if (j->slots)
        buf_printf(out, " --slots %u", j->slots);
    buf_byte(out, '\n');
}

/* ---- managers -------------------------------------------------------------------------------- */

static const struct second_job_manager managers[] = {
    { "slurm",
      "SLURM_CONF",
      { "SLURM_", "SBATCH_", "SRUN_" },
      { "scancel", "--quiet", "--state=PENDING" },
      "--name=",
      slurm_submit,
      slurm_script },
};

static const struct second_job_manager *manager_named(const char *name)
{
    for (size_t i = 0; name && i < sizeof managers / sizeof *managers; i++) {
        if (!strcmp(managers[i].name, name))
            return &managers[i];
    }
    return NULL;
}

bool second_job_known(const char *manager)
{
    return manager_named(manager) != NULL;
}

static bool is_named(const char *entry, const char *name)
{
    size_t n = strlen(name);

    return !strncmp(entry, name, n) && entry[n] == '=';
}

/* Variables of the first job, which the manager sets anew, and those that we set. */
static bool is_dropped(const struct second_job_manager *m, const char *entry)
{
    if (is_named(entry, JOIN_ADDRESS_VARIABLE) || is_named(entry, JOIN_TOKEN_VARIABLE) ||
        is_named(entry, JOIN_REQUEST_VARIABLE))
        return true;
    for (int i = 0; i < 4 && m->drop[i]; i++) {
        if (!strncmp(entry, m->drop[i], strlen(m->drop[i])))
            return !is_named(entry, m->keep);
    }
    return false;
}

static char **make_env(struct arena *a, const struct second_job_manager *m,
                       const struct second_job *j)
{
    size_t n = 0, count = 0;
    char **env;

    while (j->envp[count])
        count++;
    env = arena_array(a, count + 4, sizeof *env);
    for (size_t i = 0; env && i < count; i++) {
        if (!is_dropped(m, j->envp[i]))
            env[n++] = j->envp[i];
    }
    if (!env)
        return NULL;
    env[n++] = arena_printf(a, JOIN_ADDRESS_VARIABLE "=%s", j->where);
    env[n++] = arena_printf(a, JOIN_TOKEN_VARIABLE "=%s", j->token);
    env[n++] = arena_printf(a, JOIN_REQUEST_VARIABLE "=%u", j->request);
    env[n] = NULL;
    return env;
}

static struct slice make_script(struct arena *a, const struct second_job_manager *m,
                                const struct second_job *j)
{
    struct buf text = BUF_NULL(WORDS_TEXT);
    const char *copy;

    m->put_script(&text, j);
    copy = buf_ok(&text) ? arena_str(a, buf_slice(&text)) : NULL;
    buf_free(&text);
    return copy ? slice_str(copy) : SLICE_NULL;
}

int second_job_words(struct arena *a, const char *manager, const struct second_job *j,
                     struct second_job_words *w_p, struct errmsg *err)
{
    const struct second_job_manager *m = manager_named(manager);
    struct submit_words l = { .a = a, .words = arena_array(a, WORDS_MAX, sizeof *l.words) };

    m->put_submit(&l, j);
    *w_p = (struct second_job_words){ l.words, make_env(a, m, j), make_script(a, m, j) };
    if (arena_ok(a) && w_p->script.len)
        return 0;
    return errmsg_set(err, -ENOMEM, "out of memory for a second job");
}

void second_job_words_wipe(const struct second_job_words *w)
{
    for (char **e = w->env; *e; e++) {
        if (is_named(*e, JOIN_TOKEN_VARIABLE))
            explicit_bzero(*e, strlen(*e));
    }
}

const char **second_job_cancel(struct arena *a, const char *manager, uint32_t request)
{
    const struct second_job_manager *m = manager_named(manager);
    struct submit_words l = { .a = a, .words = arena_array(a, WORDS_MAX, sizeof *l.words) };

    for (int i = 0; i < 5 && m->cancel[i]; i++)
        put(&l, m->cancel[i]);
    put(&l, arena_printf(a, "%swireup-%u", m->by_name, request));
    return arena_ok(a) ? l.words : NULL;
}

/* ---- answers --------------------------------------------------------------------------------- */

/* "123", and of a site with several clusters "123;CLUSTER". */
bool second_job_id(struct slice out, char id_p[SECOND_JOB_ID + 1])
{
    struct slice rest = out, line = slice_trim(slice_cut(&rest, '\n'));
    struct slice id = slice_cut(&line, ';');

    if (slice_find(out, '\n') == out.len || id.len == 0 || id.len > SECOND_JOB_ID)
        return false;
    for (size_t i = 0; i < id.len; i++) {
        if (!strchr("0123456789", id.ptr[i]))
            return false;
    }
    memcpy(id_p, id.ptr, id.len);
    id_p[id.len] = '\0';
    return true;
}

struct slice second_job_reason(struct slice errors)
{
    struct slice last = SLICE_NULL;

    while (errors.len) {
        struct slice line = slice_trim(slice_cut(&errors, '\n'));
        if (line.len)
            last = line;
    }
    if (slice_starts(last, SLICE("sbatch: ")))
        last = slice_skip(last, strlen("sbatch: "));
    return slice_starts(last, SLICE("error: ")) ? slice_skip(last, strlen("error: ")) : last;
}
