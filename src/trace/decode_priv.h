/* decode_priv.h - shared by the decoders of the protocols. */
#ifndef WIREUP_TRACE_DECODE_PRIV_H
#define WIREUP_TRACE_DECODE_PRIV_H

#include "trace/decode.h"
#include "wire/pmix_types.h"

/* Finds the first message of the bytes.  DECODE_MORE, or DECODE_MESSAGE with *m_p filled and its
 * length in m_p->bytes.len; -ENOMEM. */
typedef int decode_fn(struct decode *d, enum decode_way way, struct slice in, struct decoded *m_p);

decode_fn decode_text, decode_pmix;

/* ---- decode_fields.c ---- */

/* Adds a field; false: no memory. */
bool decode_add(struct decode *d, struct decode_field f);
bool decode_add_text(struct decode *d, const char *name, struct slice text);
bool decode_add_bytes(struct decode *d, const char *name, struct slice bytes);
/* A credential, which lives as long as the message: only that there is one. */
bool decode_add_secret(struct decode *d, struct slice name, struct slice bytes);
bool decode_add_number(struct decode *d, const char *name, int64_t number);

/* A list or a group, and its end. */
bool decode_open(struct decode *d, struct slice name, enum decode_kind kind);
bool decode_close(struct decode *d);

/* ---- decode_value.c ---- */

/* Adds items of a data type as fields; texts are copied.  False: no memory. */
bool decode_put_item(struct decode *d, struct slice name, const struct ptype *t, const void *item);
bool decode_put_items(struct decode *d, struct slice name, const struct ptype *t, const void *items,
                      size_t n);

/* A key with its value. */
bool decode_put_keyed(struct decode *d, struct slice key, uint32_t flags, const pmix_value_t *v);

/* ---- decode_body.c ---- */

struct pmsg;
struct punpack;

/* Adds the fields of a message of this row, and the part that cannot be read as bytes; m_p->fault
 * tells why.  False: no memory. */
bool decode_body(struct decode *d, const struct pmsg *row, struct punpack *r, struct decoded *m_p);

/* The unread rest, as bytes, with the reason. */
bool decode_body_rest(struct decode *d, const struct punpack *r, const char *why,
                      struct decoded *m_p);

/* Functions for the encoding of cpusets and topologies; without hwloc.  The support flags of a
 * topology have a length that depends on the sender's hwloc: variants 0 to DECODE_FOREIGN - 1. */
enum { DECODE_FOREIGN = 2 };
extern const struct ptype_foreign decode_foreign[DECODE_FOREIGN];

#endif
