/* text.h - the codec of the text protocols: `cmd=name key=value key=value`.
 *
 * One codec for PMI-1 (blanks between tuples, a line per message), PMI-1 spawn blocks (a line per
 * tuple) and PMI-2 (semicolons, a length before the message). It knows no message; the tables of
 * proto/ do.  Decoding fills the message's struct with slices that point into the given bytes;
 * nothing is copied but numbered lists and groups (and, with doubled separators, values that hold
 * one), which come from the caller's arena.
 *
 * Rules for reading, from RFC 13 and the messages of real clients: tuples come in any order, in a
 * line even before `cmd=`; runs of blanks count as one; unknown tuples and words without `=` are
 * skipped; the value ends at the separator (WORD) or at the end of the message (REST: or before
 * `cmd=` or a known tuple that has not occurred yet); a value is split from its name at the first
 * `=`; a field that occurs twice is an error.  Trailing bytes of a REST value are kept as they are.
 * Lists that count from 1 are read from 0, too, as RFC 13 counts.
 */
#ifndef WIREUP_WIRE_TEXT_H
#define WIREUP_WIRE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/slice.h"

enum text_kind {
    TEXT_WORD,
    TEXT_REST,
    TEXT_INT,
    TEXT_UINT,
    TEXT_BOOL,
    TEXT_LIST0,
    TEXT_LIST1,
    TEXT_GROUP
};

struct text_list {
    uint32_t n;
    uint32_t room; /* items that fit the array */
    struct slice *items;
    uint32_t first; /* the number of the first item that was read: LIST1 has 1, or 0 */
};

/* Repeated tuples: each item is the struct of the row that has the field's name; that row's first
 * tuple, which has the same name too, begins the next item. */
struct text_group {
    uint32_t n;
    uint32_t room;
    void *items;
};

/* The C type of each kind, for the structs made from the tables. */
#define TEXT_TYPE_WORD  struct slice
#define TEXT_TYPE_REST  struct slice
#define TEXT_TYPE_INT   int64_t
#define TEXT_TYPE_UINT  uint32_t
#define TEXT_TYPE_BOOL  bool
#define TEXT_TYPE_LIST0 struct text_list
#define TEXT_TYPE_LIST1 struct text_list
#define TEXT_TYPE_GROUP struct text_group

enum text_need { TEXT_OPT = 0, TEXT_REQ = 1 };
/* NOBODY: the row is only a part of others (a group). */
enum text_who { TEXT_NOBODY = 0, TEXT_CLIENT = 1, TEXT_SERVER = 2, TEXT_BOTH = 3 };
enum text_when { TEXT_START = 1, TEXT_READY = 2, TEXT_LEFT = 4 };

/* Without an address: tables with addresses are written to at each start of a program. */
struct text_field {
    char name[19];
    uint8_t name_len;
    uint8_t kind; /* enum text_kind */
    uint8_t need; /* enum text_need */
    uint16_t offset;
};

/* Every message struct begins with this: bit i says that field i is present. */
struct text_head {
    uint32_t has;
};

struct text_msg {
    const char *name;
    uint8_t name_len;
    uint8_t who;  /* enum text_who */
    uint8_t when; /* enum text_when, or-ed */
    uint8_t nfields;
    uint16_t size; /* of the struct */
    const struct text_field *fields;
};

struct text_proto {
    const char *name; /* "PMI-1" */
    const struct text_msg *msgs;
    uint16_t nmsgs;
};

enum text_style {
    TEXT_BLANKS,    /* PMI-1 line: `cmd=put key=a value=b c` */
    TEXT_LINES,     /* PMI-1 spawn block: one tuple per line, values to the end of the line */
    TEXT_SEMICOLONS /* PMI-2 body: `cmd=kvs-put;key=a;value=b;`, a doubled `;` stands for one */
};

/* Conditions of text_decode and text_encode. */
enum {
    TEXT_FINE = 0,
    TEXT_UNKNOWN,   /* no such message: *msg_p is untouched */
    TEXT_MALFORMED, /* no `cmd=`, a field twice, missing, or not a number: err tells which */
    TEXT_UNSAYABLE  /* encoding: a value that this style cannot carry: err tells which */
};

/* Decodes one whole message (without its final newline).  *msg_p gets the row number; out, the
 * struct of that row, zeroed first: room is its size, and has to be enough for every message of the
 * protocol (use the union made from the tables).  0, a condition, or -ENOMEM. */
int text_decode(const struct text_proto *proto, enum text_style style, struct slice message,
                struct arena *arena, unsigned *msg_p, void *out, size_t room, struct errmsg *err);

/* The row number of the message that these bytes name, or -1. */
int text_find(const struct text_proto *proto, struct slice name);

/* Appends one message: cmd=, then the present fields in the order of the table, then the final
 * newline (blanks) or separator.  Numbered lists that are adjacent in the table are written item by
 * item in turn (key0 value0 key1 value1), as some readers need them.  LINES writes `mcmd=`, and
 * `endcmd` at the end.  On a condition nothing is written, nor to a buffer that the message
 * poisons. */
int text_encode(const struct text_proto *proto, enum text_style style, unsigned msg, const void *in,
                struct buf *out, struct errmsg *err);

/* True when the value can be the last field of a PMI-1 line (RFC 13: `string`): not empty, no
 * newline, no NUL, at most LIMIT_PMI_VALUE - 1 bytes.  RFC 13 lets it have blanks; MPICH's clients,
 * which never put one, would read up to the first. */
bool text_sayable_pmi1(struct slice value);

#endif
