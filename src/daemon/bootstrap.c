/* bootstrap.c - see bootstrap.h. */
#include "daemon/bootstrap.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/limit.h"
#include "io/secret.h"

enum { FORMAT = 1 };

static const char hex[] = "0123456789abcdef";

/* ---- writing ---- */

/* What would end the line is escaped, and % itself. */
static bool is_plain(unsigned char c)
{
    return c >= ' ' && c != '%' && c != 127;
}

static bool is_plain_in_word(unsigned char c)
{
    return is_plain(c) && c != ' ';
}

/* A value extends to the end of its line. */
static void put_value(struct buf *out, const char *text)
{
    buf_percent(out, text, is_plain);
}

/* A word in the middle of a line: blanks are escaped too. */
static void put_word(struct buf *out, const char *text)
{
    buf_percent(out, text, is_plain_in_word);
}

static void put_line(struct buf *out, const char *word, const char *value)
{
    buf_str(out, word);
    buf_byte(out, ' ');
    put_value(out, value);
    buf_byte(out, '\n');
}

static void put_number(struct buf *out, const char *word, uint64_t n)
{
    buf_printf(out, "%s %llu\n", word, (unsigned long long)n);
}

static void put_key(struct buf *out, const char *word, const unsigned char *key)
{
    buf_str(out, word);
    buf_byte(out, ' ');
    for (int i = 0; i < BOOTSTRAP_KEY; i++) {
        buf_byte(out, hex[key[i] >> 4]);
        buf_byte(out, hex[key[i] & 15]);
    }
    buf_byte(out, '\n');
}

int bootstrap_write(const struct bootstrap *b, struct buf *out)
{
    buf_printf(out, "wireup-boot %d %s\n", FORMAT, WIREUP_VERSION);
    if (b->position != BOOTSTRAP_BY_NAME)
        put_number(out, "position", b->position);
    put_number(out, "count", b->count);
    put_number(out, "width", b->width);
    put_key(out, "key", b->key);
    if (b->token)
        put_key(out, "token", b->token);
    put_number(out, "parent", b->parent);
    put_line(out, "addresses", b->addresses);
    for (uint32_t i = 0; i < b->nabove; i++) {
        buf_printf(out, "above %u ", b->above[i].position);
        put_value(out, b->above[i].addresses);
        buf_byte(out, '\n');
    }
    if (b->interface)
        put_line(out, "interface", b->interface);
    if (b->port_low)
        buf_printf(out, "ports %u %u\n", b->port_low, b->port_high);
    put_number(out, "wall", b->wall_ms);
    if (b->verbose)
        buf_str(out, "verbose \n");
    for (uint32_t i = 0; i < b->noptions; i++) {
        buf_str(out, "option ");
        put_word(out, b->options[i].name);
        buf_byte(out, ' ');
        put_value(out, b->options[i].value);
        buf_byte(out, '\n');
    }
    for (uint32_t i = 0; i < b->nnodes; i++) {
        buf_printf(out, "node %u ", b->nodes[i].position);
        put_word(out, b->nodes[i].name);
        if (b->nodes[i].user || b->nodes[i].port) {
            buf_byte(out, ' ');
            put_word(out, b->nodes[i].user ? b->nodes[i].user : "");
        }
        if (b->nodes[i].port)
            buf_printf(out, " %u", b->nodes[i].port);
        buf_byte(out, '\n');
    }
    buf_str(out, "end\n");
    return buf_ok(out) ? 0 : -ENOMEM;
}

/* ---- reading ---- */

size_t bootstrap_length(struct slice text)
{
    struct slice rest = text, line;

    while (rest.len) {
        if (slice_find(rest, '\n') == rest.len)
            return 0;
        line = slice_cut(&rest, '\n');
        if (slice_is(slice_trim(line), "end"))
            return text.len - rest.len;
    }
    return 0;
}

static int digit(char c)
{
    const char *at = c ? strchr(hex, c) : NULL;

    return at ? (int)(at - hex) : -1;
}

struct reader {
    struct bootstrap *b;
    struct arena *a;
    struct errmsg *err;
    uint32_t nodes_room, options_room, above_room;
    bool has_key, has_position;
};

static int bad(struct reader *r, const char *what)
{
    return errmsg_set(r->err, BOOTSTRAP_BAD, "the record from the launcher is damaged (%s)", what);
}

