/* client_hello.c - see client_hello.h. */
#include "lib/pmix/client/client_hello.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "io/munge.h"
#include "pmix_version.h"
#include "wire/pmix_handshake.h"

enum { BUFFER_NOT_DESCRIBED = 1 };

/* The release that we claim to be: servers expect its behaviour. */
static const char *our_release(void)
{
    static const char text[] = "5.0.11";

    _Static_assert(PMIX_NUMERIC_VERSION == 0x0005000b, "the text says the same");
    return text;
}

void hello_put(struct buf *out, const struct hello *h)
{
    handshake_put_hello(out,
                        &(struct handshake_hello){ .security = slice_str(h->security),
                                                   .credential = h->credential,
                                                   .kind = (uint8_t)h->flag,
                                                   .user = (uint32_t)geteuid(),
                                                   .group = (uint32_t)getegid(),
                                                   .nspace = slice_str(h->nspace ? h->nspace : ""),
                                                   .rank = h->rank,
                                                   .version = slice_str(our_release()),
                                                   .encoding = slice_str(h->encoding),
                                                   .buffers = BUFFER_NOT_DESCRIBED,
                                                   .store = SLICE("hash"),
                                                   .infos = h->infos });
}

/* ---- the reply ------------------------------------------------------------------------------- */

static bool read_welcome(const struct welcome *w, struct slice bytes, union handshake_any *m,
                         struct handshake_read *read_p)
{
    return handshake_read(w->tool ? HANDSHAKE_tool_welcome : HANDSHAKE_welcome,
                          w->unnamed ? HELLO_TOOL_UNNAMED : HELLO_TOOL_NAMED, bytes, m, read_p);
}

size_t welcome_length(const struct welcome *w, struct slice bytes)
{
    union handshake_any m;
    struct handshake_read r;

    read_welcome(w, bytes, &m, &r);
    return r.bytes;
}

static void keep_name(char name[PMIX_MAX_NSLEN + 1], struct slice from)
{
    from = slice_head(from, PMIX_MAX_NSLEN);
    memcpy(name, from.ptr, from.len);
    name[from.len] = '\0';
}

void welcome_read(struct welcome *w, struct slice bytes)
{
    union handshake_any m;
    struct handshake_read r;

    read_welcome(w, bytes, &m, &r);
    w->status = m.welcome.status;
    if (w->status != 0)
        return;
    if (!w->tool) {
        w->index = m.welcome.index;
        return;
    }
    if (w->unnamed) {
        keep_name(w->nspace, m.tool_welcome.nspace);
        w->rank = m.tool_welcome.rank;
    }
    keep_name(w->server, m.tool_welcome.server);
    w->server_rank = m.tool_welcome.server_rank;
    w->status = m.tool_welcome.credential;
}

/* ---- credentials ----------------------------------------------------------------------------- */

/* In the byte order of this machine, as in the reference implementation. */
static int make_native(struct credential *c, struct errmsg *err)
{
    uint32_t ids[2] = { (uint32_t)geteuid(), (uint32_t)getegid() };

    (void)err;
    c->bytes = malloc(sizeof ids);
    if (!c->bytes)
        return -ENOMEM;
    memcpy(c->bytes, ids, sizeof ids);
    c->len = sizeof ids;
    return 0;
}

static int make_munge(struct credential *c, struct errmsg *err)
{
    struct errmsg why;
    int rc = munge_make(&c->bytes, &why);

    if (rc < 0)
        return errmsg_set(err, -EACCES, "munge: %.900s", why.text);
    c->len = strlen(c->bytes) + 1;
    return 0;
}

static int make_none(struct credential *c, struct errmsg *err)
{
    (void)err;
    c->len = 0;
    return 0;
}

/* In the order of preference, whatever the order of the server's list. */
static const struct module {
    const char *name;
    int (*make)(struct credential *c, struct errmsg *err);
    bool unasked; /* is tried when there is no list */
} modules_known[] = {
    { "munge", make_munge, true },
    { "native", make_native, true },
    { "none", make_none, false },
};

static bool lists(const char *list, const char *name)
{
    struct slice rest = slice_str(list);

    while (rest.len) {
        if (slice_is(slice_trim(slice_cut(&rest, ',')), name))
            return true;
    }
    return false;
}

int credential_make(const char *modules, const char *server, struct credential *c_p,
                    struct errmsg *err)
{
    int rc = errmsg_set(err, -EACCES,
                        "the PMIx server (version %.40s) requires security '%.200s'; this is "
                        "Wireup %s, which has munge and native",
                        server, modules ? modules : "", WIREUP_VERSION);

    *c_p = (struct credential){ NULL };
    for (size_t i = 0; i < sizeof modules_known / sizeof *modules_known; i++) {
        const struct module *m = &modules_known[i];
        if (modules ? !lists(modules, m->name) : !m->unasked)
            continue;
        rc = m->make(c_p, err);
        if (rc != -EACCES) {
            c_p->module = m->name;
            return rc;
        }
    }
    return rc;
}

void credential_free(struct credential *c)
{
    free(c->bytes);
    *c = (struct credential){ NULL };
}
