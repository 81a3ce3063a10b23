/* client_hello.c - see client_hello.h. */
#include "lib/pmix/client/client_hello.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "io/munge.h"
#include "pmix_version.h"

enum { HEADER_SIZE = 16, NAME_FIELD = PMIX_MAX_NSLEN + 1, BUFFER_NOT_DESCRIBED = 1 };

/* The release that we claim to be: servers expect its behaviour. */
static const char *our_release(void)
{
    static const char text[] = "5.0.11";

    _Static_assert(PMIX_NUMERIC_VERSION == 0x0005000b, "the text says the same");
    return text;
}

static void put_u32(struct buf *out, uint32_t v)
{
    uint32_t net = htonl(v);

    buf_put(out, &net, sizeof net);
}

static void put_text(struct buf *out, const char *text)
{
    buf_put(out, text, strlen(text) + 1);
}

static bool is_named(enum hello_flag flag)
{
    return flag != HELLO_TOOL_UNNAMED && flag != HELLO_LAUNCHER_UNNAMED;
}

void hello_put(struct buf *out, const struct hello *h)
{
    unsigned char header[HEADER_SIZE] = { 0 };
    size_t from = buf_len(out);
    uint32_t len;

    buf_put(out, header, sizeof header);
    put_text(out, h->security);
    put_u32(out, (uint32_t)h->credential.len);
    buf_slice_put(out, h->credential);
    buf_byte(out, (char)h->flag);
    if (h->flag != HELLO_CLIENT) {
        put_u32(out, (uint32_t)geteuid());
        put_u32(out, (uint32_t)getegid());
    }
    if (is_named(h->flag)) {
        put_text(out, h->nspace);
        put_u32(out, h->rank);
    }
    put_text(out, our_release());
    put_text(out, h->encoding);
    buf_byte(out, BUFFER_NOT_DESCRIBED);
    put_text(out, "hash");
    buf_slice_put(out, h->infos);
    if (!buf_ok(out))
        return;
    /* The only header whose length is in the sender's byte order. */
    len = (uint32_t)(buf_len(out) - from - HEADER_SIZE);
    memset(header, 0xff, 8);
    memcpy(header + 8, &len, sizeof len);
    memcpy(out->mem + out->start + from, header, sizeof header);
}

/* ---- the reply ------------------------------------------------------------------------------- */

static uint32_t get_u32(const char *at)
{
    uint32_t v;

    memcpy(&v, at, sizeof v);
    return ntohl(v);
}

size_t welcome_length(const struct welcome *w, struct slice bytes)
{
    size_t n = 4;

    if (bytes.len < 4 || get_u32(bytes.ptr) != 0)
        return n; /* a refusal is only a status */
    if (!w->tool)
        return n + 4;
    return n + (w->unnamed ? NAME_FIELD + 4 : 0) + NAME_FIELD + 4 + 4;
}

static const char *take_name(const char *at, char *name, uint32_t *rank_p)
{
    memcpy(name, at, NAME_FIELD);
    name[NAME_FIELD - 1] = '\0';
    *rank_p = get_u32(at + NAME_FIELD);
    return at + NAME_FIELD + 4;
}

void welcome_read(struct welcome *w, struct slice bytes)
{
    const char *at = bytes.ptr + 4;

    w->status = (int32_t)get_u32(bytes.ptr);
    if (w->status != 0)
        return;
    if (!w->tool) {
        w->index = get_u32(at);
        return;
    }
    if (w->unnamed)
        at = take_name(at, w->nspace, &w->rank);
    at = take_name(at, w->server, &w->server_rank);
    w->status = (int32_t)get_u32(at);
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