/* Undoes put_value() and put_word(). */
static int get_text(struct reader *r, struct slice value, const char **text_p)
{
    char *text = arena_alloc(r->a, value.len + 1);
    size_t n = 0;

    if (!text)
        return -ENOMEM;
    for (size_t i = 0; i < value.len; i++) {
        int high, low;
        if (value.ptr[i] != '%') {
            text[n++] = value.ptr[i];
            continue;
        }
        high = value.len - i > 2 ? digit(value.ptr[i + 1]) : -1;
        low = value.len - i > 2 ? digit(value.ptr[i + 2]) : -1;
        if (high < 0 || low < 0 || high + low == 0)
            return bad(r, "an escape");
        text[n++] = (char)(high << 4 | low);
        i += 2;
    }
    text[n] = '\0';
    if (strlen(text) != n)
        return bad(r, "a zero byte");
    *text_p = text;
    return 0;
}

static int get_number(struct reader *r, struct slice value, uint32_t *number_p)
{
    return slice_u32(value, number_p) ? 0 : bad(r, "a number");
}

/* to: BOOTSTRAP_KEY bytes; NULL: no memory. */
static int get_key(struct reader *r, struct slice value, unsigned char *to)
{
    if (!to)
        return -ENOMEM;
    if (value.len != 2 * BOOTSTRAP_KEY)
        return bad(r, "the key");
    for (int i = 0; i < BOOTSTRAP_KEY; i++) {
        int high = digit(value.ptr[2 * i]), low = digit(value.ptr[2 * i + 1]);
        if (high < 0 || low < 0)
            return bad(r, "the key");
        to[i] = (unsigned char)(high << 4 | low);
    }
    return 0;
}

static int get_job_key(struct reader *r, struct slice value)
{
    int rc = r->b->key ? 0 : bootstrap_make_key(r->b);

    if (rc == 0)
        rc = get_key(r, value, r->b->key);
    r->has_key |= rc == 0;
    return rc;
}

static int get_token(struct reader *r, struct slice value)
{
    int rc = r->b->token ? 0 : bootstrap_make_token(r->b);

    return rc == 0 ? get_key(r, value, r->b->token) : rc;
}

static int get_ports(struct reader *r, struct slice value)
{
    struct slice low = slice_cut(&value, ' ');
    struct bootstrap *b = r->b;

    if (!slice_u32(low, &b->port_low) || !slice_u32(value, &b->port_high) || b->port_low == 0 ||
        b->port_low > b->port_high || b->port_high > 65535)
        return bad(r, "the ports");
    return 0;
}

/* Returns a copy of `items` with room for one more; the room is doubled. */
static void *grow(struct reader *r, void *items, uint32_t count, uint32_t *room, size_t size)
{
    void *more;

    if (count < *room)
        return items;
    *room = *room ? *room * 2 : 16;
    more = arena_array(r->a, *room, size);
    if (more && count)
        memcpy(more, items, count * size);
    return more;
}

static int get_node(struct reader *r, struct slice value)
{
    struct bootstrap *b = r->b;
    struct slice position = slice_cut(&value, ' '), name = slice_cut(&value, ' '),
                 user = slice_cut(&value, ' ');
    struct bootstrap_node node = { 0 };
    int rc = get_number(r, position, &node.position);

    if (rc == 0 && (name.len == 0 || b->nnodes >= LIMIT_MAP_NODES))
        rc = bad(r, "a node");
    if (rc == 0)
        rc = get_text(r, name, &node.name);
    if (rc == 0 && user.len)
        rc = get_text(r, user, &node.user);
    if (rc == 0 && value.len)
        rc = get_number(r, value, &node.port);
    if (rc == 0 && node.port > 65535)
        rc = bad(r, "a node");
    if (rc)
        return rc;
    b->nodes = grow(r, b->nodes, b->nnodes, &r->nodes_room, sizeof *b->nodes);
    if (!b->nodes)
        return -ENOMEM;
    b->nodes[b->nnodes++] = node;
    return 0;
}

