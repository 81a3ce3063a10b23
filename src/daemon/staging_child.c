/* staging_child.c - see staging_child.h. */
#include "daemon/staging_child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/slice.h"
#include "io/child.h"
#include "io/staging_pack.h"
#include "io/staging_unpack.h"
#include "io/write_all.h"

extern char **environ;

static char self[] = "/proc/self/exe", pack_word[] = "--staging-pack",
            unpack_word[] = "--staging-unpack";

enum { WORDS_FD = STDERR_FILENO, ARGV_ROOM = 8 << 20 };

/* ---- the program ----------------------------------------------------------------------------- */

/* Its words are names and paths, in pairs. */
static int pack(char **words, uint32_t n, struct errmsg *err)
{
    struct arena a = ARENA_NULL(ARGV_ROOM);
    struct staging_source *sources = arena_array(&a, n / 2 + 1, sizeof *sources);
    int rc;

    for (uint32_t i = 0; sources && i < n / 2; i++)
        sources[i] = (struct staging_source){ words[2 * i], words[2 * i + 1] };
    rc = sources ? staging_pack(STDOUT_FILENO, sources, n / 2, err)
                 : errmsg_set(err, -ENOMEM, "out of memory for staged files");
    arena_free(&a);
    return rc;
}

bool staging_child_main(int argc, char **argv, int *code_p)
{
    struct errmsg err = { "" };
    int rc;

    if (argc >= 2 && !strcmp(argv[1], pack_word))
        rc = pack(argv + 2, (uint32_t)argc - 2, &err);
    else if (argc == 3 && !strcmp(argv[1], unpack_word))
        rc = staging_unpack(STDIN_FILENO, argv[2], &err);
    else
        return false;
    if (rc)
        write_all_slice(WORDS_FD, slice_str(err.text));
    *code_p = rc != 0;
    return true;
}

/* ---- its parent ------------------------------------------------------------------------------ */

static void close_one(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* reads: it reads the stream, which we write. */
static int start(struct staging_child *c, char **argv, bool reads, struct errmsg *err)
{
    int stream[2] = { -1, -1 }, words[2] = { -1, -1 }, rc = 0;
    int theirs = reads ? 0 : 1;

    if (pipe2(stream, O_CLOEXEC) < 0 || pipe2(words, O_CLOEXEC) < 0 ||
        fcntl(stream[!theirs], F_SETFL, O_NONBLOCK) < 0 ||
        fcntl(words[0], F_SETFL, O_NONBLOCK) < 0) {
        rc = errmsg_set(err, -errno, "cannot make pipes for staged files: %s", err_text(errno));
    } else {
        const struct child_fd fds[] = { { stream[theirs], theirs }, { words[1], WORDS_FD } };
        struct child_plan plan = {
            .path = self, .argv = argv, .env = environ, .fds = fds, .nfds = 2
        };
        rc = child_start(&plan, &c->pid, err);
    }
    close_one(&stream[theirs]);
    close_one(&words[1]);
    if (rc < 0) {
        c->pid = 0;
        close_one(&stream[!theirs]);
        close_one(&words[0]);
        return rc;
    }
    c->fd = stream[!theirs];
    c->words = words[0];
    return 0;
}

int staging_child_pack(struct staging_child *c, const struct job_map_staged *stage,
                       struct errmsg *err)
{
    struct arena a = ARENA_NULL(ARGV_ROOM);
    size_t n = 2;
    char **argv;
    int rc;

    for (const struct job_map_staged *s = stage; s; s = s->next)
        n += 2;
    argv = arena_array(&a, n + 1, sizeof *argv);
    if (argv) {
        argv[0] = self;
        argv[1] = pack_word;
        n = 2;
        for (const struct job_map_staged *s = stage; s; s = s->next) {
            argv[n++] = arena_str(&a, slice_str(s->name));
            argv[n++] = arena_str(&a, slice_str(s->path));
        }
    }
    rc = arena_ok(&a) ? start(c, argv, false, err)
                      : errmsg_set(err, -ENOMEM, "out of memory for staged files");
    arena_free(&a);
    return rc;
}

int staging_child_unpack(struct staging_child *c, const char *dir, struct errmsg *err)
{
    struct arena a = ARENA_NULL(ARGV_ROOM);
    char *argv[] = { self, unpack_word, arena_str(&a, slice_str(dir)), NULL };
    int rc = arena_ok(&a) ? start(c, argv, true, err)
                          : errmsg_set(err, -ENOMEM, "out of memory for staged files");

    arena_free(&a);
    return rc;
}

int staging_child_ended(struct staging_child *c, int status, struct errmsg *err)
{
    ssize_t n = read(c->words, err->text, sizeof err->text - 1);

    c->pid = 0;
    close_one(&c->words);
    err->text[n > 0 ? n : 0] = '\0';
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return 0;
    if (n <= 0 && WIFSIGNALED(status))
        return errmsg_set(err, 1, "the process that stages files was killed by signal %d",
                          WTERMSIG(status));
    return n > 0 ? 1 : errmsg_set(err, 1, "the process that stages files has failed");
}

void staging_child_close(struct staging_child *c)
{
    if (c->pid > 0) {
        kill(-c->pid, SIGKILL);
        while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    c->pid = 0;
    close_one(&c->fd);
    close_one(&c->words);
}
