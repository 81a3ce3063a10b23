/* text.c - see text.h.  Reading is one pass over the tuples; each is looked up among the few fields
 * of its message and stored by kind. */
#include "wire/text.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/limit.h"

static struct slice field_name(const struct text_field *f)
{
    return slice_mem(f->name, f->name_len);
}

static bool is_list(const struct text_field *f)
{
    return f->kind == TEXT_LIST0 || f->kind == TEXT_LIST1;
}

int text_find(const struct text_proto *proto, struct slice name)
{
    for (unsigned i = 0; i < proto->nmsgs; i++) {
        const struct text_msg *m = &proto->msgs[i];
        if (m->name_len == name.len && !memcmp(m->name, name.ptr, name.len))
            return (int)i;
    }
    return -1;
}

/* Between tuples; of blanks there may be several kinds. */
static const char separators[] = {
    [TEXT_BLANKS] = ' ', [TEXT_LINES] = '\n', [TEXT_SEMICOLONS] = ';'
};
static const bool is_gap[][UCHAR_MAX + 1] = {
    [TEXT_BLANKS] = { [' '] = true, ['\t'] = true, ['\r'] = true },
    [TEXT_LINES] = { ['\n'] = true },
    [TEXT_SEMICOLONS] = { [';'] = true },
};

/* ---- reading --------------------------------------------------------------------------------- */

/* The destination of tuples: a row and its struct.  Inside a group that is the group's last item.
 */
struct field_place {
    const struct text_msg *msg;
    char *out;
    struct text_head *head; /* the beginning of `out` */
};

struct reader {
    const struct text_proto *proto;
    enum text_style style;
    struct arena *arena;
    struct field_place whole;
    struct field_place item; /* msg NULL: not in a group (yet) */
    struct errmsg *err;
};

static int malformed(const struct reader *r, struct slice name, const char *why)
{
    return errmsg_set(r->err, TEXT_MALFORMED, "message '%s': field '" SLICE_FMT "' %s",
                      r->whole.msg->name, SLICE_ARG(slice_head(name, 64)), why);
}

/* The field a tuple belongs to, or -1.  *index_p: the number at the end of a list item's name. */
static int match_field(const struct text_msg *m, struct slice name, uint32_t *index_p)
{
    for (int i = 0; i < m->nfields; i++) {
        const struct text_field *f = &m->fields[i];
        size_t n = f->name_len;
        if (name.len < n || memcmp(f->name, name.ptr, n) != 0)
            continue;
        if (name.len == n ? !is_list(f) : is_list(f) && slice_u32(slice_skip(name, n), index_p))
            return i;
    }
    return -1;
}

/* Room for one more element of an array in the arena: doubled when full. */
static int make_room(struct arena *arena, void **items, uint32_t n, uint32_t *room, size_t size)
{
    uint32_t more = *room ? *room * 2 : 8;
    void *bigger;

    if (n < *room)
        return TEXT_FINE;
    bigger = arena_array(arena, more, size);
    if (!bigger)
        return -ENOMEM;
    if (n)
        memcpy(bigger, *items, n * size);
    *items = bigger;
    *room = more;
    return TEXT_FINE;
}

/* Items come in the order of their numbers, so a list never takes more memory than it brought. */
static int add_item(const struct reader *r, const struct text_field *f, struct text_list *list,
                    uint32_t index, struct slice name, struct slice value)
{
    void *items = list->items;
    int rc;

    if (list->n == 0)
        list->first = f->kind == TEXT_LIST1 && index == 1;
    if (index < list->first || index - list->first != list->n)
        return malformed(r, name, "is out of order");
    if (list->n >= LIMIT_SPAWN_ITEMS)
        return malformed(r, name, "is one item too many");
    rc = make_room(r->arena, &items, list->n, &list->room, sizeof *list->items);
    if (rc < 0)
        return rc;
    list->items = items;
    list->items[list->n++] = value;
    return TEXT_FINE;
}

/* The next item of a group begins. */
static int open_item(struct reader *r, const struct text_field *f, struct slice name)
{
    struct text_group *g = (void *)(r->whole.out + f->offset);
    const struct text_msg *row = &r->proto->msgs[text_find(r->proto, field_name(f))];
    int rc;

    if (g->n >= LIMIT_SPAWN_COMMANDS)
        return malformed(r, name, "is one group too many");
    rc = make_room(r->arena, &g->items, g->n, &g->room, row->size);
    if (rc < 0)
        return rc;
    r->item.msg = row;
    r->item.out = (char *)g->items + (size_t)g->n++ * row->size;
    r->item.head = (void *)r->item.out;
    return TEXT_FINE;
}

