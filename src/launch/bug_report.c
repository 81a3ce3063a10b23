/* bug_report.c - see bug_report.h.  Reading order: the environment; the files; the command. */
#include "launch/bug_report.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "io/create.h"
#include "launch/doctor.h"
#include "launch/options.h"
#include "launch/options_doc.h"
#include "tools/command_json.h"
#include "tools/tar.h"
#include "tools/trace_set.h"

extern char **environ;

enum { REPORT_MAX = 256 << 20, REPORT_PATIENCE_S = 30 };

#define REPORT_DEFAULT "wireup-report.tar"

/* ---- the environment ------------------------------------------------------------------------- */

static const char *const shown[] = { "WIREUP_", "PMI_",       "PMIX_",   "OMPI_",   "PRTE_",
                                     "MPIR_",   "MPICH_",     "HYDRA_",  "MPIEXEC", "SLURM_",
                                     "PBS_",    "LSB_",       "FLUX_",   "UCX_",    "FI_",
                                     "PATH=",   "LD_LIBRARY", "TMPDIR=", "XDG_RUN", "LANG=" };

static const char *const secret[] = { "KEY", "TOKEN", "SECRET", "PASS", "CRED", "AUTH", "COOKIE" };

static bool is_shown(const char *variable)
{
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        if (!strncmp(variable, shown[i], strlen(shown[i])))
            return true;
    }
    return false;
}

static bool is_secret(struct slice name)
{
    for (size_t i = 0; i < sizeof secret / sizeof *secret; i++) {
        size_t len = strlen(secret[i]);
        for (size_t at = 0; at + len <= name.len; at++) {
            if (!strncasecmp(name.ptr + at, secret[i], len))
                return true;
        }
    }
    return false;
}

static void put_environment(struct buf *out)
{
    for (char **e = environ; *e; e++) {
        struct slice value = slice_str(*e), name = slice_cut(&value, '=');
        if (!is_shown(*e))
            continue;
        buf_escaped(out, name);
        buf_byte(out, '=');
        if (is_secret(name))
            buf_str(out, "(not shown)");
        else
            buf_escaped(out, value);
        buf_byte(out, '\n');
    }
}

/* ---- the files ------------------------------------------------------------------------------- */

struct packing {
    const struct command_line *line;
    const char *path;
    int fd;
    uint64_t time_s;
    struct buf list;           /* what is in it, for the user */
    struct command_json *json; /* NULL: as text, in the list */
    int rc;
};

/* source: the file that it is a copy of; NULL: none. */
static void note(struct packing *p, const char *name, uint64_t size, const char *source)
{
    struct json *j = p->json ? &p->json->json : NULL;

    if (!j) {
        buf_printf(&p->list, "  %s, %llu bytes%s%s\n", name, (unsigned long long)size,
                   source ? ": " : "", source ? source : "");
        return;
    }
    json_object(j, NULL);
    json_str(j, "name", name);
    json_u64(j, "bytes", size);
    json_str(j, "source", source);
    json_object_end(j);
}

static void pack(struct packing *p, const char *name, struct buf *bytes)
{
    char path[128];

    snprintf(path, sizeof path, "wireup-report/%s", name);
    if (p->rc == 0)
        p->rc = buf_ok(bytes) ? tar_bytes(p->fd, path, p->time_s, buf_slice(bytes)) : -ENOMEM;
    note(p, name, buf_len(bytes), NULL);
    buf_free(bytes);
}

/* The doctor's exit code. */
static int pack_doctor(struct packing *p)
{
    const char *const *c = p->line->choices;
    const struct doctor_wish wish = { .hosts = c[CHOICE_bug_report_hosts],
                                      .program = c[CHOICE_bug_report_program],
                                      .launcher_exec = c[CHOICE_bug_report_launcher_exec],
                                      .patience_s = REPORT_PATIENCE_S };
    struct buf text = BUF_NULL(REPORT_MAX), json = BUF_NULL(REPORT_MAX);
    struct doctor_report r;
    int code = doctor_ask(&wish, p->line->log, &r);

    if (code == 0) {
        doctor_report_text(&r, false, &text);
        doctor_report_json(&r, &json);
        pack(p, "doctor.txt", &text);
        pack(p, "doctor.json", &json);
    }
    doctor_report_close(&r);
    return code;
}

