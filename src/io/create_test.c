/* create_test.c - names that others have taken before us. */
#include "io/create.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/tap.h"

enum { OTHER = 65534 };

static char top[64];

static const char *path_of(const char *name)
{
    static char text[4][256];
    static int turn;

    turn = (turn + 1) % 4;
    snprintf(text[turn], sizeof text[turn], "%s/%s", top, name);
    return text[turn];
}

/* Runs once, after the next mkdir. */
static void (*after_mkdir)(void);

int mkdir(const char *path, mode_t mode)
{
    long rc = syscall(SYS_mkdirat, AT_FDCWD, path, mode);
    void (*fn)(void) = after_mkdir;
    int error = errno;

    after_mkdir = NULL;
    if (fn)
        fn();
    errno = error;
    return (int)rc;
}

static void put(const char *name, const char *text)
{
    int fd = open(path_of(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    if (fd < 0 || write(fd, text, strlen(text)) < 0)
        abort();
    close(fd);
}

static const char *get(const char *name)
{
    static char text[64];
    int fd = open(path_of(name), O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);

    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    return n < 0 ? "(cannot be read)" : text;
}

static void point(const char *to, const char *name)
{
    if (symlink(path_of(to), path_of(name)) < 0)
        abort();
}

static void give(const char *name)
{
    if (lchown(path_of(name), OTHER, OTHER) < 0)
        abort();
}

/* 0, or -errno; the word is written to the file. */
static int named(const char *path, const char *word)
{
    struct errmsg err = { "" };
    int fd = create_named(path, 0644, &err);

    OK_F(fd >= 0 ? !err.text[0] : strstr(err.text, path) != NULL, "a sentence with the name: %s",
         err.text);
    if (fd < 0)
        return fd;
    if (write(fd, word, strlen(word)) < 0)
        abort();
    close(fd);
    return 0;
}

static void test_new(void)
{
    struct stat st;
    int fd = create_new(path_of("new"));

    OK(fd >= 0 && fstat(fd, &st) == 0 && (st.st_mode & 0777) == 0600);
    close(fd);
    EQ(create_new(path_of("new")), -EEXIST);
    put("kept", "kept");
    point("kept", "link");
    EQ(create_new(path_of("link")), -EEXIST);
    EQ(create_new(path_of("none/new")), -ENOENT);
    EQ(create_name(path_of("kept"), path_of("again")), 0);
    EQ(create_name(path_of("kept"), path_of("link")), -EEXIST);
    OK(!strcmp(get("again"), "kept"));
}

static void remove_brief(void)
{
    if (rmdir(path_of("brief")) < 0)
        abort();
}

static void test_private(void)
{
    EQ(create_private(path_of("dir")), 0);
    EQ(create_private(path_of("dir")), 0);
    EQ(create_check_private(path_of("dir")), 0);
    EQ(create_check_private(path_of("none")), -ENOENT);
    OK(chmod(path_of("dir"), 0750) == 0);
    EQ(create_private(path_of("dir")), -EACCES);
    OK(chmod(path_of("dir"), 0700) == 0);
    point("dir", "to-dir");
    EQ(create_private(path_of("to-dir")), -EACCES);
    EQ(create_private(path_of("kept")), -EACCES);
    EQ(create_private(path_of("none/dir")), -ENOENT);
    OK(mkdir(path_of("brief"), 0700) == 0);
    after_mkdir = remove_brief; /* it exists, and is gone when we look at it */
    EQ(create_private(path_of("brief")), 0);
    OK(!after_mkdir && rmdir(path_of("brief")) == 0);
}

static void test_named(void)
{
    EQ(named(path_of("out"), "one"), 0);
    EQ(named(path_of("out"), "2"), 0);
    OK(!strcmp(get("out"), "2")); /* truncated, as by the shell */
    EQ(named(path_of("no/such/out"), ""), -ENOENT);
    EQ(named(path_of("dir"), ""), -EISDIR);
    EQ(named(path_of("out/"), ""), -ENOTDIR);
    EQ(named("/dev/null", "x"), 0);
    EQ(named("/proc/self/fd/1", "# through the kernel's own link\n"), 0);
    point("out", "mine");
    EQ(named(path_of("mine"), "mine"), 0);
    OK(!strcmp(get("out"), "mine"));
    point("later", "dangling");
    EQ(named(path_of("dangling"), "later"), 0);
    OK(!strcmp(get("later"), "later"));
    OK(symlink("loop", path_of("loop")) == 0);
    EQ(named(path_of("loop"), ""), -ELOOP);
    OK(symlink("dir/../out", path_of("relative")) == 0);
    EQ(named(path_of("relative"), "relative"), 0);
    OK(!strcmp(get("out"), "relative"));
    OK(mkfifo(path_of("pipe"), 0600) == 0);
    EQ(named(path_of("pipe"), ""), -ENXIO); /* and does not wait for a reader */
}

/* As another user can set it up in /tmp. */
static void test_shared(void)
{
    OK(mkdir(path_of("shared"), 0700) == 0 && chmod(path_of("shared"), 01777) == 0);
    put("precious", "precious");
    EQ(named(path_of("shared/out"), "one"), 0);
    EQ(named(path_of("shared/out"), "two"), 0);
    OK(link(path_of("precious"), path_of("shared/hard")) == 0);
    EQ(named(path_of("shared/hard"), "lost"), -EACCES);
    EQ(named(path_of("precious"), "precious"), 0); /* where nobody else can create names */
    point("precious", "shared/mine");
    EQ(named(path_of("shared/mine"), "precious"), 0);
    if (geteuid() != 0) {
        printf("# only root can make files of another user\n");
        return;
    }
    point("precious", "shared/theirs");
    give("shared/theirs");
    EQ(named(path_of("shared/theirs"), "lost"), -ELOOP);
    point("shared/theirs", "shared/chain");
    EQ(named(path_of("shared/chain"), "lost"), -ELOOP);
    put("shared/file", "theirs");
    give("shared/file");
    EQ(named(path_of("shared/file"), "lost"), -EACCES);
    OK(!strcmp(get("shared/file"), "theirs"));
    OK(mkfifo(path_of("shared/pipe"), 0666) == 0);
    give("shared/pipe");
    EQ(create_private(path_of("shared")), -EACCES);
    OK(!strcmp(get("precious"), "precious"));
}

static bool is_directory(const char *name)
{
    struct stat st;

    return stat(path_of(name), &st) == 0 && S_ISDIR(st.st_mode);
}

static void test_parents(void)
{
    struct errmsg err;

    EQ(create_parents(path_of("a/b//c/file"), &err), 0);
    OK(is_directory("a/b/c") && !is_directory("a/b/c/file"));
    EQ(create_parents(path_of("a/b/c/d/file"), &err), 0);
    OK(is_directory("a/b/c/d"));
    put("a/plain", "x");
    EQ(create_parents(path_of("a/plain/d/file"), &err), -ENOTDIR);
    OK(strstr(err.text, "cannot create the directory of"));
    EQ(create_parents("file", &err), 0);
    EQ(create_parents("", &err), 0);
    unlink(path_of("a/plain"));
    rmdir(path_of("a/b/c/d"));
    rmdir(path_of("a/b/c"));
    rmdir(path_of("a/b"));
    rmdir(path_of("a"));
}

/* In a directory where everybody may create names. */
static void test_parents_of_others(void)
{
    struct errmsg err;

    mkdir(path_of("open"), 0777);
    chmod(path_of("open"), 01777);
    mkdir(path_of("open/ours"), 0755);
    mkdir(path_of("open/theirs"), 0777);
    if (chown(path_of("open/theirs"), OTHER, OTHER) == 0 &&
        symlink("ours", path_of("open/link")) == 0 &&
        lchown(path_of("open/link"), OTHER, OTHER) == 0) {
        EQ(create_parents(path_of("open/ours/x/file"), &err), 0);
        EQ(create_parents(path_of("open/theirs/x/file"), &err), -EACCES);
        EQ(create_parents(path_of("open/link/x/file"), &err), -EACCES);
        OK(is_directory("open/ours/x") && !is_directory("open/theirs/x"));
    }
    unlink(path_of("open/link"));
    rmdir(path_of("open/ours/x"));
    rmdir(path_of("open/ours"));
    rmdir(path_of("open/theirs"));
    rmdir(path_of("open"));
}

int main(void)
{
    char command[128];

    snprintf(top, sizeof top, "/tmp/wireup-create-test.%d", (int)getpid());
    if (mkdir(top, 0700) < 0)
        abort();
    test_new();
    test_private();
    test_named();
    test_shared();
    test_parents();
    test_parents_of_others();
    snprintf(command, sizeof command, "rm -rf %s", top);
    OK(system(command) == 0);
    return tap_done();
}
