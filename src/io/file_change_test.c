/* file_change_test.c - files that are written, replaced and removed; directories that appear. */
#include "io/file_change.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/tap.h"

enum { LATE_MS = 300000 };

static char dir[] = "/tmp/wireup-file-change.XXXXXX";
static struct loop loop;
static bool late;

static const char *path(const char *name)
{
    static char text[2][200];
    static int which;

    which = !which;
    snprintf(text[which], sizeof text[0], "%s/%s", dir, name);
    return text[which];
}

static void put(const char *name)
{
    FILE *f = fopen(path(name), "w");

    if (!f || fputs("x", f) < 0 || fclose(f) != 0)
        abort();
}

static void changed(void *arg)
{
    (void)arg;
    loop_stop(&loop);
}

static void too_late(void *arg)
{
    (void)arg;
    late = true;
    loop_stop(&loop);
}

/* Whether it is told within ms. */
static bool notified(uint32_t ms)
{
    struct timer t = { .set = false };

    late = false;
    timer_init(&t, &loop, too_late, NULL);
    if (timer_set(&t, ms) < 0 || loop_run(&loop) < 0)
        abort();
    timer_stop(&t);
    return !late;
}

static void drain(void)
{
    while (notified(0))
        ;
}

/* The kernel gives each user a number of instances of inotify. */
static bool opens(struct file_change *f, const char *name)
{
    int rc = file_change_open(f, &loop, name, changed, NULL);

    if (rc == -EMFILE)
        printf("# this user has no instance of inotify left: nothing is watched\n");
    else
        EQ(rc, 0);
    return rc == 0;
}

static void test_file(void)
{
    struct file_change f;
    char text[200];

    snprintf(text, sizeof text, "%s", path("a"));
    if (!opens(&f, text))
        return;
    put("b");
    OK_F(!notified(0), "another file is not told");
    put("a");
    OK_F(notified(LATE_MS), "a new file is");
    drain();
    put("a");
    OK_F(notified(LATE_MS), "and one that is written again");
    drain();
    if (rename(path("b"), path("a")) < 0)
        abort();
    OK_F(notified(LATE_MS), "and one that is replaced");
    file_change_close(&f);
    file_change_close(&f);
    unlink(path("a"));
}

static void test_directories(void)
{
    struct file_change f;
    char text[200];

    snprintf(text, sizeof text, "%s", path("one/two/a"));
    if (!opens(&f, text))
        return;
    if (mkdir(path("one"), 0700) < 0)
        abort();
    OK_F(notified(LATE_MS), "a directory above it appears");
    if (mkdir(path("one/two"), 0700) < 0)
        abort();
    put("one/two/a");
    OK_F(notified(LATE_MS), "and so does its own");
    drain();
    put("one/two/a");
    OK_F(notified(LATE_MS), "then the file itself is told");
    unlink(path("one/two/a"));
    rmdir(path("one/two"));
    drain();
    if (mkdir(path("one/two"), 0700) < 0)
        abort();
    OK_F(notified(LATE_MS), "a directory that is made anew, too");
    drain();
    put("one/two/a");
    OK_F(notified(LATE_MS), "and what is in it");
    file_change_close(&f);
    unlink(path("one/two/a"));
    rmdir(path("one/two"));
    rmdir(path("one"));
}

static void test_impossible(void)
{
    struct file_change f;
    char *much = malloc(PATH_MAX + 10);
    int rc;

    if (!much)
        abort();
    memset(much, 'a', PATH_MAX + 9);
    much[PATH_MAX + 9] = '\0';
    EQ(file_change_open(&f, &loop, much, changed, NULL), -ENAMETOOLONG);
    file_change_close(&f);
    put("file");
    rc = file_change_open(&f, &loop, path("file/a"), changed, NULL);
    OK(rc == -ENOTDIR || rc == -EMFILE);
    file_change_close(&f);
    unlink(path("file"));
    free(much);
}

int main(void)
{
    if (!mkdtemp(dir) || loop_init(&loop) < 0)
        abort();
    test_file();
    test_directories();
    test_impossible();
    loop_free(&loop);
    rmdir(dir);
    return tap_done();
}
