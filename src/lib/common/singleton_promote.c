/* singleton_promote.c - see singleton_promote.h. */
#include "lib/common/singleton_promote.h"

#include <errno.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/privilege.h"

extern char **environ;

enum { SINGLETON_PROMOTE_FD = 3 };

static int start(const char *program, const char *name, int fd, pid_t *pid_p)
{
    char fd_text[8], pid_text[16];
    const char *const argv[] = { program, "-pmi_args", fd_text, "fd", name, pid_text, NULL };
    posix_spawn_file_actions_t actions;
    int rc = posix_spawn_file_actions_init(&actions);

    if (rc)
        return -rc;
    snprintf(fd_text, sizeof fd_text, "%d", SINGLETON_PROMOTE_FD);
    snprintf(pid_text, sizeof pid_text, "%d", (int)getpid());
    /* Our standard input stays ours.  The descriptor may have the wanted number already; dup2
     * would then leave it close-on-exec, the spawn action does not. */
    rc = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", 0, 0);
    if (rc == 0)
        rc = posix_spawn_file_actions_adddup2(&actions, fd, SINGLETON_PROMOTE_FD);
    /* Of the rest it knows nothing, and would keep it open: a reader of a pipe of this program would
     * not see the end of file. */
    if (rc == 0)
        rc = posix_spawn_file_actions_addclosefrom_np(&actions, SINGLETON_PROMOTE_FD + 1);
    if (rc == 0)
        rc = posix_spawnp(pid_p, program, &actions, NULL, (char *const *)(uintptr_t)argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return -rc;
}

int promote(const char *name, int *fd_p, pid_t *pid_p, struct errmsg *err)
{
    const char *program = getenv("WIREUP");
    int ends[2], on = 1, rc;

    if (privilege_is_lent()) /* a setuid program must not trust its user's WIREUP and PATH */
        return errmsg_set(err, -EPERM,
                          "this program is set-uid, set-gid or has capabilities: it starts no "
                          "process manager; start it with `wireup -n 1 PROGRAM`");

    if (!program || !*program)
        program = "wireup";
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
        return errmsg_set(err, -errno, "no connection to a process manager: %s", err_text(errno));
    /* Lets the launcher see whether we have changed our user since. */
    setsockopt(ends[1], SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
    rc = start(program, name, ends[1], pid_p);
    close(ends[1]);
    if (rc < 0) {
        close(ends[0]);
        return errmsg_set(
            err, rc,
            "this program was started without a process manager, and `%s` cannot be "
            "started for it (%s): install Wireup, or start the program with `wireup -n "
            "1 PROGRAM`",
            program, err_text(rc));
    }
    *fd_p = ends[0];
    return 0;
}

void singleton_promote_end(pid_t *pid_p)
{
    while (*pid_p > 0 && waitpid(*pid_p, NULL, 0) < 0 && errno == EINTR) {
    }
    *pid_p = 0;
}
