/* secret_test.c - memory for keys: each has its bytes for itself, nothing is left of it, no core
 * file shows it and no child has it.
 */
#include "io/secret.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/tap.h"

enum { KEYS = 40, KEY = 200, LARGE = 5000 };

/* What smaps (proc(5)) says of the mapping that has p; false: there is none. */
static bool read_flags(const void *p, char flags[256])
{
    FILE *f = fopen("/proc/self/smaps", "re");
    unsigned long from = 0, to = 0, at = (unsigned long)p;
    char line[512];
    bool here = false, found = false;

    while (f && fgets(line, sizeof line, f)) {
        if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
            here = at >= from && at < to;
        found |= here;
        if (here && !strncmp(line, "VmFlags:", 8))
            snprintf(flags, 256, "%s", line + 8);
    }
    if (f)
        fclose(f);
    return found;
}

static bool is_all(const unsigned char *p, int value)
{
    for (size_t i = 0; p && i < KEY; i++) {
        if (p[i] != value)
            return false;
    }
    return p != NULL;
}

/* Every second key, from the first on. */
static bool make(unsigned char *keys[KEYS], int from, int step)
{
    bool good = true;

    for (int i = from; i < KEYS; i += step) {
        keys[i] = secret_new(KEY);
        good &= is_all(keys[i], 0);
        if (keys[i])
            memset(keys[i], i + 1, KEY);
    }
    return good;
}

static bool are_there(unsigned char *keys[KEYS])
{
    bool good = true;

    for (int i = 0; i < KEYS; i++)
        good &= is_all(keys[i], i + 1);
    return good;
}

static void test_apart(void)
{
    unsigned char *keys[KEYS];
    char flags[256];
    bool mapped = false;

    OK_F(make(keys, 0, 1) && are_there(keys), "each of %d keys has its bytes for itself", KEYS);
    for (int i = 0; i < KEYS; i += 2)
        OK(secret_free(keys[i], KEY) == NULL);
    OK_F(make(keys, 0, 2) && are_there(keys), "a key finds nothing of the one before in its place");
    for (int i = 0; i < KEYS; i++)
        secret_free(keys[i], KEY);
    for (int i = 0; i < KEYS; i++)
        mapped |= read_flags(keys[i], flags);
    OK_F(!mapped, "without keys there are no pages for them");
}

static void test_pages(void)
{
    unsigned char *one = secret_new(KEY), *two = secret_new(KEY), *large = secret_new(LARGE);
    char flags[256] = "";

    OK_F(one && two && labs(two - one) < 4096, "two keys share a page");
    OK_F(large && (large + LARGE <= one || large > two), "a large one has its own");
    OK_F(read_flags(one, flags) && strstr(flags, " dd "), "no core file has them:%s", flags);
    OK_F(read_flags(large, flags) && strstr(flags, " dd "), "nor the large one:%s", flags);
    OK(secret_free(two, KEY) == NULL && read_flags(one, flags));
    OK(secret_free(large, LARGE) == NULL && !read_flags(large, flags));
    OK(secret_free(one, KEY) == NULL && !read_flags(one, flags));
    OK(secret_free(NULL, KEY) == NULL);
}

static void test_child(void)
{
    unsigned char *key = secret_new(KEY);
    int status = -1;
    pid_t child;

    memset(key, 7, KEY);
    child = fork();
    if (child == 0)
        _exit(is_all(key, 0) ? 0 : 1);
    OK_F(child > 0 && waitpid(child, &status, 0) == child && status == 0, "a child finds zeros");
    OK_F(is_all(key, 7), "its parent still has the key");
    secret_free(key, KEY);
}

int main(void)
{
    test_apart();
    test_pages();
    test_child();
    return tap_done();
}
