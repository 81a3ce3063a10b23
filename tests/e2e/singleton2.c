/* singleton2.c - singleton.c with libpmi2: started by hand, wants to spawn. */
#include <pmi2.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    const char *commands[] = { argc > 1 ? argv[1] : "true" };
    const char *arguments[] = { argc > 2 ? argv[2] : NULL, NULL };
    const char **lists[] = { arguments };
    const struct MPID_Info *infos[] = { NULL };
    int two[] = { 2 }, none[] = { 0 }, argcs[] = { argc > 2 ? 1 : 0 }, errors[2] = { 9, 9 };
    char name[256], later[256], value[256] = "", child[256] = "";
    int spawned = 9, size = 9, rank = 9, appnum = 9, length = 0, put, spawn, get;

    if (PMI2_Init(&spawned, &size, &rank, &appnum) != PMI2_SUCCESS ||
        PMI2_Job_GetId(name, sizeof name) != PMI2_SUCCESS)
        return 3;
    put = PMI2_KVS_Put("before", "two words");
    spawn = PMI2_Job_Spawn(1, commands, argcs, lists, two, none, infos, 0, NULL, child,
                           sizeof child, errors);
    get = PMI2_KVS_Get(NULL, PMI2_ID_NULL, "before", value, sizeof value, &length);
    PMI2_Job_GetId(later, sizeof later);
    printf("size %d spawned %d put %d spawn %s job %s errors %d %d get %d %s name %s fin %d\n",
           size, spawned, put, spawn == PMI2_SUCCESS ? "good" : "bad", *child ? "told" : "none",
           errors[0], errors[1], get, value, strcmp(name, later) == 0 ? "same" : "other",
           PMI2_Finalize());
    return 0;
}
