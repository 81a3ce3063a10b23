/* staging_test.c - what is packed is unpacked: contents, modes, times and links; each changed byte
 * of the stream is noticed, and so is its early end; a full disk, and files that cannot be staged,
 * are refused in words; many files come in the order of their names, with threads and without. */
#include "io/staging_pack.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "io/cleanup.h"
#include "io/staging_unpack.h"
#include "io/write_all.h"
#include "tests/address_space.h"
#include "tests/tap.h"

static char top[] = "/tmp/wireup-staging.XXXXXX";

/* When the content of all files was changed. */
static const struct timespec changed = { .tv_sec = 1234567890, .tv_nsec = 123456789 };

static const char *path_of(const char *name)
{
    static char texts[4][256];
    static unsigned next;
    char *text = texts[next++ % 4];

    snprintf(text, sizeof texts[0], "%s/%s", top, name);
    return text;
}

static void make_file(const char *name, const char *content, mode_t mode)
{
    int fd = open(path_of(name), O_WRONLY | O_CREAT | O_EXCL, 0600);

    OK(fd >= 0 && write(fd, content, strlen(content)) == (ssize_t)strlen(content));
    OK(fchmod(fd, mode) == 0 && futimens(fd, (const struct timespec[2]){ changed, changed }) == 0);
    close(fd);
}

/* The stream of the sources is short: a file holds it. */
static int pack_to(const struct staging_source *sources, uint32_t n, struct buf *stream,
                   struct errmsg *err)
{
    FILE *f = fdopen(memfd_create("stream", MFD_CLOEXEC), "w+");
    int rc = f ? staging_pack(fileno(f), sources, n, err) : -1;
    off_t size = f ? lseek(fileno(f), 0, SEEK_CUR) : 0;
    char *to = buf_room(stream, (size_t)size + 1);

    if (rc == 0 && pread(fileno(f), to, (size_t)size, 0) == size)
        buf_commit(stream, (size_t)size);
    if (f)
        fclose(f);
    return rc;
}

static void remove_dir(const char *path)
{
    cleanup_run(&(struct cleanup_order){
        .path = slice_str(path), .uid = geteuid(), .directory = true, .recursive = true });
}

static int unpack_from(struct slice stream, const char *dir, struct errmsg *err)
{
    FILE *f = fdopen(memfd_create("stream", MFD_CLOEXEC), "w+");
    int rc = f && write_all_slice(fileno(f), stream) == 0 ? 0 : -1;

    if (rc == 0)
        rewind(f);
    if (rc == 0)
        rc = staging_unpack(fileno(f), dir, err);
    if (f)
        fclose(f);
    return rc;
}

static bool has(const char *name, mode_t mode, const char *content)
{
    char text[64] = "";
    struct stat st;
    int fd = open(path_of(name), O_RDONLY);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);

    if (fd >= 0)
        close(fd);
    return n >= 0 && stat(path_of(name), &st) == 0 && (st.st_mode & 07777) == mode &&
           st.st_uid == geteuid() && !strcmp(text, content) &&
           !memcmp(&st.st_mtim, &changed, sizeof changed);
}

static void test_whole(struct slice stream)
{
    struct errmsg err = { "" };
    struct stat st;
    char target[64] = "";

    EQ(unpack_from(stream, path_of("out"), &err), 0);
    OK_F(!err.text[0], "%s", err.text);
    OK(stat(path_of("out"), &st) == 0 && (st.st_mode & 07777) == 0700);
    OK(has("out/tree/tool", 0750, "the tool"));
    OK(has("out/tree/below/data", 0444, ""));
    OK(has("out/far/alone", 0600, "alone"));
    OK(stat(path_of("out/tree/below"), &st) == 0 && (st.st_mode & 07777) == 0755);
    OK(readlink(path_of("out/tree/link"), target, sizeof target - 1) > 0);
    OK(!strcmp(target, "/no/such"));
    remove_dir(path_of("out"));
    OK(access(path_of("out"), F_OK) < 0);
}

