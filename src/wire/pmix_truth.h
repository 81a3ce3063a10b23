/* pmix_truth.h - what a value says as a flag. */
#ifndef WIREUP_WIRE_PMIX_TRUTH_H
#define WIREUP_WIRE_PMIX_TRUTH_H

#include "pmix_common.h"

/* No value is true; a text is one of the words of OpenPMIx's documentation, or a number.  All
 * others are PMIX_NON_BOOL. */
pmix_boolean_t pmix_truth(const pmix_value_t *v);

#endif
