/* nameservice.c - see nameservice.h. */
#include "core/nameservice.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *nameservice_op_name(enum nameservice_op op)
{
    static const char *const names[] = { [NAMESERVICE_LOOKUP] = "lookup",
                                         [NAMESERVICE_PUBLISH] = "publish",
                                         [NAMESERVICE_UNPUBLISH] = "unpublish" };

    return names[op];
}

struct nameservice_query *nameservice_query_new(enum nameservice_op op, struct slice service,
                                                struct slice port)
{
    struct nameservice_query *q = malloc(sizeof *q + service.len + port.len);

    if (!q)
        return NULL;
    *q = (struct nameservice_query){ .op = op };
    if (service.len)
        memcpy(q->text, service.ptr, service.len);
    if (port.len)
        memcpy(q->text + service.len, port.ptr, port.len);
    q->service = slice_mem(q->text, service.len);
    q->port = slice_mem(q->text + service.len, port.len);
    return q;
}

void nameservice_init(struct nameservice *n, uint64_t seed)
{
    map_init(&n->by_service, seed);
    list_init(&n->all);
    n->read = NULL;
}

static void entry_free(struct nameservice *n, struct name_entry *e)
{
    map_del(&n->by_service, slice_str(e->service));
    list_unlink(&e->link);
    free(e);
}

void nameservice_free(struct nameservice *n)
{
    LIST_EACH(l, &n->all)
    entry_free(n, LIST_OF(l, struct name_entry, link));
    map_free(&n->by_service);
    free(n->read);
}

int nameservice_publish(struct nameservice *n, struct slice service, struct slice port,
                        uint32_t job, uint32_t rank, enum name_life life, uint16_t type)
{
    struct name_entry *e;
    char *text;
    int rc;

    if (map_get(&n->by_service, service))
        return NAMESERVICE_TAKEN;
    e = malloc(sizeof *e + service.len + port.len + 2);
    if (!e)
        return -ENOMEM;
    text = (char *)(e + 1);
    *e = (struct name_entry){
        .service = text, .job = job, .rank = rank, .life = life, .type = type
    };
    memcpy(text, service.ptr, service.len);
    text[service.len] = '\0';
    text += service.len + 1;
    if (port.len)
        memcpy(text, port.ptr, port.len);
    text[port.len] = '\0';
    e->port = slice_mem(text, port.len);
    list_init(&e->link);
    rc = map_put(&n->by_service, slice_str(e->service), e, NULL);
    if (rc < 0) {
        free(e);
        return rc;
    }
    list_append(&n->all, &e->link);
    return NAMESERVICE_OK;
}

const struct name_entry *nameservice_lookup(const struct nameservice *n, struct slice service)
{
    return map_get(&n->by_service, service);
}

const struct name_entry *nameservice_read(struct nameservice *n, struct slice service)
{
    struct name_entry *e = map_get(&n->by_service, service);

    if (!e || e->life != NAME_READ_ONCE)
        return e;
    map_del(&n->by_service, slice_str(e->service));
    list_unlink(&e->link);
    free(n->read);
    n->read = e;
    return e;
}

int nameservice_unpublish(struct nameservice *n, struct slice service)
{
    struct name_entry *e = map_get(&n->by_service, service);

    if (!e)
        return NAMESERVICE_UNKNOWN;
    entry_free(n, e);
    return NAMESERVICE_OK;
}

uint32_t nameservice_drop_job(struct nameservice *n, uint32_t job)
{
    uint32_t dropped = 0;

    LIST_EACH(l, &n->all)
    {
        struct name_entry *e = LIST_OF(l, struct name_entry, link);
        if (e->job == job && e->life != NAME_STAYS) {
            entry_free(n, e);
            dropped++;
        }
    }
    return dropped;
}

void nameservice_wait_free(struct nameservice_wait *w)
{
    list_unlink(&w->link);
    free(w->query);
    free(w);
}
