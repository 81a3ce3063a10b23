/* second_user_job.c - a job that does nothing but fences, and says how long it was kept waiting.
 *
 *   second_user_job FILE      FILE: shared by the ranks; made by whoever comes first
 *
 * It speaks PMI-1 by itself.  Each line on the input of rank 0 ends a window of time; rank 0 then
 * prints
 *
 *   LINE longest MS stalled MS fences N
 *
 * of the window: the longest fence, and the longest for which neither the machine's other users can
 * have been the cause: the time for which the launcher or a rank was ready to run and had no
 * processor is taken off.  What remains is the time for which the launcher worked at something
 * else, or slept over something else.  (That is what a second user might do to us; a loaded machine
 * is not our affair.) The end of the input ends the job. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { RANKS_MAX = 16 };

struct shared {
    _Atomic int pids[RANKS_MAX];
    _Atomic uint64_t last; /* the fence after which all end; 0: go on */
};

static int pmi_fd, rank, size;
static struct shared *shared;

static _Noreturn void fail(const char *what)
{
    fprintf(stderr, "second_user_job: rank %d: %s: %s\n", rank, what, strerror(errno));
    exit(3);
}

static void ask(const char *line)
{
    char answer[4096];
    size_t n = 0;

    if (send(pmi_fd, line, strlen(line), MSG_NOSIGNAL) < 0)
        fail("cannot ask");
    while (n == 0 || answer[n - 1] != '\n') {
        ssize_t got = recv(pmi_fd, answer + n, sizeof answer - n, 0);
        if (got <= 0)
            fail("no answer");
        n += (size_t)got;
    }
}

static uint64_t now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* For how long a process has been ready to run without a processor, in microseconds. */
static uint64_t waited_us(int pid)
{
    char path[64], text[128] = "";
    unsigned long long ran, waited = 0;
    int fd;

    snprintf(path, sizeof path, "/proc/%d/schedstat", pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    if (read(fd, text, sizeof text - 1) < 0 || sscanf(text, "%llu %llu", &ran, &waited) != 2)
        waited = 0;
    close(fd);
    return waited / 1000;
}

static uint64_t all_waited_us(void)
{
    uint64_t sum = waited_us(getppid());

    for (int r = 0; r < size; r++)
        sum += waited_us(shared->pids[r]);
    return sum;
}

struct window {
    uint64_t longest, stalled, fences;
};

static void fence(struct window *w)
{
    uint64_t before = rank ? 0 : all_waited_us(), begun = now_us(), took, waited;

    ask("cmd=barrier_in\n");
    if (rank)
        return;
    took = now_us() - begun;
    waited = all_waited_us() - before;
    w->fences++;
    if (took > w->longest)
        w->longest = took;
    if (took > waited && took - waited > w->stalled)
        w->stalled = took - waited;
}

/* True at the end of the input. */
static int take_line(struct window *w)
{
    struct pollfd p = { .fd = 0, .events = POLLIN };
    char line[256];

    if (poll(&p, 1, 0) <= 0)
        return 0;
    if (!fgets(line, sizeof line, stdin))
        return 1;
    printf("%.*s longest %llu stalled %llu fences %llu\n", (int)strcspn(line, "\n"), line,
           (unsigned long long)w->longest / 1000, (unsigned long long)w->stalled / 1000,
           (unsigned long long)w->fences);
    fflush(stdout);
    *w = (struct window){ 0 };
    return 0;
}

static void map_shared(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    if (fd < 0 || ftruncate(fd, sizeof *shared) < 0)
        fail(path);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (shared == MAP_FAILED)
        fail(path);
    close(fd);
    shared->pids[rank] = getpid();
}

int main(int argc, char **argv)
{
    struct window w = { 0 };

    pmi_fd = atoi(getenv("PMI_FD") ? getenv("PMI_FD") : "-1");
    rank = atoi(getenv("PMI_RANK") ? getenv("PMI_RANK") : "0");
    size = atoi(getenv("PMI_SIZE") ? getenv("PMI_SIZE") : "1");
    if (argc != 2 || size > RANKS_MAX)
        return 2;
    setvbuf(stdin, NULL, _IONBF, 0); /* what is buffered, poll does not see */
    map_shared(argv[1]);
    ask("cmd=init pmi_version=1 pmi_subversion=1\n");
    for (uint64_t n = 1; !shared->last || n <= shared->last; n++) {
        fence(&w);
        if (rank == 0 && !shared->last && take_line(&w))
            shared->last = n + 1;
        if (rank == 0 && n == 1)
            printf("up\n"), fflush(stdout);
        usleep(1000);
    }
    ask("cmd=finalize\n");
    return 0;
}