static void pack_words(struct packing *p)
{
    struct buf version = BUF_NULL(1 << 16), environment = BUF_NULL(16 << 20);

    options_version(&version);
    pack(p, "version.txt", &version);
    put_environment(&environment);
    pack(p, "environment.txt", &environment);
}

static void pack_trace(struct packing *p, const struct trace_member *m, uint32_t number)
{
    char name[128];
    uint64_t size = 0;

    snprintf(name, sizeof name, number ? "wireup-report/trace.%.80s" : "wireup-report/trace",
             m->node);
    for (char *c = name + strlen("wireup-report/"); *c; c++)
        *c = *c == '/' ? '_' : *c;
    if (p->rc == 0)
        p->rc = tar_copy(p->fd, name, p->time_s, m->path, &size);
    note(p, name + strlen("wireup-report/"), size, m->path);
}

/* An exit code. */
static int pack_traces(struct packing *p)
{
    struct trace_set set;
    int code = 0;

    if (trace_set_init(&set, p->line->log, p->line->operand) < 0)
        return 2;
    trace_set_scan(&set);
    if (!set.is_masked) {
        log_error(p->line->log,
                  "%s is not packed: it is no trace in which credentials have been overwritten",
                  p->line->operand);
        code = 2;
    }
    for (uint32_t i = 0; code == 0 && i < set.n; i++) {
        if (!set.members[i].missing && !set.members[i].inside) /* that is in the first one */
            pack_trace(p, &set.members[i], i);
    }
    if (code == 0)
        trace_set_warn(&set);
    trace_set_free(&set);
    return code;
}

/* ---- the command ----------------------------------------------------------------------------- */

static int pack_all(struct packing *p)
{
    int code = pack_doctor(p);

    if (code == 0)
        pack_words(p);
    if (code == 0 && p->line->operand)
        code = pack_traces(p);
    if (code == 0 && p->rc == 0)
        p->rc = tar_end(p->fd);
    return code;
}

static int pack_into_file(struct packing *p)
{
    struct errmsg err;
    int code;

    p->fd = create_named(p->path, 0600, &err);
    if (p->fd < 0) {
        log_error(p->line->log, "%s", err.text);
        return 1;
    }
    code = pack_all(p);
    if (close(p->fd) < 0 && p->rc == 0)
        p->rc = -errno;
    if (p->rc < 0)
        log_error(p->line->log, "cannot write %s: %s", p->path, err_text(p->rc));
    if (code == 0 && p->rc < 0)
        code = 1;
    if (code)
        unlink(p->path);
    return code;
}

static int report_text(struct packing *p)
{
    int code = pack_into_file(p);

    if (code == 0)
        printf("%s has:\n%s%s", p->path, buf_cstr(&p->list) ? buf_cstr(&p->list) : "",
               p->line->operand
                   ? "Look at it before you send it: a trace has the data that programs exchange.\n"
                   : "Look at it before you send it.\n");
    buf_free(&p->list);
    return fflush(stdout) == 0 ? code : 1;
}

static int report_json(struct packing *p)
{
    struct command_json o;
    int code;

    command_json_begin(&o, "wireup-bug-report-1");
    json_str(&o.json, "archive", p->path);
    json_array(&o.json, "files");
    p->json = &o;
    code = pack_into_file(p);
    json_array_end(&o.json);
    if (code == 0)
        return command_json_end(&o, 0);
    buf_free(&o.out); /* the sentence is on standard error, and there is no archive */
    return code;
}

int bug_report_command(const struct command_line *l)
{
    const char *path = l->choices[CHOICE_bug_report_output];
    struct packing p = { .line = l,
                         .path = path ? path : REPORT_DEFAULT,
                         .time_s = clock_wall_ns() / NS_PER_S,
                         .list = BUF_NULL(1 << 20) };

    return l->choices[CHOICE_bug_report_json] ? report_json(&p) : report_text(&p);
}
