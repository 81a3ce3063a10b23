/* singleton.c - a program that is started by hand and wants to spawn.
 *
 *   singleton PROGRAM ARG     puts, spawns two processes, gets; tells what came of it, on one line
 */
#include <pmi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    const char *commands[] = { argc > 1 ? argv[1] : "true" };
    const char *arguments[] = { argc > 2 ? argv[2] : NULL, NULL };
    const char **lists[] = { arguments };
    const PMI_keyval_t *infos[] = { NULL };
    int two[] = { 2 }, none[] = { 0 }, errors[2] = { 9, 9 };
    char name[256], value[256] = "", later[256];
    int spawned = 9, size = 9, put, spawn, get;

    if (PMI_Init(&spawned) != PMI_SUCCESS || PMI_Get_size(&size) != PMI_SUCCESS ||
        PMI_KVS_Get_my_name(name, sizeof name) != PMI_SUCCESS)
        return 3;
    put = PMI_KVS_Put(name, "before", "two words");
    spawn = PMI_Spawn_multiple(1, commands, lists, two, none, infos, 0, NULL, errors);
    get = PMI_KVS_Get(name, "before", value, sizeof value);
    PMI_KVS_Get_my_name(later, sizeof later);
    printf("size %d spawned %d put %d spawn %s errors %d %d get %d %s name %s fin %d\n", size,
           spawned, put, spawn == PMI_SUCCESS ? "good" : "bad", errors[0], errors[1], get, value,
           strcmp(name, later) == 0 ? "same" : "other", PMI_Finalize());
    return 0;
}
