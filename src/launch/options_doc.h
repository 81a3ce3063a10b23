/* options_doc.h - documentation of the options: help, manual, completion.
 *
 * All of it comes from the rows of options.def and synonyms.def, so none can be out of date.  The
 * completion, and two marked parts of the manual docs/man/wireup.1, are kept in the repository, so
 * that nothing has to be generated to read or install them; tests/check-docs compares them with the
 * output of these functions (through the program wireup-doc), and renews them.
 */
#ifndef WIREUP_LAUNCH_OPTIONS_DOC_H
#define WIREUP_LAUNCH_OPTIONS_DOC_H

#include "base/buf.h"
#include "launch/options_table.h"

void options_help(struct buf *out);
struct command_row;
void options_help_command(struct buf *out, const struct command_row *row);
void options_help_sentence(struct buf *out, const struct option_row *row);
void options_help_one(struct buf *out, const struct option_row *row);
void options_man(struct buf *out); /* mdoc: the list of options */
void options_man_synopsis(struct buf *out);
void options_man_commands(struct buf *out);    /* mdoc: the other commands and their options */
void options_man_environment(struct buf *out); /* mdoc: the items of variables that set options */
void options_completion(struct buf *out);

/* "-map-by ppr:N:socket -oversubscribe" of the options "map-by ppr:%:socket oversubscribe" and the
 * argument N. */
void options_put_as(struct buf *out, const char *options, const char *arg);

#endif
