/* hops_count.c - counts the calls of every function of a process; loaded by bench/hops with
 * LD_PRELOAD.
 *
 * Code that was compiled with -finstrument-functions calls __cyg_profile_func_enter at each entry
 * of a function, also of an inlined one.  The counts are in a file of HOPS_DIR that is named after
 * the process and mapped shared, so they are complete however the process ends.  The child of a
 * fork counts in a file of its own.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ROWS = 1 << 15, NAME = 232 };

/* bench/hops reads these rows. */
struct row {
    uint64_t address, count, offset; /* offset: within the file `module` */
    char module[NAME];
};

static struct row *rows;

#define NOT_COUNTED __attribute__((no_instrument_function))

static NOT_COUNTED void open_rows(void)
{
    const char *dir = getenv("HOPS_DIR");
    char path[PATH_MAX];
    void *mem;
    int fd;

    rows = NULL;
    snprintf(path, sizeof path, "%s/%d", dir ? dir : "/nonexistent", (int)getpid());
    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return;
    if (ftruncate(fd, (off_t)(ROWS * sizeof *rows)) == 0) {
        mem = mmap(NULL, ROWS * sizeof *rows, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        rows = mem == MAP_FAILED ? NULL : mem;
    }
    close(fd);
}

static NOT_COUNTED void __attribute__((constructor)) start(void)
{
    open_rows();
    pthread_atfork(NULL, NULL, open_rows);
}

static NOT_COUNTED void name_row(struct row *r, void *function)
{
    Dl_info info;

    if (!dladdr(function, &info) || !info.dli_fname)
        return;
    r->offset = (uint64_t)((uintptr_t)function - (uintptr_t)info.dli_fbase);
    snprintf(r->module, sizeof r->module, "%s", info.dli_fname);
}

void __cyg_profile_func_enter(void *function, void *caller) NOT_COUNTED;
void __cyg_profile_func_exit(void *function, void *caller) NOT_COUNTED;

void __cyg_profile_func_enter(void *function, void *caller)
{
    uint64_t address = (uintptr_t)function, was;
    size_t at = (address >> 2) % ROWS;

    (void)caller;
    for (size_t n = 0; rows && n < ROWS; n++, at = (at + 1) % ROWS) {
        was = 0;
        if (__atomic_compare_exchange_n(&rows[at].address, &was, address, 0, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
            name_row(&rows[at], function);
        else if (was != address)
            continue;
        __atomic_add_fetch(&rows[at].count, 1, __ATOMIC_RELAXED);
        return;
    }
}

void __cyg_profile_func_exit(void *function, void *caller)
{
    (void)function;
    (void)caller;
}
