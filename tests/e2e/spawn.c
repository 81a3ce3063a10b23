/* spawn.c - PMIx_Spawn, as a table: a row for each directive; the children verify it.
 *
 *   spawn GROUP DIR      spawns the rows of the group, one after the other; DIR is for its files
 *   spawn tool DIR URI [GROUP]   the same as a tool of that launcher
 *   spawn child NAME CHECK...
 *
 * A parent prints `GROUP N good`, after a line for each row whose status is not the expected one; a
 * child prints `NAME good`, or the check that does not hold and what it has found instead.  With
 * SPAWN_SHOW in the environment the parent prints each row.  `@` in a text of a row is DIR. */
#include <errno.h>
#include <fcntl.h>
#include <pmix.h>
#include <pmix_tool.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "keeps.h"

/* OpenPMIx 4.2 does not name it. */
#ifndef PMIX_SPAWN_CHILD_SEP
#define PMIX_SPAWN_CHILD_SEP "pmix.spchildsep"
#endif

#ifndef PMIX_FWD_ENVIRONMENT
#define PMIX_FWD_ENVIRONMENT "pmix.fwdenv"
#endif
#ifndef PMIX_DISPLAY_PARSEABLE_OUTPUT
#define PMIX_DISPLAY_PARSEABLE_OUTPUT "pmix.dispparse"
#endif
#ifndef PMIX_DISPLAY_PROCESSORS
#define PMIX_DISPLAY_PROCESSORS "pmix.dispcpus"
#endif
#ifndef PMIX_REPORT_PHYSICAL_CPUS
#define PMIX_REPORT_PHYSICAL_CPUS "pmix.repphys.cpus"
#endif

enum { INFOS = 5, CHECKS = 6, APPS = 2, TEXT = 600 };

static pmix_proc_t me;
static const char *program, *dir;

/* ---- the table ---- */

struct info {
    const char *key;
    enum { NO_INFO, STRING, FLAG, NUMBER, ENVAR } type;
    const char *text; /* of ENVAR "NAME=VALUE" */
    char separator;
    int number;
    bool required;
};

struct app {
    const char *cmd; /* NULL: this program, as a child */
    int nprocs;
    const char *cwd;
    const char *env;
    struct info infos[INFOS];
    const char *checks[CHECKS];
};

struct row {
    const char *group, *name;
    pmix_status_t status;
    struct info infos[INFOS];
    struct app apps[APPS];
};

#define TEXT_INFO(key, text)                                                                       \
    {                                                                                              \
        key, STRING, text, 0, 0, false                                                             \
    }
#define FLAG_INFO(key)                                                                             \
    {                                                                                              \
        key, FLAG, NULL, 0, 1, false                                                               \
    }
#define NOT_INFO(key)                                                                              \
    {                                                                                              \
        key, FLAG, NULL, 0, 0, false                                                               \
    }
#define NUMBER_INFO(key, number)                                                                   \
    {                                                                                              \
        key, NUMBER, NULL, 0, number, false                                                        \
    }
#define ENVAR_INFO(key, sep, text)                                                                 \
    {                                                                                              \
        key, ENVAR, text, sep, 0, false                                                            \
    }
#define REQUIRED_INFO(key, type, text)                                                             \
    {                                                                                              \
        key, type, text, 0, 1, true                                                                \
    }

