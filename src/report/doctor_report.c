/* doctor_report.c - see doctor_report.h.  Reading order: lines; comparison; text; JSON. */
#include "report/doctor_report.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"

/* What one node may make us keep. */
enum { REPORT_ROOM = 256 << 20, TEXT_MAX = 1000, LIBRARIES_MAX = 600 };

static const struct {
    const char *name;
    bool compare;
} checks[DOCTOR_CHECKS] = {
#define CHECK(id, name, compare) { name, compare },
#include "report/doctor_checks.def"
#undef CHECK
};

static const char *const states[DOCTOR_STATES] = { "ok", "warning", "bad" };

int doctor_report_open(struct doctor_report *r, const char *const *names, uint32_t n)
{
    *r = (struct doctor_report){ .arena = ARENA_NULL(REPORT_ROOM) };
    r->nodes = arena_array(&r->arena, (size_t)n + 1, sizeof *r->nodes);
    if (!r->nodes)
        return -ENOMEM;
    for (uint32_t i = 0; i < n; i++)
        r->nodes[i].name = arena_str(&r->arena, slice_str(names[i]));
    r->nnodes = n;
    return arena_ok(&r->arena) ? 0 : -ENOMEM;
}

void doctor_report_close(struct doctor_report *r)
{
    arena_free(&r->arena);
    r->nnodes = 0;
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* Without control characters: the text goes to a terminal. */
static const char *clean(struct doctor_report *r, struct slice text)
{
    char *copy = arena_str(&r->arena, slice_head(text, TEXT_MAX));

    for (char *c = copy; c && *c; c++) {
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '.';
    }
    return copy ? copy : "";
}

void doctor_report_set(struct doctor_report *r, uint32_t node, enum doctor_check check,
                       enum doctor_state state, const char *format, ...)
{
    char text[TEXT_MAX + 1];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    r->nodes[node].checks[check] = (struct doctor_finding){ state, clean(r, slice_str(text)) };
}

void doctor_line_put(struct buf *out, enum doctor_check check, enum doctor_state state,
                     const char *format, ...)
{
    char text[TEXT_MAX + 1];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    for (char *c = text; *c; c++)
        *c = *c == '\n' || *c == '\t' ? ' ' : *c;
    buf_printf(out, "check\t%s\t%s\t%s\n", checks[check].name, states[state], text);
}

void doctor_line_library(struct buf *out, const char *name, const char *path, const char *id)
{
    buf_printf(out, "library\t%s\t%s\t%s\n", name, path, id);
}

static bool take_check(struct doctor_report *r, struct doctor_node *n, struct slice rest)
{
    struct slice name = slice_cut(&rest, '\t'), state = slice_cut(&rest, '\t');

    for (int c = 0; c < DOCTOR_CHECKS; c++) {
        if (!slice_is(name, checks[c].name))
            continue;
        for (int s = 0; s < DOCTOR_STATES; s++) {
            if (slice_is(state, states[s])) {
                n->checks[c] = (struct doctor_finding){ (enum doctor_state)s, clean(r, rest) };
                return true;
            }
        }
    }
    return false;
}

static bool library_room(struct doctor_report *r, struct doctor_node *n)
{
    uint32_t room = n->room ? 2 * n->room : 32;
    struct doctor_library *more;

    if (n->nlibraries == LIBRARIES_MAX)
        return false;
    if (n->nlibraries < n->room)
        return true;
    more = arena_array(&r->arena, room, sizeof *more);
    if (!more)
        return false;
    if (n->nlibraries)
        memcpy(more, n->libraries, n->nlibraries * sizeof *more);
    n->libraries = more;
    n->room = room;
    return true;
}

static bool take_library(struct doctor_report *r, struct doctor_node *n, struct slice rest)
{
    struct slice name = slice_cut(&rest, '\t'), path = slice_cut(&rest, '\t');

    if (!name.len || !library_room(r, n))
        return false;
    n->libraries[n->nlibraries++] =
        (struct doctor_library){ clean(r, name), clean(r, path), clean(r, rest) };
    return true;
}

bool doctor_report_line(struct doctor_report *r, uint32_t node, struct slice line)
{
    struct slice rest = line, kind = slice_cut(&rest, '\t');

    if (node >= r->nnodes)
        return false;
    if (slice_is(kind, "check"))
        return take_check(r, &r->nodes[node], rest);
    return slice_is(kind, "library") && take_library(r, &r->nodes[node], rest);
}

/* ---- comparison ------------------------------------------------------------------------------ */

static bool same_text(const char *a, const char *b)
{
    return a && b && !strcmp(a, b);
}

/* The text that most nodes have; of several, the first node's. */
static const char *usual_text(const struct doctor_report *r, int check)
{
    const char *usual = NULL;
    uint32_t most = 0;

    for (uint32_t i = 0; i < r->nnodes; i++) {
        const char *text = r->nodes[i].checks[check].text;
        uint32_t n = 0;
        if (same_text(text, usual))
            continue;
        for (uint32_t k = 0; text && k < r->nnodes; k++)
            n += same_text(text, r->nodes[k].checks[check].text);
        if (n > most) {
            most = n;
            usual = text;
        }
    }
    return usual;
}

static void compare_check(struct doctor_report *r, int check)
{
    const char *usual = usual_text(r, check);

    for (uint32_t i = 0; usual && i < r->nnodes; i++) {
        const struct doctor_finding *f = &r->nodes[i].checks[check];
        if (f->text && f->state == DOCTOR_OK && strcmp(f->text, usual) != 0)
            doctor_report_set(r, i, (enum doctor_check)check, DOCTOR_BAD,
                              "%.400s; most nodes have %.400s", f->text, usual);
    }
}

static const struct doctor_library *library_of(const struct doctor_node *n, const char *name)
{
    for (uint32_t i = 0; i < n->nlibraries; i++) {
        if (!strcmp(n->libraries[i].name, name))
            return &n->libraries[i];
    }
    return NULL;
}

/* The build id that most nodes have of that library. */
static const char *usual_id(const struct doctor_report *r, const char *name)
{
    const char *usual = "";
    uint32_t most = 0;

    for (uint32_t i = 0; i < r->nnodes; i++) {
        const struct doctor_library *own = library_of(&r->nodes[i], name);
        uint32_t n = 0;
        if (!own || !strcmp(own->id, usual))
            continue;
        for (uint32_t k = 0; k < r->nnodes; k++) {
            const struct doctor_library *l = library_of(&r->nodes[k], name);
            n += l && !strcmp(l->id, own->id);
        }
        if (n > most) {
            most = n;
            usual = own->id;
        }
    }
    return usual;
}

/* False: they were not looked for, because the node does not have the program. */
static bool has_libraries(const struct doctor_node *n)
{
    return n->nlibraries > 0;
}

static void compare_libraries(struct doctor_report *r, uint32_t node)
{
    struct doctor_node *n = &r->nodes[node];
    struct buf wrong = BUF_NULL(TEXT_MAX);
    uint32_t missing = 0, other = 0;

    for (uint32_t i = 0; i < n->nlibraries; i++) {
        const struct doctor_library *l = &n->libraries[i];
        bool differs = l->path[0] && strcmp(l->id, usual_id(r, l->name)) != 0;
        if (l->path[0] && !differs)
            continue;
        missing += !l->path[0];
        other += differs;
        if (missing + other <= 4)
            buf_printf(&wrong, "%s%s%s%s", missing + other > 1 ? "; " : "", l->name,
                       differs ? " differs from most nodes: " : " is not found",
                       differs ? l->path : "");
    }
    if (missing + other)
        doctor_report_set(r, node, DOCTOR_LIBS, DOCTOR_BAD, "%s%s",
                          buf_cstr(&wrong) ? buf_cstr(&wrong) : "many differ",
                          missing + other > 4 ? "; and more" : "");
    else
        doctor_report_set(r, node, DOCTOR_LIBS, DOCTOR_OK, "%u, the same on all nodes",
                          n->nlibraries);
    buf_free(&wrong);
}

void doctor_report_compare(struct doctor_report *r)
{
    for (int c = 0; c < DOCTOR_CHECKS; c++) {
        if (checks[c].compare)
            compare_check(r, c);
    }
    for (uint32_t i = 0; i < r->nnodes; i++) {
        if (has_libraries(&r->nodes[i]))
            compare_libraries(r, i);
    }
}

uint32_t doctor_report_count(const struct doctor_report *r, enum doctor_state state)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < r->nnodes; i++) {
        for (int c = 0; c < DOCTOR_CHECKS; c++)
            n += r->nodes[i].checks[c].text && r->nodes[i].checks[c].state == state;
    }
    return n;
}