static int get_above(struct reader *r, struct slice value)
{
    struct bootstrap *b = r->b;
    struct slice position = slice_cut(&value, ' ');
    struct bootstrap_above above = { 0 };
    int rc = get_number(r, position, &above.position);

    if (rc == 0 && b->nabove >= BOOTSTRAP_ABOVE)
        rc = bad(r, "too many above");
    if (rc == 0)
        rc = get_text(r, value, &above.addresses);
    if (rc)
        return rc;
    b->above = grow(r, b->above, b->nabove, &r->above_room, sizeof *b->above);
    if (!b->above)
        return -ENOMEM;
    b->above[b->nabove++] = above;
    return 0;
}

static int get_option(struct reader *r, struct slice value)
{
    struct bootstrap *b = r->b;
    struct slice name = slice_cut(&value, ' ');
    struct bootstrap_pair pair;
    int rc = get_text(r, name, &pair.name);

    if (rc == 0)
        rc = get_text(r, value, &pair.value);
    if (rc)
        return rc;
    b->options = grow(r, b->options, b->noptions, &r->options_room, sizeof *b->options);
    if (!b->options)
        return -ENOMEM;
    b->options[b->noptions++] = pair;
    return 0;
}

static int get_line(struct reader *r, struct slice word, struct slice value)
{
    struct bootstrap *b = r->b;

    if (slice_is(word, "position")) {
        r->has_position = true;
        return get_number(r, value, &b->position);
    }
    if (slice_is(word, "count"))
        return get_number(r, value, &b->count);
    if (slice_is(word, "width"))
        return get_number(r, value, &b->width);
    if (slice_is(word, "key"))
        return get_job_key(r, value);
    if (slice_is(word, "token"))
        return get_token(r, value);
    if (slice_is(word, "parent"))
        return get_number(r, value, &b->parent);
    if (slice_is(word, "addresses"))
        return get_text(r, value, &b->addresses);
    if (slice_is(word, "above"))
        return get_above(r, value);
    if (slice_is(word, "interface"))
        return get_text(r, value, &b->interface);
    if (slice_is(word, "ports"))
        return get_ports(r, value);
    if (slice_is(word, "wall"))
        return slice_u64(value, &b->wall_ms) ? 0 : bad(r, "the time");
    if (slice_is(word, "node"))
        return get_node(r, value);
    if (slice_is(word, "option"))
        return get_option(r, value);
    if (slice_is(word, "verbose")) {
        b->verbose = true;
        return 0;
    }
    return bad(r, "an unknown word");
}

/* Checks the first line, which every later version must be able to read. */
static int check_first(struct reader *r, struct slice line)
{
    struct slice word = slice_cut(&line, ' '), format = slice_cut(&line, ' ');
    uint32_t n;

    if (!slice_is(word, "wireup-boot") || !slice_u32(format, &n))
        return errmsg_set(r->err, BOOTSTRAP_BAD,
                          "standard input has no record of a launcher; wireupd is started by "
                          "wireup, not by hand");
    if (n != FORMAT || !slice_is(line, WIREUP_VERSION))
        return errmsg_set(
            r->err, BOOTSTRAP_BAD,
            "this is Wireup %s and the launcher is Wireup " SLICE_FMT
            ": install the same version on all nodes, or give the right daemon by -wireupd",
            WIREUP_VERSION, SLICE_ARG(slice_head(line, 40)));
    return 0;
}

static int check_whole(struct reader *r)
{
    const struct bootstrap *b = r->b;

    if (!r->has_key || !b->addresses || b->count < 2 || b->width == 0 || b->parent >= b->count)
        return bad(r, "something is missing");
    if (r->has_position && (b->position >= b->count || b->position == b->parent))
        return bad(r, "the position");
    for (uint32_t i = 0; i < b->nabove; i++) {
        if (b->above[i].position >= b->count)
            return bad(r, "the position of a daemon above");
    }
    for (uint32_t i = 0; i < b->nnodes; i++) {
        if (b->nodes[i].position >= b->count)
            return bad(r, "the position of a node");
    }
    return 0;
}

int bootstrap_read(struct bootstrap *b, struct arena *a, struct slice text, struct errmsg *err)
{
    struct reader r = { .b = b, .a = a, .err = err };
    struct slice line;
    int rc;

    memset(b, 0, sizeof *b);
    b->position = BOOTSTRAP_BY_NAME;
    rc = check_first(&r, slice_trim(slice_cut(&text, '\n')));
    while (rc == 0 && text.len) {
        line = slice_cut(&text, '\n');
        if (line.len && line.ptr[line.len - 1] == '\r')
            line.len--;
        if (slice_is(line, "end"))
            return check_whole(&r);
        rc = get_line(&r, slice_cut(&line, ' '), line);
    }
    return rc ? rc : bad(&r, "its end is missing");
}

