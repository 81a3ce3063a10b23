/* replay.c - main() of fuzz targets without a fuzzer: runs one once for each file that it is given,
 * and for each file of the directories, and for every prefix of the small ones.  So the inputs that
 * once were findings, and the recorded ones, are part of the ordinary tests.
 *
 * With REPLAY_TARGETS the program holds several targets, and its first word names one. */
#include <dirent.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "tests/tap.h"

typedef int target_fn(const uint8_t *data, size_t size);

static target_fn *target;

enum { PREFIXES_MAX = 400, FILE_MAX = 16 << 20 };

/* A copy that ends where its memory ends, so that reading on is noticed. */
static void run(struct slice bytes)
{
    uint8_t *copy = malloc(bytes.len ? bytes.len : 1);

    if (!copy)
        abort();
    if (bytes.len)
        memcpy(copy, bytes.ptr, bytes.len);
    target(copy, bytes.len);
    free(copy);
}

static void run_file(const char *path)
{
    struct buf bytes = BUF_NULL(FILE_MAX);
    FILE *f = fopen(path, "re");
    char chunk[4096];
    size_t n, step;

    if (!OK_F(f != NULL, "%s", path))
        return;
    while ((n = fread(chunk, 1, sizeof chunk, f)) > 0)
        buf_put(&bytes, chunk, n);
    fclose(f);
    step = buf_len(&bytes) / PREFIXES_MAX + 1;
    for (size_t len = 0; len < buf_len(&bytes); len += step)
        run(slice_head(buf_slice(&bytes), len));
    run(buf_slice(&bytes));
    buf_free(&bytes);
}

static void run_path(const char *path)
{
    struct stat st;
    struct dirent *e;
    DIR *d;

    if (stat(path, &st) < 0 || !S_ISDIR(st.st_mode)) {
        run_file(path);
        return;
    }
    d = opendir(path);
    while (d && (e = readdir(d))) {
        char name[4096];
        snprintf(name, sizeof name, "%s/%s", path, e->d_name);
        if (e->d_name[0] != '.')
            run_path(name);
    }
    if (d)
        closedir(d);
}

#ifdef REPLAY_TARGETS
#define TARGET(name) target_fn replay_##name;
#include "fuzz/replay_targets.def"
#undef TARGET

static target_fn *choose(const char *wanted)
{
#define TARGET(name)                                                                               \
    if (!strcmp(wanted, #name))                                                                    \
        return replay_##name;
#include "fuzz/replay_targets.def"
#undef TARGET
    fprintf(stderr, "replay: no target is called %s\n", wanted);
    exit(2);
}
#else
target_fn LLVMFuzzerTestOneInput;
#endif

int main(int argc, char **argv)
{
    int i = 1;

#ifdef REPLAY_TARGETS
    target = choose(argc > 1 ? argv[i++] : "");
#else
    target = LLVMFuzzerTestOneInput;
#endif
    for (; i < argc; i++)
        run_path(argv[i]);
    return tap_done();
}
