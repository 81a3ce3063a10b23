/* remote_command.h - one command that starts daemons (remote_exec.h): the record of the daemon goes
 * to its standard input or to a file, and its output comes in lines.  It is a process, or a
 * connection to a DVM that runs the daemon (dvm_request.h). */
#ifndef WIREUP_DAEMON_REMOTE_COMMAND_H
#define WIREUP_DAEMON_REMOTE_COMMAND_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"
#include "io/loop.h"

struct remote_command;

/* A line, without its newline, of standard output (where the daemon answers) or standard error. */
typedef void remote_command_line_fn(void *arg, bool is_output, struct slice line);

/* A connection has ended; status: as from waitpid(), 0, or of exit code 1 if the DVM has refused.
 * The command may be started again. */
typedef void remote_command_end_fn(void *arg, int status);

/* One of its two streams. */
struct remote_stream {
    struct remote_command *command;
    int fd; /* -1: closed */
    bool answers;
    struct watch watch;
    struct buf line;
};

struct remote_command {
    struct loop *loop;
    remote_command_line_fn *on_line;
    void *arg;
    pid_t pid;                     /* 0: no process */
    remote_command_end_fn *on_end; /* of its connection; NULL: there is none */
    bool accepted;                 /* ... and the DVM runs the daemon */
    struct buf record;
    char *file; /* the record's file, or NULL */
    int in;     /* -1: closed */
    struct watch feed;
    struct remote_stream out, err;
};

void remote_command_init(struct remote_command *k, struct loop *loop,
                         remote_command_line_fn *on_line, void *arg);
/* Kills it, if it runs; the file is removed. */
void remote_command_free(struct remote_command *k);

/* For a new record, which is written to its standard input as soon as it runs; the file of the one
 * before is removed. */
struct buf *remote_command_record(struct remote_command *k);
/* Or, for commands without standard input: into a file in our home that only we may read.  0, or
 * -errno with a sentence. */
int remote_command_write_file(struct remote_command *k, struct errmsg *err);
void remote_command_drop_file(struct remote_command *k);

/* Its standard input stays open until remote_command_close_in().  0, or as child_start() with a
 * sentence. */
int remote_command_start(struct remote_command *k, const char *path, char **argv, char **env,
                         struct errmsg *err);
/* Writes the request to a DVM; words: its own.  0 or -errno. */
int remote_command_ask(int fd, char *const *words);
/* The same as remote_command_start() by the connection on which a DVM was asked, which is taken
 * over.  0, or -errno with a sentence: it is closed, and on_end() is not called. */
int remote_command_connect(struct remote_command *k, int fd, remote_command_end_fn *on_end,
                           struct errmsg *err);
void remote_command_close_in(struct remote_command *k);
/* To its process group; a connection is closed, and does not end aloud. */
void remote_command_signal(struct remote_command *k, int sig);
bool remote_command_runs(const struct remote_command *k);

/* It has been reaped: its last lines are handed out. */
void remote_command_ended(struct remote_command *k);

#endif