static const struct row rows[] = {
    /* clang-format off */
    { "again", "once", 0, { REQUIRED_INFO(PMIX_MAX_RESTARTS, NUMBER, NULL) }, { { .nprocs = 1, .checks = { "again 1 @/once" } } } },
    { "again", "one of two programs", 0, { { 0 } }, { { .infos = { NUMBER_INFO(PMIX_MAX_RESTARTS, 5) }, .nprocs = 3, .checks = { "again 2 @/again" } }, { .checks = { "again 0 @/again" } } } },
    { "again", "by an option", 0, { TEXT_INFO(PMIX_RUNTIME_OPTIONS, "max-restarts=2") }, { { .nprocs = 1, .checks = { "again 2 @/option" } } } },
    { "again", "of the wrong type", PMIX_ERR_BAD_PARAM, { TEXT_INFO(PMIX_MAX_RESTARTS, "2") }, { { .nprocs = 1, .checks = { "never" } } } },
    { "raw", "raw", 0, { REQUIRED_INFO(PMIX_IOF_OUTPUT_RAW, FLAG, NULL) }, { { .nprocs = 1, .checks = { "raw @/go" } } } },
    { "beside", "a job of its own", 0, { { 0 } }, { { .nprocs = 2, .checks = { "size 2", "parent" } }, { .infos = { REQUIRED_INFO(PMIX_COSPAWN_APP, FLAG, NULL) }, .nprocs = 3, .checks = { "size 3", "parent" } } } },
    { "doomed", "beside one that is refused", PMIX_ERR_JOB_ALLOC_FAILED, { { 0 } }, { { .nprocs = 1, .checks = { "asleep" } }, { .infos = { FLAG_INFO(PMIX_COSPAWN_APP), TEXT_INFO(PMIX_HOST, "no-such-node.invalid") }, .nprocs = 1, .checks = { "never" } } } },
    { "beside", "nothing", PMIX_ERR_BAD_PARAM, { FLAG_INFO(PMIX_COSPAWN_APP) }, { { .nprocs = 1, .checks = { "never" } } } },
    { "parent", "parent", 0, { { 0 } }, { { .nprocs = 3, .checks = { "parent" } } } },

    { "env", "set", 0, { ENVAR_INFO(PMIX_SET_ENVAR, 0, "SPAWN_OLD=new"), ENVAR_INFO(PMIX_SET_ENVAR, 0, "SPAWN_TWO=a\nb=c") },
      { { .checks = { "env SPAWN_OLD=new", "env SPAWN_TWO=a\nb=c", "env SPAWN_LIST=a:b" } } } },
    { "env", "add", 0, { ENVAR_INFO(PMIX_ADD_ENVAR, 0, "SPAWN_OLD=new"), ENVAR_INFO(PMIX_ADD_ENVAR, 0, "SPAWN_TWO=2") },
      { { .checks = { "env SPAWN_OLD=old", "env SPAWN_TWO=2" } } } },
    { "env", "unset", 0, { TEXT_INFO(PMIX_UNSET_ENVAR, "SPAWN_OLD") },
      { { .checks = { "noenv SPAWN_OLD", "env SPAWN_LIST=a:b" } } } },
    { "env", "prepend", 0, { ENVAR_INFO(PMIX_PREPEND_ENVAR, ':', "SPAWN_LIST=x"), ENVAR_INFO(PMIX_PREPEND_ENVAR, ':', "SPAWN_TWO=y") },
      { { .checks = { "env SPAWN_LIST=x:a:b", "env SPAWN_TWO=y" } } } },
    { "env", "first", 0, { ENVAR_INFO(PMIX_FIRST_ENVAR, ':', "SPAWN_LIST=a"), ENVAR_INFO(PMIX_FIRST_ENVAR, ':', "SPAWN_OLD=x") },
      { { .checks = { "env SPAWN_LIST=a:b", "env SPAWN_OLD=x:old" } } } },
    { "env", "append", 0, { ENVAR_INFO(PMIX_APPEND_ENVAR, ';', "SPAWN_LIST=x") },
      { { .checks = { "env SPAWN_LIST=a:b;x" } } } },
    { "env", "in their order", 0,
      { TEXT_INFO(PMIX_UNSET_ENVAR, "SPAWN_LIST"), ENVAR_INFO(PMIX_APPEND_ENVAR, ':', "SPAWN_LIST=x"), ENVAR_INFO(PMIX_PREPEND_ENVAR, ':', "SPAWN_LIST=y") },
      { { .checks = { "env SPAWN_LIST=y:x" } } } },
    { "env", "the application after the job", 0, { ENVAR_INFO(PMIX_SET_ENVAR, 0, "SPAWN_OLD=job"), ENVAR_INFO(PMIX_SET_ENVAR, 0, "SPAWN_TWO=job") },
      { { .nprocs = 2, .env = "SPAWN_LIST=own\nline", .infos = { ENVAR_INFO(PMIX_SET_ENVAR, 0, "SPAWN_OLD=app") },
          .checks = { "env SPAWN_OLD=app", "env SPAWN_TWO=job", "env SPAWN_LIST=own\nline" } },
        { .infos = { TEXT_INFO(PMIX_UNSET_ENVAR, "SPAWN_TWO") },
          .checks = { "env SPAWN_OLD=job", "noenv SPAWN_TWO", "env SPAWN_LIST=a:b", "env PMIX_RANK=2" } } } },
    { "env", "of the wrong type", PMIX_ERR_BAD_PARAM, { TEXT_INFO(PMIX_SET_ENVAR, "SPAWN_OLD=new") }, { { .nprocs = 1 } } },
    { "env", "one of the process manager", PMIX_ERR_BAD_PARAM, { ENVAR_INFO(PMIX_SET_ENVAR, 0, "PMIX_RANK=7") }, { { .nprocs = 1 } } },
    { "env", "no separator", PMIX_ERR_BAD_PARAM, { ENVAR_INFO(PMIX_PREPEND_ENVAR, 0, "SPAWN_OLD=new") }, { { .nprocs = 1 } } },
    { "env", "prefix", 0, { REQUIRED_INFO(PMIX_PREFIX, STRING, "@/prefix") },
      { { .cmd = "spawn-prefixed", .nprocs = 2, .checks = { "begins PATH=@/prefix/bin:", "begins LD_LIBRARY_PATH=@/prefix/lib" } } } },
    { "env", "a program of that name elsewhere", PMIX_ERR_JOB_EXE_NOT_FOUND, { { 0 } }, { { .cmd = "spawn-prefixed", .nprocs = 1 } } },

    /* SPAWN_LATE is set by the parent itself */
    { "forward", "not the parent's", 0, { { 0 } }, { { .nprocs = 1, .checks = { "noenv SPAWN_LATE", "env SPAWN_OLD=old" } } } },
    { "forward", "the parent's", 0, { REQUIRED_INFO(PMIX_FWD_ENVIRONMENT, FLAG, NULL), TEXT_INFO(PMIX_UNSET_ENVAR, "SPAWN_LIST") }, { { .nprocs = 2, .checks = { "env SPAWN_LATE=parent", "env SPAWN_OLD=old", "noenv SPAWN_LIST" } } } },
    { "forward", "of one program, which has a value of its own", 0, { { 0 } },
      { { .nprocs = 1, .infos = { FLAG_INFO(PMIX_FWD_ENVIRONMENT) }, .env = "SPAWN_LATE=own", .checks = { "env SPAWN_LATE=own" } },
        { .nprocs = 1, .infos = { NOT_INFO(PMIX_FWD_ENVIRONMENT) }, .checks = { "noenv SPAWN_LATE" } } } },
    { "forward", "not if it is false", 0, { NOT_INFO(PMIX_FWD_ENVIRONMENT) }, { { .nprocs = 1, .checks = { "noenv SPAWN_LATE" } } } },
    { "toolenv", "a tool's", 0, { FLAG_INFO(PMIX_FWD_ENVIRONMENT), TEXT_INFO(PMIX_OUTPUT_TO_FILE, "@/tool") }, { { .nprocs = 1, .checks = { "first", "env SPAWN_LATE=parent" } } } },

    /* of a DVM of n1 and n2 */
    { "grow", "a node that does not come", PMIX_ERR_JOB_ALLOC_FAILED, { TEXT_INFO(PMIX_ADD_HOST, "broken") }, { { .nprocs = 1, .checks = { "never" } } } },
    { "grow", "a node of a file", 0, { REQUIRED_INFO(PMIX_ADD_HOSTFILE, STRING, "@/added"), TEXT_INFO(PMIX_OUTPUT_TO_FILE, "@/tool-file") }, { { .nprocs = 3, .checks = { "nodes n4 n4 n1" } } } },
    { "grow", "a file that is not there", PMIX_ERR_JOB_ALLOC_FAILED, { TEXT_INFO(PMIX_ADD_HOSTFILE, "@/none") }, { { .nprocs = 1, .checks = { "never" } } } },
    { "grow", "a file that is a pipe", PMIX_ERR_JOB_ALLOC_FAILED, { TEXT_INFO(PMIX_ADD_HOSTFILE, "@/pipe") }, { { .nprocs = 1, .checks = { "never" } } } },
    { "grow", "a node that is not added", PMIX_ERR_JOB_ALLOC_FAILED, { TEXT_INFO(PMIX_HOST, "n5") }, { { .nprocs = 1, .checks = { "never" } } } },
    { "grow", "a node that the DVM does not have", 0, { REQUIRED_INFO(PMIX_ADD_HOST, STRING, "n3:2,n1"), TEXT_INFO(PMIX_OUTPUT_TO_FILE, "@/tool") },
      { { .nprocs = 3, .checks = { "nodes n3 n3 n1" } } } },
    { "grown", "the node stays", 0, { TEXT_INFO(PMIX_HOST, "n3"), TEXT_INFO(PMIX_OUTPUT_TO_FILE, "@/tool") }, { { .nprocs = 1, .checks = { "nodes n3" } } } },

    { "slow", "a node that does not come in time", PMIX_ERR_TIMEOUT, { TEXT_INFO(PMIX_ADD_HOST, "n5,slow"), REQUIRED_INFO(PMIX_SPAWN_TIMEOUT, NUMBER, NULL) },
      { { .nprocs = 1, .checks = { "never" } } } },
    { "slow", "meanwhile, on another one", 0, { TEXT_INFO(PMIX_HOST, "n1"), TEXT_INFO(PMIX_OUTPUT_TO_FILE, "@/tool-file") }, { { .nprocs = 1, .checks = { "nodes n1" } } } },
    { "slower", "the node comes in time", 0, { TEXT_INFO(PMIX_ADD_HOST, "slow"), NUMBER_INFO(PMIX_SPAWN_TIMEOUT, 600), TEXT_INFO(PMIX_OUTPUT_TO_FILE, "@/tool") },
      { { .nprocs = 1, .checks = { "nodes slow" } } } },

    { "place", "the directory of the application", 0, { { 0 } }, { { .cwd = "@/one", .checks = { "cwd @/one" } } } },
    { "place", "the directory of an info", 0, { { 0 } }, { { .cwd = "@", .infos = { REQUIRED_INFO(PMIX_WDIR, STRING, "@/one") }, .checks = { "cwd @/one" } } } },
    { "place", "the directory of the job", 0, { TEXT_INFO(PMIX_WDIR, "@/one") },
      { { .checks = { "cwd @/one" } }, { .infos = { TEXT_INFO(PMIX_WDIR, "@/prefix") }, .checks = { "cwd @/prefix" } } } },
    { "place", "the session directory", 0, { REQUIRED_INFO(PMIX_SET_SESSION_CWD, FLAG, NULL) }, { { .nprocs = 3, .checks = { "session" } } } },
    { "place", "the session directory, of one", 0, { TEXT_INFO(PMIX_WDIR, "@/one") },
      { { .infos = { FLAG_INFO(PMIX_SET_SESSION_CWD) }, .checks = { "session" } }, { .checks = { "cwd @/one" } } } },
    { "place", "a number in argv", 0, { { 0 } }, { { .nprocs = 2 }, { .infos = { FLAG_INFO(PMIX_INDEX_ARGV) }, .nprocs = 2, .checks = { "index" } } } },

    { "staged", "the program", 0, { REQUIRED_INFO(PMIX_PRELOAD_BIN, FLAG, NULL) }, { { .nprocs = 3, .checks = { "copied yes" } } } },
    { "staged", "files, and the program of one", 0, { REQUIRED_INFO(PMIX_PRELOAD_FILES, STRING, "@/one, @/agent.sh") },
      { { .infos = { FLAG_INFO(PMIX_PRELOAD_BIN) }, .nprocs = 2, .checks = { "copied yes", "holds @/agent.sh" } }, { .checks = { "holds @/one" } } } },
    { "staged", "a file that is not there", PMIX_ERR_JOB_SYS_OP_FAILED, { TEXT_INFO(PMIX_PRELOAD_FILES, "@/none") }, { { .nprocs = 1, .checks = { "never" } } } },
    { "staged", "of the wrong type", PMIX_ERR_BAD_PARAM, { FLAG_INFO(PMIX_PRELOAD_FILES) }, { { .nprocs = 1, .checks = { "never" } } } },

    { "agents", "a tool", 0, { REQUIRED_INFO(PMIX_SPAWN_TOOL, FLAG, NULL) }, { { .nprocs = 1, .checks = { "size 1", "parent" } } } },
    { "agents", "a command", 0, { REQUIRED_INFO(PMIX_EXEC_AGENT, STRING, "env SPAWN_AGENT=yes"), REQUIRED_INFO(PMIX_PERSONALITY, STRING, "prte, ompi") }, { { .nprocs = 2, .checks = { "env SPAWN_AGENT=yes", "parent" } } } },
    { "agents", "a path", 0, { { 0 } }, { { .infos = { REQUIRED_INFO(PMIX_FORKEXEC_AGENT, STRING, "@/agent.sh  of two words") }, .checks = { "env SPAWN_AGENT=of two words" } } } },
    { "agents", "one that is not there", PMIX_ERR_JOB_EXE_NOT_FOUND, { TEXT_INFO(PMIX_EXEC_AGENT, "@/none") }, { { .nprocs = 1, .checks = { "never" } } } },

    /* Two processes of which one ends with a code, and the other one waits for ever. */
    { "ways", "strict", 0, { REQUIRED_INFO(PMIX_ABORT_NON_ZERO_TERM, FLAG, NULL), REQUIRED_INFO(PMIX_SPAWN_CHILD_SEP, FLAG, NULL), REQUIRED_INFO(PMIX_LOG_PROC_ABNORMAL_TERMINATION, FLAG, NULL) },
      { { .nprocs = 2, .checks = { "code 3" } } } },
    { "ways", "logged", 0, { REQUIRED_INFO(PMIX_LOG_JOB_EVENTS, FLAG, NULL), REQUIRED_INFO(PMIX_LOG_PROC_TERMINATION, FLAG, NULL), FLAG_INFO(PMIX_SHOW_LAUNCH_PROGRESS) },
      { { .nprocs = 2 } } },
    { "ways", "the end alone", 0, { REQUIRED_INFO(PMIX_LOG_COMPLETION, FLAG, NULL), FLAG_INFO(PMIX_LOG_PROC_ABNORMAL_TERMINATION), FLAG_INFO(PMIX_NOHUP), FLAG_INFO(PMIX_ENVARS_HARVESTED) },
      { { .nprocs = 1 } } },
    { "ways", "strict and not", PMIX_ERR_BAD_PARAM, { FLAG_INFO(PMIX_ABORT_NON_ZERO_TERM), FLAG_INFO(PMIX_JOB_RECOVERABLE) }, { { .nprocs = 1, .checks = { "never" } } } },
    { "joint", "its code is that of all", 0, { NOT_INFO(PMIX_REPORT_CHILD_SEP), FLAG_INFO(PMIX_SPAWN_CHILD_SEP) }, { { .nprocs = 1, .checks = { "code 5" } } } },
    { "apart", "its code is its own", 0, { FLAG_INFO(PMIX_REPORT_CHILD_SEP), FLAG_INFO(PMIX_SPAWN_CHILD_SEP) }, { { .nprocs = 1, .checks = { "code 5" } } } },

    { "sets", "of two programs", 0, { { 0 } },
      { { .nprocs = 2, .infos = { REQUIRED_INFO(PMIX_PSET_NAME, STRING, "left") }, .checks = { "set left 2" } },
        { .nprocs = 1, .infos = { TEXT_INFO(PMIX_PSET_NAME, "right") }, .checks = { "set right 1" } } } },
    { "sets", "of all", 0, { TEXT_INFO(PMIX_PSET_NAME, "both") }, { { .nprocs = 3, .checks = { "set both 3" } } } },

    { "bind", "not at all", 0, { { 0 } }, { { .nprocs = 2, .checks = { "cpus all" } } } },
    { "bind", "to a processor", 0, { TEXT_INFO(PMIX_BINDTO, "hwthread") }, { { .nprocs = 3, .checks = { "cpus 1" } } } },
    { "bind", "to none", 0, { TEXT_INFO(PMIX_BINDTO, "none") }, { { .nprocs = 1, .checks = { "cpus all" } } } },
    { "bind", "to a list", 0, { TEXT_INFO(PMIX_CPU_LIST, "$") }, { { .nprocs = 2, .checks = { "cpus 1", "cpu $" } } } },
    { "bind", "to a core each", 0, { NUMBER_INFO(PMIX_CPUS_PER_PROC, 1), TEXT_INFO(PMIX_MAPBY, "slot") }, { { .nprocs = 1, .checks = { "cpus core" } } } },
    { "bind", "two programs in two ways", 0, { TEXT_INFO(PMIX_BINDTO, "none") },
      { { .nprocs = 2, .infos = { TEXT_INFO(PMIX_BINDTO, "hwthread") }, .checks = { "cpus 1", "placed 0 pmix.bindto hwthread", "placed 1 pmix.bindto none" } },
        { .nprocs = 1, .checks = { "cpus all", "placed 0 pmix.bindto hwthread", "placed 1 pmix.bindto none" } } } },
    { "bind", "as no option can", PMIX_ERR_BAD_PARAM, { TEXT_INFO(PMIX_BINDTO, "moon") }, { { .nprocs = 1, .checks = { "never" } } } },
    { "bind", "with words that change nothing here", 0, { REQUIRED_INFO(PMIX_BINDTO, STRING, "hwthread:overload-allowed:IF-SUPPORTED") }, { { .nprocs = 1, .checks = { "cpus 1" } } } },
    { "bind", "with a word that is refused", PMIX_ERR_BAD_PARAM, { TEXT_INFO(PMIX_BINDTO, "hwthread:no-overload") }, { { .nprocs = 1, .checks = { "never" } } } },
    { "bind", "in two ways", PMIX_ERR_BAD_PARAM, { TEXT_INFO(PMIX_BINDTO, "core"), TEXT_INFO(PMIX_CPU_LIST, "$") }, { { .nprocs = 1, .checks = { "never" } } } },
    { "bind", "numbers that are none", PMIX_ERR_BAD_PARAM, { NUMBER_INFO(PMIX_CPUS_PER_PROC, 0) }, { { .nprocs = 1, .checks = { "never" } } } },
    { "bind", "a flag that is required", 0, { REQUIRED_INFO(PMIX_BINDTO, STRING, "hwthread") }, { { .nprocs = 1, .checks = { "cpus 1" } } } },

    { "out", "each", 0, { TEXT_INFO(PMIX_OUTPUT_TO_FILE, "@/each"), FLAG_INFO(PMIX_IOF_FILE_ONLY) }, { { .nprocs = 2, .checks = { "write" } } } },
    { "out", "two", 0, { REQUIRED_INFO(PMIX_IOF_OUTPUT_TO_FILE, STRING, "two") }, { { .cwd = "@", .checks = { "write" } } } },
    { "out", "pattern", 0, { TEXT_INFO(PMIX_IOF_OUTPUT_TO_FILE, "@/%r-of-all"), FLAG_INFO(PMIX_IOF_FILE_PATTERN) }, { { .nprocs = 2, .checks = { "write" } } } },
    { "out", "deep", 0, { TEXT_INFO(PMIX_OUTPUT_TO_DIRECTORY, "@/deep/er") }, { { .nprocs = 3, .checks = { "write" } } } },
    { "out", "merged", 0, { FLAG_INFO(PMIX_MERGE_STDERR_STDOUT), TEXT_INFO(PMIX_IOF_OUTPUT_TO_DIRECTORY, "@/merged") }, { { .checks = { "write" } } } },
    { "out", "together", 0, { FLAG_INFO(PMIX_IOF_MERGE_STDERR_STDOUT) }, { { .checks = { "write" } } } },
    { "out", "tagged", 0, { FLAG_INFO(PMIX_TAG_OUTPUT) }, { { .nprocs = 2, .checks = { "write" } } } },
    { "out", "marked", 0, { REQUIRED_INFO(PMIX_IOF_XML_OUTPUT, FLAG, NULL), FLAG_INFO(PMIX_IOF_TAG_OUTPUT) }, { { .nprocs = 1 } } },
    { "out", "marked, with the time", 0, { FLAG_INFO(PMIX_IOF_XML_OUTPUT), FLAG_INFO(PMIX_IOF_TIMESTAMP_OUTPUT) }, { { .nprocs = 1 } } },
    { "out", "numbered", 0, { FLAG_INFO(PMIX_IOF_RANK_OUTPUT) }, { { .nprocs = 2 } } },
    { "out", "timed", 0, { FLAG_INFO(PMIX_TIMESTAMP_OUTPUT), FLAG_INFO(PMIX_IOF_TAG_OUTPUT) }, { { .nprocs = 1 } } },
    { "out", "named", 0, { REQUIRED_INFO(PMIX_IOF_TAG_FULLNAME_OUTPUT, FLAG, NULL) }, { { .nprocs = 1 } } },
    { "out", "detailed", 0, { REQUIRED_INFO(PMIX_IOF_TAG_DETAILED_OUTPUT, FLAG, NULL) }, { { .nprocs = 1 } } },
    { "out", "in two ways", PMIX_ERR_BAD_PARAM, { TEXT_INFO(PMIX_OUTPUT_TO_FILE, "@/x"), TEXT_INFO(PMIX_OUTPUT_TO_DIRECTORY, "@/y") },
      { { .checks = { "never" } } } },
    { "out", "below a file", PMIX_ERR_JOB_SYS_OP_FAILED, { TEXT_INFO(PMIX_OUTPUT_TO_DIRECTORY, "@/file") }, { { .checks = { "never" } } } },
    { "out", "and as ever", 0, { { 0 } }, { { .nprocs = 1 } } },

    /* of PRRTE's option of that name */
    { "options", "words", 0, { REQUIRED_INFO(PMIX_RUNTIME_OPTIONS, STRING, "Recoverable,timeout=600,fwd-environment,aggregate-help=true,exec-agent=env SPAWN_AGENT=yes") },
      { { .nprocs = 2, .checks = { "env SPAWN_AGENT=yes", "parent" } } } },
    { "options", "a word that is none", PMIX_ERR_BAD_PARAM, { TEXT_INFO(PMIX_RUNTIME_OPTIONS, "recoverable,moon") }, { { .nprocs = 1, .checks = { "never" } } } },
    { "options", "a number that is none", PMIX_ERR_BAD_PARAM, { TEXT_INFO(PMIX_RUNTIME_OPTIONS, "timeout=soon") }, { { .nprocs = 1, .checks = { "never" } } } },
    { "options", "what is not done", PMIX_ERR_BAD_PARAM, { TEXT_INFO(PMIX_RUNTIME_OPTIONS, "autorestart") }, { { .nprocs = 1, .checks = { "never" } } } },
    { "options", "only planned", 0, { TEXT_INFO(PMIX_RUNTIME_OPTIONS, "donotlaunch") }, { { .nprocs = 2, .checks = { "never" } } } },
    { "options", "words of a mapping", 0, { REQUIRED_INFO(PMIX_MAPBY, STRING, "slot:DISPLAY:donotlaunch:hwtcpus") }, { { .nprocs = 2, .checks = { "never" } } } },
    { "options", "what holds in any case", 0, { REQUIRED_INFO(PMIX_NON_PMI, FLAG, NULL), REQUIRED_INFO(PMIX_OUTPUT_NOCOPY, FLAG, NULL), REQUIRED_INFO(PMIX_NOTIFY_LAUNCH, FLAG, NULL),
        REQUIRED_INFO(PMIX_WDIR_USER_SPECIFIED, FLAG, NULL), REQUIRED_INFO(PMIX_JOB_CONTINUOUS, FLAG, NULL) }, { { .nprocs = 1 } } },
    { "options", "who asks", 0, { FLAG_INFO(PMIX_REQUESTOR_IS_CLIENT), REQUIRED_INFO(PMIX_NOTIFY_JOB_EVENTS, FLAG, NULL), REQUIRED_INFO(PMIX_NOTIFY_PROC_TERMINATION, FLAG, NULL),
        REQUIRED_INFO(PMIX_NOTIFY_PROC_ABNORMAL_TERMINATION, FLAG, NULL), REQUIRED_INFO(PMIX_AGGREGATE_HELP, FLAG, NULL) }, { { .nprocs = 1 } } },

    { "hardware", "objects", 0, { REQUIRED_INFO(PMIX_DISPLAY_TOPOLOGY, STRING, ""), FLAG_INFO(PMIX_DO_NOT_LAUNCH) }, { { .nprocs = 1, .checks = { "never" } } } },
    { "hardware", "processors, as JSON", 0, { REQUIRED_INFO(PMIX_DISPLAY_PROCESSORS, STRING, ""), REQUIRED_INFO(PMIX_DISPLAY_PARSEABLE_OUTPUT, FLAG, NULL), REQUIRED_INFO(PMIX_REPORT_PHYSICAL_CPUS, FLAG, NULL), FLAG_INFO(PMIX_DO_NOT_LAUNCH) },
      { { .nprocs = 1, .checks = { "never" } } } },
    { "hardware", "the map, as JSON", 0, { REQUIRED_INFO(PMIX_DISPLAY_MAP_DETAILED, FLAG, NULL), FLAG_INFO(PMIX_DISPLAY_PARSEABLE_OUTPUT), FLAG_INFO(PMIX_DO_NOT_LAUNCH) },
      { { .nprocs = 1, .checks = { "never" } } } },
    { "hardware", "of a node that is none of the job", PMIX_ERR_JOB_FAILED_TO_MAP, { TEXT_INFO(PMIX_DISPLAY_TOPOLOGY, "elsewhere") }, { { .nprocs = 1, .checks = { "never" } } } },
    { "far", "hardware that is not known", PMIX_ERR_JOB_FAILED_TO_MAP, { TEXT_INFO(PMIX_DISPLAY_TOPOLOGY, "") }, { { .nprocs = 3, .checks = { "never" } } } },
    { "far", "a node that is added", 0, { TEXT_INFO(PMIX_ADD_HOST, "n3") }, { { .nprocs = 1, .checks = { "nodes n3" } } } },
    { "far", "nodes of a file that are added", 0, { TEXT_INFO(PMIX_ADD_HOSTFILE, "@/more") }, { { .nprocs = 2, .checks = { "nodes n2 n3" } } } },

    { "show", "the map alone", 0, { REQUIRED_INFO(PMIX_DISPLAY_MAP, FLAG, NULL), REQUIRED_INFO(PMIX_DO_NOT_LAUNCH, FLAG, NULL) },
      { { .nprocs = 3, .checks = { "never" } } } },
    { "show", "the nodes alone", 0, { REQUIRED_INFO(PMIX_DISPLAY_ALLOCATION, FLAG, NULL), REQUIRED_INFO(PMIX_DO_NOT_LAUNCH, FLAG, NULL) },
      { { .nprocs = 1, .checks = { "never" } } } },
    { "show", "bindings", 0, { FLAG_INFO(PMIX_REPORT_BINDINGS), TEXT_INFO(PMIX_BINDTO, "hwthread") }, { { .nprocs = 2, .checks = { "cpus 1" } } } },
    { "show", "a limit", 0, { REQUIRED_INFO(PMIX_JOB_TIMEOUT, NUMBER, NULL), REQUIRED_INFO(PMIX_TIMEOUT_STACKTRACES, FLAG, NULL), REQUIRED_INFO(PMIX_TIMEOUT_REPORT_STATE, FLAG, NULL) }, { { .checks = { "never" } } } },
    { "show", "limits that are not reached", 0, { NUMBER_INFO(PMIX_JOB_TIMEOUT, 600), NUMBER_INFO(PMIX_SPAWN_TIMEOUT, 600), NUMBER_INFO(PMIX_TIMEOUT, 600) },
      { { .nprocs = 2, .checks = { "parent" } } } },

    { "map", "on processors that are not there", PMIX_ERR_JOB_FAILED_TO_MAP, { TEXT_INFO(PMIX_CPU_LIST, "99999"), TEXT_INFO(PMIX_HOST, "n2") },
      { { .nprocs = 1, .checks = { "never" } } } },
    { "map", "not on the launcher's, which is none of them", 0, { FLAG_INFO(PMIX_NO_PROCS_ON_HEAD) }, { { .nprocs = 3, .checks = { "nodes n1 n1 n2" } } } },
    { "spare", "on nodes that the job does not fill", 0, { { 0 } }, { { .nprocs = 6, .checks = { "nodes n1 n1 n2 n2 n3 n3" } } } },
    { "spare", "on each", 0, { TEXT_INFO(PMIX_MAPBY, "ppr:1:node") }, { { .nprocs = 3, .checks = { "nodes n1 n2 n3" } } } },
    { "spare", "on one of them", 0, { REQUIRED_INFO(PMIX_ADD_HOST, STRING, "n3") }, { { .nprocs = 1, .checks = { "nodes n3" } } } },
    { "alone", "as many, without them", 0, { { 0 } }, { { .nprocs = 3, .checks = { "nodes n1 n1 n1" } } } },
    { "alone", "on one of them", PMIX_ERR_JOB_ALLOC_FAILED, { TEXT_INFO(PMIX_HOST, "n3") }, { { .nprocs = 1, .checks = { "never" } } } },
    { "head", "not on the launcher's", 0, { REQUIRED_INFO(PMIX_NO_PROCS_ON_HEAD, FLAG, NULL) }, { { .nprocs = 3, .checks = { "nodes n2 n2 n2" } } } },
    { "head", "by a word of the mapping", 0, { TEXT_INFO(PMIX_MAPBY, "slot:NOLOCAL") }, { { .nprocs = 2, .checks = { "nodes n2 n2" } } } },
    { "head", "nor where it alone is named", PMIX_ERR_JOB_ALLOC_FAILED, { TEXT_INFO(PMIX_HOST, "localhost"), FLAG_INFO(PMIX_NO_PROCS_ON_HEAD) },
      { { .nprocs = 1, .checks = { "never" } } } },

    { "tool", "of a tool", 0, { TEXT_INFO(PMIX_OUTPUT_TO_FILE, "@/tool") }, { { .nprocs = 1, .checks = { "first" } } } },

    /* while the daemon of n3 is stopped */
    { "late", "on a node that does not answer", PMIX_ERR_TIMEOUT, { TEXT_INFO(PMIX_HOST, "n3"), REQUIRED_INFO(PMIX_SPAWN_TIMEOUT, NUMBER, NULL) },
      { { .checks = { "never" } } } },
    { "late", "on another one", 0, { TEXT_INFO(PMIX_HOST, "n2") }, { { .nprocs = 1 } } },

    { "notify", "or not", 0, { REQUIRED_INFO(PMIX_EVENT_SILENT_TERMINATION, FLAG, NULL) }, { { .nprocs = 1 } } },
    { "notify", "when it has ended", 0, { REQUIRED_INFO(PMIX_NOTIFY_COMPLETION, FLAG, NULL) }, { { .nprocs = 2 } } },

    /* on three nodes of two slots */
    { "map", "by slot", 0, { TEXT_INFO(PMIX_MAPBY, "slot") }, { { .nprocs = 4, .checks = { "nodes n1 n1 n2 n2" } } } },
    { "map", "by node", 0, { TEXT_INFO(PMIX_MAPBY, "node") }, { { .nprocs = 4, .checks = { "nodes n1 n2 n3 n1" } } } },
    { "map", "by node, two programs", 0, { TEXT_INFO(PMIX_MAPBY, "node") },
      { { .nprocs = 2, .checks = { "nodes n1 n2 n3" } }, { .nprocs = 1, .checks = { "nodes n1 n2 n1" } } } },
    { "map", "by node, numbered by slot", 0, { TEXT_INFO(PMIX_MAPBY, "node"), TEXT_INFO(PMIX_RANKBY, "slot") },
      { { .nprocs = 5, .checks = { "nodes n1 n1 n2 n2 n3" } } } },
    { "map", "so many on each node", 0, { TEXT_INFO(PMIX_PPR, "1:node") }, { { .nprocs = 3, .checks = { "nodes n1 n2 n3" } } } },
    { "map", "on a node that is named", 0, { TEXT_INFO(PMIX_HOST, "n2,n3") }, { { .nprocs = 2, .checks = { "nodes n2 n3" } } } },
    { "map", "more than there are slots", 0, { TEXT_INFO(PMIX_MAPBY, "node:OVERSUBSCRIBE") }, { { .nprocs = 7, .checks = { "nodes n1 n2 n3 n1 n2 n3 n1" } } } },
    { "map", "more, which is refused", PMIX_ERR_JOB_INSUFFICIENT_RESOURCES, { REQUIRED_INFO(PMIX_NO_OVERSUBSCRIBE, FLAG, NULL) },
      { { .nprocs = 7, .checks = { "never" } } } },
    { "map", "more than so many on each node", PMIX_ERR_JOB_INSUFFICIENT_RESOURCES, { TEXT_INFO(PMIX_PPR, "1:node") },
      { { .nprocs = 4, .checks = { "never" } } } },
    { "map", "in two ways", PMIX_ERR_BAD_PARAM, { TEXT_INFO(PMIX_PPR, "1:node"), TEXT_INFO(PMIX_MAPBY, "node") }, { { .nprocs = 1, .checks = { "never" } } } },
    { "map", "two programs in two ways", 0, { { 0 } },
      { { .infos = { TEXT_INFO(PMIX_MAPBY, "node"), TEXT_INFO(PMIX_BINDTO, "hwthread") }, .nprocs = 3, .checks = { "nodes n1 n2 n3", "cpus 1" } },
        { .infos = { REQUIRED_INFO(PMIX_MAPBY, STRING, "slot") }, .nprocs = 3, .checks = { "nodes - - - n1 n1 n2", "cpus all", "placed 0 pmix.mapby node", "placed 0 pmix.rankby node", "placed 1 pmix.mapby slot", "placed 1 pmix.apmap.type slot" } } } },
    { "map", "two programs, one as the job", 0, { TEXT_INFO(PMIX_MAPBY, "node") },
      { { .infos = { TEXT_INFO(PMIX_HOST, "n3,n2"), TEXT_INFO(PMIX_MAPBY, "ppr:1:node"), NUMBER_INFO(PMIX_CPUS_PER_PROC, 1) }, .nprocs = 2, .checks = { "nodes n3 n2", "cpus core" } },
        { .nprocs = 2, .checks = { "nodes - - n1 n2", "cpus all" } } } },
    { "map", "two programs, one as none can be", PMIX_ERR_JOB_INSUFFICIENT_RESOURCES, { { 0 } },
      { { .nprocs = 2, .checks = { "never" } }, { .infos = { TEXT_INFO(PMIX_PPR, "1:node") }, .nprocs = 4, .checks = { "never" } } } },
    { "map", "by hardware that is not known", PMIX_ERR_JOB_FAILED_TO_MAP, { TEXT_INFO(PMIX_MAPBY, "ppr:1:core") }, { { .nprocs = 1, .checks = { "never" } } } },
    { "map", "bound there", 0, { TEXT_INFO(PMIX_MAPBY, "node"), TEXT_INFO(PMIX_BINDTO, "hwthread") }, { { .nprocs = 3, .checks = { "cpus 1", "nodes n1 n2 n3" } } } },

    { "fail", "no such program", PMIX_ERR_JOB_EXE_NOT_FOUND, { { 0 } }, { { .cmd = "@/none", .nprocs = 3 } } },
    { "fail", "no program of that name", PMIX_ERR_JOB_EXE_NOT_FOUND, { { 0 } }, { { .cmd = "spawn-no-such-name", .nprocs = 3 } } },
    { "fail", "the second application", PMIX_ERR_JOB_EXE_NOT_FOUND, { { 0 } }, { { .checks = { "never" } }, { .cmd = "@/none" } } },
    { "fail", "not executable", PMIX_ERR_JOB_APP_NOT_EXECUTABLE, { { 0 } }, { { .cmd = "@/file", .nprocs = 3 } } },
    { "fail", "no such directory", PMIX_ERR_JOB_WDIR_NOT_FOUND, { TEXT_INFO(PMIX_WDIR, "@/none") }, { { .nprocs = 3, .checks = { "never" } } } },
    { "fail", "no such directory of two", PMIX_ERR_JOB_WDIR_NOT_FOUND, { { 0 } }, { { .checks = { "never" } }, { .nprocs = 2, .cwd = "@/none" } } },
    { "fail", "a recoverable job", PMIX_ERR_JOB_EXE_NOT_FOUND, { FLAG_INFO(PMIX_JOB_RECOVERABLE) }, { { .checks = { "never" } }, { .cmd = "@/none" } } },
    { "fail", "a node that is not ours", PMIX_ERR_JOB_ALLOC_FAILED, { TEXT_INFO(PMIX_HOST, "no-such-node.invalid") }, { { .nprocs = 1, .checks = { "never" } } } },
    { "fail", "a host file that is not there", PMIX_ERR_JOB_ALLOC_FAILED, { TEXT_INFO(PMIX_HOSTFILE, "@/none") }, { { .nprocs = 1, .checks = { "never" } } } },
    { "fail", "more processes than a mapping has room for", PMIX_ERR_JOB_INSUFFICIENT_RESOURCES, { TEXT_INFO(PMIX_MAPBY, "ppr:1:node") }, { { .nprocs = 9, .checks = { "never" } } } },
    { "fail", "no such mapping", PMIX_ERR_BAD_PARAM, { TEXT_INFO(PMIX_MAPBY, "moon") }, { { .nprocs = 1, .checks = { "never" } } } },
    { "fail", "beside the processes of no job", PMIX_ERR_BAD_PARAM, { TEXT_INFO(PMIX_DEBUG_JOB, "no-such-job") }, { { .nprocs = 1, .checks = { "never" } } } },
    { "fail", "a personality that nobody has", PMIX_ERR_NOT_SUPPORTED, { TEXT_INFO(PMIX_PERSONALITY, "ompi,moon") }, { { .nprocs = 1, .checks = { "never" } } } },
    { "fail", "nothing that we know is required", PMIX_ERR_NOT_SUPPORTED, { REQUIRED_INFO("spawn.unknown", FLAG, NULL) }, { { .nprocs = 1, .checks = { "never" } } } },
    { "fail", "and it works after all that", 0, { { 0 } }, { { .nprocs = 2, .checks = { "parent" } } } },
    /* clang-format on */
};

