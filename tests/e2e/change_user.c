/* change_user.c - started by hand as root: spawns, becomes another user, and would spawn again.
 * Prints `before good|bad after good|bad`. */
#include <pmi2.h>
#include <stdio.h>
#include <unistd.h>

enum { OTHER_USER = 65534 };

static const char *spawn(void)
{
    const char *commands[] = { "true" };
    const char *arguments[] = { NULL };
    const char **lists[] = { arguments };
    const struct MPID_Info *infos[] = { NULL };
    int one[] = { 1 }, none[] = { 0 }, argcs[] = { 0 }, errors[1] = { 0 };
    char child[256] = "";

    return PMI2_Job_Spawn(1, commands, argcs, lists, one, none, infos, 0, NULL, child, sizeof child,
                          errors) == PMI2_SUCCESS
               ? "good"
               : "bad";
}

int main(void)
{
    int spawned, size, rank, appnum;
    const char *before;

    if (PMI2_Init(&spawned, &size, &rank, &appnum) != PMI2_SUCCESS)
        return 3;
    before = spawn();
    if (setuid(OTHER_USER) < 0)
        return 4;
    printf("before %s after %s\n", before, spawn());
    PMI2_Finalize();
    return 0;
}
