/* spawner.c - a process that spawns others, and stays until a line comes.
 *
 *   spawner N PROGRAM WORD             at once
 *   spawner N PROGRAM WORD KEY=VALUE   with that information, after a line has come */
#include <pmi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    const char *program = argc > 3 ? argv[2] : NULL;
    const char *words[] = { argc > 3 ? argv[3] : NULL, NULL };
    const char **all[] = { words };
    char *value = argc > 4 ? strchr(argv[4], '=') : NULL;
    const PMI_keyval_t info = { argc > 4 ? argv[4] : NULL, value ? value + 1 : NULL };
    const PMI_keyval_t *infos[] = { value ? &info : NULL };
    int spawned, known = value != NULL, n = argc > 3 ? atoi(argv[1]) : 0, errors[64];

    if (n < 1 || n > 64 || PMI_Init(&spawned) != PMI_SUCCESS)
        return 2;
    if (value) {
        *value = '\0';
        puts("ready");
        fflush(stdout);
        getchar();
    }
    if (PMI_Spawn_multiple(1, &program, all, &n, &known, infos, 0, NULL, errors) != PMI_SUCCESS) {
        puts("refused");
        return 1;
    }
    puts("spawned");
    fflush(stdout);
    getchar();
    return PMI_Finalize() == PMI_SUCCESS ? 0 : 1;
}
