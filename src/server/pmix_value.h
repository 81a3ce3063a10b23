/* pmix_value.h - PMIx values of a message: as canonical bytes (core/modex.h) and back, and those of
 * attributes as C types. */
#ifndef WIREUP_SERVER_PMIX_VALUE_H
#define WIREUP_SERVER_PMIX_VALUE_H

#include "base/buf.h"
#include "pmix_common.h"

struct card;
struct ppack;

/* The canonical bytes of a value; they lie in the value itself, or in `bytes`, which is poisoned
 * when that cannot be done. */
struct slice pmix_canonical(const pmix_value_t *v, struct buf *bytes);

/* The value of canonical bytes; false: no memory, or malformed. */
bool pmix_value_of(uint16_t type, struct slice bytes, pmix_value_t *v_p);

/* One KVAL from a modex entry. */
void pmix_put_card(struct ppack *w, const struct card *c);

/* ---- attributes ---- */

bool pmix_flag_of(const pmix_value_t *v);
uint64_t pmix_number_of(const pmix_value_t *v);               /* 0: it is none */
bool pmix_is_number(const pmix_value_t *v);                   /* of any integer type */
uint64_t pmix_seconds_of(const pmix_value_t *v);              /* in nanoseconds; 0: for ever */
uint64_t pmix_timeout_of(const pmix_info_t *infos, size_t n); /* likewise */
const char *pmix_text_of(const pmix_info_t *info);            /* NULL: it is none */

void pmix_set_proc(pmix_proc_t *p, const char *nspace, uint32_t rank);
void pmix_drop_infos(pmix_info_t *infos, size_t n);

#endif
