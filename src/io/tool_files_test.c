/* tool_files_test.c - files that are there, private, and gone; traps that others have set. */
#include "io/tool_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/tap.h"

static char top[64], dir[TOOL_FILES_PATH_MAX];
static const struct tool_file one = { "one.0;tcp4://127.0.0.1:1", "host" };
static const struct tool_file two = { "two.0;tcp4://127.0.0.1:2", "host" };

static const char *path_of(const char *where, const char *name)
{
    static char text[TOOL_FILES_PATH_MAX + 64];

    snprintf(text, sizeof text, "%s/%s", where, name);
    return text;
}

/* The first line; "" if there is no such file. */
static const char *first_line(const char *path)
{
    static char text[256];
    FILE *f = fopen(path, "r");

    text[0] = '\0';
    if (f) {
        if (!fgets(text, sizeof text, f))
            text[0] = '\0';
        fclose(f);
    }
    text[strcspn(text, "\n")] = '\0';
    return text;
}

static unsigned mode_of(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0 ? st.st_mode & 07777 : 0;
}

static void test_life(void)
{
    struct tool_file_list c;
    struct errmsg err;

    tool_files_init(&c);
    EQ(tool_files_begin(&c, &one, top, "1", dir, &err), 0);
    EQ(tool_files_put_tool(&c, &one, dir, "", &err), 0);
    EQ(tool_files_put_role(&c, &one, top, "sys", &err), 0);
    OK(!strcmp(first_line(path_of(dir, "pmix.host.tool.1")), one.uri));
    OK(!strcmp(first_line(path_of(dir, "pmix.host.tool")), one.uri));
    OK(!strcmp(first_line(path_of(top, "pmix.sys.host")), one.uri));
    EQ(mode_of(dir), 0700);
    EQ(mode_of(path_of(dir, "pmix.host.tool.1")), 0600);
    tool_files_remove(&c);
    tool_files_remove(&c);
    OK(access(dir, F_OK) < 0 && access(path_of(top, "pmix.sys.host"), F_OK) < 0);
}

/* A lock belongs to its descriptor, so this process can be both servers. */
static void test_two(void)
{
    struct tool_file_list c, d;
    struct errmsg err;

    tool_files_init(&c);
    tool_files_init(&d);
    EQ(tool_files_begin(&c, &one, top, "1", dir, &err), 0);
    EQ(tool_files_begin(&d, &two, top, "2", dir, &err), 0);
    OK(!strcmp(first_line(path_of(dir, "pmix.host.tool.1")), one.uri));
    EQ(tool_files_put_tool(&d, &two, dir, "1", &err), -EEXIST);
    OK(!strcmp(first_line(path_of(dir, "pmix.host.tool.1")), one.uri));
    tool_files_remove(&c);
    OK(!strcmp(first_line(path_of(dir, "pmix.host.tool.2")), two.uri));
    tool_files_remove(&d);
    OK(access(dir, F_OK) < 0);
}

