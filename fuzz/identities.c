/* identities.c - fuzzes small forms that other nodes, users' programs and tools send as a text:
 * identities of collectives and meetings, patterns of connectivity, lists of daemons' addresses,
 * stacks.
 *
 * The first byte chooses.  What is accepted is the same when it has been written and read again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "core/coll_id.h"
#include "core/connectivity.h"
#include "core/foreign_connect.h"
#include "daemon/stacks.h"
#include "io/daemon_link_address.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MEMBERS = 4096, ADDRESSES = 8, RANKS = 64 };

static void must(bool good)
{
    if (!good)
        abort();
}

static void check_id(struct slice text)
{
    struct coll_id id, back;
    struct buf again = BUF_NULL(1 << 20);

    if (!coll_id_read(text, 3, &id))
        return;
    coll_id_write(&id, &again);
    must(buf_ok(&again) && coll_id_read(buf_slice(&again), 3, &back) && coll_id_same(&id, &back));
    buf_free(&again);
}

/* Of members of several launchers, as another one has sent it. */
static void check_foreign(struct slice text, const struct coll_meeting *m)
{
    struct foreign_members all;

    if (foreign_members_read(text, &all))
        must(all.n == m->nmembers && all.kind == m->kind);
    foreign_members_free(&all);
}

static void check_meeting(struct slice text)
{
    static struct member members[MEMBERS];
    struct coll_meeting m, back;
    struct buf again = BUF_NULL(1 << 20);

    if (!coll_meeting_read(text, &m) || m.nmembers > MEMBERS)
        return;
    check_foreign(text, &m);
    coll_meeting_members(text, members);
    m.members = members;
    coll_meeting_write(&m, &again);
    must(buf_ok(&again) && coll_meeting_read(buf_slice(&again), &back) && back.kind == m.kind &&
         back.nmembers == m.nmembers);
    buf_free(&again);
}

static void check_connectivity(struct slice text)
{
    uint32_t near[CONNECTIVITY_NEIGHBOURS];
    struct connectivity c;
    struct errmsg err;

    if (connectivity_parse(text, &c, &err) != 0 || connectivity_fits(&c, RANKS, &err) != 0)
        return;
    for (uint32_t r = 0; r < RANKS; r++) {
        uint32_t n = connectivity_neighbours(&c, RANKS, r, near);
        must(n <= CONNECTIVITY_NEIGHBOURS);
        for (uint32_t i = 0; i < n; i++)
            must(near[i] < RANKS && near[i] != r);
    }
}

static void check_addresses(struct slice text)
{
    struct daemon_link_address list[ADDRESSES], back;
    char word[DAEMON_LINK_ADDRESS_TEXT];
    struct errmsg err;
    size_t n = daemon_link_address_read(text, list, ADDRESSES, &err);

    must(n <= ADDRESSES);
    for (size_t i = 0; i < n; i++) {
        daemon_link_address_text(&list[i], word);
        must(daemon_link_address_read(slice_str(word), &back, 1, &err) == 1 &&
             back.len == list[i].len);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf out = BUF_NULL(1 << 20);
    struct slice text;

    if (size < 1)
        return 0;
    text = slice_mem(data + 1, size - 1);
    switch (data[0] % 5) {
    case 0: check_id(text); break;
    case 1: check_meeting(text); break;
    case 2: check_connectivity(text); break;
    case 3: check_addresses(text); break;
    case 4: stacks_parse(text, &out); break;
    }
    buf_free(&out);
    return 0;
}