static bool read_bool(struct slice v, bool *value_p)
{
    *value_p = slice_is(v, "TRUE") || slice_is(v, "1");
    return *value_p || slice_is(v, "FALSE") || slice_is(v, "0");
}

static int store(const struct reader *r, const struct field_place *p, int at, uint32_t index,
                 struct slice name, struct slice value)
{
    const struct text_field *f = &p->msg->fields[at];
    void *where = p->out + f->offset;
    uint32_t bit = UINT32_C(1) << at;

    if (p->head->has & bit && !is_list(f))
        return malformed(r, name, "comes twice");
    p->head->has |= bit;
    switch ((enum text_kind)f->kind) {
    case TEXT_LIST0:
    case TEXT_LIST1: return add_item(r, f, where, index, name, value);
    case TEXT_INT:
        return slice_i64(value, where) ? TEXT_FINE : malformed(r, name, "is not a number");
    case TEXT_UINT:
        return slice_u32(value, where) ? TEXT_FINE : malformed(r, name, "is not a number");
    case TEXT_BOOL:
        return read_bool(value, where) ? TEXT_FINE : malformed(r, name, "is not TRUE or FALSE");
    default: *(struct slice *)where = value; return TEXT_FINE;
    }
}

/* `at` is the tuple's field in the whole, or -1; in a group, the current item comes first, but the
 * tuple that begins a group opens the next item.  An unknown tuple is skipped. */
static int place_tuple(struct reader *r, int at, uint32_t index, struct slice name,
                       struct slice value)
{
    uint32_t item_index = 0;
    int in_item, rc;

    if (at >= 0 && r->whole.msg->fields[at].kind == TEXT_GROUP) {
        r->whole.head->has |= UINT32_C(1) << at;
        rc = open_item(r, &r->whole.msg->fields[at], name);
        return rc == TEXT_FINE ? store(r, &r->item, 0, 0, name, value) : rc;
    }
    in_item = r->item.msg ? match_field(r->item.msg, name, &item_index) : -1;
    if (in_item >= 0)
        return store(r, &r->item, in_item, item_index, name, value);
    return at >= 0 ? store(r, &r->whole, at, index, name, value) : TEXT_FINE;
}

/* A blank at position i is followed by `known=`, a tuple that has not occurred yet (and is not the
 * current one). */
static bool tuple_follows(const struct field_place *p, int under_way, struct slice text, size_t i)
{
    struct slice word = slice_skip(text, i + 1);
    uint32_t index;
    size_t n = 0;
    int at;

    while (n < word.len && word.ptr[n] != '=' && word.ptr[n] != ' ')
        n++;
    if (n == word.len || word.ptr[n] != '=')
        return false;
    at = match_field(p->msg, slice_head(word, n), &index);
    return at >= 0 && at != under_way && !(p->head->has & UINT32_C(1) << at);
}

/* Where a REST value ends: before the next tuple, else at the end.  Each word is looked at once, so
 * a long line of words costs no more than its length. */
static size_t rest_end(const struct field_place *p, int under_way, struct slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == ' ' && tuple_follows(p, under_way, text, i))
            return i;
    }
    return text.len;
}

/* Cuts a PMI-2 value at the first single `;`.  Doubled ones become single in a copy. */
static int cut_semicolon(struct reader *r, struct slice *rest, struct slice *value_p)
{
    size_t n = 0, doubled = 0;
    struct slice raw;
    char *copy;

    while (n < rest->len &&
           (rest->ptr[n] != ';' || (n + 1 < rest->len && rest->ptr[n + 1] == ';'))) {
        bool twice = rest->ptr[n] == ';';
        doubled += twice;
        n += twice ? 2 : 1;
    }
    raw = slice_head(*rest, n);
    *rest = slice_skip(*rest, n + 1);
    *value_p = raw;
    if (!doubled)
        return TEXT_FINE;
    copy = arena_str(r->arena, raw);
    if (!copy)
        return -ENOMEM;
    n = 0;
    for (size_t i = 0; i < raw.len; i++) {
        copy[n++] = raw.ptr[i];
        if (raw.ptr[i] == ';')
            i++;
    }
    *value_p = slice_mem(copy, n);
    return TEXT_FINE;
}

