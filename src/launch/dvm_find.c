/* dvm_find.c - see dvm_find.h. */
#include "launch/dvm_find.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch/queries.h"
#include "launch/silent_launcher.h"

/* ASKED: so many launchers are asked before the first answer is read. */
enum { DVM_FIND_ANSWER = 1 << 24, ASKED = 64 };

/* "NODE SLOTS USED up" in each line */
static uint32_t slots_in(struct slice text)
{
    uint32_t sum = 0, slots;

    while (text.len) {
        struct slice line = slice_cut(&text, '\n');
        slice_cut(&line, ' ');
        if (!slice_u32(slice_cut(&line, ' '), &slots))
            continue;
        slice_cut(&line, ' ');
        sum += slice_is(line, "up") ? slots : 0;
    }
    return sum;
}

/* "standing PID NAME" in the first line: a DVM.  *rc_p: -errno, without an answer. */
static bool is_dvm(int asked, const struct launcher_name *who, struct dvm_place *place_p, int *rc_p)
{
    struct buf answer = BUF_NULL(DVM_FIND_ANSWER);
    struct slice text, line;
    bool found = false;

    *rc_p = queries_answer(asked, &answer);
    if (*rc_p == 0) {
        text = buf_slice(&answer);
        line = slice_cut(&text, '\n');
        found = slice_is(slice_cut(&line, ' '), "standing");
        slice_cut(&line, ' ');
        place_p->where = *who;
        snprintf(place_p->name, sizeof place_p->name, SLICE_FMT, SLICE_ARG(line));
        place_p->slots = slots_in(text);
    }
    buf_free(&answer);
    return found;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct dvm_place *)a)->name, ((const struct dvm_place *)b)->name);
}

struct search {
    const char *wanted;
    struct dvm_place *all;
    int n;
    bool over;    /* the one that is wanted has been found */
    pid_t silent; /* a launcher that has not answered; 0: all have */
};

static void note_silent(struct search *s, const struct launcher_name *who, int rc)
{
    struct silent_launcher silent;

    if ((rc == -ETIMEDOUT || rc == -EAGAIN) && silent_launcher_look(who, &silent))
        s->silent = silent.pid;
}

/* Those among n launchers, at most ASKED.  A machine may have daemons of many nodes, which answer at
 * the same time. */
static void find_among(struct search *s, const struct launcher_name *names, int n)
{
    int asked[ASKED];

    for (int i = 0; i < n; i++)
        asked[i] = queries_ask(&names[i], SLICE("standing\n"));
    for (int i = 0; i < n; i++) {
        int rc = 0;
        if (s->over && asked[i] >= 0)
            close(asked[i]);
        else if (!s->over && is_dvm(asked[i], &names[i], &s->all[s->n], &rc))
            s->over = !strcmp(s->all[s->n++].name, s->wanted);
        else if (!s->over)
            note_silent(s, &names[i], rc);
    }
}

/* What is listed there.  Takes the list over.  0 or -errno. */
static int find_listed(struct search *s, struct launcher_name *names, int n)
{
    struct dvm_place *more;

    if (n <= 0) {
        free(names);
        return n;
    }
    more = realloc(s->all, (size_t)(s->n + n) * sizeof *more);
    if (more)
        s->all = more;
    for (int i = 0; more && i < n && !s->over; i += ASKED)
        find_among(s, names + i, n - i < ASKED ? n - i : ASKED);
    free(names);
    return more ? 0 : -ENOMEM;
}

/* Those that have a name in a directory have been asked. */
static int drop_asked(struct launcher_name *names, int n)
{
    int kept = 0;

    for (int i = 0; i < n; i++) {
        if (names[i].where < 0)
            names[kept++] = names[i];
    }
    return n < 0 ? n : kept;
}

/* All DVMs, by name, up to the one that is wanted.  0 or -errno. */
static int find_all(struct search *s)
{
    struct launcher_name *names;
    int n = rendezvous_list_in_dirs(&names), rc = find_listed(s, names, n);

    if (rc == 0 && !s->over) {
        n = rendezvous_list(&names);
        rc = find_listed(s, names, drop_asked(names, n));
    }
    if (s->n)
        qsort(s->all, (size_t)s->n, sizeof *s->all, by_name);
    return rc;
}

