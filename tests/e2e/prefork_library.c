/* prefork_library.c - a library whose constructor does what ODD says, in the process that is forked
 * for all ranks only: in that one nobody has set PMI_RANK yet.
 *
 *   thread, child, file, share, lock, apart, pending, adopt, timer, write, bind
 *                                                           what a fork would not give to a rank
 *   preload                  it writes if it sees that something is preloaded, besides ODD_PRELOAD
 *   program                  it runs one, and waits for it
 *   kill, exit, stop                                        it ends, or does not come back
 *   prepare-DEED-N, parent-DEED-N, child-DEED-N             DEED (kill, stop, exit) in the fork
 *                                                           handler of that name, at the Nth fork
 *   handlers                                                each fork handler leaves a mark
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <unistd.h>

char odd_marks[64];

static struct {
    char where[16], deed[16];
    int at, n;
} odd;

static void do_deed(const char *deed)
{
    if (!strcmp(deed, "kill"))
        kill(getpid(), SIGKILL);
    else if (!strcmp(deed, "stop"))
        kill(getpid(), SIGSTOP);
    else if (!strcmp(deed, "exit"))
        _exit(5);
}

static void handle(const char *where)
{
    if (!strcmp(odd.deed, "mark"))
        strcat(odd_marks, where);
    else if (!strcmp(odd.where, where) && odd.n == odd.at)
        do_deed(odd.deed);
}

static void prepare(void)
{
    odd.n++;
    odd_marks[0] = '\0';
    handle("prepare");
}

static void parent(void)
{
    handle("parent");
}

static void child(void)
{
    handle("child");
}

static void *run(void *arg)
{
    for (;;)
        pause();
    return arg;
}

static void lock_memory(void)
{
    static char page[4096];

    if (mlock(page, sizeof page) < 0)
        abort();
}

static void keep_memory(void)
{
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (page == MAP_FAILED || madvise(page, 4096, MADV_DONTFORK) < 0)
        abort();
}

static void hold_signal(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    raise(SIGUSR1);
}

static void bind_here(void)
{
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET(0, &one);
    sched_setaffinity(0, sizeof one, &one);
}

static void look_at_preload(void)
{
    const char *seen = getenv("LD_PRELOAD"), *want = getenv("ODD_PRELOAD");

    if (strcmp(seen ? seen : "", want ? want : "") || getenv("WIREUP_PREFORK"))
        dprintf(STDERR_FILENO, "preloaded: %s\n", seen ? seen : "");
}

static void be_odd(const char *how)
{
    struct itimerval later = { .it_value = { .tv_sec = 1000 } };
    pthread_t thread;

    if (!strcmp(how, "thread"))
        pthread_create(&thread, NULL, run, NULL);
    else if (!strcmp(how, "child") && fork() == 0)
        run(NULL);
    else if (!strcmp(how, "file"))
        open("/dev/null", O_RDONLY | O_CLOEXEC);
    else if (!strcmp(how, "share"))
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    else if (!strcmp(how, "lock"))
        lock_memory();
    else if (!strcmp(how, "apart"))
        keep_memory();
    else if (!strcmp(how, "pending"))
        hold_signal();
    else if (!strcmp(how, "adopt"))
        prctl(PR_SET_CHILD_SUBREAPER, 1);
    else if (!strcmp(how, "timer"))
        setitimer(ITIMER_REAL, &later, NULL);
    else if (!strcmp(how, "write"))
        dprintf(STDERR_FILENO, "loaded\n");
    else if (!strcmp(how, "bind"))
        bind_here();
    else if (!strcmp(how, "preload"))
        look_at_preload();
    else if (!strcmp(how, "program") &&
             system("exec cat /proc/self/maps | grep -q prefork.so") == 0)
        abort();
    else
        do_deed(how);
}

__attribute__((constructor)) static void begin(void)
{
    const char *how = getenv("ODD");

    if (!how || getenv("PMI_RANK"))
        return;
    if (!strcmp(how, "handlers"))
        strcpy(odd.deed, "mark");
    else if (sscanf(how, "%15[a-z]-%15[a-z]-%d", odd.where, odd.deed, &odd.at) != 3)
        be_odd(how);
    if (odd.deed[0])
        pthread_atfork(prepare, parent, child);
}
