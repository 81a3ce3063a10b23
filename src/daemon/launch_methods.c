/* launch_methods.c - see launch_methods.h. */
#include "daemon/launch_methods.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "base/limit.h"

static const struct way {
    const char *name, *exec, *options, *user;
    unsigned properties;
    const char *reach;
} ways[AGENT_KINDS] = {
#define X(kind, ...) [AGENT_##kind] = { __VA_ARGS__ },
    LAUNCH_METHODS(X)
#undef X
        [AGENT_EXEC] = { "exec", NULL, "", NULL, METHOD_TREE, "" },
    /* Nodes that are reached so (pods, containers) mostly cannot reach each other so. */
    [AGENT_TEMPLATE] = { "template", NULL, "", NULL, 0, "" },
    [AGENT_DVM] = { "dvm", NULL, "", NULL, 0, "" }, /* its nodes have no launcher of it */
};

const char *agent_kind_name(enum agent_kind kind)
{
    return ways[kind].name;
}

bool agent_kind_read(const char *name, enum agent_kind *kind_p)
{
    for (int i = 0; i < AGENT_KINDS; i++) {
        if (!strcmp(name, ways[i].name)) {
            *kind_p = (enum agent_kind)i;
            return true;
        }
    }
    return false;
}

bool agent_at_once(enum agent_kind kind)
{
    return ways[kind].properties & METHOD_AT_ONCE;
}

bool agent_needs_file(enum agent_kind kind)
{
    return ways[kind].properties & METHOD_FILE;
}

bool agent_by_tree(enum agent_kind kind)
{
    return ways[kind].properties & METHOD_TREE;
}

static const char node_mark[] = "{node}", command_mark[] = "{command}";

/* The last part of the first word's path. */
static bool runs(const char *exec, const char *program)
{
    size_t n = strcspn(exec, " \t"), m = strlen(program);

    return n >= m && !memcmp(exec + n - m, program, m) && (n == m || exec[n - m - 1] == '/');
}

enum agent_kind agent_kind_of(const char *exec)
{
    if (strstr(exec, node_mark) || strstr(exec, command_mark))
        return AGENT_TEMPLATE;
    return runs(exec, "ssh") ? AGENT_SSH : runs(exec, "rsh") ? AGENT_RSH : AGENT_EXEC;
}

/* ---- the spec as options ---- */

int agent_spec_put(const struct agent_spec *s, struct arena *a, struct bootstrap *b)
{
    char *port = s->port ? arena_printf(a, "%u", s->port) : NULL;
    int rc = bootstrap_put_option(a, b, "agent", ways[s->kind].name);

    if (rc == 0)
        rc = bootstrap_put_option(a, b, "agent-exec", s->exec);
    if (rc == 0)
        rc = bootstrap_put_option(a, b, "agent-args", s->args);
    if (rc == 0)
        rc = bootstrap_put_option(a, b, "agent-user", s->user);
    if (rc == 0)
        rc = bootstrap_put_option(a, b, "agent-port", port);
    if (rc == 0)
        rc = bootstrap_put_option(a, b, s->wireupd_given ? "wireupd-given" : "wireupd", s->wireupd);
    return rc ? rc : arena_ok(a) ? 0 : -ENOMEM;
}

int agent_spec_get(struct agent_spec *s, const struct bootstrap *b, struct errmsg *err)
{
    const char *kind = bootstrap_option(b, "agent"), *port = bootstrap_option(b, "agent-port");

    memset(s, 0, sizeof *s);
    /* Only the launcher can ask a DVM. */
    if (!kind || !agent_kind_read(kind, &s->kind) || s->kind == AGENT_DVM)
        return errmsg_set(err, BOOTSTRAP_BAD,
                          "the record from the launcher is damaged (the agent)");
    s->exec = bootstrap_option(b, "agent-exec");
    s->args = bootstrap_option(b, "agent-args");
    s->user = bootstrap_option(b, "agent-user");
    s->wireupd = bootstrap_option(b, "wireupd-given");
    s->wireupd_given = s->wireupd != NULL;
    if (!s->wireupd)
        s->wireupd = bootstrap_option(b, "wireupd");
    if (!s->wireupd || (port && !slice_u32(slice_str(port), &s->port)))
        return errmsg_set(err, BOOTSTRAP_BAD,
                          "the record from the launcher is damaged (the agent)");
    return 0;
}

