/* pmix_skip.h - passing over items without taking them. */
#ifndef WIREUP_WIRE_PMIX_SKIP_H
#define WIREUP_WIRE_PMIX_SKIP_H

#include "wire/pmix_unpack.h"

/* A value of this type.  The place after it; NULL: the reader has failed (pmix_reader.h). */
const uint8_t *pskip_value_of(struct punpack *r, const uint8_t *p, uint16_t type);

#endif