int bootstrap_make_key(struct bootstrap *b)
{
    b->key = secret_new(BOOTSTRAP_KEY);
    return b->key ? 0 : -ENOMEM;
}

int bootstrap_make_token(struct bootstrap *b)
{
    b->token = secret_new(BOOTSTRAP_KEY);
    return b->token ? 0 : -ENOMEM;
}

void bootstrap_wipe(struct bootstrap *b)
{
    b->token = secret_free(b->token, BOOTSTRAP_KEY);
    b->key = secret_free(b->key, BOOTSTRAP_KEY);
}

int bootstrap_put_option(struct arena *a, struct bootstrap *b, const char *name, const char *value)
{
    struct bootstrap_pair *more;

    if (!value)
        return 0;
    more = arena_array(a, b->noptions + 1, sizeof *more);
    if (!more)
        return -ENOMEM;
    if (b->noptions)
        memcpy(more, b->options, b->noptions * sizeof *more);
    more[b->noptions++] = (struct bootstrap_pair){ name, value };
    b->options = more;
    return 0;
}

const char *bootstrap_next_option(const struct bootstrap *b, const char *name, uint32_t *at)
{
    while (*at < b->noptions) {
        const struct bootstrap_pair *p = &b->options[(*at)++];
        if (!strcmp(p->name, name))
            return p->value;
    }
    return NULL;
}

const char *bootstrap_option(const struct bootstrap *b, const char *name)
{
    uint32_t at = 0;

    return bootstrap_next_option(b, name, &at);
}

static bool same_node(const char *a, const char *b, bool exactly)
{
    size_t na = strcspn(a, "."), nb = strcspn(b, ".");

    if (exactly)
        return strcasecmp(a, b) == 0;
    return na == nb && na && strncasecmp(a, b, na) == 0;
}

bool bootstrap_find(const struct bootstrap *b, const char *const *names, size_t nnames,
                    uint32_t *position_p)
{
    for (int exactly = 1; exactly >= 0; exactly--) {
        for (size_t n = 0; n < nnames; n++) {
            for (uint32_t i = 0; names[n] && i < b->nnodes; i++) {
                if (same_node(names[n], b->nodes[i].name, exactly)) {
                    *position_p = b->nodes[i].position;
                    return true;
                }
            }
        }
    }
    return false;
}

/* ---- answers ---- */

static const char *const answers[] = {
    [BOOTSTRAP_STARTED] = "started",
    [BOOTSTRAP_READY] = "ready",
    [BOOTSTRAP_TROUBLE] = "trouble",
    [BOOTSTRAP_REMARK] = "remark",
};

void bootstrap_answer_write(struct buf *out, enum bootstrap_answer what, uint32_t position,
                            const char *text)
{
    buf_printf(out, "wireup-boot %s ", answers[what]);
    if (position == BOOTSTRAP_BY_NAME)
        buf_byte(out, '-');
    else
        buf_u64(out, position);
    buf_byte(out, ' ');
    for (; *text; text++)
        buf_byte(out, *text == '\n' ? ' ' : *text);
    buf_byte(out, '\n');
}

enum bootstrap_answer bootstrap_answer_read(struct slice line, uint32_t *position_p,
                                            struct slice *text)
{
    struct slice rest = slice_trim(line), word;
    struct slice head = slice_cut(&rest, ' '), position;

    word = slice_cut(&rest, ' ');
    position = slice_cut(&rest, ' ');
    if (!slice_is(head, "wireup-boot"))
        return BOOTSTRAP_NOISE;
    *position_p = BOOTSTRAP_BY_NAME;
    if (!slice_is(position, "-") && !slice_u32(position, position_p))
        return BOOTSTRAP_NOISE;
    *text = slice_trim(rest);
    for (int i = BOOTSTRAP_STARTED; i <= BOOTSTRAP_REMARK; i++) {
        if (slice_is(word, answers[i]))
            return (enum bootstrap_answer)i;
    }
    return BOOTSTRAP_NOISE;
}
