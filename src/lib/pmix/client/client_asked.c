/* client_asked.c - see client_asked.h. */
#include "lib/pmix/client/client_asked.h"

#include <stdlib.h>
#include <string.h>

#include "lib/pmix/client/client_api.h"
#include "lib/pmix/client/client_progress.h"
#include "lib/pmix/server/server_instance.h"
#include "lib/pmix/values/value.h"

/* One request, until it is answered. */
struct allocation_asked {
    struct client_task task;
    struct server_link *server; /* as a name: it may be gone */
    uint32_t tag;
    pmix_proc_t from;
    struct pmsg_alloc m;
    bool is_alloc;
};

static void free_asked(struct allocation_asked *a)
{
    PMIx_Info_free(a->m.infos.items, a->m.infos.n);
    free(a);
}

/* ---- answering ------------------------------------------------------------------------------- */

static bool is_there(const struct client *c, const struct server_link *s)
{
    LIST_EACH(l, &c->servers)
    {
        const struct server_link *other = LIST_OF(l, struct server_link, link);
        if (other == s)
            return !s->lost;
    }
    return false;
}

static void send_answer(struct allocation_asked *a, pmix_status_t status, pmix_info_t *infos,
                        size_t n)
{
    struct client *c = api_begin();
    struct message m;

    if (c && is_there(c, a->server) && message_begin_to(c, a->server, &m) == PMIX_SUCCESS) {
        message_put(&m, status_infos,
                    { .has = PMSG_BIT(status_infos, infos),
                      .status = status,
                      .infos = PMSG_LENT(infos, infos ? n : 0) });
        message_send_alone(&m, a->tag);
    }
    if (c)
        api_end(c, PMIX_SUCCESS);
    free_asked(a);
}

static void on_allocated(pmix_status_t status, pmix_info_t *infos, size_t n, void *arg,
                         pmix_release_cbfunc_t release, void *release_arg)
{
    send_answer(arg, status == PMIX_OPERATION_SUCCEEDED ? PMIX_SUCCESS : status, infos, n);
    if (release)
        release(release_arg);
}

/* ---- the host's function --------------------------------------------------------------------- */

static void call_host(struct client_task *t)
{
    struct allocation_asked *a = LIST_OF(t, struct allocation_asked, task);
    pmix_server_alloc_fn_t allocate = a->is_alloc ? instance_allocate() : NULL;
    pmix_status_t rc = PMIX_ERR_NOT_SUPPORTED;

    if (allocate)
        rc = allocate(&a->from, a->m.directive, a->m.infos.items, a->m.infos.n, on_allocated, a);
    if (rc != PMIX_SUCCESS)
        on_allocated(rc, NULL, 0, a, NULL, NULL);
}

static void drop_asked(struct client_task *t)
{
    free_asked(LIST_OF(t, struct allocation_asked, task));
}

static void note_requestor(struct allocation_asked *a, const struct server_link *s)
{
    a->from = s->name;
    for (size_t i = 0; i < a->m.infos.n; i++) {
        const pmix_info_t *info = &a->m.infos.items[i];
        if (PMIx_Check_key(info->key, PMIX_REQUESTOR) && info->value.type == PMIX_PROC)
            a->from = *info->value.data.proc;
    }
}

void request_arrived(struct client *c, struct server_link *s, struct frame *f)
{
    struct allocation_asked *a = calloc(1, sizeof *a);
    struct punpack r;

    if (!a)
        return;
    *a = (struct allocation_asked){ .task = { .run = call_host, .drop = drop_asked },
                                    .server = s,
                                    .tag = f->tag };
    list_init(&a->task.link);
    punpack_init(&r, slice_mem(f->bytes, f->len), s->as);
    r.foreign = foreign_objects();
    if (punpack_byte(&r, PMIX_COMMAND) == CMD_ALLOC)
        a->is_alloc = pmsg_read_alloc(&r, s->release, &a->m) == PTYPE_FINE;
    note_requestor(a, s);
    tasks_add(c, &a->task);
}
