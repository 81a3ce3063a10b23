/* decode_pmix.c - PMIx: the handshake in full; of the messages after it the command, the tag that
 * joins request and answer, and the status.  Their items stay bytes for now. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "pmix_common.h"
#include "session/decode_priv.h"
#include "session/pmix_priv.h"
#include "wire/pmix_unpack.h"

enum { HEAD = 16, WELCOME = 8, NAME_ROOM = 256 };
enum { TAG_HEARTBEAT = 1, TAG_OUTPUT = 2 };

static const char *const commands[] = {
    "req",
    "abort",
    "commit",
    "fence",
    "get",
    "finalize",
    "publish",
    "lookup",
    "unpublish",
    "spawn",
    "connect",
    "disconnect",
    "notify",
    "regevents",
    "deregevents",
    "query",
    "log",
    "alloc",
    "job_control",
    "monitor",
    "get_credential",
    "validate_cred",
    "iof_pull",
    "iof_push",
    "group_construct",
    "group_join",
    "group_invite",
    "group_leave",
    "group_destruct",
    "iof_dereg",
    "fabric_register",
    "fabric_update",
    "device_distances",
    "refresh_cache",
    "resblk",
    "session_ctrl",
    "req_sysinfo",
    "resolve_peers",
    "resolve_node",
};

enum { NCOMMANDS = sizeof commands / sizeof *commands };

static uint32_t read_be(const char *at)
{
    const unsigned char *b = (const unsigned char *)at;

    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

/* Up to the next NUL; false: there is none. */
static bool take_text(struct slice *rest, struct slice *text_p)
{
    size_t at = slice_find(*rest, '\0');

    if (at == rest->len)
        return false;
    *text_p = slice_head(*rest, at);
    *rest = slice_skip(*rest, at + 1);
    return true;
}

static bool take(struct slice *rest, size_t n, struct slice *bytes_p)
{
    if (rest->len < n)
        return false;
    *bytes_p = slice_head(*rest, n);
    *rest = slice_skip(*rest, n);
    return true;
}

/* Kind; user and group of a tool; namespace and rank of kinds that have them. */
static bool read_who(struct decode *d, struct slice *rest)
{
    struct slice text, bytes;

    if (!take(rest, 1, &bytes) || !decode_add_number(d, "kind", (unsigned char)bytes.ptr[0]))
        return false;
    d->kind = (uint8_t)bytes.ptr[0];
    if (d->kind != KIND_CLIENT && !take(rest, 8, &bytes))
        return false;
    return !pmix_brings_name(d->kind) ||
           (take_text(rest, &text) && decode_add_text(d, "namespace", text) &&
            take(rest, 4, &bytes) && decode_add_number(d, "rank", read_be(bytes.ptr)));
}

/* Security, credential, identity, version, encoding, buffers, store. */
static bool read_hello(struct decode *d, struct slice rest)
{
    struct slice text, version, bytes, buffers, store;
    char release[64];

    if (!take_text(&rest, &text) || !decode_add_text(d, "security", text) ||
        !take(&rest, 4, &bytes) || !take(&rest, read_be(bytes.ptr), &bytes) ||
        !read_who(d, &rest) || !take_text(&rest, &version) ||
        !decode_add_text(d, "version", version) || !take_text(&rest, &text) ||
        !decode_add_text(d, "encoding", text) || !take(&rest, 1, &buffers) ||
        !decode_add_number(d, "buffers", (unsigned char)buffers.ptr[0]) ||
        !take_text(&rest, &store) || !decode_add_text(d, "store", store))
        return false;
    snprintf(release, sizeof release, SLICE_FMT, SLICE_ARG(slice_head(version, 63)));
    d->is_tool = !pmix_is_client(d->kind, release);
    d->as = ptype_flavour(text);
    d->described = buffers.ptr[0] == 2;
    return true;
}

/* The first message of the client; its length is in the client's own byte order. */
static int hello(struct decode *d, struct slice in, struct decoded *m_p)
{
    uint32_t n;

    if (in.len < HEAD)
        return DECODE_MORE;
    memcpy(&n, in.ptr + 8, sizeof n);
    if (in.len - HEAD < n)
        return DECODE_MORE;
    m_p->command = SLICE("hello");
    m_p->bytes = slice_head(in, HEAD + (size_t)n);
    if (!read_hello(d, slice_skip(m_p->bytes, HEAD)))
        m_p->fault = "the handshake is cut short";
    return DECODE_MESSAGE;
}

/* A name in an array of its own, and a rank. */
static bool add_name(struct decode *d, const char *what, const char *which, const char *at)
{
    struct slice name = slice_mem(at, NAME_ROOM);

    return decode_add_text(d, what, slice_head(name, slice_find(name, '\0'))) &&
           decode_add_number(d, which, read_be(at + NAME_ROOM));
}

