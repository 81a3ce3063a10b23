/* dirkvs.c - a key-value service for libpmi (wireup_kvs.h) whose values are files of the directory
 * DIRKVS: a put is a file that is renamed, a fence a file of each process. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "wireup_kvs.h"

struct kvs {
    unsigned rank, size, fences;
    const char *dir;
};

int wireup_kvs_open(const char *job, unsigned rank, unsigned size, void **kvs_p)
{
    struct kvs *k = calloc(1, sizeof *k);

    (void)job;
    *kvs_p = k;
    if (!k || !getenv("DIRKVS"))
        return 5;
    *k = (struct kvs){ rank, size, 0, getenv("DIRKVS") };
    return WIREUP_KVS_OK;
}

int wireup_kvs_put(void *kvs, const char *key, const char *value)
{
    const struct kvs *k = kvs;
    char path[600], temporary[600];
    FILE *f;

    snprintf(path, sizeof path, "%s/%s", k->dir, key);
    snprintf(temporary, sizeof temporary, "%s/.%u", k->dir, k->rank);
    f = fopen(temporary, "w");
    if (!f || fputs(value, f) < 0 || fclose(f) || rename(temporary, path))
        return 6;
    return WIREUP_KVS_OK;
}

int wireup_kvs_get(void *kvs, const char *key, char *value, size_t room)
{
    const struct kvs *k = kvs;
    char path[600];
    FILE *f;
    size_t n;

    snprintf(path, sizeof path, "%s/%s", k->dir, key);
    f = fopen(path, "r");
    if (!f)
        return WIREUP_KVS_NOT_FOUND;
    n = fread(value, 1, room - 1, f);
    value[n] = '\0';
    n = fgetc(f) == EOF;
    fclose(f);
    return n ? WIREUP_KVS_OK : WIREUP_KVS_TOO_LONG;
}

int wireup_kvs_fence(void *kvs)
{
    struct kvs *k = kvs;
    char key[64], path[600];

    k->fences++;
    snprintf(key, sizeof key, "fence.%u.%u", k->fences, k->rank);
    if (wireup_kvs_put(kvs, key, "x"))
        return 7;
    for (unsigned r = 0; r < k->size; r++) {
        snprintf(path, sizeof path, "%s/fence.%u.%u", k->dir, k->fences, r);
        while (access(path, F_OK) < 0)
            usleep(2000);
    }
    return WIREUP_KVS_OK;
}

void wireup_kvs_close(void *kvs)
{
    free(kvs);
}