/* The name of the next tuple; false at the end.  Words without `=` are skipped. */
static bool next_name(enum text_style style, struct slice *rest, struct slice *name_p)
{
    const unsigned char *text = (const unsigned char *)rest->ptr;
    const bool *gap = is_gap[style];
    size_t from = 0, n;

    for (;; from = n) {
        while (from < rest->len && gap[text[from]])
            from++;
        for (n = from; n < rest->len && text[n] != '=' && !gap[text[n]];)
            n++;
        if (n == rest->len)
            return false;
        if (text[n] == '=') {
            *name_p = slice_mem(rest->ptr + from, n - from);
            *rest = slice_skip(*rest, n + 1);
            return true;
        }
    }
}

static int cut_value(struct reader *r, int at, struct slice *rest, struct slice *value_p)
{
    if (r->style == TEXT_SEMICOLONS)
        return cut_semicolon(r, rest, value_p);
    if (r->style == TEXT_BLANKS && at >= 0 && r->whole.msg->fields[at].kind == TEXT_REST) {
        size_t n = rest_end(&r->whole, at, *rest);
        *value_p = slice_head(*rest, n);
        *rest = slice_skip(*rest, n);
    } else {
        *value_p = slice_cut(rest, separators[r->style]);
    }
    return TEXT_FINE;
}

static int read_tuples(struct reader *r, struct slice rest)
{
    struct slice name, value;

    while (next_name(r->style, &rest, &name)) {
        uint32_t index = 0;
        int at = match_field(r->whole.msg, name, &index);
        int rc = cut_value(r, at, &rest, &value);
        if (rc == TEXT_FINE)
            rc = place_tuple(r, at, index, name, value);
        if (rc != TEXT_FINE)
            return rc;
    }
    return TEXT_FINE;
}

static int check_required(const struct reader *r, const struct field_place *p)
{
    for (int i = 0; i < p->msg->nfields; i++) {
        const struct text_field *f = &p->msg->fields[i];
        if (f->need == TEXT_REQ && !(p->head->has & UINT32_C(1) << i))
            return malformed(r, field_name(f), "is missing");
        if (f->kind == TEXT_GROUP && p->head->has & UINT32_C(1) << i) {
            const struct text_group *g = (void *)(p->out + f->offset);
            for (uint32_t k = 0; k < g->n; k++) {
                char *at = (char *)g->items + (size_t)k * r->item.msg->size;
                struct field_place item = { r->item.msg, at, (void *)at };
                int rc = check_required(r, &item);
                if (rc != TEXT_FINE)
                    return rc;
            }
        }
    }
    return TEXT_FINE;
}

/* Cuts `cmd=NAME` out of a message: *before_p is the text in front of it, which only a line may
 * have, and *after_p the rest. */
static bool cut_command(enum text_style style, struct slice message, struct slice *name_p,
                        struct slice *before_p, struct slice *after_p)
{
    const char *command = style == TEXT_LINES ? "mcmd" : "cmd";
    struct slice rest = message, name;

    while (next_name(style, &rest, &name)) {
        if (slice_is(name, command)) {
            size_t n = (size_t)(name.ptr - message.ptr);
            *before_p = slice_head(message, n ? n - 1 : 0); /* without the blank between them */
            *name_p = slice_cut(&rest, separators[style]);
            *after_p = rest;
            return true;
        }
        if (style != TEXT_BLANKS)
            return false;
        slice_cut(&rest, separators[style]);
    }
    return false;
}

int text_decode(const struct text_proto *proto, enum text_style style, struct slice message,
                struct arena *arena, unsigned *msg_p, void *out, size_t room, struct errmsg *err)
{
    struct reader r = { .proto = proto, .style = style, .arena = arena, .err = err };
    struct slice before, name, after;
    int at, rc;

