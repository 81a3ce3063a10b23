/* print.h - any PMIx item as readable text. */
#ifndef WIREUP_LIB_PMIX_VALUES_PRINT_H
#define WIREUP_LIB_PMIX_VALUES_PRINT_H

#include "pmix_common.h"

/* The text of one item (as in PMIx_Data_print: for PMIX_STRING, the text itself), malloc'ed into
 * *text_p.  `prefix` begins every line; NULL means one blank.
 * PMIX_ERR_BAD_PARAM: item is NULL.  PMIX_ERR_UNKNOWN_DATA_TYPE.  PMIX_ERR_NOMEM. */
pmix_status_t print_item(const char *prefix, const void *item, pmix_data_type_t type,
                         char **text_p);

#endif
