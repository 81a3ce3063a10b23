/* memory.c - main() of fuzz targets when memory runs out: each file that it is given, and each of
 * the directories, is run once and its requests for memory are counted; then once for every n with
 * the n-th refused, and once with it and all later ones refused.  Nothing may crash, and nothing
 * may be left.
 *
 * Targets that are linked with it say which memory is their own (alloc_pause), and judge nothing
 * that memory is needed for. */
#include <dirent.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/alloc.h"
#include "tests/tap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FILE_MAX = 1 << 16 };

static uint8_t bytes[FILE_MAX];

/* True: nothing is left. */
static bool run(size_t size, uint64_t refused, bool on, uint64_t *requests_p)
{
    int64_t before = alloc_live();

    alloc_fail(refused, on);
    LLVMFuzzerTestOneInput(bytes, size);
    *requests_p = alloc_count();
    alloc_fail(0, false);
    if (alloc_live() != before)
        printf("# request %llu%s refused: %lld blocks are left\n", (unsigned long long)refused,
               on ? " and later" : "", (long long)(alloc_live() - before));
    return alloc_live() == before;
}

static void run_file(const char *path, const char *name)
{
    FILE *f = fopen(path, "re");
    uint64_t requests = 0, ignored;
    size_t size;
    bool good;

    if (!OK_F(f != NULL, "%s", path))
        return;
    size = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    run(size, 0, false, &requests); /* what is kept for the whole process */
    good = run(size, 0, false, &requests);
    for (uint64_t i = 1; i <= requests; i++) {
        good = run(size, i, false, &ignored) && good;
        good = run(size, i, true, &ignored) && good;
    }
    OK_F(good, "%s: %llu requests, each refused", name, (unsigned long long)requests);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        DIR *d = opendir(argv[i]);
        struct dirent *e;
        while (d && (e = readdir(d))) {
            char path[4096];
            snprintf(path, sizeof path, "%s/%s", argv[i], e->d_name);
            if (e->d_name[0] != '.')
                run_file(path, e->d_name);
        }
        if (d)
            closedir(d);
    }
    return tap_done();
}
