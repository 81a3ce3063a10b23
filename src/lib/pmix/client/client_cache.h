/* client_cache.h - data that this process knows without asking the server, by namespace.
 *
 * Three sources, looked up in this order:
 *   values     single ones by (rank, key): those that the process itself put or stored, and results
 *              of gets
 *   job info   as received from servers (client_info.h), newest first
 *   the store  of our own server, in shared memory: modex values of the process's own job; it comes
 *              before values that were got of other ranks, which may be older
 *
 * Called with the client's lock held.
 */
#ifndef WIREUP_LIB_PMIX_CLIENT_CLIENT_CACHE_H
#define WIREUP_LIB_PMIX_CLIENT_CLIENT_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "base/map.h"
#include "lib/pmix/client/client_info.h"
#include "pmix_common.h"
#include "store/store_read.h"
#include "wire/pmix_message.h"

/* A value by (rank, key), or by (rank, key, qualifiers). */
struct known {
    pmix_value_t value;
    struct known *older; /* replaced, but lent to the program for good */
    struct list link;    /* qualified: among the space's */
    struct list put;     /* the process's own: in the order of its puts */
    bool sent;           /* … and the server has it */
    pmix_info_t *quals;  /* qualifiers that must be asked for along with the key */
    size_t nquals;
    uint32_t rank;
    uint8_t scope; /* 0: not known */
    bool lent;     /* by PMIX_GET_POINTER_VALUES */
    uint16_t packed_type;
    struct buf packed; /* … and made of these bytes, of that type */
    size_t name_len;
    char name[]; /* rank and key, by which the map finds it; and a NUL */
};

static inline const char *known_key(const struct known *k)
{
    return k->name + sizeof(uint32_t);
}

struct space {
    struct list link;
    pmix_nspace_t nspace;
    struct map values;
    struct list qualified;        /* struct known */
    struct list infos;            /* struct job_info, newest first */
    const struct seg_view *cards; /* the store, or NULL: not visible from here */
    uint32_t me;                  /* the process's own rank, where there are modex values */
};

struct cache {
    struct list spaces;
};

void cache_init(struct cache *c);
void cache_free(struct cache *c);

/* A namespace; NULL: not known (cache_make_space: no memory). */
struct space *cache_space(struct cache *c, const char *nspace);
struct space *cache_make_space(struct cache *c, const char *nspace);

/* Takes v over (also when it fails).  PMIX_SUCCESS or PMIX_ERR_NOMEM.  *k_p (may be NULL) is where
 * it is now. */
pmix_status_t space_put(struct space *s, uint32_t rank, struct slice key, pmix_value_t *v,
                        struct known **k_p);
struct known *space_find(const struct space *s, uint32_t rank, struct slice key);

/* The value of a datum, to be lent for good: a later call with the same bytes finds it, so lending
 * takes no more memory.  As space_put(); NULL: no such value, or of other bytes. */
pmix_status_t space_lend(struct space *s, uint32_t rank, struct slice key, pmix_value_t *v,
                         const struct datum *d, struct known **k_p);
struct known *space_find_lent(const struct space *s, uint32_t rank, struct slice key,
                              const struct datum *d);

/* A value with qualifiers, as PMIX_QUALIFIED_VALUE brings it: an array of infos, of which the first
 * is the key and the others the qualifiers; v is taken over.  PMIX_SUCCESS, PMIX_ERR_NOMEM, or
 * PMIX_ERR_BAD_PARAM: it is no such array. */
pmix_status_t space_put_qualified(struct space *s, uint32_t rank, pmix_value_t *v,
                                  struct known **k_p);
/* The value with all the qualifiers among these infos (flagged PMIX_INFO_QUALIFIER). */
struct known *space_find_qualified(const struct space *s, uint32_t rank, struct slice key,
                                   const pmix_info_t *infos, size_t ninfos);

/* Job info in these bytes; owned (may be NULL) is taken over.  It replaces older job info that
 * contains no more than it does.  PMIX_SUCCESS, PMIX_ERR_NOMEM, PMIX_ERR_UNPACK_FAILURE. */
pmix_status_t space_take_info(struct space *s, struct slice bytes, void *owned,
                              const struct ptype_flavour *as);
/* The same with a copy of the bytes. */
pmix_status_t space_copy_info(struct space *s, struct slice bytes, const struct ptype_flavour *as);

/* A server's job info of another namespace, copied.  As space_take_info(). */
pmix_status_t cache_take_job(struct cache *c, const struct pmsg_job_info *m,
                             const struct ptype_flavour *as);

/* KVALs of one rank, to the end of r. */
pmix_status_t space_take_values(struct space *s, uint32_t rank, struct punpack *r);

/* From the job info: of the job, or of a part. */
bool space_job_datum(const struct space *s, struct slice key, struct datum *d_p);
bool space_part_datum(const struct space *s, enum info_level level, uint32_t number,
                      struct slice name, struct slice key, struct datum *d_p);

/* The modex value of the rank (PMIX_RANK_UNDEF: any) from the store (NULL: there is none), with
 * its scope, which the caller applies.  No lock is needed. */
bool card_datum(const struct seg_view *cards, uint32_t rank, struct slice key, struct datum *d_p,
                uint8_t *scope_p);

/* Numbers and texts that the library itself needs. */
bool datum_u32(const struct datum *d, uint32_t *n_p);
char *datum_text(const struct datum *d); /* malloc'ed; NULL: no string, or no memory */

#endif
