/* elf_walk_test.c - the libraries of this test itself, and files that are no programs. */
#include "io/elf_walk.h"
#include "io/elf_symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/tap.h"

static const char *const constants[] = { "ELF_WALK_TEST", "ANOTHER" };
static const char *const names[] = { "ELF_WALK_TEST=", "ANOTHER=" };

struct whole {
    char *bytes;
    size_t len;
};

static struct whole read_program(void)
{
    struct whole w = { NULL, 0 };
    struct stat st;
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

    if (fd < 0 || fstat(fd, &st) < 0 || !(w.bytes = malloc((size_t)st.st_size)))
        exit(1);
    w.len = (size_t)st.st_size;
    if (pread(fd, w.bytes, w.len, 0) != (ssize_t)w.len)
        exit(1);
    close(fd);
    return w;
}

/* A file with these bytes. */
static int file_with(const char *path, const char *bytes, size_t len)
{
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);

    if (fd < 0 || write(fd, bytes, len) != (ssize_t)len)
        exit(1);
    return fd;
}

static bool needs(const struct elf_file *f, const char *head)
{
    for (uint32_t i = 0; i < f->nneeded; i++) {
        if (!strncmp(f->needed[i], head, strlen(head)))
            return true;
    }
    return false;
}

static void test_names(int fd)
{
    static const char *const missing[] = { "ELF_WALK_TEST=", "NOT_ANOTHER=" };

    OK(!elf_file_has_names(fd, missing, 2));
    OK(elf_file_has_names(fd, names, 2));
    OK(!elf_file_has_names(-1, names, 2));
}

static int result_of(int fd)
{
    struct arena a = ARENA_NULL(1 << 20);
    struct elf_file f;
    int rc = elf_file_read(fd, &a, &f);

    arena_free(&a);
    return rc;
}

/* Whatever is turned over or cut off: no other memory is touched, and no result is our own fault.
 */
static void test_damage(const char *path, const struct whole *w)
{
    size_t head = w->len < 1024 ? w->len : 1024;
    unsigned bad = 0, other = 0;
    int fd = file_with(path, w->bytes, w->len);

    for (size_t i = 0; i < head; i++) {
        char turned = (char)~w->bytes[i];
        int rc;
        if (pwrite(fd, &turned, 1, (off_t)i) != 1)
            exit(1);
        rc = result_of(fd);
        bad += rc != 0 && rc != ELF_FILE_OTHER;
        other += rc == ELF_FILE_OTHER;
        if (pwrite(fd, w->bytes + i, 1, (off_t)i) != 1)
            exit(1);
    }
    EQ(bad, 0);
    OK(other > 16);
    for (size_t len = w->len; len > 0; len -= 1 + len / 64) {
        if (ftruncate(fd, (off_t)len) < 0)
            exit(1);
        bad += result_of(fd) < 0;
    }
    EQ(bad, 0);
    EQ(result_of(fd), ELF_FILE_OTHER);
    close(fd);
}

static bool count_symbol(void *arg, const char *name, bool defined)
{
    unsigned *n = arg;

    n[0] += !defined && !strcmp(name, "pread");
    n[1] += !defined;
    return n[1] < n[2];
}

static int symbols_of(const char *path)
{
    unsigned n[3] = { 0, 0, 1U << 30 };

    return elf_symbols_each(path, count_symbol, n);
}

/* The same for the table of names: the headers of sections are at the end. */
static void test_symbols(const char *path, const struct whole *w)
{
    unsigned n[3] = { 0, 0, 1U << 30 }, bad = 0;
    size_t tail = w->len < 2048 ? 0 : w->len - 2048;
    int fd = file_with(path, w->bytes, w->len);

    EQ(elf_symbols_each(path, count_symbol, n), 0);
    OK(n[0] == 1 || n[1] > 10);
    n[1] = 0;
    n[2] = 1;
    EQ(elf_symbols_each(path, count_symbol, n), 0);
    OK_F(n[1] == 1, "it ends when it is told to");
    OK(!elf_symbols_versioned(path));
    EQ(symbols_of("/nonexistent"), -ENOENT);
    for (size_t i = tail; i < w->len; i++) {
        char turned = (char)~w->bytes[i];
        int rc;
        if (pwrite(fd, &turned, 1, (off_t)i) != 1)
            exit(1);
        rc = symbols_of(path);
        bad += rc != 0 && rc != ELF_FILE_OTHER && rc != -ENOMEM;
        if (pwrite(fd, w->bytes + i, 1, (off_t)i) != 1)
            exit(1);
    }
    EQ(bad, 0);
    OK_F(ftruncate(fd, (off_t)tail) == 0 && symbols_of(path) == ELF_FILE_OTHER,
         "a file without its end");
    close(fd);
}

static void test_walk(const char *path)
{
    static const struct elf_marks marks = { names, 2, "libmpi" };
    struct arena a = ARENA_NULL(1 << 20);
    struct elf_object *first = NULL;
    struct elf_cache c;
    struct whole w = read_program();
    bool libc = false;
    int fd;

    elf_cache_init(&c, 1);
    EQ(elf_walk(&c, "/proc/self/exe", NULL, &marks, &a, &first), 0);
    for (const struct elf_object *o = first; o; o = o->next)
        libc |= !strncmp(o->name, "libc.", 5) && o->loader == first;
    OK(first && first->marked && libc);
    EQ(elf_walk(&c, "/nonexistent", NULL, &marks, &a, &first), -ENOENT);

    fd = file_with(path, "#!/bin/sh\n", 10);
    EQ(elf_walk(&c, path, NULL, &marks, &a, &first), ELF_FILE_OTHER);
    close(fd);
    fd = file_with(path, w.bytes, w.len);
    OK_F(elf_walk(&c, path, NULL, &marks, &a, &first) == 0 && first->marked,
         "a file that has changed is read again");
    close(fd);
    free(w.bytes);
    arena_free(&a);
    elf_cache_free(&c);
}

int main(void)
{
    char path[] = "/tmp/wireup-elf-walk.XXXXXX";
    struct arena a = ARENA_NULL(1 << 20);
    struct whole w = read_program();
    struct elf_file f;
    int fd = mkstemp(path);

    if (fd < 0)
        return 1;
    close(fd);
    fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    EQ(elf_file_read(fd, &a, &f), 0);
    OK(f.dynamic && needs(&f, "libc.so") && !needs(&f, "libmpi"));
    test_names(fd);
    close(fd);
    test_damage(path, &w);
    test_symbols(path, &w);
    test_walk(path);
    unlink(path);
    free(w.bytes);
    arena_free(&a);
    printf("# %s, %s\n", constants[0], constants[1]);
    return tap_done();
}
