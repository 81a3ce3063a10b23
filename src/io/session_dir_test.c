/* session_dir_test.c - directories that are made, found, and removed. */
#include "io/session_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/tap.h"

static char top[64], base[128];

/* Runs before each lock is taken, except for those that it takes itself. */
static void (*before_lock)(void);

int flock(int fd, int how)
{
    void (*fn)(void) = before_lock;

    before_lock = NULL;
    if (fn)
        fn();
    before_lock = fn;
    return (int)syscall(SYS_flock, fd, how);
}

static bool there(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0;
}

static bool is_private(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && (st.st_mode & 0777) == 0700;
}

static const char *below(const struct session_dir *d, const char *name)
{
    static char text[2][SESSION_DIR_MAX + 64];
    static int turn;

    turn = !turn;
    snprintf(text[turn], sizeof text[turn], "%s/%s", d->path, name);
    return text[turn];
}

static void put(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    if (fd < 0)
        abort();
    close(fd);
}

static void test_life(void)
{
    struct session_dir d;

    session_dir_name(&d, top);
    OK(d.path[0] && !there(base)); /* a name costs nothing */
    EQ(session_dir_make(&d, 0, 3), 0);
    EQ(session_dir_make(&d, 0, 3), 0);
    EQ(session_dir_make(&d, 1, 0), 0);
    OK(is_private(base) && is_private(d.path) && is_private(below(&d, "0/3")));
    put(below(&d, "0/3/segment"));
    put(below(&d, "file"));
    session_dir_drop(&d, 0);
    OK(!there(below(&d, "0")) && there(below(&d, "1/0")));
    OK(rmdir(below(&d, "1/0")) == 0 && rmdir(below(&d, "1")) == 0); /* as Open MPI does */
    EQ(session_dir_make(&d, 1, 1), 0);
    OK(there(below(&d, "1/1")));
    session_dir_remove(&d);
    OK(!there(base));
    session_dir_remove(&d);
}

static void test_two(void)
{
    struct session_dir a, b;

    session_dir_name(&a, top);
    session_dir_name(&b, top);
    EQ(session_dir_make(&a, 0, 0), 0);
    EQ(session_dir_make(&b, 0, 0), 0);
    OK(there(below(&a, "0/0"))); /* in use: not removed as stale */
    session_dir_remove(&a);
    OK(there(below(&b, "0/0")));
    session_dir_remove(&b);
    OK(!there(base));
}

/* Its creator is killed; a process that knows the name removes it, or the next one that makes
 * another. */
static void test_left(bool known)
{
    struct session_dir left, next;
    pid_t pid;

    session_dir_name(&left, top);
    pid = fork();
    if (pid == 0) {
        session_dir_make(&left, 0, 0);
        put(below(&left, "0/0/segment"));
        raise(SIGKILL);
    }
    OK(pid > 0 && waitpid(pid, NULL, 0) == pid);
    OK(there(below(&left, "0/0/segment")));
    if (known) {
        session_dir_remove(&left);
        OK(!there(base));
        return;
    }
    session_dir_name(&next, top);
    EQ(session_dir_make(&next, 0, 0), 0);
    OK(!there(left.path) && there(below(&next, "0/0")));
    session_dir_remove(&next);
    OK(!there(base));
}

/* Another launch looks for stale directories just before this one locks its own. */
static void look_for_left(void)
{
    struct session_dir other;

    session_dir_name(&other, top);
    if (session_dir_make(&other, 0, 0) < 0)
        abort();
    session_dir_remove(&other);
}

static void test_newborn(void)
{
    struct session_dir d;

    session_dir_name(&d, top);
    before_lock = look_for_left;
    EQ(session_dir_make(&d, 0, 0), 0);
    before_lock = NULL;
    OK_F(there(below(&d, "0/0")), "a directory that is not locked yet is not removed as stale");
    session_dir_remove(&d);
    OK(!there(base));
}

/* The owner is killed before it has locked its directory. */
static void test_stillborn(void)
{
    struct session_dir left, other;
    char early[SESSION_DIR_MAX + 64];

    session_dir_name(&left, top);
    session_dir_name(&other, top);
    snprintf(early, sizeof early, "%s/.%s", base, strrchr(left.path, '/') + 1);
    EQ(session_dir_make(&other, 0, 0), 0);
    OK(mkdir(early, 0700) == 0);
    session_dir_remove(&other);
    OK_F(there(early), "others leave it alone for a minute");
    session_dir_remove(&left);
    OK_F(!there(base), "who knows the name removes it");
}