/* A status; the tool's name if it brought none; the server's name; a status. */
static int welcome_tool(struct decode *d, struct slice in, struct decoded *m_p)
{
    bool named = pmix_brings_name(d->kind);
    size_t name = NAME_ROOM + 4, all = 4 + (named ? name : 2 * name) + 4;
    const char *at = in.ptr;

    if (in.len < all)
        return DECODE_MORE;
    m_p->command = SLICE("welcome");
    m_p->bytes = slice_head(in, all);
    if (!decode_add_number(d, "status", (int32_t)read_be(at)))
        return -ENOMEM;
    at += 4;
    if (!named && !add_name(d, "namespace", "rank", at))
        return -ENOMEM;
    at += named ? 0 : name;
    return add_name(d, "server", "server_rank", at) &&
                   decode_add_number(d, "credential", (int32_t)read_be(at + name))
               ? DECODE_MESSAGE
               : -ENOMEM;
}

/* A status and an index. */
static int welcome(struct decode *d, struct slice in, struct decoded *m_p)
{
    if (d->is_tool)
        return welcome_tool(d, in, m_p);
    if (in.len < WELCOME)
        return DECODE_MORE;
    m_p->command = SLICE("welcome");
    m_p->bytes = slice_head(in, WELCOME);
    return decode_add_number(d, "status", (int32_t)read_be(in.ptr)) &&
                   decode_add_number(d, "index", read_be(in.ptr + 4))
               ? DECODE_MESSAGE
               : -ENOMEM;
}

/* The items of a message in the client's encoding. */
static struct punpack items_of(const struct decode *d, const struct decoded *m)
{
    struct punpack r;

    punpack_init(&r, slice_skip(m->bytes, HEAD), d->as);
    r.described = d->described;
    return r;
}

static bool request(struct decode *d, uint32_t tag, struct decoded *m_p)
{
    struct punpack r = items_of(d, m_p);
    uint8_t number = punpack_byte(&r, PMIX_COMMAND);

    if (tag == TAG_HEARTBEAT && m_p->bytes.len == HEAD) {
        m_p->command = SLICE("heartbeat");
        return true;
    }
    if (!punpack_ok(&r) || number >= NCOMMANDS) {
        m_p->fault = "a command that is not known";
        return true;
    }
    m_p->command = slice_str(commands[number]);
    d->tags[d->ntags % DECODE_TAGS] = tag;
    d->commands[d->ntags++ % DECODE_TAGS] = number;
    return true;
}

/* The command of the newest request with this tag. */
static struct slice asked(const struct decode *d, uint32_t tag)
{
    for (uint32_t i = d->ntags; i > 0 && d->ntags - i < DECODE_TAGS; i--) {
        if (d->tags[(i - 1) % DECODE_TAGS] == tag)
            return slice_str(commands[d->commands[(i - 1) % DECODE_TAGS]]);
    }
    return SLICE("reply");
}

/* Most begin with a status; but a notification (tag 0) with a command, the answer to req with a
 * name. */
static bool reply(struct decode *d, uint32_t tag, struct decoded *m_p)
{
    struct punpack r = items_of(d, m_p);
    pmix_status_t status;

    if (tag == 0) {
        m_p->command = SLICE("notify");
        return true;
    }
    if (tag == TAG_OUTPUT) {
        m_p->command = SLICE("output");
        return true;
    }
    m_p->command = asked(d, tag);
    if (slice_is(m_p->command, "req"))
        return true;
    status = punpack_status(&r);
    return !punpack_ok(&r) || decode_add_number(d, "status", status);
}

int decode_pmix(struct decode *d, enum decode_way way, struct slice in, struct decoded *m_p)
{
    uint32_t tag, n;

    m_p->protocol = "PMIx";
    if (!d->greeted[way])
        return way == DECODE_IN ? hello(d, in, m_p) : welcome(d, in, m_p);
    if (in.len < HEAD)
        return DECODE_MORE;
    tag = read_be(in.ptr + 4);
    n = read_be(in.ptr + 8);
    if (in.len - HEAD < n)
        return DECODE_MORE;
    m_p->bytes = slice_head(in, HEAD + (size_t)n);
    if (!d->as)
        m_p->fault = "the handshake was not understood";
    else if (!(way == DECODE_IN ? request(d, tag, m_p) : reply(d, tag, m_p)))
        return -ENOMEM;
    return decode_add_number(d, "tag", tag) &&
                   decode_add_bytes(d, "body", slice_skip(m_p->bytes, HEAD))
               ? DECODE_MESSAGE
               : -ENOMEM;
}
