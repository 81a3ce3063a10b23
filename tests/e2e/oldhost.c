/* oldhost.c - a host as the headers of 3.x made them: its module has 25 members, and what stands
 * behind it is no function.
 *
 *   oldhost [-m] COMMAND [ARG...]     as a job of one process; -m: the module ends where its memory
 *                                     does, which sanitizers watch
 *
 * It includes no header of PMIx: those of today have macros that use functions of today, and the
 * library would see that. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct proc {
    char nspace[256];
    uint32_t rank;
};

struct value {
    uint16_t type;
    union {
        void *ptr;
        uint32_t uint32;
        unsigned char room[24];
    } data;
};

struct info {
    char key[512];
    uint32_t flags;
    struct value value;
};

int PMIx_server_init(void *module, struct info *info, size_t ninfo);
int PMIx_server_finalize(void);
int PMIx_server_register_nspace(const char *nspace, int nlocal, struct info *info, size_t ninfo,
                                void (*fn)(int, void *), void *arg);
int PMIx_server_register_client(const struct proc *proc, uid_t uid, gid_t gid, void *object,
                                void (*fn)(int, void *), void *arg);
int PMIx_server_setup_fork(const struct proc *proc, char ***env);

extern char **environ;

static int finalized(const struct proc *proc, void *object, void (*fn)(int, void *), void *arg)
{
    (void)proc;
    (void)object;
    fprintf(stderr, "upcall client_finalized\n");
    fn(0, arg);
    return 0;
}

static struct {
    void *members[25];
    void *behind[16];
} module;

int main(int argc, char **argv)
{
    struct proc proc = { "oldjob", 0 };
    struct info info = { .key = "pmix.job.size", .value = { .type = 14, .data.uint32 = 1 } };
    void **members = module.members;
    char **env;
    int status, n = 0;
    pid_t pid;

    if (argc > 1 && !strcmp(argv[1], "-m")) {
        members = calloc(25, sizeof *members);
        argc--;
        argv++;
    }
    if (argc < 2 || !members)
        return 2;
    while (environ[n])
        n++;
    env = calloc((size_t)n + 1, sizeof *env);
    for (int i = 0; i < n; i++)
        env[i] = strdup(environ[i]);
    members[1] = (void *)(uintptr_t)finalized;
    memset(module.behind, 0x5a, sizeof module.behind);
    if (PMIx_server_init(members, NULL, 0) != 0 ||
        PMIx_server_register_nspace("oldjob", 1, &info, 1, NULL, NULL) > 0 ||
        PMIx_server_register_client(&proc, geteuid(), getegid(), NULL, NULL, NULL) > 0 ||
        PMIx_server_setup_fork(&proc, &env) != 0)
        return 3;
    pid = fork();
    if (pid == 0) {
        execvpe(argv[1], argv + 1, env);
        _exit(127);
    }
    if (waitpid(pid, &status, 0) != pid || PMIx_server_finalize() != 0)
        return 4;
    for (n = 0; env[n]; n++)
        free(env[n]);
    free(env);
    if (members != module.members)
        free(members);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
