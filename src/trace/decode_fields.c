/* decode_fields.c - the fields of a decoded message, as the decoders of the protocols add them. */
#include "base/grow.h"
#include "base/limit.h"
#include "trace/decode_priv.h"

bool decode_add(struct decode *d, struct decode_field f)
{
    struct decode_field *fields;

    if (d->nfields == LIMIT_DECODE_FIELDS) {
        d->full = true;
        return true;
    }
    fields = grow_by_one(d->fields, sizeof *fields, d->nfields, &d->room, 16);
    if (!fields)
        return false;
    d->fields = fields;
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
    struct slice *secrets =
        grow_by_one(d->secrets, sizeof *secrets, d->nsecrets, &d->secret_room, 4);

    if (!secrets)
        return false;
    d->secrets = secrets;
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
