/* client_info.h - a server's job info, received in one message and looked up in place.
 *
 * The message (the reply to a client's first request; the same in replies to connect, spawn and
 * get) is a series of KVALs: of the job, and arrays or blobs for each session, node, application
 * and rank.  It is not taken apart: an index of its parts is built once, values are decoded on
 * demand.  Our own server lends it from the job's store, in memory that all processes share.
 */
#ifndef WIREUP_LIB_PMIX_CLIENT_CLIENT_INFO_H
#define WIREUP_LIB_PMIX_CLIENT_CLIENT_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "base/slice.h"
#include "wire/pmix_unpack.h"

/* A value that is still packed: in an encoding, or (NULL) as in the store (core/modex.h). */
struct datum {
    uint16_t type;
    struct slice bytes;
    const struct ptype_flavour *as;
};

/* The value in new memory, to be released with pmem_free. */
enum ptype_error datum_read(const struct datum *d, pmix_value_t *value_p);

/* The commonest case: a small number.  Bytes of seven bits each, the lowest first. */
static inline bool datum_small(struct slice bytes, uint32_t *v_p)
{
    uint32_t v = 0;

    if (bytes.len == 0 || bytes.len > 4)
        return false;
    for (size_t i = 0; i < bytes.len; i++) {
        unsigned char byte = (unsigned char)bytes.ptr[i];
        bool last = i + 1 == bytes.len;
        if (last == (byte > 0x7f))
            return false;
        v |= (uint32_t)(byte & 0x7f) << (7 * i);
    }
    *v_p = v;
    return true;
}

struct info_item {
    struct slice key;
    uint16_t type;
    struct slice bytes;
};

enum info_level { INFO_SESSION, INFO_NODE, INFO_APP, INFO_RANK };

/* One session, node, application or rank. */
struct info_part {
    uint32_t number;   /* session id, node id, application number or rank; UINT32_MAX: not given */
    struct slice name; /* host name of a node */
    struct slice bytes;
};

/* Where the ranks are.  Only every stride-th one has a milestone, so that the memory of a
 * process does not grow with its job; from there it is a few steps through the message. */
struct info_ranks {
    struct info_milestone {
        uint32_t rank;
        size_t at; /* where its KVAL begins */
    } * stones;
    size_t nstones, stride, count;
    bool sorted; /* ascending in the message; if not, every rank has its milestone */
};

struct job_info {
    struct list link;
    const struct ptype_flavour *as;
    struct slice bytes;
    void *owned; /* the memory that holds the bytes, or NULL: they are lent */
    struct info_item *items;
    size_t nitems;
    struct info_part *parts[INFO_RANK];
    size_t nparts[INFO_RANK];
    struct info_ranks ranks;
};

/* Builds the index of these KVALs.  owned (may be NULL) is taken over in any case, and freed
 * with the result.  0; -ENOMEM; -EBADMSG: invalid. */
int job_info_new(struct slice bytes, void *owned, const struct ptype_flavour *as,
                 struct job_info **j_p);
struct job_info *job_info_free(struct job_info *j); /* returns NULL */

/* Of the job itself. */
bool job_info_find(const struct job_info *j, struct slice key, struct datum *d_p);

/* A part by its number; nodes also by name (number then UINT32_MAX).  False: not there. */
bool job_info_part(const struct job_info *j, enum info_level level, uint32_t number,
                   struct slice name, struct info_part *p_p);
bool info_part_find(const struct job_info *j, enum info_level level, const struct info_part *p,
                    struct slice key, struct datum *d_p);

/* Its items one after the other: *at is 0 at first.  False: no more. */
struct info_walk {
    struct punpack r;
    size_t left;
    bool begun;
};
bool info_part_next(const struct job_info *j, enum info_level level, const struct info_part *p,
                    struct info_walk *w, struct info_item *item_p);

#endif
