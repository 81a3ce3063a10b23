/* side_command.h - commands of the resource manager that run beside the loop: each gets its input
 * and its environment, its outputs are kept, and nothing waits for it.
 *
 * A command is started without a fork (io/child.h), and ends with us, with side_command_free(), or
 * when its time is over.
 */
#ifndef WIREUP_DAEMON_SIDE_COMMAND_H
#define WIREUP_DAEMON_SIDE_COMMAND_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/list.h"

struct loop;
struct side_command;

/* Those of one module. */
struct side_commands {
    struct loop *loop; /* NULL: not open */
    struct list all;
};

enum { SIDE_COMMAND_INPUT = 16 << 10, SIDE_COMMAND_OUTPUT = 1 << 20 };

struct side_command_config {
    /* These three are not needed any more when it has started. */
    const char *const *words; /* words[0] is looked for on our PATH */
    char *const *env;         /* NULL: ours */
    struct slice input;       /* at most SIDE_COMMAND_INPUT */
    uint64_t patience_ms;     /* 0: as long as it takes */
    /* There is more output.  May be NULL. */
    void (*more)(void *arg, struct side_command *k);
    /* It has ended, with this status of wait(); or late: its time is over, and it is killed.  Then
     * it is freed. */
    void (*done)(void *arg, struct side_command *k, int status, bool late);
    void *arg;
};

void side_commands_open(struct side_commands *s, struct loop *loop);
/* Kills them; no done().  Harmless twice, and on zeroed memory. */
void side_commands_close(struct side_commands *s);
/* The loop does not run any more: waits until all have ended, and kills those that have not within
 * that time; no done(). */
void side_commands_await(struct side_commands *s, uint32_t ms);

/* NULL with a sentence. */
struct side_command *side_command_start(struct side_commands *s,
                                        const struct side_command_config *config,
                                        struct errmsg *err);
void side_command_free(struct side_command *k); /* kills it; no done(); harmless on NULL */

/* Outputs so far; incomplete if it is more than SIDE_COMMAND_OUTPUT. */
struct slice side_command_out(const struct side_command *k);
struct slice side_command_errors(const struct side_command *k);

/* A child of ours has been reaped.  True: it was one of these. */
bool side_commands_reaped(struct side_commands *s, pid_t pid, int status);

#endif