    if (!cut_command(style, message, &name, &before, &after))
        return errmsg_set(err, TEXT_MALFORMED, "%s message %s '%s='", proto->name,
                          style == TEXT_BLANKS ? "has no" : "does not begin with",
                          style == TEXT_LINES ? "mcmd" : "cmd");
    at = text_find(proto, slice_trim(name));
    if (at < 0)
        return errmsg_set(err, TEXT_UNKNOWN, "unknown %s command '" SLICE_FMT "'", proto->name,
                          SLICE_ARG(slice_head(name, 64)));
    r.whole = (struct field_place){ &proto->msgs[at], out, out };
    if (r.whole.msg->size > room)
        return -EINVAL;
    memset(out, 0, r.whole.msg->size);
    rc = read_tuples(&r, before);
    if (rc == TEXT_FINE)
        rc = read_tuples(&r, after);
    if (rc == TEXT_FINE)
        rc = check_required(&r, &r.whole);
    if (rc == TEXT_FINE)
        *msg_p = (unsigned)at;
    return rc;
}

/* ---- writing --------------------------------------------------------------------------------- */

static bool can_encode(enum text_style style, enum text_kind kind, struct slice v)
{
    if (slice_find(v, '\0') < v.len)
        return false;
    if (style != TEXT_SEMICOLONS && slice_find(v, '\n') < v.len)
        return false;
    if (style == TEXT_BLANKS && kind == TEXT_WORD)
        return slice_find(v, ' ') == v.len && slice_find(v, '\t') == v.len;
    return true;
}

/* A value and its separator; in PMI-2 the separator is doubled inside of a value. */
static void put_value(enum text_style style, struct slice v, struct buf *out)
{
    size_t doubled = 0;
    char *to;

    if (style == TEXT_SEMICOLONS) {
        for (struct slice rest = v; slice_find(rest, ';') < rest.len; doubled++)
            rest = slice_skip(rest, slice_find(rest, ';') + 1);
    }
    to = buf_room(out, v.len + doubled + 1);
    if (!to)
        return;
    if (!doubled && v.len) {
        memcpy(to, v.ptr, v.len);
        to += v.len;
    }
    for (size_t i = 0; doubled && i < v.len; i++) {
        *to++ = v.ptr[i];
        if (v.ptr[i] == ';')
            *to++ = ';';
    }
    *to = separators[style];
    buf_commit(out, v.len + doubled + 1);
}

static void put_item(enum text_style style, const struct text_field *f, uint32_t at,
                     const struct text_list *list, struct buf *out)
{
    buf_put(out, f->name, f->name_len);
    buf_u64(out, at + (f->kind == TEXT_LIST1 ? 1 : 0));
    buf_byte(out, '=');
    put_value(style, list->items[at], out);
}

/* The adjacent lists from field `at` on, in turn.  Returns how many. */
static int put_lists(enum text_style style, const struct text_msg *m, const char *in, int at,
                     struct buf *out)
{
    uint32_t has = ((const struct text_head *)(const void *)in)->has;
    int n = 0;
    bool more = true;

    while (at + n < m->nfields && is_list(&m->fields[at + n]))
        n++;
    for (uint32_t k = 0; more; k++) {
        more = false;
        for (int i = at; i < at + n; i++) {
            const struct text_list *list = (const void *)(in + m->fields[i].offset);
            if (has & UINT32_C(1) << i && k < list->n) {
                put_item(style, &m->fields[i], k, list, out);
                more = true;
            }
        }
    }
    return n;
}

static void put_field(enum text_style style, const struct text_field *f, const void *place,
                      struct buf *out)
{
    buf_put(out, f->name, f->name_len);
    buf_byte(out, '=');
    switch ((enum text_kind)f->kind) {
    case TEXT_INT: buf_i64(out, *(const int64_t *)place); break;
    case TEXT_UINT: buf_u64(out, *(const uint32_t *)place); break;
    case TEXT_BOOL: buf_str(out, *(const bool *)place ? "TRUE" : "FALSE"); break;
    default: put_value(style, *(const struct slice *)place, out); return;
    }
    buf_byte(out, separators[style]);
}

/* The row of a group's items. */
static const struct text_msg *item_row(const struct text_proto *proto, const struct text_field *f)
{
    return &proto->msgs[text_find(proto, field_name(f))];
}