/* ---- texts ---- */

static int first_cpu(void)
{
    cpu_set_t set;
    int cpu = 0;

    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof set, &set);
    while (cpu < CPU_SETSIZE - 1 && !CPU_ISSET((size_t)cpu, &set))
        cpu++;
    return cpu;
}

/* With DIR for `@`, and our first processor for `$`. */
static char *filled(const char *text)
{
    static char room[64][TEXT];
    static unsigned turn;
    char *out = room[turn++ % 64], cpu[16];
    size_t n = 0;

    snprintf(cpu, sizeof cpu, "%d", first_cpu());
    for (; *text && n < TEXT - 1; text++)
        n += (size_t)snprintf(out + n, TEXT - n, "%.*s", strchr("@$", *text) ? TEXT : 1,
                              *text == '@'   ? dir
                              : *text == '$' ? cpu
                                             : text);
    out[n < TEXT ? n : TEXT - 1] = '\0';
    return out;
}

/* ---- the parent ---- */

static void load_envar(pmix_info_t *to, const struct info *i)
{
    static pmix_envar_t e;
    char *text = filled(i->text), *value = strchr(text, '=');

    *value++ = '\0';
    e = (pmix_envar_t){ text, value, i->separator };
    PMIX_INFO_LOAD(to, i->key, &e, PMIX_ENVAR);
}

