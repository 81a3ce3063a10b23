/* spawn_hosts.c - see spawn_hosts.h. */
#include "launch/spawn_hosts.h"

#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "launch/localhost.h"

enum { HOSTFILE_MAX = 1 << 24, SPAWN_HOSTS_ARENA = 1 << 26 };

struct hosts_source {
    const char *key;
    bool file, added;
};

static const struct hosts_source sources[] = {
    { "host", false, false },     { "hosts", false, false },   { "add-host", false, true },
    { "add-hosts", false, true }, { "hostfile", true, false }, { "add-hostfile", true, true }
};

static int read_hostfile(struct arena *a, struct host_list *list, struct slice name,
                         struct errmsg *err)
{
    const char *path = arena_str(a, name);
    struct buf text = BUF_NULL(HOSTFILE_MAX);
    int rc = path ? localhost_read_plain_file(path, &text) : -ENOMEM;

    if (rc == -EINVAL)
        rc = errmsg_set(err, SPAWN_NO_NODES, "host file " SLICE_FMT ": not a plain file",
                        SLICE_ARG(name));
    else if (rc < 0)
        rc = errmsg_set(err, SPAWN_NO_NODES, "host file " SLICE_FMT ": %s", SLICE_ARG(name),
                        err_text(rc));
    else
        rc = hosts_parse_file(a, list, path, buf_slice(&text), err) ? SPAWN_BAD_REQUEST : 0;
    buf_free(&text);
    return rc;
}

static int read_source(struct arena *a, const struct hosts_source *s, const struct spawn_command *c,
                       struct host_list *list, struct errmsg *err)
{
    struct slice v = spawn_info(c, s->key);

    if (v.len == 0)
        return 0;
    if (s->file)
        return read_hostfile(a, list, v, err);
    return hosts_parse_list(a, list, v, err) ? SPAWN_BAD_REQUEST : 0;
}

int spawn_hosts_named(struct arena *a, const struct spawn_command *c, struct host_list *list,
                      struct errmsg *err)
{
    int rc = 0;

    for (size_t i = 0; i < sizeof sources / sizeof *sources && rc == 0; i++)
        rc = read_source(a, &sources[i], c, list, err);
    return rc;
}

static void put_host(const struct host *h, struct buf *out)
{
    bool brackets = strchr(h->name, ':') != NULL;

    if (h->port)
        return;
    if (buf_len(out))
        buf_byte(out, ',');
    buf_printf(out, "%s%s%s%s%s:%u", h->user ? h->user : "", h->user ? "@" : "",
               brackets ? "[" : "", h->name, brackets ? "]" : "", h->slots);
}

static void put_named(const struct spawn_request *rq, bool all, struct buf *out)
{
    struct arena a = ARENA_NULL(SPAWN_HOSTS_ARENA);

    for (uint32_t c = 0; c < rq->ncommands; c++) {
        for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
            struct host_list list = { NULL, 0, 0 };
            struct errmsg why;
            if ((all || sources[i].added) &&
                read_source(&a, &sources[i], &rq->commands[c], &list, &why) != 0)
                continue;
            for (uint32_t n = 0; n < list.count; n++)
                put_host(&list.items[n], out);
        }
    }
    arena_free(&a);
}

void spawn_hosts_added(const struct spawn_request *rq, struct buf *out)
{
    put_named(rq, false, out);
}

void spawn_hosts_all(const struct spawn_request *rq, struct buf *out)
{
    put_named(rq, true, out);
}