static void put_fields(const struct text_proto *proto, enum text_style style,
                       const struct text_msg *m, const char *in, struct buf *out)
{
    uint32_t has = ((const struct text_head *)(const void *)in)->has;

    for (int i = 0; i < m->nfields; i++) {
        const struct text_field *f = &m->fields[i];
        if (!(has & UINT32_C(1) << i) && !is_list(f))
            continue;
        if (is_list(f)) {
            i += put_lists(style, m, in, i, out) - 1;
        } else if (f->kind == TEXT_GROUP) {
            const struct text_group *g = (const void *)(in + f->offset);
            const struct text_msg *row = item_row(proto, f);
            for (uint32_t k = 0; k < g->n; k++)
                put_fields(proto, style, row, (const char *)g->items + (size_t)k * row->size, out);
        } else {
            put_field(style, f, in + f->offset, out);
        }
    }
}

static bool list_sayable(enum text_style style, const struct text_list *list)
{
    for (uint32_t i = 0; i < list->n; i++) {
        if (!can_encode(style, TEXT_REST, list->items[i]))
            return false;
    }
    return true;
}

/* A REST value that would not be read back whole: a reader would take words of it for another
 * tuple.  That is every `known=` but of field `at` itself and of those that are written before it.
 */
static bool rest_breaks(const struct text_msg *m, uint32_t has, int at, struct slice v)
{
    uint32_t has_bits = UINT32_C(1) << at | (has & ((UINT32_C(1) << at) - 1)), index;

    while (slice_find(v, ' ') < v.len) {
        struct slice word, name;
        int other;

        slice_cut(&v, ' ');
        word = slice_head(v, slice_find(v, ' '));
        if (slice_find(word, '=') == word.len)
            continue;
        name = slice_cut(&word, '=');
        other = match_field(m, name, &index);
        if (other >= 0 && !(has_bits & UINT32_C(1) << other))
            return true;
    }
    return false;
}

/* The first field that cannot be written, or NULL. */
static const struct text_field *unsayable(const struct text_proto *proto, enum text_style style,
                                          const struct text_msg *m, const char *in)
{
    uint32_t has = ((const struct text_head *)(const void *)in)->has;
    const struct text_field *bad = NULL;

    for (int i = 0; i < m->nfields && !bad; i++) {
        const struct text_field *f = &m->fields[i];
        const void *place = in + f->offset;
        if (!(has & UINT32_C(1) << i))
            continue;
        if (is_list(f)) {
            bad = list_sayable(style, place) ? NULL : f;
        } else if (f->kind == TEXT_GROUP) {
            const struct text_group *g = place;
            const struct text_msg *row = item_row(proto, f);
            for (uint32_t k = 0; k < g->n && !bad; k++)
                bad = unsayable(proto, style, row, (const char *)g->items + (size_t)k * row->size);
        } else if (f->kind == TEXT_WORD || f->kind == TEXT_REST) {
            const struct slice v = *(const struct slice *)place;
            if (!can_encode(style, (enum text_kind)f->kind, v) ||
                (style == TEXT_BLANKS && f->kind == TEXT_REST && rest_breaks(m, has, i, v)))
                bad = f;
        }
    }
    return bad;
}

int text_encode(const struct text_proto *proto, enum text_style style, unsigned msg, const void *in,
                struct buf *out, struct errmsg *err)
{
    const struct text_msg *m = &proto->msgs[msg];
    const struct text_field *bad = unsayable(proto, style, m, in);
    size_t before = buf_len(out);

    if (bad)
        return errmsg_set(
            err, TEXT_UNSAYABLE,
            "the value of '%s' in '%s' contains a byte that cannot be sent over this "
            "protocol (a blank, a newline, a NUL or text that reads as another field)",
            bad->name, m->name);
    buf_str(out, style == TEXT_LINES ? "mcmd=" : "cmd=");
    buf_put(out, m->name, m->name_len);
    buf_byte(out, separators[style]);
    put_fields(proto, style, m, in, out);
    if (style == TEXT_LINES)
        buf_str(out, "endcmd\n");
    if (!buf_ok(out))
        buf_cut(out, before);
    else if (style == TEXT_BLANKS)
        out->mem[out->end - 1] = '\n'; /* the last blank becomes the end of the line */
    return TEXT_FINE;
}

bool text_sayable_pmi1(struct slice value)
{
    return value.len && value.len < LIMIT_PMI_VALUE && slice_find(value, '\n') == value.len &&
           slice_find(value, '\0') == value.len;
}