static void load(pmix_info_t *to, const struct info *i)
{
    bool flag = i->number != 0;

    switch (i->type) {
    case NO_INFO: break;
    case STRING: PMIX_INFO_LOAD(to, i->key, filled(i->text), PMIX_STRING); break;
    case FLAG: PMIX_INFO_LOAD(to, i->key, &flag, PMIX_BOOL); break;
    case NUMBER: PMIX_INFO_LOAD(to, i->key, &i->number, PMIX_INT); break;
    case ENVAR: load_envar(to, i); break;
    }
    if (i->required)
        to->flags |= PMIX_INFO_REQD;
}

/* NULL for none: OpenPMIx 5 looks for the end of an array that has none. */
static pmix_info_t *load_all(const struct info *infos, size_t *n_p)
{
    pmix_info_t *all;
    size_t n = 0;

    while (n < INFOS && infos[n].type != NO_INFO)
        n++;
    PMIX_INFO_CREATE(all, n);
    for (size_t i = 0; i < n; i++)
        load(&all[i], &infos[i]);
    *n_p = n;
    return n ? all : NULL;
}

static void add_word(char **argv, const char *text)
{
    size_t n = 0;

    while (argv[n])
        n++;
    argv[n] = strdup(text);
}

static void fill_app(pmix_app_t *to, const struct app *a, const char *name)
{
    char parent[TEXT];

    PMIX_APP_CONSTRUCT(to);
    to->cmd = strdup(filled(a->cmd ? a->cmd : program));
    to->maxprocs = a->nprocs ? a->nprocs : 1;
    to->cwd = a->cwd ? strdup(filled(a->cwd)) : NULL;
    to->argv = calloc(CHECKS + 5, sizeof *to->argv);
    add_word(to->argv, to->cmd);
    add_word(to->argv, "child");
    add_word(to->argv, name);
    for (size_t i = 0; i < CHECKS && a->checks[i]; i++) {
        snprintf(parent, sizeof parent, "parent %s %u", me.nspace, me.rank);
        add_word(to->argv, strcmp(a->checks[i], "parent") ? filled(a->checks[i]) : parent);
    }
    if (a->env) {
        to->env = calloc(2, sizeof *to->env);
        to->env[0] = strdup(a->env);
    }
    to->info = load_all(a->infos, &to->ninfo);
}

