/* options_table.h - the type of a row of options.def, and of the options in synonyms.def, for the
 * readers of the table: the parser (options.c) and the texts derived from it (options_doc.c). */
#ifndef WIREUP_LAUNCH_OPTIONS_TABLE_H
#define WIREUP_LAUNCH_OPTIONS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"
#include "launch/options.h"
#include "launch/synonyms.h"

enum option_take {
    TAKE_GROUP = 0, /* the row begins a group; help is its title */
    TAKE_ON,
    TAKE_OFF,
    TAKE_U32,
    TAKE_TEXT,
    TAKE_WORD,
    TAKE_CALL,
    TAKE_AS,      /* stands for other options */
    TAKE_NOTHING, /* its values are read and have no effect; help says why */
    TAKE_REFUSED,
    TAKE_ALIAS, /* other names of the option `as` */
};

enum option_complete {
    COMPLETE_NOTHING = 0,
    COMPLETE_FILE,
    COMPLETE_DIR,
    COMPLETE_BIND,
    COMPLETE_MAP,
    COMPLETE_RANK,
};

struct option_parse;

struct option_row {
    const char *names;
    size_t at; /* among all rows */
    enum option_take take;
    enum option_set set;
    bool many, project; /* see options.def; typed as well */
    const char *typed;
    bool in_block; /* `offset` is in struct launch_block, else in struct launch_options */
    bool hidden;
    bool called; /* only for those who call us by the name of mpirun or prterun */
    uint16_t offset;
    uint16_t own;  /* given for a program after the first: this member of its block; 0: none */
    uint8_t count; /* values it takes (CALL, AS, NOTHING, REFUSED) */
    enum synonym_mode list; /* its value has words of this list, if that is not SYNONYM_OPTION */
    enum option_complete complete;
    uint32_t min, max;
    const char *words;
    const char
        *as; /* AS: options and values; % in a value is that of the row.  ALIAS: the option */
    const char *arg;
    const char *fallback;
    const char *env; /* variables that set it, the first that is not empty: "A|B" */
    /* The values are NUL-terminated and outlive the options.  Returns a launch_result or -errno. */
    int (*call)(struct option_parse *p, const struct option_row *row, const char *const *values);
    const char *help;
};

/* Row i of option_row_count.  The rows are code: a table with so many addresses would be written
 * to, page by page, at each start of the launcher, which reads a few of them. */
struct option_row option_row_at(size_t i);
extern const size_t option_row_count;

/* The row is a SETTING: it may have a default and variables. */
bool option_is_setting(size_t i);

/* The number of values that follow the option on the command line. */
uint32_t option_values(const struct option_row *row);

/* ---- for callbacks of rows ---- */

/* Applies other options: "map-by ppr:%:socket", where % is the value (NULL if there is none).
 * As options_parse(). */
int option_apply(struct option_parse *p, const char *as, const char *value);

/* Processes that fail are started again so often, unless their program says otherwise. */
void option_set_restarts(struct option_parse *p, uint32_t n, bool replace);

/* Sets a variable for all programs; typed: the user's word for its name. */
int option_set_variable(struct option_parse *p, const char *name, const char *typed,
                        const char *value);

/* LAUNCH_USAGE, with "-display" (the name in the user's words), a colon and this. */
int option_wrong(struct option_parse *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* What follows comes from this variable: for messages. */
void option_name_variable(struct option_parse *p, struct slice name);

struct arena *option_arena(struct option_parse *p);

/* Where the values of these options are. */
const char **option_map_by(struct option_parse *p);
const char **option_bind_to(struct option_parse *p);

/* Takes the next of the names (or words) "a|b|c"; false at the end. */
static inline bool option_next_name(struct slice *rest, struct slice *name_p)
{
    *name_p = slice_cut(rest, '|');
    return name_p->len > 0;
}

static inline struct slice option_name(const struct option_row *row)
{
    struct slice rest = slice_str(row->names);

    return slice_cut(&rest, '|');
}

/* The row of a name given without dashes; never an ALIAS, but the option that it means.  False: no
 * option has this name. */
bool option_find(struct slice name, struct option_row *row_p);

/* Takes the next of the names of an option: its own, then those of its aliases.  *at_p begins with
 * 0, and *rest_p is the function's own; false at the end. */
bool option_each_name(const struct option_row *row, size_t *at_p, struct slice *rest_p,
                      struct slice *name_p);

#endif
