/* file_looker_test.c - what is seen of files, and that nothing outside another root is seen. */
#include "io/file_looker.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/tap.h"

struct watcher {
    struct loop loop;
    struct file_looker looker;
    struct file_seen seen[8];
    size_t n, expected;
};

static void on_seen(void *arg, const struct file_seen *seen)
{
    struct watcher *w = arg;

    w->seen[w->n++] = *seen;
    if (w->n == w->expected)
        loop_stop(&w->loop);
}

static void ask(struct watcher *w, int root, const char *path)
{
    EQ(file_looker_ask(&w->looker, 100 + w->expected, root, slice_str(path)), 0);
    w->expected++;
}

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    if (f) {
        fputs(text, f);
        fclose(f);
    }
}

static void test_own_root(const char *file)
{
    struct watcher w = { .n = 0 };
    struct stat st;

    OK(loop_init(&w.loop) == 0 && stat(file, &st) == 0);
    file_looker_open(&w.looker, &w.loop, on_seen, &w);
    ask(&w, 0, file);
    ask(&w, 0, "/nowhere/at/all");
    EQ(loop_run(&w.loop), 0);
    OK(w.seen[0].number == 100 && w.seen[0].found && w.seen[0].size == 5);
    EQ(w.seen[0].modified_ns, st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec);
    EQ(w.seen[0].accessed_ns, st.st_atim.tv_sec * 1000000000 + st.st_atim.tv_nsec);
    OK(w.seen[1].number == 101 && !w.seen[1].found);
    file_looker_close(&w.looker);
    file_looker_close(&w.looker);
    loop_free(&w.loop);
}

/* Links and ".." lead nowhere else; the root may be closed before the look. */
static void test_other_root(const char *dir)
{
    struct watcher w = { .n = 0 };
    int root = open(dir, O_RDONLY | O_DIRECTORY);

    OK(root > 0 && loop_init(&w.loop) == 0);
    file_looker_open(&w.looker, &w.loop, on_seen, &w);
    ask(&w, root, "/file");
    ask(&w, root, "/../../file");
    ask(&w, root, "/link");
    ask(&w, root, "/etc/passwd");
    close(root);
    EQ(loop_run(&w.loop), 0);
    OK(w.seen[0].found && w.seen[0].size == 5);
    OK(w.seen[1].found && w.seen[1].size == 5);
    OK(!w.seen[2].found);
    OK(!w.seen[3].found);
    file_looker_close(&w.looker);
    loop_free(&w.loop);
}

/* Nobody waits for what is still to be looked at. */
static void test_close(const char *file)
{
    struct watcher w = { .n = 0 };

    OK(loop_init(&w.loop) == 0);
    file_looker_open(&w.looker, &w.loop, on_seen, &w);
    for (int i = 0; i < 100; i++)
        ask(&w, 0, file);
    file_looker_close(&w.looker);
    EQ(w.n, 0);
    loop_free(&w.loop);
}

int main(void)
{
    char dir[] = "/tmp/wu-looker-XXXXXX", file[64], link[64];

    if (!mkdtemp(dir))
        return 1;
    snprintf(file, sizeof file, "%s/file", dir);
    snprintf(link, sizeof link, "%s/link", dir);
    write_file(file, "bytes");
    OK(symlink("/etc/passwd", link) == 0);
    test_own_root(file);
    test_other_root(dir);
    test_close(file);
    unlink(link);
    unlink(file);
    rmdir(dir);
    return tap_done();
}
