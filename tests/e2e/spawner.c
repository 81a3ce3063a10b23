/* spawner.c - a process that spawns others, and stays until a line comes.
 *
 *   spawner N PROGRAM WORD */
#include <pmi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    const char *program = argc > 3 ? argv[2] : NULL;
    const char *words[] = { argc > 3 ? argv[3] : NULL, NULL };
    const char **all[] = { words };
    const PMI_keyval_t *infos[] = { NULL };
    int spawned, none = 0, n = argc > 3 ? atoi(argv[1]) : 0, errors[64];

    if (n < 1 || n > 64 || PMI_Init(&spawned) != PMI_SUCCESS)
        return 2;
    if (PMI_Spawn_multiple(1, &program, all, &n, &none, infos, 0, NULL, errors) != PMI_SUCCESS)
        return 1;
    puts("spawned");
    fflush(stdout);
    getchar();
    return PMI_Finalize() == PMI_SUCCESS ? 0 : 1;
}
