/* tool_infos.h - the infos of a request, made from words of a command line. */
#ifndef WIREUP_TOOLS_PMIX_TOOL_INFOS_H
#define WIREUP_TOOLS_PMIX_TOOL_INFOS_H

#include <stddef.h>

#include "pmix_common.h"
#include "tools/pmix/tool_options.h"

enum { TOOL_INFOS_MAX = 32 };

struct tool_infos {
    pmix_info_t items[TOOL_INFOS_MAX];
    size_t n;
};

/* Not more than TOOL_INFOS_MAX; each is flagged as required, so that what is not done is refused.
 */
void tool_infos_add(struct tool_infos *i, const char *key, const void *data, pmix_data_type_t type);
/* The value of that option, if it is given. */
void tool_infos_text(struct tool_infos *i, const struct tool_line *l, enum tool_option o,
                     const char *key);
void tool_infos_flag(struct tool_infos *i, const struct tool_line *l, enum tool_option o,
                     const char *key);
void tool_infos_free(struct tool_infos *i);

/* The key of an attribute that is given by name or by text. */
const char *tool_key(const char *word);

/* Loads info with the text as a value of the attribute's type.  False: it is no such value, or the
 * type is none that can be written on a command line. */
bool tool_info_read(pmix_info_t *info, const char *key, const char *text);

/* "NAMESPACE:RANK"; the rank may be *, or missing. */
bool tool_proc_read(struct slice text, pmix_proc_t *proc_p);

/* "TERM", "SIGTERM", "15"; 0: there is none. */
int tool_signal_read(const char *text);

#endif
