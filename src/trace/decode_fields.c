/* decode_fields.c - the fields of a decoded message, as the decoders of the protocols add them. */
#include <stdlib.h>

#include "base/limit.h"
#include "trace/decode_priv.h"

bool decode_add(struct decode *d, struct decode_field f)
{
    if (d->nfields == LIMIT_DECODE_FIELDS) {
        d->full = true;
        return true;
    }
    if (d->nfields == d->room) {
        uint32_t room = d->room ? d->room * 2 : 16;
        struct decode_field *more = realloc(d->fields, room * sizeof *more);
        if (!more)
            return false;
        d->fields = more;
        d->room = room;
    }
    f.item = d->item;
    d->fields[d->nfields++] = f;
    return true;
}

bool decode_add_text(struct decode *d, const char *name, struct slice text)
{
    return decode_add(
        d, (struct decode_field){ .name = slice_str(name), .kind = DECODE_TEXT, .text = text });
}

bool decode_add_bytes(struct decode *d, const char *name, struct slice bytes)
{
    return decode_add(
        d, (struct decode_field){ .name = slice_str(name), .kind = DECODE_BYTES, .text = bytes });
}

static bool keep_secret(struct decode *d, struct slice bytes)
{
    if (d->nsecrets == d->secret_room) {
        uint32_t room = d->secret_room ? d->secret_room * 2 : 4;
        struct slice *more = realloc(d->secrets, room * sizeof *more);
        if (!more)
            return false;
        d->secrets = more;
        d->secret_room = room;
    }
    d->secrets[d->nsecrets++] = bytes;
    return true;
}

bool decode_add_secret(struct decode *d, struct slice name, struct slice bytes)
{
    if (bytes.len && !keep_secret(d, bytes))
        return false;
    return decode_add(
        d, (struct decode_field){ .name = name,
                                  .kind = DECODE_TEXT,
                                  .text = bytes.len ? SLICE("(not shown)") : SLICE_NULL });
}

bool decode_add_number(struct decode *d, const char *name, int64_t number)
{
    return decode_add(d, (struct decode_field){
                             .name = slice_str(name), .kind = DECODE_NUMBER, .number = number });
}

bool decode_open(struct decode *d, struct slice name, enum decode_kind kind)
{
    return decode_add(d, (struct decode_field){ .name = name, .kind = kind });
}

bool decode_close(struct decode *d)
{
    return decode_add(d, (struct decode_field){ .kind = DECODE_END });
}