/* ---- text ------------------------------------------------------------------------------------ */

enum { NAMES_SHOWN = 4, LINES_SHOWN = 8 };

static bool is_like(const struct doctor_report *r, uint32_t node, int check,
                    const struct doctor_finding *f, bool whatever)
{
    const struct doctor_finding *own = &r->nodes[node].checks[check];

    return own->text && own->state == f->state && (whatever || !strcmp(own->text, f->text));
}

/* The nodes with such a finding; their number. */
static uint32_t put_nodes(const struct doctor_report *r, int check, const struct doctor_finding *f,
                          bool whatever, struct buf *out)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < r->nnodes; i++) {
        if (!is_like(r, i, check, f, whatever))
            continue;
        if (n++ < NAMES_SHOWN)
            buf_printf(out, "%s%s", n > 1 ? "," : "", r->nodes[i].name);
    }
    if (n > NAMES_SHOWN)
        buf_printf(out, " and %u more", n - NAMES_SHOWN);
    return n;
}

static const char *colour_of(enum doctor_state state)
{
    static const char *const colours[DOCTOR_STATES] = { "\033[32m", "\033[33m", "\033[1;31m" };

    return colours[state];
}

struct text_line {
    int check;
    const struct doctor_finding *finding;
    bool whatever, colour; /* whatever: of all nodes in this state, with the first one's text */
};