static void leave_text(const char *where, const char *name, const char *text)
{
    int fd = open(path_of(where, name), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
        abort();
    close(fd);
}

static void leave(const char *name)
{
    leave_text(dir, name, "old\n");
}

static bool is_there(const char *where, const char *name)
{
    return access(path_of(where, name), F_OK) == 0;
}

/* Beside the private directory others have files, too, and a living launcher holds its own. */
static void test_left_role(void)
{
    static const struct tool_file launcher = { "wireup-1.0;tcp4://127.0.0.1:1", "living" };
    struct tool_file_list c;
    struct errmsg err;

    tool_files_init(&c);
    EQ(tool_files_put_role(&c, &launcher, top, "sys", &err), 0);
    leave_text(top, "pmix.sys.killed", "wireup-2.0;tcp4://127.0.0.1:2\n5.0.3\n2\n");
    leave_text(top, "pmix.sys.other", "prterun-2.0;tcp4://127.0.0.1:2\n5.0.3\n2\n");
    leave_text(top, "pmix.sched.killed", "wireup-2.0;tcp4://127.0.0.1:2\n5.0.3\n2\n");
    leave_text(top, "pmix.sys.short", "wire");
    if (symlink("pmix.sys.other", path_of(top, "pmix.sys.link")) < 0)
        abort();
    tool_files_clear(top);
    OK_F(!is_there(top, "pmix.sys.killed"), "the file of a killed launcher goes");
    OK_F(is_there(top, "pmix.sys.living"), "not that of a living one");
    OK_F(is_there(top, "pmix.sys.other") && is_there(top, "pmix.sys.link"), "nor of others");
    OK_F(is_there(top, "pmix.sched.killed"), "nor of a role that launchers do not have");
    OK_F(is_there(top, "pmix.sys.short"), "nor one that says nothing");
    tool_files_remove(&c);
    unlink(path_of(top, "pmix.sys.other"));
    unlink(path_of(top, "pmix.sys.link"));
    unlink(path_of(top, "pmix.sys.short"));
    unlink(path_of(top, "pmix.sched.killed"));
}

static void test_left(void)
{
    struct tool_file_list c;
    struct errmsg err;

    if (mkdir(dir, 0700) < 0)
        abort();
    leave("pmix.host.tool.7");
    leave("pmix.host.tool.8");
    tool_files_init(&c);
    EQ(tool_files_begin(&c, &one, top, "1", dir, &err), 0);
    OK(access(path_of(dir, "pmix.host.tool.7"), F_OK) < 0);
    leave("pmix.host.tool.9");
    tool_files_clear(top);
    OK(access(path_of(dir, "pmix.host.tool.9"), F_OK) < 0);
    OK(!strcmp(first_line(path_of(dir, "pmix.host.tool.1")), one.uri));
    tool_files_remove(&c);
    OK(access(dir, F_OK) < 0);
}

static void test_in_the_way(void)
{
    struct tool_file_list c;
    struct errmsg err;
    char away[128];

    tool_files_init(&c);
    if (mkdir(dir, 0755) < 0 || chmod(dir, 0755) < 0)
        abort();
    EQ(tool_files_begin(&c, &one, top, "1", dir, &err), -EACCES);
    OK(strstr(err.text, "not a private directory") != NULL);
    rmdir(dir);
    snprintf(away, sizeof away, "%s/away", top);
    if (mkdir(away, 0700) < 0 || symlink(away, dir) < 0)
        abort();
    EQ(tool_files_begin(&c, &one, top, "1", dir, &err), -EACCES);
    OK(access(path_of(away, "pmix.host.tool.1"), F_OK) < 0);
    tool_files_clear(top);
    OK(access(away, F_OK) == 0);
    unlink(dir);
    if (symlink("/nowhere", path_of(top, "pmix.sys.host")) < 0)
        abort();
    OK(tool_files_put_role(&c, &one, top, "sys", &err) < 0);
    unlink(path_of(top, "pmix.sys.host"));
    rmdir(away);
    tool_files_remove(&c);
}

static bool dir_is(const char *given, const char *want)
{
    return !strcmp(tool_files_dir(given, "CONTACT_TEST_DIR"), want);
}

static void test_dir(void)
{
    const char *tmp = getenv("TMPDIR");
    char *before = tmp ? strdup(tmp) : NULL;

    setenv("CONTACT_TEST_DIR", "/of/it", 1);
    setenv("TMPDIR", "/of/all", 1);
    OK(dir_is("/told", "/told"));
    OK(dir_is(NULL, "/of/it"));
    OK(dir_is("", "/of/it"));
    setenv("CONTACT_TEST_DIR", "somewhere", 1);
    OK(dir_is(NULL, "/of/all"));
    unsetenv("CONTACT_TEST_DIR");
    OK(dir_is(NULL, "/of/all"));
    setenv("TMPDIR", "", 1);
    OK(dir_is(NULL, "/tmp"));
    unsetenv("TMPDIR");
    if (before)
        setenv("TMPDIR", before, 1);
    free(before);
}

int main(void)
{
    const char *tmp = getenv("TMPDIR");

    snprintf(top, sizeof top, "%.40s/contact.XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(top))
        abort();
    test_dir();
    test_life();
    test_two();
    test_left();
    test_left_role();
    test_in_the_way();
    EQ(rmdir(top), 0);
    return tap_done();
}
