/* launcher.c - see launcher.h and launcher.def. */
#include "lib/common/launcher.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/slice.h"

static const struct row {
    const char *name, *rank, *size, *itself, *pmi, *pmix;
} rows[] = {
#define LAUNCHER(name, rank, size, itself, pmi, pmix) { name, rank, size, itself, pmi, pmix },
#include "lib/common/launcher.def"
#undef LAUNCHER
};

enum { NAME_MAX_LEN = 64, NROWS = sizeof rows / sizeof *rows };

struct variable {
    char name[NAME_MAX_LEN]; /* "": none is set */
    uint32_t value;
    bool first; /* of the possible variables */
};

struct asker {
    launcher_get *get;
    void *arg;
};

static const char *get(const struct asker *a, struct slice name, char *room)
{
    if (name.len >= NAME_MAX_LEN)
        return NULL;
    memcpy(room, name.ptr, name.len);
    room[name.len] = '\0';
    return a->get(a->arg, room);
}

/* The first of "A|B" that is set to a number. */
static struct variable read_first(const struct asker *a, const char *names)
{
    struct slice rest = slice_str(names);
    struct variable v = { .first = true };

    while (rest.len) {
        const char *text = get(a, slice_cut(&rest, '|'), v.name);
        if (text && slice_u32(slice_str(text), &v.value))
            return v;
        v.first = false;
    }
    v.name[0] = '\0';
    return v;
}

static bool holds(const struct asker *a, const char *condition)
{
    struct slice value = slice_str(condition), name = slice_cut(&value, '=');
    char room[NAME_MAX_LEN];
    const char *text = get(a, name, room);

    return name.len && text && slice_is(value, text);
}

/* True if this process is one of several. */
static bool fits(const struct asker *a, const struct row *r, struct variable *rank_p,
                 struct variable *size_p)
{
    *rank_p = read_first(a, r->rank);
    *size_p = read_first(a, r->size);
    if (!rank_p->name[0])
        return false;
    if (!(size_p->name[0] && size_p->first) && holds(a, r->itself))
        return false;
    return !size_p->name[0] || rank_p->value < size_p->value;
}

static bool allowed(const struct asker *a)
{
    const char *text = a->get(a->arg, "WIREUP_SINGLETON");

    return text && *text && strcmp(text, "0") != 0;
}

/* Copies text with {n} replaced. */
static void fill_in(char *out, size_t room, const char *text, const struct variable *size)
{
    char number[16] = "N";
    size_t n = 0;

    if (size->name[0])
        snprintf(number, sizeof number, "%u", size->value);
    while (*text && n + sizeof number < room) {
        if (!strncmp(text, "{n}", 3)) {
            n += (size_t)snprintf(out + n, room - n, "%s", number);
            text += 3;
        } else {
            out[n++] = *text++;
        }
    }
    out[n] = '\0';
}

static void explain(const struct row *r, enum launcher_wants wants, const struct variable *rank,
                    const struct variable *size, struct errmsg *err)
{
    char remedy[512], number[NAME_MAX_LEN + 16] = "";

    fill_in(remedy, sizeof remedy, wants == LAUNCHER_PMI ? r->pmi : r->pmix, size);
    if (size->name[0])
        snprintf(number, sizeof number, ", %s=%u", size->name, size->value);
    errmsg_set(err, 0,
               "this process was started by %s (%s=%u%s), but found no %s server: %s "
               "(WIREUP_SINGLETON=1 makes each process a job of its own)",
               r->name, rank->name, rank->value, number, wants == LAUNCHER_PMI ? "PMI" : "PMIx",
               remedy);
}

bool launcher_found(enum launcher_wants wants, launcher_get *get_one, void *arg, struct errmsg *err)
{
    struct asker a = { get_one, arg };
    struct variable rank, size;

    for (int i = 0; i < NROWS; i++) {
        if (!fits(&a, &rows[i], &rank, &size))
            continue;
        if ((size.name[0] && size.value == 1) || allowed(&a))
            return false;
        explain(&rows[i], wants, &rank, &size, err);
        return true;
    }
    return false;
}

static const char *own(void *arg, const char *name)
{
    (void)arg;
    return getenv(name);
}

bool launcher_found_here(enum launcher_wants wants, struct errmsg *err)
{
    return launcher_found(wants, own, NULL, err);
}