/* Each bit counts, and so does the end. */
static void test_damaged(struct slice stream)
{
    unsigned accepted = 0, silent = 0;
    struct errmsg err;
    char *copy = malloc(stream.len);

    for (size_t i = 0; copy && i < stream.len; i++) {
        memcpy(copy, stream.ptr, stream.len);
        copy[i] = (char)(copy[i] ^ 1 << i % 8);
        err.text[0] = '\0';
        accepted += unpack_from(slice_mem(copy, stream.len), path_of("bad"), &err) == 0;
        silent += !err.text[0];
        remove_dir(path_of("bad"));
    }
    for (size_t n = 0; n < stream.len; n++) {
        accepted += unpack_from(slice_head(stream, n), path_of("bad"), &err) == 0;
        remove_dir(path_of("bad"));
    }
    EQ(accepted, 0);
    EQ(silent, 0);
    free(copy);
}

static bool refused(const char *path, const char *words)
{
    const struct staging_source source = { "x", path };
    struct buf stream = BUF_NULL(1 << 20);
    struct errmsg err = { "" };
    int rc = pack_to(&source, 1, &stream, &err);

    buf_free(&stream);
    return rc != 0 && strstr(err.text, words);
}

static void test_refused(void)
{
    int fd;

    OK(refused("/no/such", "/no/such cannot be read: No such file"));
    OK(refused("/dev/null", "/dev/null is a device"));
    OK(mkfifo(path_of("tree/pipe"), 0600) == 0);
    OK(refused(path_of("tree"), "tree/pipe is a pipe"));
    unlink(path_of("tree/pipe"));
    fd = open(path_of("huge"), O_WRONLY | O_CREAT, 0600);
    OK(fd >= 0 && ftruncate(fd, (off_t)65 << 30) == 0);
    close(fd);
    OK(refused(path_of("huge"), "too large"));
}

/* ---- many files ------------------------------------------------------------------------------ */

enum { DIRECTORIES = 20, FILES = 25 };

/* Backwards: who tells them in the order in which they were made tells them in another one. */
static void make_many(const char *name, bool backwards)
{
    char text[64];

    OK(mkdir(path_of(name), 0755) == 0);
    for (int i = 0; i < DIRECTORIES * (FILES + 1); i++) {
        int k = backwards ? DIRECTORIES - 1 - i / (FILES + 1) : i / (FILES + 1);
        int file = i % (FILES + 1) - 1, n = backwards ? FILES - 1 - file : file;
        int fd;

        snprintf(text, sizeof text, "%s/d%d", name, k);
        if (file < 0) {
            mkdir(path_of(text), 0755);
            continue;
        }
        snprintf(text, sizeof text, "%s/d%d/f%d", name, k, n);
        fd = open(path_of(text), O_WRONLY | O_CREAT | O_EXCL, 0600);
        dprintf(fd, "%d %d", k, n);
        futimens(fd, (const struct timespec[2]){ changed, changed });
        close(fd);
    }
}

static unsigned wrong_contents(const char *name)
{
    char text[64], expected[64];
    unsigned wrong = 0;

    for (int i = 0; i < DIRECTORIES * FILES; i++) {
        snprintf(text, sizeof text, "%s/d%d/f%d", name, i / FILES, i % FILES);
        snprintf(expected, sizeof expected, "%d %d", i / FILES, i % FILES);
        wrong += !has(text, 0600, expected);
    }
    return wrong;
}

static void pack_many(const char *name, struct buf *stream)
{
    const struct staging_source source = { "many", path_of(name) };
    struct errmsg err = { "" };

    EQ(pack_to(&source, 1, stream, &err), 0);
    OK_F(!err.text[0], "%s", err.text);
}

