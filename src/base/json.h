/* json.h - writes JSON into a buffer: the commas, the colons and the escapes are the writer's.
 *
 * A value in an object has a key, a value in an array has NULL for it.  A key that is not a literal
 * comes first, by json_key(); its value then has NULL.  An end that does not match its begin, a key
 * in an array, a value without a key in an object, two values at the top and more than
 * JSON_DEPTH_MAX levels poison the buffer (BUF_MALFORMED), so that a caller's mistake never becomes
 * text that no parser reads.  Running out of memory poisons it too, as every write (buf.h).
 *
 * Strings: a quote, a backslash and control characters are escaped.  json_text() leaves UTF-8 as it
 * is, and writes each byte that is not UTF-8 as \u00XX; json_bytes() does so with every byte that
 * is not ASCII, for values in which bytes count: each byte is one character.
 */
#ifndef WIREUP_BASE_JSON_H
#define WIREUP_BASE_JSON_H

#include "base/buf.h"

enum { JSON_DEPTH_MAX = 256 };

/* JSON_VALUE: the last key has no value yet. */
enum json_state { JSON_FIRST, JSON_NEXT, JSON_VALUE, JSON_DONE };

struct json {
    struct buf *out;
    uint32_t depth;
    enum json_state state;
    bool spaced, break_next;
    uint64_t objects[JSON_DEPTH_MAX / 64]; /* one bit per level: an object, not an array */
};

/* {"a":1,"b":[2,3]} */
void json_init(struct json *j, struct buf *out);
/* {"a": 1, "b": [2, 3]} */
void json_init_spaced(struct json *j, struct buf *out);
/* Everything that was begun has ended; otherwise the buffer is poisoned. */
void json_done(struct json *j);

/* The next value or key begins a new line, indented by its depth. */
void json_break(struct json *j);

void json_object(struct json *j, const char *key);
void json_object_end(struct json *j);
void json_array(struct json *j, const char *key);
void json_array_end(struct json *j);
void json_key(struct json *j, struct slice key);

void json_text(struct json *j, const char *key, struct slice text);
void json_str(struct json *j, const char *key, const char *text); /* NULL: null */
void json_bytes(struct json *j, const char *key, struct slice bytes);
void json_u64(struct json *j, const char *key, uint64_t v);
void json_i64(struct json *j, const char *key, int64_t v);
/* v with `digits` decimals; null if v is infinite or no number. */
void json_decimal(struct json *j, const char *key, double v, int digits);
void json_bool(struct json *j, const char *key, bool v);
void json_null(struct json *j, const char *key);
/* The values of an array as another writer wrote them, without its brackets: copied, not checked.
 */
void json_items(struct json *j, struct slice items);

#endif