static pmix_nspace_t last; /* spawned */

static bool spawn_row(const struct row *r)
{
    pmix_info_t *infos;
    pmix_app_t apps[APPS];
    size_t n, napps = 0;
    pmix_status_t got;

    infos = load_all(r->infos, &n);
    while (napps < APPS &&
           (r->apps[napps].cmd || r->apps[napps].nprocs || r->apps[napps].checks[0])) {
        fill_app(&apps[napps], &r->apps[napps], r->name);
        napps++;
    }
    memset(last, 'x', sizeof last);
    got = PMIx_Spawn(infos, n, apps, napps, last);
    if (got != r->status || getenv("SPAWN_SHOW"))
        printf("%s %s: %s\n", r->group, r->name, PMIx_Error_string(got));
    if (infos)
        PMIX_INFO_FREE(infos, n);
    for (size_t i = 0; i < napps; i++)
        PMIX_APP_DESTRUCT(&apps[i]);
    return got == r->status;
}

static int spawn_group(const char *group)
{
    size_t good = 0, all = 0;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(rows[i].group, group))
            continue;
        all++;
        good += spawn_row(&rows[i]);
    }
    printf("%s %zu %s\n", group, all, good == all ? "good" : "WRONG");
    return good == all ? 0 : 1;
}

/* ---- a child ---- */

