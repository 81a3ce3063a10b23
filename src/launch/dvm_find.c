/* dvm_find.c - see dvm_find.h. */
#include "launch/dvm_find.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch/queries.h"

enum { DVM_FIND_ANSWER = 1 << 24 };

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

/* "standing PID NAME" in the first line: a DVM. */
static bool is_dvm(const struct launcher_name *who, struct dvm_place *place_p)
{
    struct buf answer = BUF_NULL(DVM_FIND_ANSWER);
    struct slice text, line;
    bool found = false;

    if (queries_launcher(who, SLICE("standing\n"), &answer) == 0) {
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

/* All DVMs, by name; their number, or -errno.  *all_p is for free(). */
static int find_all(struct dvm_place **all_p)
{
    struct launcher_name *names = NULL;
    int n = rendezvous_list(&names), found = 0;

    *all_p = calloc((size_t)(n > 0 ? n : 1), sizeof **all_p);
    for (int i = 0; *all_p && i < n; i++)
        found += is_dvm(&names[i], &(*all_p)[found]);
    free(names);
    if (found)
        qsort(*all_p, (size_t)found, sizeof **all_p, by_name);
    return !*all_p ? -ENOMEM : n < 0 ? n : found;
}

static const struct dvm_place *named(const struct dvm_place *all, int n, const char *name)
{
    for (int i = 0; i < n; i++) {
        if (!strcmp(all[i].name, name))
            return &all[i];
    }
    return NULL;
}

static int none(const char *name, const char *why, struct errmsg *err)
{
    if (!name)
        return errmsg_set(err, DVM_FIND_NONE,
                          "you have no DVM on this machine; start one with `wireup up`");
    return errmsg_set(err, DVM_FIND_NONE,
                      "you have no DVM %.100s on this machine%s; `wireup ps` lists yours", name,
                      why);
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

static int choose(const struct dvm_place *all, int n, const char *name, const char *why,
                  const struct dvm_place **found_p, struct errmsg *err)
{
    *found_p = named(all, n, name ? name : DVM_UNNAMED);
    if (!*found_p && !name && n == 1)
        *found_p = &all[0];
    if (*found_p)
        return 0;
    return name || n == 0 ? none(name, why, err) : several(all, n, err);
}

int dvm_find(const char *name, struct dvm_place *place_p, struct errmsg *err)
{
    const char *usual = getenv("WIREUP_DVM");
    const struct dvm_place *found = NULL;
    struct dvm_place *all;
    int n = find_all(&all), rc;

    usual = name || !usual || !*usual ? NULL : usual;
    rc = n < 0 ? errmsg_set(err, n, "cannot look for DVMs: %s", err_text(n))
               : choose(all, n, name ? name : usual, usual ? ", which WIREUP_DVM names" : "",
                        &found, err);
    if (found)
        *place_p = *found;
    free(all);
    return rc;
}