/* ---- command lines ---- */

struct words {
    struct arena *a;
    char **argv;
    uint32_t count, room;
    bool failed;
};

static void add(struct words *w, struct slice word)
{
    if (w->count + 1 >= w->room) {
        uint32_t room = w->room ? w->room * 2 : 32;
        char **more = arena_array(w->a, room, sizeof *more);
        if (!more) {
            w->failed = true;
            return;
        }
        if (w->count)
            memcpy(more, w->argv, w->count * sizeof *more);
        w->argv = more;
        w->room = room;
    }
    w->argv[w->count] = arena_str(w->a, word);
    w->failed = w->failed || !w->argv[w->count];
    w->count++;
}

static void add_str(struct words *w, const char *word)
{
    add(w, slice_str(word));
}

/* Takes one word from the front of a text, as shells split them: blanks end it, except in single
 * quotes; a backslash takes the next character literally.  to: as much room as the text has. False:
 * there is no word. */
static bool next_word(const char **text, char *to)
{
    const char *c = *text + strspn(*text, " \t");
    bool quoted = false, any = *c != '\0';

    for (; *c && (quoted || (*c != ' ' && *c != '\t')); c++) {
        if (*c == '\'')
            quoted = !quoted;
        else if (*c == '\\' && !quoted && c[1])
            *to++ = *++c;
        else
            *to++ = *c;
    }
    *to = '\0';
    *text = c;
    return any;
}

/* ---- templates ---- */

/* What stands for the marks of a template. */
struct filling {
    const char *node;
    const char *const *command; /* NULL-terminated */
};

/* The command as a text for a shell. */
static void put_command(struct words *w, struct buf *out, const char *const *command)
{
    for (const char *const *c = command; *c; c++) {
        const char *word = agent_word(w->a, *c);
        w->failed = w->failed || !word;
        buf_printf(out, "%s%s", c == command ? "" : " ", word ? word : "");
    }
}

/* "--pod={node}", "exec {command}" */
static void add_filled(struct words *w, const char *word, const struct filling *f)
{
    struct buf out = BUF_NULL(LIMIT_MAP_TEXT);

    while (*word) {
        if (!strncmp(word, node_mark, sizeof node_mark - 1)) {
            buf_str(&out, f->node);
            word += sizeof node_mark - 1;
        } else if (!strncmp(word, command_mark, sizeof command_mark - 1)) {
            put_command(w, &out, f->command);
            word += sizeof command_mark - 1;
        } else {
            buf_byte(&out, *word++);
        }
    }
    if (buf_ok(&out))
        add(w, buf_slice(&out));
    else
        w->failed = true;
    buf_free(&out);
}

/* A mark that is a word of its own becomes as many words as the command has: no shell reads them.
 */
static void add_template(struct words *w, const char *text, const struct filling *f)
{
    bool has_command = strstr(text, command_mark);
    char *word = malloc(strlen(text) + 1);

    w->failed = w->failed || !word;
    while (word && next_word(&text, word)) {
        if (strcmp(word, command_mark) != 0)
            add_filled(w, word, f);
        for (const char *const *c = f->command; !strcmp(word, command_mark) && *c; c++)
            add_str(w, *c);
    }
    for (const char *const *c = f->command; !has_command && *c; c++)
        add_str(w, *c);
    free(word);
}

static void fill_template(struct words *w, const struct agent_spec *s, const char *node,
                          const char *wireupd)
{
    const char *const command[] = { wireupd, NULL };

    add_template(w, s->exec, &(struct filling){ node, command });
}

bool agent_command_is_last(const struct agent_spec *s)
{
    const char *mark = s->kind == AGENT_TEMPLATE ? strstr(s->exec, command_mark) : NULL;

    return !mark || (mark > s->exec && mark[-1] == ' ' && !mark[sizeof command_mark - 1]);
}