/* Files of another user there block nobody, and are not used. */
static void test_squatted(void)
{
    struct session_dir d;
    char precious[128];

    OK(mkdir(base, 0755) == 0);
    session_dir_name(&d, top);
    OK_F(strncmp(d.path, base, strlen(base)) == 0 && d.path[strlen(base)] == '.', "%s", d.path);
    EQ(session_dir_make(&d, 0, 0), 0);
    session_dir_remove(&d);
    OK(!there(d.path) && rmdir(base) == 0);

    snprintf(precious, sizeof precious, "%s/precious", top);
    OK(mkdir(precious, 0700) == 0 && symlink(precious, base) == 0);
    session_dir_name(&d, top);
    EQ(session_dir_make(&d, 0, 0), 0);
    OK(rmdir(precious) == 0); /* nothing was made there */
    session_dir_remove(&d);
    OK(unlink(base) == 0);

    session_dir_name(&d, top); /* it appears between choosing the name and making the directory */
    OK(mkdir(base, 0755) == 0);
    EQ(session_dir_make(&d, 0, 0), -EACCES);
    session_dir_remove(&d);
    OK(!there(base) || rmdir(base) == 0);

    session_dir_name(&d, "/no/such");
    OK(!d.path[0]);
    EQ(session_dir_make(&d, 0, 0), -ENOENT);
    session_dir_remove(&d);
}

/* A link that a program leaves there is not followed. */
static void test_links(void)
{
    struct session_dir d;
    char precious[128];

    snprintf(precious, sizeof precious, "%s/precious", top);
    put(precious);
    session_dir_name(&d, top);
    EQ(session_dir_make(&d, 0, 0), 0);
    OK(symlink(top, below(&d, "0/0/up")) == 0 && symlink(precious, below(&d, "0/0/file")) == 0);
    session_dir_remove(&d);
    OK(there(precious) && !there(base) && unlink(precious) == 0);
}

/* Launches of one user come and go: none fails, nothing stays. */
static void test_crowd(void)
{
    pid_t pids[8];
    int bad = 0, status;

    for (int i = 0; i < 8; i++) {
        pids[i] = fork();
        if (pids[i] > 0)
            continue;
        for (int n = 0; n < 50; n++) {
            struct session_dir d;
            session_dir_name(&d, top);
            if (session_dir_make(&d, 0, 0) < 0 || !there(below(&d, "0/0")))
                _exit(1);
            session_dir_remove(&d);
        }
        _exit(0);
    }
    for (int i = 0; i < 8; i++)
        bad += waitpid(pids[i], &status, 0) != pids[i] || status != 0;
    EQ(bad, 0);
    OK(!there(base));
}

/* Directories of ordinary users are removed too. */
static void test_ordinary_user(void)
{
    char own[] = "/tmp/wu-session-user.XXXXXX";
    struct session_dir d;
    int status = -1;
    pid_t pid;

    if (!mkdtemp(own) || chown(own, 65534, 65534) < 0) {
        rmdir(own);
        return; /* this is an ordinary user, for whom all of the above was tried */
    }
    pid = fork();
    if (pid == 0) {
        if (setresgid(65534, 65534, 65534) < 0 || setresuid(65534, 65534, 65534) < 0)
            _exit(2);
        session_dir_name(&d, own);
        if (session_dir_make(&d, 0, 0) != 0 || !there(below(&d, "0/0")))
            _exit(3);
        session_dir_remove(&d);
        _exit(there(d.path) ? 4 : 0);
    }
    OK(pid > 0 && waitpid(pid, &status, 0) == pid);
    EQ(status, 0);
    EQ(rmdir(own), 0);
}

int main(void)
{
    snprintf(top, sizeof top, "/tmp/wireup-session-test.%d", (int)getpid());
    snprintf(base, sizeof base, "%s/wireup-%u", top, (unsigned)geteuid());
    if (mkdir(top, 0700) < 0)
        abort();
    test_life();
    test_two();
    test_left(true);
    test_left(false);
    test_newborn();
    test_stillborn();
    test_squatted();
    test_links();
    test_crowd();
    OK(rmdir(top) == 0);
    test_ordinary_user();
    return tap_done();
}