static bool wrong(const char *check, const char *got)
{
    printf("%s: %s, not %s\n", me.nspace, got ? got : "nothing", check);
    return false;
}

static bool check_env(const char *want)
{
    char name[TEXT];
    const char *got;

    snprintf(name, sizeof name, "%.*s", (int)strcspn(want, "="), want);
    got = getenv(name);
    return got && !strcmp(got, want + strlen(name) + 1) ? true : wrong(want, got);
}

static bool check_begins(const char *want)
{
    char name[TEXT];
    const char *got, *value = strchr(want, '=') + 1;

    snprintf(name, sizeof name, "%.*s", (int)strcspn(want, "="), want);
    got = getenv(name);
    return got && !strncmp(got, value, strlen(value)) ? true : wrong(want, got);
}

static bool check_noenv(const char *name)
{
    const char *got = getenv(name);

    return got ? wrong(name, got) : true;
}

static bool check_cwd(const char *want)
{
    char here[TEXT];

    return getcwd(here, sizeof here) && !strcmp(here, want) ? true : wrong(want, here);
}

/* By its own rank, and by that of the whole job: clients do either. */
static bool is_parent(const pmix_proc_t *who, const char *want)
{
    char got[TEXT] = "none";
    pmix_value_t *v = NULL;
    bool spawned;

    if (PMIx_Get(who, PMIX_PARENT_ID, NULL, 0, &v) == PMIX_SUCCESS) {
        snprintf(got, sizeof got, "%s %u", v->data.proc->nspace, v->data.proc->rank);
        PMIX_VALUE_RELEASE(v);
    }
    if (strcmp(got, want))
        return wrong(want, got);
    if (PMIx_Get(who, PMIX_SPAWNED, NULL, 0, &v) != PMIX_SUCCESS)
        return wrong("spawned", "no flag");
    spawned = v->type == PMIX_BOOL && v->data.flag;
    PMIX_VALUE_RELEASE(v);
    return spawned ? true : wrong("spawned", "false");
}

