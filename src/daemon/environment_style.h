/* environment_style.h - variables for programs that know neither PMI nor PMIx (PyTorch, JAX, ...),
 * from proto/environment_styles.def.
 *
 * The launcher chooses a style for each program and notes it in the program's environment, as
 * ENVIRONMENT_STYLE_NOTE; from it the daemon of each node adds the variables of each process. */
#ifndef WIREUP_DAEMON_ENVIRONMENT_STYLE_H
#define WIREUP_DAEMON_ENVIRONMENT_STYLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"

#define ENVIRONMENT_STYLE_NOTE "WIREUP_ENV_STYLE"

/* Also the values of the option's words, after "auto" and "none". */
enum environment_style {
    ENVIRONMENT_STYLE_NONE,
#define STYLE(id, word) ENVIRONMENT_STYLE_##id,
#include "proto/environment_styles.def"
    ENVIRONMENT_STYLES
};

enum environment_value {
    ENVIRONMENT_VALUE_RANK,
    ENVIRONMENT_VALUE_SIZE,
    ENVIRONMENT_VALUE_LOCAL_RANK,
    ENVIRONMENT_VALUE_LOCAL_SIZE,
    ENVIRONMENT_VALUE_NODE,
    ENVIRONMENT_VALUE_NODES,
    ENVIRONMENT_VALUE_ATTEMPT, /* the job's epoch (core/job_restart.h) */
    ENVIRONMENT_VALUES
};

/* One process, as its variables describe it. */
struct environment_place {
    uint64_t values[ENVIRONMENT_VALUES];
    const char *nspace;
    uint16_t store_port; /* on the loopback address; 0: its store is not served */
    const char *head;    /* the node of rank 0, as the others reach it */
    bool has_devices;    /* chosen for this process */
};

/* The word of a style, and the style of a word; NONE: there is none of that name. */
const char *environment_style_word(enum environment_style style);
enum environment_style environment_style_named(struct slice word);

/* True for a variable of any style. */
bool environment_style_has(struct slice name);

/* Calls put() for each variable that is to be set.  has() tells which ones the program has already.
 */
struct environment_style_calls {
    bool (*has)(void *arg, const char *name);
    void (*put)(void *arg, const char *name, struct slice value);
    void *arg;
};
/* It has variables for the store, and the program none of them: the store is needed. */
bool environment_style_needs_store(enum environment_style style,
                                   const struct environment_style_calls *calls);
void environment_style_put(enum environment_style style, const struct environment_place *place,
                           const struct environment_style_calls *calls);

#endif
