/* option_words.h - options of Open MPI and PRRTE whose value is a list of words or a parameter:
 * rows CALL of options.def, by the lists of synonyms.def.  Each word stands for options of ours,
 * or is refused with a reason; none is dropped.
 *
 * Results as those of options_parse().
 */
#ifndef WIREUP_LAUNCH_OPTION_WORDS_H
#define WIREUP_LAUNCH_OPTION_WORDS_H

#include "launch/options_table.h"

typedef int option_words_fn(struct option_parse *p, const struct option_row *row,
                            const char *const *values);

/* -display map,bind   -output tag,dir=PATH */
option_words_fn option_words_display, option_words_output;

/* -mca KEY VALUE: a parameter of a launcher is an option here; and any is a variable of the
 * programs, OMPI_MCA_KEY.  -prtemca: of a launcher only.  -pmixmca: the variable PMIX_MCA_KEY. */
option_words_fn option_words_mca, option_words_prtemca, option_words_pmixmca;

/* The same parameters as variables, OMPI_MCA_KEY and PRTE_MCA_KEY; others are the programs' own. */
int option_words_environment(struct option_parse *p, char *const *envp);

/* -map-by node:display   -bind-to core:report   -runtime-options continuous */
option_words_fn option_words_map_by, option_words_bind_to, option_words_runtime;

/* The words behind a ':' of -map-by and of -bind-to that stand for options of ours. */
enum option_modifiers { OPTION_MODIFIERS_MAP, OPTION_MODIFIERS_BIND };

struct option_modifier {
    const char *as;  /* the option; "": it has no effect; NULL: it is refused */
    const char *why; /* it is refused */
};

/* False: it is none of them. */
bool option_words_modifier(enum option_modifiers of, struct slice word,
                           struct option_modifier *m_p);

/* -path DIRS   -prefix DIR: in front of PATH (and LD_LIBRARY_PATH) of all programs. */
option_words_fn option_words_path, option_words_prefix;

/* -with-ft ulfm */
option_words_fn option_words_with_ft;

/* -on-failure restart:2: what becomes of a job when a process fails or a node is lost */
option_words_fn option_words_on_failure;

/* -use-wireup-libraries yes */
option_words_fn option_words_own_libraries;

/* -cpu-list 0-3,8 */
option_words_fn option_words_cpu_list;

/* Is this text a refusal: "0", "no", "off", "false" or empty? */
bool option_words_is_false(const char *text);

#endif
