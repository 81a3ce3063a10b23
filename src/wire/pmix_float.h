/* pmix_float.h - floating-point numbers as PMIx sends them: decimal text with six decimals.
 *
 * Byte for byte the output of printf's "%f" in the C locale, whatever the locale of the process,
 * and read back the same way; the common magnitudes take integer arithmetic instead of libc.
 */
#ifndef WIREUP_WIRE_PMIX_FLOAT_H
#define WIREUP_WIRE_PMIX_FLOAT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/slice.h"

/* DBL_MAX has 309 digits before the point; sign, point, six decimals and the NUL. */
enum { PFLOAT_MAX = 320 };

/* Writes v and a NUL; returns the length without it. */
size_t pfloat_put(char out[PFLOAT_MAX], double v);

/* Reads a whole text (NaN and infinities too, as strtod does); false when it is no number. */
bool pfloat_get(struct slice text, double *v_p);
bool pfloat_get_single(struct slice text, float *v_p);

#endif
