/* kvs_service.c - see kvs_service.h. */
#include "lib/pmi/kvs_service.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/dynlib.h"
#include "base/limit.h"
#include "wireup_kvs.h"

enum { KEY_ROOM = 256 };

struct kvs_service {
    void *library, *kvs;
    int (*open)(const char *job, unsigned rank, unsigned size, void **kvs_p);
    int (*put)(void *kvs, const char *key, const char *value);
    int (*get)(void *kvs, const char *key, char *value, size_t room);
    int (*fence)(void *kvs);
    void (*close)(void *kvs);
};

static const struct dynlib_function functions[] = {
    { "wireup_kvs_open", offsetof(struct kvs_service, open) },
    { "wireup_kvs_put", offsetof(struct kvs_service, put) },
    { "wireup_kvs_get", offsetof(struct kvs_service, get) },
    { "wireup_kvs_fence", offsetof(struct kvs_service, fence) },
    { "wireup_kvs_close", offsetof(struct kvs_service, close) },
};

const char *kvs_service_path(bool *refused_p)
{
    const char *path = secure_getenv("WIREUP_PMI_KVS"), *any = getenv("WIREUP_PMI_KVS");

    *refused_p = !path && any && *any;
    return path && *path ? path : NULL;
}

static bool read_place(struct pmi1_client *c)
{
    const char *rank = getenv("PMI_RANK"), *size = getenv("PMI_SIZE");

    return rank && size && slice_u32(slice_str(rank), &c->rank) &&
           slice_u32(slice_str(size), &c->size) && c->rank < c->size && c->size <= INT_MAX;
}

static int failed(const char *what, int rc, struct errmsg *err)
{
    return errmsg_set(err, CLIENT_FAILED, "the key-value service of WIREUP_PMI_KVS: %s failed (%d)",
                      what, rc);
}

static int join(struct pmi1_client *c, struct kvs_service *s, const char *path, struct errmsg *err)
{
    const char *job = getenv("PMI_JOBID");
    struct errmsg why;
    int rc;

    if (path[0] != '/')
        return errmsg_set(err, CLIENT_FAILED, "WIREUP_PMI_KVS=%.500s is not an absolute path",
                          path);
    if (!read_place(c))
        return errmsg_set(
            err, CLIENT_FAILED,
            "WIREUP_PMI_KVS needs PMI_RANK and PMI_SIZE, a rank and the size of its job");
    if (dynlib_open(path, functions, sizeof functions / sizeof *functions, s, &s->library, &why))
        return errmsg_set(err, CLIENT_FAILED, "WIREUP_PMI_KVS: %.800s", why.text);
    c->kvsname = strdup(job && *job && strlen(job) < LIMIT_PMI_KVSNAME ? job : "job");
    if (!c->kvsname)
        return errmsg_set(err, -ENOMEM, "out of memory");
    rc = s->open(c->kvsname, c->rank, c->size, &s->kvs);
    return rc == WIREUP_KVS_OK ? CLIENT_OK : failed("its start", rc, err);
}

int kvs_service_start(struct pmi1_client *c, const char *path, struct errmsg *err)
{
    struct kvs_service *s = calloc(1, sizeof *s);
    int rc;

    if (!s)
        return errmsg_set(err, -ENOMEM, "out of memory");
    rc = join(c, s, path, err);
    if (rc != CLIENT_OK) {
        dynlib_close(&s->library);
        free(s);
        return rc;
    }
    c->kind = CLIENT_SERVICE;
    c->service = s;
    c->has_appnum = c->has_universe = true;
    c->universe = c->size;
    c->name_max = LIMIT_PMI_KVSNAME;
    c->key_max = KEY_ROOM;
    c->value_max = LIMIT_PMI_VALUE;
    return CLIENT_OK;
}

void kvs_service_stop(struct pmi1_client *c)
{
    if (!c->service)
        return;
    c->service->close(c->service->kvs);
    dynlib_close(&c->service->library);
    free(c->service);
    c->service = NULL;
}

/* With its NUL.  False: it cannot be one. */
static bool key_text(struct slice key, char *text)
{
    if (key.len >= KEY_ROOM || slice_find(key, '\0') < key.len)
        return false;
    memcpy(text, key.ptr, key.len);
    text[key.len] = '\0';
    return true;
}

int kvs_service_put(struct pmi1_client *c, struct slice key, const char *value, struct errmsg *err)
{
    char text[KEY_ROOM];
    int rc;

    if (!key_text(key, text))
        return errmsg_set(err, CLIENT_LONG_KEY, "a key may have %d characters", KEY_ROOM - 1);
    rc = c->service->put(c->service->kvs, text, value);
    if (rc == WIREUP_KVS_TOO_LONG)
        return errmsg_set(err, CLIENT_LONG_VALUE, "the value of key '%.80s' is too long", text);
    return rc == WIREUP_KVS_OK ? CLIENT_OK : failed("a put", rc, err);
}

int kvs_service_get(struct pmi1_client *c, struct slice key, kvs_use *use, void *arg,
                    struct errmsg *err)
{
    char text[KEY_ROOM], value[LIMIT_PMI_VALUE];
    int rc = key_text(key, text) ? c->service->get(c->service->kvs, text, value, sizeof value)
                                 : WIREUP_KVS_NOT_FOUND;

    if (rc == WIREUP_KVS_NOT_FOUND)
        return errmsg_set(err, CLIENT_BAD_KEY, "no process has put key '" SLICE_FMT "'",
                          SLICE_ARG(slice_head(key, 80)));
    if (rc != WIREUP_KVS_OK)
        return failed("a get", rc, err);
    value[sizeof value - 1] = '\0';
    return use(arg, slice_str(value), err);
}

int kvs_service_fence(struct pmi1_client *c, struct errmsg *err)
{
    int rc = c->service->fence(c->service->kvs);

    return rc == WIREUP_KVS_OK ? CLIENT_OK : failed("a fence", rc, err);
}
