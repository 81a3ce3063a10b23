/* tool_print.h - what the PMIx tools print: tables and values as text, and JSON.
 *
 * Texts of servers are printed without their control characters.
 */
#ifndef WIREUP_TOOLS_PMIX_TOOL_PRINT_H
#define WIREUP_TOOLS_PMIX_TOOL_PRINT_H

#include "base/json.h"
#include "pmix_common.h"
#include "tools/pmix/tool_options.h"

/* The output of a tool, which is written at its end. */
struct tool_out {
    const struct tool_line *line;
    struct buf text;
    struct json json;
    bool is_json;
};

/* With --json an object is begun: {"schema": "wireup-TOOL-1", … */
void tool_out_begin(struct tool_out *o, const struct tool_line *l);
/* Writes it, and frees it.  Returns status, or TOOL_FAILED when it cannot be written. */
int tool_out_end(struct tool_out *o, int status);

/* The results of a request: prints them, or says that the server refuses it.  They are freed.
 * Returns what print returns, or TOOL_FAILED. */
typedef int tool_print_fn(const struct tool_line *l, const pmix_info_t *infos, size_t n);
int tool_results(const struct tool_line *l, pmix_status_t status, pmix_info_t *infos, size_t n,
                 tool_print_fn *print);

/* The name of an attribute (PMIX_JOB_SIZE), or its text if it has none. */
const char *tool_key_name(const char *key);

/* A value on lines of its own, each indented so far. */
void tool_print_value(struct buf *out, const pmix_value_t *v, unsigned indent);
/* As JSON: members `type` and `value`, in the object that is open. */
void tool_json_value(struct json *j, const pmix_value_t *v);
/* An object with `key`, `name`, `type`, `value`. */
void tool_json_info(struct json *j, const pmix_info_t *info);

/* Rows of cells; numbers (right) are aligned to the right. */
enum { TOOL_COLUMNS = 8 };

struct tool_table {
    const char *heads[TOOL_COLUMNS]; /* NULL: the end; a '>' before it: aligned to the right */
    char **cells;
    size_t n, room;
    unsigned columns;
};

void tool_table_cell(struct tool_table *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Prints and frees it. */
void tool_table_print(struct tool_table *t, struct buf *out, unsigned indent);

#endif
