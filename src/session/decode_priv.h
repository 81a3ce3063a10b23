/* decode_priv.h - what the decoders of the protocols share. */
#ifndef WIREUP_SESSION_DECODE_PRIV_H
#define WIREUP_SESSION_DECODE_PRIV_H

#include "session/decode.h"

/* Finds the first message of the bytes.  DECODE_MORE, or DECODE_MESSAGE with *m_p filled and its
 * length in m_p->bytes.len; -ENOMEM. */
typedef int decode_fn(struct decode *d, enum decode_way way, struct slice in, struct decoded *m_p);

decode_fn decode_text, decode_pmix;

/* Adds a field; false: no memory. */
bool decode_add(struct decode *d, struct decode_field f);
bool decode_add_text(struct decode *d, const char *name, struct slice text);
bool decode_add_bytes(struct decode *d, const char *name, struct slice bytes);
bool decode_add_number(struct decode *d, const char *name, int64_t number);

#endif
