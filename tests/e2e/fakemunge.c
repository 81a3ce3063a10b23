/* fakemunge.c - stands for libmunge.so.2: its credentials are known, and good for everybody. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Looked up by name. */
int munge_encode(char **credential, void *context, const void *data, int size);
int munge_decode(const char *credential, void *context, void **data, int *size, uid_t *uid,
                 gid_t *gid);
const char *munge_strerror(int code);

static const char begin[] = "MUNGE:known-token-";

int munge_encode(char **credential, void *context, const void *data, int size)
{
    (void)context, (void)data, (void)size;
    return asprintf(credential, "%s%d:", begin, (int)getpid()) < 0;
}

int munge_decode(const char *credential, void *context, void **data, int *size, uid_t *uid,
                 gid_t *gid)
{
    (void)context;
    *data = NULL;
    *size = 0;
    *uid = getuid();
    *gid = getgid();
    return strncmp(credential, begin, sizeof begin - 1) != 0;
}

const char *munge_strerror(int code)
{
    return code ? "not a credential of this test" : "good";
}