static void pack_without_threads(const char *name, struct buf *stream)
{
    struct rlimit before, few;

    getrlimit(RLIMIT_AS, &before);
    few = (struct rlimit){ address_space_used() + (4u << 20), before.rlim_max };
    if (address_space_can_be_little()) /* less than a thread's stack is left */
        OK(setrlimit(RLIMIT_AS, &few) == 0);
    pack_many(name, stream);
    OK(setrlimit(RLIMIT_AS, &before) == 0);
}

static void test_many(void)
{
    struct buf one = BUF_NULL(1 << 20), two = BUF_NULL(1 << 20), alone = BUF_NULL(1 << 20);
    struct errmsg err = { "" };

    make_many("one", false);
    make_many("two", true);
    pack_without_threads("two", &alone);
    pack_many("one", &one);
    pack_many("two", &two);
    OK(slice_eq(buf_slice(&one), buf_slice(&two)));
    OK(slice_eq(buf_slice(&one), buf_slice(&alone)));
    EQ(unpack_from(buf_slice(&one), path_of("back"), &err), 0);
    EQ(wrong_contents("back/many"), 0);
    buf_free(&one);
    buf_free(&two);
    buf_free(&alone);
}

/* A file of /proc has no size, but content. */
static void test_changed(void)
{
    OK(refused("/proc/self/status", "has changed while it was read"));
}

struct pack_call {
    struct staging_source source;
    int out, rc;
    struct errmsg err;
};

static void *pack(void *arg)
{
    struct pack_call *c = arg;

    c->rc = staging_pack(c->out, &c->source, 1, &c->err);
    close(c->out);
    return NULL;
}

/* When the pipe is full: its end is another one then, and its length is the same. */
static void test_torn(void)
{
    enum { LENGTH = 4 << 20 };
    struct pack_call c = { .source = { "torn", path_of("torn") }, .rc = 0 };
    static char piece[1 << 16];
    int ends[2], fd = open(c.source.path, O_RDWR | O_CREAT, 0600);
    pthread_t thread;

    OK(fd >= 0 && ftruncate(fd, LENGTH) == 0 &&
       futimens(fd, (const struct timespec[2]){ changed, changed }) == 0);
    OK(pipe2(ends, O_CLOEXEC) == 0);
    c.out = ends[1];
    OK(pthread_create(&thread, NULL, pack, &c) == 0);
    OK(read(ends[0], piece, 1) == 1);
    OK(pwrite(fd, "x", 1, LENGTH - 1) == 1);
    while (read(ends[0], piece, sizeof piece) > 0)
        continue;
    pthread_join(thread, NULL);
    OK_F(c.rc != 0 && strstr(c.err.text, "torn has changed while it was read"), "%d %s", c.rc,
         c.err.text);
    close(ends[0]);
    close(fd);
}

int main(void)
{
    struct staging_source sources[2] = { { .name = "tree" }, { .name = "far/alone" } };
    struct buf stream = BUF_NULL(1 << 20);
    struct errmsg err = { "" };

    umask(022);
    if (!mkdtemp(top))
        return 99;
    OK(mkdir(path_of("tree"), 0755) == 0 && mkdir(path_of("tree/below"), 0755) == 0);
    make_file("tree/tool", "the tool", 06750); /* whose rights it had stays here */
    make_file("tree/below/data", "", 0444);
    make_file("alone", "alone", 0600);
    OK(symlink("/no/such", path_of("tree/link")) == 0);
    sources[0].path = strdup(path_of("tree"));
    sources[1].path = strdup(path_of("alone"));
    EQ(pack_to(sources, 2, &stream, &err), 0);
    test_whole(buf_slice(&stream));
    test_damaged(buf_slice(&stream));
    test_refused();
    test_changed();
    test_torn();
    test_many();
    buf_free(&stream);
    free((char *)sources[0].path);
    free((char *)sources[1].path);
    remove_dir(top);
    return tap_done();
}
