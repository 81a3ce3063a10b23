/* spawn_words.c - see spawn_words.h. */
#include "launch/spawn_words.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "launch/option_words.h"

struct spawn_words {
    struct arena *a;
    struct spawn_command *c;
    struct errmsg *err;
};

static void add(struct spawn_words *w, const char *key, struct slice value)
{
    w->c->infos[w->c->ninfos++] = (struct spawn_pair){ slice_str(key), value };
}

/* The info of an option that a word stands for; "": the word has no effect; NULL: there is none. */
static const char *info_of(const char *option)
{
    static const struct {
        const char *option, *info;
    } infos[] = { { "", "" },
                  { "display-map", SPAWN_SHOW_MAP },
                  { "nolocal", SPAWN_NOT_ON_HEAD },
                  { "dry-run", SPAWN_NO_LAUNCH },
                  { "report-bindings", SPAWN_SHOW_BINDINGS } };

    for (size_t i = 0; i < sizeof infos / sizeof *infos; i++) {
        if (!strcmp(option, infos[i].option))
            return infos[i].info;
    }
    return NULL;
}

static bool is_list(struct slice word)
{
    return word.len > strlen("pe-list=") &&
           strncasecmp(word.ptr, "pe-list=", strlen("pe-list=")) == 0;
}

/* pe-list=LIST of a mapping. */
static bool take_list(struct spawn_words *w, enum option_modifiers of, struct slice word)
{
    if (of != OPTION_MODIFIERS_MAP || !is_list(word))
        return false;
    add(w, SPAWN_CPU_LIST, slice_skip(word, strlen("pe-list=")));
    return true;
}

static int refuse(struct spawn_words *w, enum option_modifiers of, struct slice word,
                  const char *why)
{
    return errmsg_set(w->err, SPAWN_BAD_REQUEST, "%s :" SLICE_FMT " is not supported: %s",
                      of == OPTION_MODIFIERS_MAP ? "map-by" : "bind-to", SLICE_ARG(word), why);
}

/* What it leaves is appended to the text. */
static int take_word(struct spawn_words *w, enum option_modifiers of, struct slice word,
                     const char **left)
{
    struct option_modifier m;
    const char *info;

    if (take_list(w, of, word))
        return 0;
    if (!option_words_modifier(of, word, &m)) {
        *left = arena_printf(w->a, "%s:" SLICE_FMT, *left, SLICE_ARG(word));
        return *left ? 0 : -ENOMEM;
    }
    info = m.as ? info_of(m.as) : NULL;
    if (!info)
        return refuse(w, of, word, m.as ? "it is for the command line" : m.why);
    if (*info)
        add(w, info, SLICE("1"));
    return 0;
}

/* "core:if-supported:2" without the words that are taken. */
static int take_text(struct spawn_words *w, enum option_modifiers of, struct slice *text)
{
    struct slice rest = *text, first = slice_cut(&rest, ':');
    const char *left = "";
    int rc = 0;

    if (!take_list(w, of, first))
        left = arena_str(w->a, first);
    if (!left)
        return -ENOMEM;
    while (rest.len && rc == 0)
        rc = take_word(w, of, slice_cut(&rest, ':'), &left);
    *text = slice_str(rc ? "" : left);
    return rc;
}

/* The first info of that key counts, unless nothing is left of it. */
static int take_key(struct spawn_words *w, enum option_modifiers of, const char *key)
{
    bool found = false;
    int rc = 0;

    for (uint32_t i = 0, n = w->c->ninfos; i < n && rc == 0 && !found; i++) {
        struct spawn_pair *p = &w->c->infos[i];
        if (!slice_is(p->key, key))
            continue;
        rc = take_text(w, of, &p->value);
        found = p->value.len > 0;
        if (!found)
            p->key = SLICE("");
    }
    return rc;
}

static size_t count_words(const struct spawn_command *c)
{
    size_t n = c->ninfos;

    for (uint32_t i = 0; i < c->ninfos; i++) {
        for (size_t k = 0; k < c->infos[i].value.len; k++)
            n += c->infos[i].value.ptr[k] == ':';
    }
    return n + c->ninfos;
}

int spawn_words_take(struct arena *a, struct spawn_command *c, struct errmsg *err)
{
    struct spawn_words w = { a, c, err };
    struct spawn_pair *all = arena_array(a, count_words(c) + 1, sizeof *all);
    int rc;

    if (!all)
        return -ENOMEM;
    if (c->ninfos)
        memcpy(all, c->infos, c->ninfos * sizeof *all);
    c->infos = all;
    rc = take_key(&w, OPTION_MODIFIERS_MAP, "map-by");
    return rc ? rc : take_key(&w, OPTION_MODIFIERS_BIND, "bind-to");
}