static int check_marks(const struct agent_spec *s, struct errmsg *err)
{
    bool marked = s->exec && agent_kind_of(s->exec) == AGENT_TEMPLATE;

    if (marked && s->kind != AGENT_TEMPLATE)
        return errmsg_set(
            err, BOOTSTRAP_BAD,
            "-launcher-exec with {node} is a launch method of its own: leave out -launcher %s",
            ways[s->kind].name);
    if (!marked)
        return 0;
    if (!strstr(s->exec, node_mark))
        return errmsg_set(err, BOOTSTRAP_BAD, "-launcher-exec has {command}, but not {node}");
    if (s->args)
        return errmsg_set(
            err, BOOTSTRAP_BAD,
            "-launcher-args has no place in a -launcher-exec with {node}: write '%.200s' "
            "into that, or unset the variable that it comes from",
            s->args);
    return 0;
}

static void add_all(struct words *w, const char *text)
{
    char *word = malloc(strlen(text) + 1);

    w->failed = w->failed || !word;
    while (word && next_word(&text, word))
        add_str(w, word);
    free(word);
}

/* Quotes a path as one word for any shell.  Most paths need no quotes, and then commands that use
 * no shell can run them as well. */
char *agent_word(struct arena *a, const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "/._-+=:,@";
    char *word;
    size_t n = 0;

    if (text[0] && strspn(text, plain) == strlen(text))
        return arena_str(a, slice_str(text));
    word = arena_alloc(a, 4 * strlen(text) + 3);
    if (!word)
        return NULL;
    word[n++] = '\'';
    for (; *text; text++) {
        if (*text == '\'') {
            memcpy(word + n, "'\\''", 4);
            n += 4;
        } else {
            word[n++] = *text;
        }
    }
    word[n++] = '\'';
    word[n] = '\0';
    return word;
}

/* What follows the node's name goes to a shell there. */
static bool has_shell(const struct agent_spec *s)
{
    return s->kind == AGENT_SSH || s->kind == AGENT_RSH || s->kind == AGENT_EXEC ||
           s->kind == AGENT_DVM;
}

static void add_program(struct words *w, const struct agent_spec *s, const char *wireupd,
                        const char *file)
{
    bool shell = has_shell(s);

    for (int i = 0; i < (file ? 3 : 1); i++) {
        const char *word = i == 0 ? wireupd : i == 1 ? "--record" : file;
        char *quoted = shell ? agent_word(w->a, word) : NULL;
        if (shell && !quoted)
            w->failed = true;
        else
            add_str(w, shell ? quoted : word);
    }
}

/* "a,b,c" */
static void add_list(struct words *w, const char *option, const struct bootstrap_node *nodes,
                     uint32_t n)
{
    struct buf list = BUF_NULL(LIMIT_MAP_TEXT);

    buf_str(&list, option);
    for (uint32_t i = 0; i < n; i++) {
        if (i)
            buf_byte(&list, ',');
        buf_str(&list, nodes[i].name);
    }
    if (buf_ok(&list))
        add(w, buf_slice(&list));
    else
        w->failed = true;
    buf_free(&list);
}

static void add_number(struct words *w, const char *option, uint32_t n)
{
    char text[64];

    snprintf(text, sizeof text, "%s%u", option, n);
    add_str(w, text);
}

/* Adds the target nodes to the command. */
static void add_target(struct words *w, const struct agent_spec *s,
                       const struct bootstrap_node *nodes, uint32_t n)
{
    const char *user = nodes[0].user ? nodes[0].user : s->user;
    uint32_t port = nodes[0].port ? nodes[0].port : s->port;

    switch (s->kind) {
    case AGENT_SLURM:
        add_list(w, "--nodelist=", nodes, n);
        add_number(w, "--nodes=", n);
        add_number(w, "--ntasks=", n);
        break;
    case AGENT_FLUX: break;
    default:
        if (s->kind == AGENT_SSH && port) {
            add_str(w, "-p");
            add_number(w, "", port);
        }
        if (user && ways[s->kind].user) {
            add_str(w, ways[s->kind].user);
            add_str(w, user);
        }
        add_str(w, nodes[0].name);
    }
}

