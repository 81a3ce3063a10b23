/* libpmi-dl.c - loads libpmi as plug-ins do: opened, used, closed, again; then forks, which must
 * not lead into what is no longer there.
 *
 *   libpmi-dl LIBRARY        prints `dl good` on each rank
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int call0(void *lib, const char *name)
{
    int (*f)(void);

    *(void **)&f = dlsym(lib, name);
    return f ? f() : -99;
}

static int call_int(void *lib, const char *name, int *value)
{
    int (*f)(int *);

    *(void **)&f = dlsym(lib, name);
    return f ? f(value) : -99;
}

int main(int argc, char **argv)
{
    int v, status = -1;
    pid_t pid;

    for (int i = 0; i < 3; i++) {
        void *lib = dlopen(argc > 1 ? argv[1] : "", RTLD_NOW | RTLD_GLOBAL);

        if (!lib) {
            fprintf(stderr, "%s\n", dlerror());
            return 1;
        }
        if (call_int(lib, "PMI_Init", &v) != 0 || call0(lib, "PMI_Barrier") != 0 ||
            call_int(lib, "PMI_Get_clique_size", &v) != 0 || call0(lib, "PMI_Finalize") != 0)
            return 2;
        dlclose(lib);
        pid = fork();
        if (pid == 0)
            _exit(7);
        waitpid(pid, &status, 0);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 7)
            return 3;
    }
    printf("dl good\n");
    return 0;
}