static const struct dvm_place *named(const struct dvm_place *all, int n, const char *name)
{
    for (int i = 0; i < n; i++) {
        if (!strcmp(all[i].name, name))
            return &all[i];
    }
    return NULL;
}

static int none(const char *name, const char *why, pid_t silent, struct errmsg *err)
{
    int code = name && *why ? DVM_FIND_UNKNOWN : DVM_FIND_NONE;

    if (silent)
        return errmsg_set(err, code,
                          "no DVM%s%.100s is found on this machine%s, and the launcher with pid %d "
                          "does not answer; `wireup ps` shows its state",
                          name ? " " : "", name ? name : "", why, (int)silent);
    if (!name)
        return errmsg_set(err, code, "you have no DVM on this machine; start one with `wireup up`");
    return errmsg_set(
        err, code, "you have no DVM %.100s on this machine%s; `wireup ps` lists yours", name, why);
}

static int several(const struct dvm_place *all, int n, struct errmsg *err)
{
    struct buf names = BUF_NULL(1 << 12);

    for (int i = 0; i < n; i++)
        buf_printf(&names, "%s%s", i ? ", " : "", all[i].name);
    errmsg_set(err, DVM_FIND_SEVERAL, "you have several DVMs (%s): name the one that you mean",
               buf_cstr(&names) ? buf_cstr(&names) : "see `wireup ps`");
    buf_free(&names);
    return DVM_FIND_SEVERAL;
}

static const char *wanted_name(const char *name)
{
    return name ? name : DVM_UNNAMED;
}

static int choose(const struct search *s, const char *name, const char *why,
                  const struct dvm_place **found_p, struct errmsg *err)
{
    *found_p = named(s->all, s->n, wanted_name(name));
    if (!*found_p && !name && s->n == 1)
        *found_p = &s->all[0];
    if (*found_p)
        return 0;
    return name || s->n == 0 ? none(name, why, s->silent, err) : several(s->all, s->n, err);
}

/* What WIREUP_DVM names, unless the user has named one; NULL: it names none. */
static const char *usual_name(const char *name)
{
    const char *usual = getenv("WIREUP_DVM");

    return name || !usual || !*usual ? NULL : usual;
}

int dvm_find(const char *name, struct dvm_place *place_p, struct errmsg *err)
{
    const char *usual = usual_name(name);
    const struct dvm_place *found = NULL;
    struct search s = { .wanted = wanted_name(name ? name : usual) };
    int rc = find_all(&s);

    rc = rc < 0 ? errmsg_set(err, rc, "cannot look for DVMs: %s", err_text(rc))
                : choose(&s, name ? name : usual, usual ? ", which WIREUP_DVM names" : "", &found,
                         err);
    if (found)
        *place_p = *found;
    place_p->silent = found ? 0 : s.silent;
    free(s.all);
    return rc;
}

/* By its alias: a descriptor, or -errno. */
static int connect_alias(const char *name, struct dvm_place *place_p)
{
    const char *usual = usual_name(name);

    *place_p = (struct dvm_place){ .slots = 0 };
    snprintf(place_p->name, sizeof place_p->name, "%s", wanted_name(name ? name : usual));
    if (rendezvous_find_alias(place_p->name, &place_p->where) < 0)
        return -ENOENT;
    return rendezvous_connect(&place_p->where);
}

int dvm_connect(const char *name, struct dvm_place *place_p, int *fd_p, struct errmsg *err)
{
    int fd = connect_alias(name, place_p), rc = 0;

    if (fd < 0) {
        rc = dvm_find(name, place_p, err);
        fd = rc == 0 ? rendezvous_connect(&place_p->where) : -1;
        if (rc == 0 && fd < 0)
            rc = errmsg_set(err, DVM_FIND_SILENT, "your DVM %s does not answer: %s", place_p->name,
                            err_text(fd));
    }
    *fd_p = fd;
    return rc;
}

bool dvm_answers(const struct dvm_place *place, int fd)
{
    struct buf answer = BUF_NULL(DVM_FIND_ANSWER);
    struct pollfd p = { fd, POLLIN, 0 };
    int rc;

    do
        rc = poll(&p, 1, LIMIT_CONTROL_REPLY_MS);
    while (rc < 0 && errno == EINTR);
    if (rc != 0)
        return true;
    rc = queries_launcher(&place->where, SLICE("standing\n"), &answer);
    buf_free(&answer);
    return rc == 0;
}
