/* command_json.h - one object of JSON on standard output, as commands print it: its first member is
 * its schema (docs/json.md). */
#ifndef WIREUP_TOOLS_COMMAND_JSON_H
#define WIREUP_TOOLS_COMMAND_JSON_H

#include "base/buf.h"
#include "base/json.h"

struct command_json {
    struct buf out;
    struct json json; /* for the members */
};

/* "wireup-kill-1" */
void command_json_begin(struct command_json *o, const char *schema);

/* Prints it, and frees all.  1: standard output does not take it, or there was no memory; else
 * code. */
int command_json_end(struct command_json *o, int code);

#endif
