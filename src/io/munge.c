/* munge.c - see munge.h. */
#include "io/munge.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/limit.h"

/* As in munge's own header, which may be missing. */
typedef int encode_fn(char **cred, void *ctx, const void *buf, int len);
typedef int decode_fn(const char *cred, void *ctx, void **buf, int *len, uid_t *uid, gid_t *gid);

enum { MUNGE_GOOD = 0 };

/* It stays loaded: its functions are needed again. */
static void *find(const char *name)
{
    void *lib = dlopen("libmunge.so.2", RTLD_NOW | RTLD_LOCAL);

    return lib ? dlsym(lib, name) : NULL;
}

int munge_make(char **text_p)
{
    encode_fn *encode;

    *(void **)&encode = find("munge_encode");
    if (!encode)
        return -ENOTSUP;
    return encode(text_p, NULL, NULL, 0) == MUNGE_GOOD ? 0 : -EACCES;
}

int munge_check(struct slice text, uid_t *uid_p, gid_t *gid_p)
{
    void *data = NULL;
    decode_fn *decode;
    char *copy;
    int len = 0, rc;

    *(void **)&decode = find("munge_decode");
    if (!decode)
        return -ENOTSUP;
    if (text.len == 0 || text.len > LIMIT_CREDENTIAL)
        return -EACCES;
    copy = strndup(text.ptr, text.len);
    if (!copy)
        return -ENOMEM;
    rc = decode(copy, NULL, &data, &len, uid_p, gid_p);
    free(data);
    free(copy);
    return rc == MUNGE_GOOD ? 0 : -EACCES;
}