/* A node or user name that the command would take for an option is refused. */
static int check_names(const struct bootstrap_node *nodes, uint32_t n, struct errmsg *err)
{
    for (uint32_t i = 0; i < n; i++) {
        if (nodes[i].name[0] == '-' || nodes[i].name[0] == '\0' ||
            (nodes[i].user && nodes[i].user[0] == '-'))
            return errmsg_set(err, BOOTSTRAP_BAD,
                              "node %.200s: the name of a node or user cannot begin with -",
                              nodes[i].name);
    }
    return 0;
}

/* A user or port that the command cannot pass on must not be ignored: another user is another
 * machine. */
static int check_words(const struct agent_spec *s, const struct bootstrap_node *nodes, uint32_t n,
                       struct errmsg *err)
{
    bool by_hand = s->kind == AGENT_FORK || s->kind == AGENT_MANUAL;

    for (uint32_t i = 0; i < n && !by_hand; i++) {
        bool user = (nodes[i].user || s->user) && !ways[s->kind].user;
        bool port = (nodes[i].port || s->port) && s->kind != AGENT_SSH;
        if (user || port)
            return errmsg_set(err, BOOTSTRAP_BAD,
                              "node %.200s: a %s is given, which only ssh%s can use, but daemons "
                              "are started by %s",
                              nodes[i].name, user ? "user" : "port", user ? " and rsh" : "",
                              s->exec ? s->exec : ways[s->kind].exec);
    }
    return 0;
}

int agent_argv(const struct agent_spec *s, const struct bootstrap_node *nodes, uint32_t n,
               const char *wireupd, const char *file, struct arena *a, char ***argv_p,
               struct errmsg *err)
{
    struct words w = { .a = a };
    const char *exec = s->exec ? s->exec : ways[s->kind].exec;
    int rc = n ? check_names(nodes, n, err) : 0;

    if (rc)
        return rc;
    if (!exec)
        return errmsg_set(err, BOOTSTRAP_BAD, "-launcher-exec is empty");
    rc = check_words(s, nodes, n, err);
    if (rc == 0)
        rc = check_marks(s, err);
    if (rc)
        return rc;
    switch (s->kind) {
    case AGENT_FORK:
    case AGENT_MANUAL: break;
    case AGENT_TEMPLATE: fill_template(&w, s, nodes[0].name, wireupd); break;
    case AGENT_DVM: add_target(&w, s, nodes, n); break;
    default:
        add_all(&w, exec);
        if (w.count == 0)
            return errmsg_set(err, BOOTSTRAP_BAD, "-launcher-exec begins with an empty word");
        add_all(&w, ways[s->kind].options);
        if (s->args)
            add_all(&w, s->args);
        add_target(&w, s, nodes, n);
    }
    if (s->kind != AGENT_TEMPLATE)
        add_program(&w, s, wireupd, file);
    if (w.failed || !arena_ok(a))
        return -ENOMEM;
    w.argv[w.count] = NULL;
    *argv_p = w.argv;
    return 0;
}

/* The same by a template, if the command is its end. */
static int reach_by_template(const struct agent_spec *s, const struct bootstrap_node *node,
                             struct words *w, struct errmsg *err)
{
    static const char *const command[] = { "sh", "-c", NULL };

    if (!agent_command_is_last(s))
        return errmsg_set(err, BOOTSTRAP_BAD,
                          "node %.200s: a command of a user needs a -launcher-exec that ends with "
                          "{command}",
                          node->name);
    add_template(w, s->exec, &(struct filling){ node->name, command });
    return w->failed ? -ENOMEM : 0;
}

/* The words up to the node's name, for one command there. */
static int reach_words(const struct agent_spec *s, const struct bootstrap_node *node,
                       struct words *w, struct errmsg *err)
{
    const struct way *way = &ways[s->kind];
    const char *exec = s->exec ? s->exec : way->exec, *allocation = getenv("SLURM_JOB_ID");
    int rc = check_names(node, 1, err);