static bool check_parent(const char *want)
{
    pmix_proc_t all;

    PMIX_LOAD_PROCID(&all, me.nspace, PMIX_RANK_WILDCARD);
    return is_parent(&me, want) && is_parent(&all, want);
}

/* On another node it may have been started before the failure was known: it is killed. */
static bool check_never(const char *unused)
{
    while (pause() < 0) {
    }
    return wrong(unused, NULL);
}

/* Rank 0 ends with it when all run, having left; another one waits. */
static bool check_code(const char *code)
{
    if (PMIx_Fence(NULL, 0, NULL, 0) != PMIX_SUCCESS || me.rank != 0)
        return check_never(code);
    PMIx_Finalize(NULL, 0);
    exit(atoi(code));
}

/* "N FILE": the first N starts of a rank fail before PMIx_Init, by a signal and by a code in turn;
 * FILE.RANK has a byte for each. */
static void fail_first(const char *check)
{
    char *path;
    long most = strtol(check, &path, 10);
    char name[TEXT];
    off_t times;
    int fd;

    snprintf(name, sizeof name, "%s.%s", path + 1, getenv("PMIX_RANK"));
    fd = open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    times = lseek(fd, 0, SEEK_END);
    if (fd < 0 || write(fd, "x", 1) != 1)
        printf("%s: %s\n", name, strerror(errno));
    else if (times < most && times % 2)
        exit(3);
    else if (times < most)
        raise(SIGKILL);
    close(fd);
}

static void fail_as_checked(char **checks)
{
    for (char **c = checks; *c; c++) {
        if (!strncmp(*c, "again ", 6))
            fail_first(*c + 6);
    }
}

static bool check_again(const char *want)
{
    pmix_value_t *v = NULL;
    char got[16] = "none";

    if (PMIx_Get(&me, PMIX_REINCARNATION, NULL, 0, &v) == PMIX_SUCCESS) {
        snprintf(got, sizeof got, "%u", v->data.uint32);
        PMIX_VALUE_RELEASE(v);
    }
    return atoi(want) == atoi(got) ? true : wrong(want, got);
}

/* A part of a line, the rest when the test has seen it. */
static bool check_raw(const char *pipe)
{
    int fd = write(STDOUT_FILENO, "x", 1) == 1 ? open(pipe, O_RDONLY | O_CLOEXEC) : -1;

    if (fd < 0 || write(STDOUT_FILENO, "z\n", 2) != 2)
        return wrong(pipe, strerror(errno));
    close(fd);
    return true;
}

static bool check_session(const char *unused)
{
    char got[TEXT] = "none";
    pmix_value_t *v = NULL;

    (void)unused;
    if (PMIx_Get(&me, PMIX_NSDIR, NULL, 0, &v) == PMIX_SUCCESS) {
        snprintf(got, sizeof got, "%s", v->data.string);
        PMIX_VALUE_RELEASE(v);
    }
    return check_cwd(got);
}

/* Whether this program is a copy on its node. */
static bool check_copied(const char *want)
{
    const char *stage = getenv("WIREUP_STAGE_DIR");
    char exe[TEXT] = "";
    bool copied;

    if (!stage || readlink("/proc/self/exe", exe, sizeof exe - 1) < 0)
        return wrong(want, exe);
    copied = !strncmp(exe, stage, strlen(stage));
    return copied == !strcmp(want, "yes") ? true : wrong(want, exe);
}

/* A file that was brought there, under its whole path. */
static bool check_holds(const char *path)
{
    const char *stage = getenv("WIREUP_STAGE_DIR");
    char copy[2 * TEXT];

    snprintf(copy, sizeof copy, "%s%s", stage ? stage : "", path);
    return stage && access(copy, R_OK) == 0 ? true : wrong(path, stage);
}

static bool check_index(const char *unused)
{
    char want[32];
    const char *at = strrchr(program, '-');

    (void)unused;
    snprintf(want, sizeof want, "-%u", me.rank);
    return at && !strcmp(at, want) ? true : wrong(want, program);
}

static int count_cpus(void)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof set, &set);
    return CPU_COUNT(&set);
}

/* How many: a number; all that the tests have, which is more than one unless there is only one; or
 * those of one core. */
static bool check_cpus(const char *want)
{
    const char *all = getenv("SPAWN_CPUS");
    char got[16];
    int n = count_cpus();

    snprintf(got, sizeof got, "%d", n);
    if (!strcmp(want, "all"))
        return all && atoi(all) == n ? true : wrong(want, got);
    if (!strcmp(want, "core"))
        return all && n >= 1 && n <= atoi(all) ? true : wrong(want, got);
    return atoi(want) == n ? true : wrong(want, got);
}

static bool check_cpu(const char *want)
{
    char got[16];

    snprintf(got, sizeof got, "%d", first_cpu());
    return !strcmp(want, got) ? true : wrong(want, got);
}

/* The word of our rank. */
static bool check_nodes(const char *want)
{
    char got[TEXT] = "none";
    pmix_value_t *v = NULL;

    for (uint32_t i = 0; i < me.rank; i++)
        want += strcspn(want, " ") + 1;
    if (PMIx_Get(&me, PMIX_HOSTNAME, NULL, 0, &v) == PMIX_SUCCESS) {
        snprintf(got, sizeof got, "%s", v->data.string);
        PMIX_VALUE_RELEASE(v);
    }
    return !strncmp(want, got, strcspn(want, " ")) ? true : wrong(want, got);
}

/* "NAME N": the only set that we are in, of so many processes of our job. */
static bool check_set(const char *want)
{
    char got[TEXT] = "none", name[64];
    pmix_value_t *v = NULL;
    pmix_query_t *q;
    pmix_info_t *found = NULL;
    size_t nfound = 0;
    pmix_status_t rc;
    bool mine = false;

    snprintf(name, sizeof name, "%.*s", (int)strcspn(want, " "), want);
    if (PMIx_Get(&me, PMIX_PSET_NAMES, NULL, 0, &v) != PMIX_SUCCESS || v->type != PMIX_DATA_ARRAY ||
        v->data.darray->size != 1 || strcmp(((char **)v->data.darray->array)[0], name))
        return wrong(want, "other names of sets");
    PMIX_VALUE_RELEASE(v);
    PMIX_QUERY_CREATE(q, 1);
    PMIX_ARGV_APPEND(rc, q->keys, PMIX_QUERY_PSET_MEMBERSHIP);
    PMIX_QUERY_QUALIFIERS_CREATE(q, 1);
    PMIX_INFO_LOAD(&q->qualifiers[0], PMIX_PSET_NAME, name, PMIX_STRING);
    rc = PMIx_Query_info(q, 1, &found, &nfound);
    if (rc != PMIX_SUCCESS || nfound != 1 || found->value.type != PMIX_DATA_ARRAY)
        return wrong(want, PMIx_Error_string(rc));
    for (size_t i = 0; i < found->value.data.darray->size; i++)
        mine = mine || PMIX_CHECK_PROCID(&((pmix_proc_t *)found->value.data.darray->array)[i], &me);
    snprintf(got, sizeof got, "%s %zu", name, found->value.data.darray->size);
    return mine && !strcmp(want, got) ? true : wrong(want, got);
}

