/* tcpstore.c - see tcpstore.h. */
#include "wire/tcpstore.h"

#include <string.h>

#include "base/limit.h"

enum { NONE = -1, LENGTH = 8 };

static const struct row {
    const char *name, *args, *reply;
    int v2, v1;
} rows[TCPSTORE_QUERIES] = {
#define QUERY(id, name_, V2, V1, args_, reply_)                                                    \
    [TCPSTORE_##                                                                                   \
        id] = { .name = (name_), .args = (args_), .reply = (reply_), .v2 = (V2), .v1 = (V1) },
#include "proto/tcpstore.def"
};

const char *tcpstore_args(enum tcpstore_id id)
{
    return rows[id].args;
}

const char *tcpstore_reply(enum tcpstore_id id)
{
    return rows[id].reply;
}

/* ---- one query ------------------------------------------------------------------------------- */

static int bad(struct errmsg *err, const char *what, uint64_t n, uint64_t limit)
{
    return errmsg_set(err, TCPSTORE_BAD, "a query of its store has %s of %llu; at most %llu", what,
                      (unsigned long long)n, (unsigned long long)limit);
}

/* The number of the magic word tells the dialects apart: as the beginning of a length, which
 * follows a 0 in the older one, it would be far too large. */
static int find_dialect(struct tcpstore_reader *r, struct slice in)
{
    uint32_t magic;

    if (r->dialect != TCPSTORE_UNKNOWN)
        return TCPSTORE_WHOLE;
    if (in.ptr[0] == 0 && in.len < 1 + sizeof magic)
        return TCPSTORE_MORE;
    r->dialect = TCPSTORE_V1;
    if (in.ptr[0] == 0) {
        memcpy(&magic, in.ptr + 1, sizeof magic);
        if (magic == TCPSTORE_MAGIC)
            r->dialect = TCPSTORE_V2;
    }
    return TCPSTORE_WHOLE;
}

static int find_query(struct tcpstore_reader *r, int number, struct errmsg *err)
{
    for (int id = 0; id < TCPSTORE_QUERIES; id++) {
        if (number != (r->dialect == TCPSTORE_V2 ? rows[id].v2 : rows[id].v1))
            continue;
        r->id = (enum tcpstore_id)id;
        r->begun = true;
        r->counted = rows[id].args[0] != '*';
        r->at = 1;
        r->left = r->counted;
        r->part = 0;
        return TCPSTORE_WHOLE;
    }
    return errmsg_set(err, TCPSTORE_BAD, "its store knows no query %d", number);
}

static int count(struct tcpstore_reader *r, struct slice in, struct errmsg *err)
{
    if (r->counted)
        return TCPSTORE_WHOLE;
    if (in.len - r->at < LENGTH)
        return TCPSTORE_MORE;
    memcpy(&r->left, in.ptr + r->at, LENGTH);
    if (r->left > LIMIT_TCPSTORE_KEYS)
        return bad(err, "a number of keys", r->left, LIMIT_TCPSTORE_KEYS);
    r->at += LENGTH;
    r->counted = true;
    return TCPSTORE_WHOLE;
}

/* The length of the next part. */
static int measure(const struct tcpstore_reader *r, struct slice in, char form, size_t *len_p,
                   struct errmsg *err)
{
    uint64_t n, limit = form == 'k' ? LIMIT_TCPSTORE_KEY : LIMIT_TCPSTORE_VALUE;

    *len_p = form == 'm' ? sizeof(uint32_t) : LENGTH;
    if (form == 'm' || form == 'n')
        return TCPSTORE_WHOLE;
    if (in.len - r->at < LENGTH)
        return TCPSTORE_MORE;
    memcpy(&n, in.ptr + r->at, LENGTH);
    if (n > limit)
        return bad(err, form == 'k' ? "a key with a length" : "a value with a length", n, limit);
    *len_p = LENGTH + (size_t)n;
    return TCPSTORE_WHOLE;
}

static int read_parts(struct tcpstore_reader *r, struct slice in, struct errmsg *err)
{
    const char *forms = rows[r->id].args + (rows[r->id].args[0] == '*');
    size_t len;
    int rc;

    for (; r->left; r->left--, r->part = 0) {
        for (; forms[r->part]; r->part++) {
            rc = measure(r, in, forms[r->part], &len, err);
            if (rc != TCPSTORE_WHOLE)
                return rc;
            if (r->at + len > LIMIT_TCPSTORE_QUERY)
                return bad(err, "a length", r->at + len, LIMIT_TCPSTORE_QUERY);
            if (in.len - r->at < len)
                return TCPSTORE_MORE;
            r->at += len;
        }
    }
    return TCPSTORE_WHOLE;
}

static int check_magic(const struct tcpstore_query *q, struct errmsg *err)
{
    uint32_t magic = TCPSTORE_MAGIC;

    if (q->id != TCPSTORE_VALIDATE || !memcmp(q->args.ptr, &magic, sizeof magic))
        return TCPSTORE_WHOLE;
    return errmsg_set(err, TCPSTORE_BAD, "it validates its store with a wrong number");
}

int tcpstore_read(struct tcpstore_reader *r, struct slice bytes, struct tcpstore_query *q_p,
                  struct errmsg *err)
{
    int rc = bytes.len ? find_dialect(r, bytes) : TCPSTORE_MORE;

    if (rc == TCPSTORE_WHOLE && !r->begun)
        rc = find_query(r, (unsigned char)bytes.ptr[0], err);
    if (rc == TCPSTORE_WHOLE)
        rc = count(r, bytes, err);
    if (rc == TCPSTORE_WHOLE)
        rc = read_parts(r, bytes, err);
    if (rc != TCPSTORE_WHOLE)
        return rc;
    *q_p = (struct tcpstore_query){ .id = r->id, .len = r->at };
    q_p->args = slice_mem(bytes.ptr + 1, r->at - 1);
    r->begun = false;
    return check_magic(q_p, err);
}

/* ---- arguments ------------------------------------------------------------------------------- */

bool tcpstore_get_bytes(struct slice *rest, struct slice *s_p)
{
    uint64_t n;

    if (rest->len < LENGTH)
        return false;
    memcpy(&n, rest->ptr, LENGTH);
    if (n > rest->len - LENGTH)
        return false;
    *s_p = slice_head(slice_skip(*rest, LENGTH), (size_t)n);
    *rest = slice_skip(*rest, LENGTH + (size_t)n);
    return true;
}

bool tcpstore_get_number(struct slice *rest, int64_t *n_p)
{
    if (rest->len < LENGTH)
        return false;
    memcpy(n_p, rest->ptr, LENGTH);
    *rest = slice_skip(*rest, LENGTH);
    return true;
}

struct slice tcpstore_name(struct slice key)
{
    while (key.len && key.ptr[0] == '/')
        key = slice_skip(key, 1);
    return key;
}

bool tcpstore_attempt(struct slice key, uint32_t *n_p)
{
    struct slice prefix = SLICE("worker/attempt_"), rest = tcpstore_name(key);
    const char *end;

    if (!slice_starts(rest, prefix))
        return false;
    rest = slice_skip(rest, prefix.len);
    end = rest.len ? memchr(rest.ptr, '/', rest.len) : NULL;
    return slice_u32(end ? slice_head(rest, (size_t)(end - rest.ptr)) : rest, n_p);
}

void tcpstore_put_number(struct buf *out, int64_t n)
{
    buf_put(out, &n, sizeof n);
}

void tcpstore_put_bytes(struct buf *out, struct slice s)
{
    tcpstore_put_number(out, (int64_t)s.len);
    buf_slice_put(out, s);
}