    if (rc == 0)
        rc = check_words(s, node, 1, err);
    if (rc == 0)
        rc = check_marks(s, err);
    if (rc)
        return rc;
    if (!way->reach || !exec || !*exec)
        return errmsg_set(err, BOOTSTRAP_BAD,
                          "node %.200s: %s runs no command of a user there; log in by hand",
                          node->name, way->name);
    if (s->kind == AGENT_TEMPLATE)
        return reach_by_template(s, node, w, err);
    add_all(w, exec);
    add_all(w, way->reach);
    if (s->args)
        add_all(w, s->args);
    if (s->kind == AGENT_SLURM && allocation) { /* of ours, wherever it is called */
        add_str(w, "--jobid");
        add_str(w, allocation);
    }
    add_target(w, s, node, 1);
    if (!has_shell(s)) {
        add_str(w, "sh");
        add_str(w, "-c");
    }
    return w->failed ? -ENOMEM : 0;
}

int agent_reach(const struct agent_spec *s, const struct bootstrap_node *node, struct arena *a,
                const char **words_p, struct errmsg *err)
{
    struct words w = { .a = a };
    struct buf text = BUF_NULL(1 << 20);
    int rc = s->kind == AGENT_FORK ? 0 : reach_words(s, node, &w, err);

    for (uint32_t i = 0; rc == 0 && i < w.count; i++) {
        const char *word = agent_word(a, w.argv[i]);
        buf_printf(&text, "%s%s", i ? " " : "", word ? word : "");
    }
    *words_p = rc == 0 && buf_ok(&text) ? arena_str(a, buf_slice(&text)) : NULL;
    buf_free(&text);
    return rc ? rc : arena_ok(a) && *words_p ? 0 : -ENOMEM;
}

/* ---- diagnosis ---- */

static int exit_code(const struct agent_seen *seen)
{
    return seen->status >= 0 && WIFEXITED(seen->status) ? WEXITSTATUS(seen->status) : -1;
}

/* Ignores case. */
static bool contains(struct slice text, const char *what)
{
    size_t n = strlen(what);

    for (size_t i = 0; i + n <= text.len; i++) {
        if (strncasecmp(text.ptr + i, what, n) == 0)
            return true;
    }
    return false;
}

/* Shells report it by their exit status, slurmstepd in words. */
bool agent_not_found(const struct agent_seen *seen)
{
    if (seen->started || seen->status < 0)
        return false;
    return exit_code(seen) == 127 || exit_code(seen) == 126 ||
           contains(seen->output, "error: execve()");
}

bool agent_refused(const struct agent_seen *seen)
{
    return !seen->started && seen->status >= 0 && exit_code(seen) == 255 &&
           contains(seen->output, "_exchange_identification:");
}

/* The last line that is neither empty nor a mere warning. */
static struct slice last_line(struct slice text)
{
    struct slice best = SLICE_NULL, line;

    while (text.len) {
        line = slice_trim(slice_cut(&text, '\n'));
        if (line.len && !contains(line, "permanently added") && !contains(line, "pseudo-terminal"))
            best = line;
    }
    return slice_head(best, 300);
}

static const struct cause {
    const char *sign;
    const char *means;
} causes[] = {
    { "could not resolve", "its name does not resolve here; check the host list, or name it by its "
                           "address" },
    { "name or service not known",
      "its name does not resolve here; check the host list, or name it "
      "by its address" },
    { "connection refused",
      "it refuses the connection; is its sshd running, and is this the right port?" },
    { "no route to host", "there is no route to it; is it switched on, and on this network?" },
    { "network is unreachable", "its network cannot be reached from here" },
    { "timed out", "it does not answer; is it switched on, and does a firewall let ssh through?" },
    { "host key verification failed", "ssh does not know its host key; log in by hand once, or add "
                                      "it to known_hosts" },
    { "permission denied",
      "it refuses a login without a password; set up a key, or an agent, for this user" },
    { "too many authentication failures",
      "it refuses the login; give one key in the configuration of ssh" },
    { "connection closed by", "it closed the connection before the login; see its sshd's log" },
    { "connection reset", "it closed the connection before the login; see its sshd's log" },
    { "invalid node name", "Slurm does not know this node" },
    { "asked for",
      "some of the nodes are not in this Slurm allocation; use its nodes, or -launcher ssh" },
    { "not part of the job", "it is not in this Slurm allocation" },
};