/* "APP KEY WORD": how that application was placed. */
static bool check_placed(const char *want)
{
    pmix_info_t where[2];
    pmix_proc_t all;
    pmix_value_t *v = NULL;
    char key[PMIX_MAX_KEYLEN + 1], *rest;
    uint32_t app = (uint32_t)strtoul(want, &rest, 10);
    bool yes = true, same;

    snprintf(key, sizeof key, "%.*s", (int)strcspn(rest + 1, " "), rest + 1);
    rest += strlen(key) + 2;
    PMIX_LOAD_PROCID(&all, me.nspace, PMIX_RANK_WILDCARD);
    PMIX_INFO_LOAD(&where[0], PMIX_APP_INFO, &yes, PMIX_BOOL);
    PMIX_INFO_LOAD(&where[1], PMIX_APPNUM, &app, PMIX_UINT32);
    if (PMIx_Get(&all, key, where, 2, &v) != PMIX_SUCCESS || v->type != PMIX_STRING)
        return wrong(want, "none");
    same = !strcmp(v->data.string, rest) || wrong(want, v->data.string);
    PMIX_VALUE_RELEASE(v);
    return same;
}

static bool check_write(const char *unused)
{
    (void)unused;
    fprintf(stderr, "an error\n");
    return true;
}

/* Jobs of the launcher, and of tools, have no parent. */
static bool is_first(void)
{
    pmix_value_t *v = NULL;
    pmix_proc_t all;
    bool spawned;

    PMIX_LOAD_PROCID(&all, me.nspace, PMIX_RANK_WILDCARD);
    if (PMIx_Get(&me, PMIX_PARENT_ID, NULL, 0, &v) == PMIX_SUCCESS ||
        PMIx_Get(&all, PMIX_PARENT_ID, NULL, 0, &v) == PMIX_SUCCESS)
        return wrong("none", "a parent");
    if (PMIx_Get(&me, PMIX_SPAWNED, NULL, 0, &v) != PMIX_SUCCESS)
        return true;
    spawned = v->data.flag;
    PMIX_VALUE_RELEASE(v);
    return spawned ? wrong("the launcher's", "spawned") : true;
}

static bool check_first(const char *unused)
{
    (void)unused;
    return is_first();
}

/* How many processes our job has. */
static bool check_size(const char *want)
{
    pmix_value_t *v = NULL;
    char got[16] = "none";
    pmix_proc_t all;

    PMIX_LOAD_PROCID(&all, me.nspace, PMIX_RANK_WILDCARD);
    if (PMIx_Get(&all, PMIX_JOB_SIZE, NULL, 0, &v) == PMIX_SUCCESS) {
        snprintf(got, sizeof got, "%u", v->data.uint32);
        PMIX_VALUE_RELEASE(v);
    }
    return !strcmp(want, got) ? true : wrong(want, got);
}

/* It is ended, or never begins. */
static bool check_asleep(const char *unused)
{
    (void)unused;
    pause();
    return false;
}

static bool check(const char *text)
{
    static const struct {
        const char *word;
        bool (*check)(const char *);
    } checks[] = {
        { "env", check_env },         { "noenv", check_noenv }, { "cwd", check_cwd },
        { "parent", check_parent },   { "never", check_never }, { "begins", check_begins },
        { "session", check_session }, { "index", check_index }, { "first", check_first },
        { "write", check_write },     { "cpus", check_cpus },   { "cpu", check_cpu },
        { "nodes", check_nodes },     { "set", check_set },     { "code", check_code },
        { "again", check_again },     { "raw", check_raw },     { "copied", check_copied },
        { "holds", check_holds },     { "size", check_size },   { "asleep", check_asleep },
        { "placed", check_placed }
    };
    size_t n = strcspn(text, " ");

    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        if (strlen(checks[i].word) == n && !strncmp(text, checks[i].word, n))
            return checks[i].check(text + n + (text[n] == ' '));
    }
    return wrong(text, "an unknown check");
}

static int child(char **argv)
{
    bool good = true;

    for (char **a = argv + 3; *a; a++)
        good = check(*a) && good;
    if (good)
        printf("%s good\n", argv[2]);
    return good ? 0 : 1;
}

static int end_pipe[2];

/* Which job has ended: its name goes through the pipe. */
static void on_end(size_t handler, pmix_status_t status, const pmix_proc_t *source,
                   pmix_info_t info[], size_t ninfo, pmix_info_t results[], size_t nresults,
                   pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    char line[PMIX_MAX_NSLEN + 2] = "?";

    (void)handler, (void)status, (void)source, (void)results, (void)nresults;
    for (size_t i = 0; i < ninfo; i++) {
        if (PMIX_CHECK_KEY(&info[i], PMIX_EVENT_AFFECTED_PROC))
            snprintf(line, sizeof line, "%s", info[i].value.data.proc->nspace);
    }
    if (write(end_pipe[1], line, strlen(line) + 1) < 0)
        perror("write");
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

/* The next name in the pipe. */
static bool read_end(char *name, size_t room)
{
    size_t n = 0;

    while (n < room && read(end_pipe[0], &name[n], 1) == 1) {
        if (!name[n++])
            return true;
    }
    return false;
}

/* older: a tool is told of jobs that have ended before it came, too. */
static int notified(const char *group, bool older)
{
    pmix_status_t end = PMIX_ERR_JOB_TERMINATED;
    char got[PMIX_MAX_NSLEN + 2] = "";
    int code;

    if (pipe(end_pipe) < 0 || PMIx_Register_event_handler(&end, 1, NULL, 0, on_end, NULL, NULL) < 0)
        return 1;
    code = spawn_group(group);
    while (read_end(got, sizeof got) && strcmp(got, last) && older) {
    }
    if (strcmp(got, last))
        printf("the job that has ended: %s, not %s\n", got, last);
    return code;
}

/* Pipes are opened by both sides, or not at all. */
static void meet(const char *pipe, int how)
{
    int fd = open(filled(pipe), how);

    if (fd < 0)
        printf("%s: %s\n", pipe, strerror(errno));
    else
        close(fd);
}

/* The daemon of the last rank is stopped meanwhile. */
static int late(void)
{
    int code = 0;

    if (me.rank == 2) {
        kill(getppid(), SIGSTOP);
        meet("@/stopped", O_WRONLY);
        meet("@/over", O_RDONLY);
        kill(getppid(), SIGCONT);
    } else if (me.rank == 0) {
        meet("@/stopped", O_RDONLY);
        code = spawn_group("late");
        meet("@/over", O_WRONLY);
    }
    return code;
}

static int tool(const char *uri, const char *group)
{
    pmix_info_t info;
    int code;

    PMIX_INFO_LOAD(&info, PMIX_SERVER_URI, uri, PMIX_STRING);
    if (PMIx_tool_init(&me, &info, 1) != PMIX_SUCCESS)
        return 2;
    code = notified(group, true);
    PMIx_tool_finalize();
    return code;
}

int main(int argc, char **argv)
{
    pmix_status_t rc;
    int code;

    program = argv[0];
    if (argc < 2 || strcmp(argv[1], "child") != 0)
        setenv("SPAWN_LATE", "parent", 1);
    dir = argc > 2 ? argv[2] : "";
    if (argc > 3 && !strcmp(argv[1], "tool"))
        return tool(argv[3], argc > 4 ? argv[4] : "tool");
    if (argc > 3 && !strcmp(argv[1], "child"))
        fail_as_checked(argv + 3);
    rc = PMIx_Init(&me, NULL, 0);
    if (rc != PMIX_SUCCESS || argc < 3) {
        printf("init %s\n", PMIx_Error_string(rc));
        return 2;
    }
    if (!strcmp(argv[1], "child"))
        code = child(argv);
    else if (!strcmp(argv[1], "late"))
        code = late();
    else if (!strcmp(argv[1], "notify"))
        code = me.rank == 0 ? notified("notify", false) : 0;
    else
        code = is_first() && me.rank == 0 ? spawn_group(argv[1]) : 0;
    fflush(stdout);
    PMIx_Finalize(NULL, 0);
    return code;
}