static void text_line(const struct doctor_report *r, const struct text_line *l, struct buf *out)
{
    struct buf nodes = BUF_NULL(1 << 16);
    uint32_t n = put_nodes(r, l->check, l->finding, l->whatever, &nodes);

    buf_printf(out, "%-12s %s%-7s%s  %s: %s%s\n", checks[l->check].name,
               l->colour ? colour_of(l->finding->state) : "", states[l->finding->state],
               l->colour ? "\033[0m" : "", buf_cstr(&nodes) ? buf_cstr(&nodes) : "?",
               l->finding->text, l->whatever && n > 1 ? " (the first)" : "");
    buf_free(&nodes);
}

/* Whether an earlier node has the same finding, so that it has its line already. */
static bool is_repeated(const struct doctor_report *r, uint32_t node, int check, bool whatever)
{
    for (uint32_t i = 0; i < node; i++) {
        if (is_like(r, i, check, &r->nodes[node].checks[check], whatever))
            return true;
    }
    return false;
}

/* How many different texts there are in this state. */
static uint32_t different(const struct doctor_report *r, int check, enum doctor_state state)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < r->nnodes; i++) {
        const struct doctor_finding *f = &r->nodes[i].checks[check];
        n += f->text && f->state == state && !is_repeated(r, i, check, false);
    }
    return n;
}

static void text_check(const struct doctor_report *r, int check, bool colour, struct buf *out)
{
    for (int s = 0; s < DOCTOR_STATES; s++) {
        bool whatever =
            different(r, check, (enum doctor_state)s) > (s == DOCTOR_OK ? 1 : LINES_SHOWN);
        for (uint32_t i = 0; i < r->nnodes; i++) {
            const struct doctor_finding *f = &r->nodes[i].checks[check];
            if (f->text && (int)f->state == s && !is_repeated(r, i, check, whatever))
                text_line(r, &(struct text_line){ check, f, whatever, colour }, out);
        }
    }
}

void doctor_report_text(const struct doctor_report *r, bool colour, struct buf *out)
{
    uint32_t bad = doctor_report_count(r, DOCTOR_BAD), warn = doctor_report_count(r, DOCTOR_WARN);

    for (int c = 0; c < DOCTOR_CHECKS; c++)
        text_check(r, c, colour, out);
    buf_printf(out, "%u node%s: %u bad, %u warning%s\n", r->nnodes, r->nnodes == 1 ? "" : "s", bad,
               warn, warn == 1 ? "" : "s");
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void json_node(struct json *j, const struct doctor_node *n)
{
    json_object(j, NULL);
    json_str(j, "name", n->name);
    json_array(j, "checks");
    for (int c = 0; c < DOCTOR_CHECKS; c++) {
        if (!n->checks[c].text)
            continue;
        json_object(j, NULL);
        json_str(j, "check", checks[c].name);
        json_str(j, "state", states[n->checks[c].state]);
        json_str(j, "text", n->checks[c].text);
        json_object_end(j);
    }
    json_array_end(j);
    json_array(j, "libraries");
    for (uint32_t i = 0; i < n->nlibraries; i++) {
        json_object(j, NULL);
        json_str(j, "name", n->libraries[i].name);
        json_str(j, "path", n->libraries[i].path);
        json_str(j, "build_id", n->libraries[i].id);
        json_object_end(j);
    }
    json_array_end(j);
    json_object_end(j);
}

void doctor_report_json(const struct doctor_report *r, struct buf *out)
{
    struct json j;

    json_init(&j, out);
    json_object(&j, NULL);
    json_str(&j, "schema", "wireup-doctor-1");
    json_u64(&j, "bad", doctor_report_count(r, DOCTOR_BAD));
    json_u64(&j, "warnings", doctor_report_count(r, DOCTOR_WARN));
    json_array(&j, "nodes");
    for (uint32_t i = 0; i < r->nnodes; i++) {
        json_break(&j);
        json_node(&j, &r->nodes[i]);
    }
    json_array_end(&j);
    json_object_end(&j);
    json_done(&j);
    buf_byte(out, '\n');
}