static const char *cause_of(struct slice output)
{
    for (size_t i = 0; i < sizeof causes / sizeof *causes; i++) {
        if (contains(output, causes[i].sign))
            return causes[i].means;
    }
    return NULL;
}

/* "ssh ended with status 255", "ssh was killed by SIGTERM" */
static void how_ended(const char *program, int status, char *text, size_t n)
{
    if (WIFSIGNALED(status))
        snprintf(text, n, "%.100s was killed by SIG%s", program,
                 sigabbrev_np(WTERMSIG(status)) ? sigabbrev_np(WTERMSIG(status)) : "?");
    else
        snprintf(text, n, "%.100s ended with status %d", program, WEXITSTATUS(status));
}

void agent_program(const struct agent_spec *s, const char *wireupd, char *name, size_t n)
{
    const char *exec = s->exec ? s->exec : ways[s->kind].exec;
    const char *slash;
    char first[4096];

    if (!exec || !exec[0] || strlen(exec) >= sizeof first || !next_word(&exec, first))
        snprintf(first, sizeof first, "%.4000s", wireupd);
    slash = strrchr(first, '/');
    snprintf(name, n, "%.90s", slash ? slash + 1 : first);
}

void agent_diagnose(const struct agent_spec *s, const char *node, const char *wireupd,
                    const struct agent_seen *seen, struct errmsg *out)
{
    struct slice line = last_line(seen->output);
    const char *cause = seen->started ? NULL : cause_of(seen->output);
    char program[100], ended[160] = "", hint[400] = "";

    agent_program(s, wireupd, program, sizeof program);
    if (s->kind != AGENT_TEMPLATE)
        snprintf(hint, sizeof hint, "; try this command: %s %.200s true", program, node);
    if (seen->trouble.len) {
        errmsg_set(out, 0, "node %.200s: " SLICE_FMT, node,
                   SLICE_ARG(slice_head(seen->trouble, 700)));
        return;
    }
    if (seen->status < 0) {
        if (seen->started)
            errmsg_set(
                out, 0,
                "node %.200s: wireupd runs there but has not connected to its parent within %u s",
                node, seen->seconds);
        else
            errmsg_set(
                out, 0,
                "node %.200s: no daemon has come up within %u s (started by %s)%s%s" SLICE_FMT "%s",
                node, seen->seconds, program, hint, line.len ? " (its output: " : "",
                SLICE_ARG(line), line.len ? ")" : "");
        return;
    }
    if (agent_not_found(seen)) {
        errmsg_set(out, 0,
                   "node %.200s: %.300s does not exist or cannot be executed; install Wireup on "
                   "all nodes, or give its path by -wireupd PATH",
                   node, wireupd);
        return;
    }
    how_ended(program, seen->status, ended, sizeof ended);
    if (s->kind == AGENT_DVM && !line.len)
        errmsg_set(out, 0,
                   "node %.200s: the DVM has closed the connection before the job's daemon was up",
                   node);
    else if (cause)
        errmsg_set(out, 0, "node %.200s: %s (%s: " SLICE_FMT ")", node, cause, program,
                   SLICE_ARG(line));
    else if (seen->started)
        errmsg_set(out, 0, "node %.200s: wireupd ended before it was up (%s%s" SLICE_FMT ")", node,
                   ended, line.len ? ": " : "", SLICE_ARG(line));
    else
        errmsg_set(out, 0, "node %.200s: no daemon could be started (%s%s" SLICE_FMT ")", node,
                   ended, line.len ? ": " : "", SLICE_ARG(line));
}
