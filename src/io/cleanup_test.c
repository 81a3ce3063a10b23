/* cleanup_test.c - files that are removed, files that stay, and paths that must not be removed. */
#include "io/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/tap.h"

static char top[64];

static const char *path_of(const char *name)
{
    static char text[2][256];
    static int turn;

    turn = !turn;
    snprintf(text[turn], sizeof text[turn], "%s/%s", top, name);
    return text[turn];
}

static void make_file(const char *name)
{
    int fd = open(path_of(name), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    if (fd < 0)
        abort();
    close(fd);
}

static void make_dir(const char *name)
{
    if (mkdir(path_of(name), 0700) < 0)
        abort();
}

static void make_link(const char *to, const char *name)
{
    if (symlink(to, path_of(name)) < 0)
        abort();
}

static bool there(const char *name)
{
    struct stat st;

    return lstat(path_of(name), &st) == 0;
}

static int file(const char *name)
{
    return cleanup_run(
        &(struct cleanup_order){ .uid = geteuid(), .path = slice_str(path_of(name)) });
}

static int tree(const char *name, const char *stay, bool empty_only, bool leave_top)
{
    return cleanup_run(&(struct cleanup_order){ .uid = geteuid(),
                                                .path = slice_str(path_of(name)),
                                                .stay = slice_str(stay),
                                                .directory = true,
                                                .recursive = true,
                                                .empty_only = empty_only,
                                                .leave_top = leave_top });
}

static void test_files(void)
{
    make_file("file");
    make_dir("real");
    make_file("real/file");
    make_link("real", "link");
    make_link("real/file", "to-file");
    EQ(file("file"), 1);
    OK(!there("file"));
    EQ(file("file"), -ENOENT);
    OK_F(file("link/file") < 0 && there("real/file"), "no link is followed on the way");
    EQ(file("to-file"), 1);
    OK_F(!there("to-file") && there("real/file"), "a link is removed, not its target");
    EQ(file("real"), -EISDIR);
    OK_F(tree("link", "", false, false) < 0 && there("real/file"), "nor is a linked directory");
    EQ(tree("real/file", "", false, false), -ENOTDIR);
    EQ(cleanup_run(&(struct cleanup_order){
           .uid = geteuid(), .path = SLICE("/"), .directory = true, .recursive = true }),
       -EINVAL);
    file("link");
}

static void test_trees(void)
{
    make_dir("tree");
    make_dir("tree/a");
    make_dir("tree/a/b");
    make_dir("tree/empty");
    make_file("tree/a/b/c");
    make_file("tree/keep");
    make_link("../real", "tree/out");
    EQ(tree("tree", "", true, false), 1);
    OK_F(!there("tree/empty") && there("tree/a/b/c"), "empty directories only");
    EQ(cleanup_run(&(struct cleanup_order){ .uid = geteuid(),
                                            .path = slice_str(path_of("tree")),
                                            .stay = SLICE("keep"),
                                            .directory = true }),
       1);
    OK_F(!there("tree/out") && there("tree/a") && there("real/file"),
         "not files in deeper directories");
    EQ(tree("tree", "x, keep", false, false), 3);
    OK_F(there("tree/keep") && !there("tree/a"), "files that are to stay do, and their directory");
    EQ(tree("tree", "", false, true), 1);
    OK_F(there("tree") && !there("tree/keep"), "the top stays");
    EQ(tree("tree", "", false, false), 1);
    OK(!there("tree"));
    EQ(tree("real", "", false, false), 2);
}

/* Only root can create files of other users. */
static void test_others(void)
{
    make_dir("mixed");
    make_file("mixed/ours");
    make_file("mixed/theirs");
    if (chown(path_of("mixed/theirs"), 65534, 65534) < 0) {
        OK_F(tree("mixed", "", false, false) == 3, "we cannot make somebody else's file here");
        return;
    }
    EQ(tree("mixed", "", false, false), 1);
    OK_F(there("mixed/theirs") && !there("mixed/ours"), "somebody else's file stays");
    EQ(file("mixed/theirs"), -EPERM);
    OK(chown(path_of("mixed/theirs"), geteuid(), getegid()) == 0);
    EQ(tree("mixed", "", false, false), 2);
}

/* A container's paths are below its own root. */
static void test_root(void)
{
    int root;

    make_dir("container");
    make_file("container/inside");
    root = open(path_of("container"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    EQ(cleanup_run(
           &(struct cleanup_order){ .uid = geteuid(), .path = SLICE("/inside"), .root = root }),
       1);
    EQ(cleanup_run(
           &(struct cleanup_order){ .uid = geteuid(), .path = SLICE("/inside"), .root = root }),
       -ENOENT);
    EQ(cleanup_run(&(struct cleanup_order){
           .uid = geteuid(), .path = slice_str(top), .directory = true, .root = root }),
       -ENOENT);
    close(root);
    EQ(tree("container", "", false, false), 1);
}

/* What a user sees who may pass a folder, and not read it (root may read everything). */
static int removed_by_user(const char *name)
{
    pid_t pid = fork();
    int status = -1;

    if (pid == 0) {
        bool is_user = geteuid() != 0 ||
                       (setresgid(65534, 65534, 65534) == 0 && setresuid(65534, 65534, 65534) == 0);
        _exit(is_user ? tree(name, "", false, false) : 99);
    }
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? (signed char)WEXITSTATUS(status) : -1;
}

static void test_unreadable(void)
{
    make_dir("passed");
    make_dir("passed/ours");
    make_file("passed/ours/file");
    if (geteuid() == 0 && (chmod(top, 0711) < 0 || chown(path_of("passed/ours"), 65534, 0) < 0 ||
                           chown(path_of("passed/ours/file"), 65534, 0) < 0))
        abort();
    if (chmod(path_of("passed"), 0333) < 0)
        abort();
    EQ(removed_by_user("passed/ours"), 2);
    if (chmod(path_of("passed"), 0700) < 0)
        abort();
    EQ(tree("passed", "", false, false), 1);
}

int main(void)
{
    const char *dir = getenv("TMPDIR");

    snprintf(top, sizeof top, "%.40s/wu-cleanup-XXXXXX", dir ? dir : "/tmp");
    if (!mkdtemp(top))
        abort();
    test_files();
    test_trees();
    test_others();
    test_root();
    test_unreadable();
    EQ(rmdir(top), 0);
    return tap_done();
}
