/* space.h - the names of key-value spaces, and iterations over one.
 *
 * Besides the job's own KVS a program may create further ones.  PMI-1 has no message for that which
 * today's servers understand, so a further KVS is a part of the job's own one:
 *
 *   alone, ours  key in the store: the name of the KVS, a NUL, the key (core/job.c does the same);
 *                Wireup's server makes the names
 *   legacy       key on the wire: `%R.S%` and the key, for the S-th KVS created by rank R; its name
 *                is that of the job's KVS, then `:R.S`.  All users of our library agree on this.
 */
#ifndef WIREUP_LIB_PMI_SPACE_H
#define WIREUP_LIB_PMI_SPACE_H

#include "lib/pmi/client.h"

enum space_kind {
    SPACE_MAIN,     /* the job's own */
    SPACE_FURTHER,  /* name NUL key */
    SPACE_PREFIXED, /* %R.S%key */
    SPACE_FOREIGN   /* legacy: another job's; the server knows */
};

struct kvs_space {
    enum space_kind kind;
    struct slice name;
    char prefix[32]; /* of SPACE_PREFIXED */
};

/* A key as it is stored. */
struct space_key {
    struct slice bytes;
    struct buf mem; /* of a key that had to be composed */
};

/* 0; CLIENT_BAD_SPACE: empty, or known to be destroyed or never created; or the result of asking
 * for the name of the job's KVS. */
int space_find(struct pmi1_client *c, const char *name, struct kvs_space *s_p, struct errmsg *err);

/* 0; CLIENT_BAD_KEY: empty; CLIENT_LONG_KEY; -ENOMEM.  Free with space_key_free. */
int space_key(const struct pmi1_client *c, const struct kvs_space *s, const char *key,
              struct space_key *k_p, struct errmsg *err);
void space_key_free(struct space_key *k);

/* 0, CLIENT_SHORT_ROOM, CLIENT_FAILED, -ENOMEM. */
int space_create(struct pmi1_client *c, char *name, size_t room, struct errmsg *err);
/* 0, CLIENT_BAD_SPACE, CLIENT_FAILED, -ENOMEM. */
int space_destroy(struct pmi1_client *c, const char *name, struct errmsg *err);

/* A pair copied out, NUL-terminated. */
struct space_pair {
    char *key, *value;
    size_t key_room, value_room;
};

/* The first pair of a KVS, the next one; at the end both strings are empty.  0;
 * CLIENT_BAD_SPACE; CLIENT_LONG_KEY, CLIENT_LONG_VALUE: no room, the iteration does not advance;
 * CLIENT_FAILED: this server cannot list, or no iteration is under way; -ENOMEM. */
int space_first(struct pmi1_client *c, const char *name, const struct space_pair *pair,
                struct errmsg *err);
int space_next(struct pmi1_client *c, const char *name, const struct space_pair *pair,
               struct errmsg *err);

/* Frees the client's list of further KVSs. */
void space_forget_all(struct pmi1_client *c);

#endif
