/* pmix_value.c - see pmix_value.h. */
#include "server/pmix_value.h"

#include <stdlib.h>
#include <string.h>

#include "base/duration.h"
#include "core/modex.h"
#include "wire/pmix_mem.h"
#include "wire/pmix_pack.h"
#include "wire/pmix_truth.h"
#include "wire/pmix_unpack.h"

/* ---- canonical bytes ------------------------------------------------------------------------- */

static void put_varint(struct buf *out, uint64_t v)
{
    while (v > 0x7f) {
        buf_byte(out, (char)(v | 0x80));
        v >>= 7;
    }
    buf_byte(out, (char)v);
}

/* The canonical bytes as in v41: type, then the payload. */
static void put_canonical(struct buf *out, const struct card *c)
{
    put_varint(out, c->type);
    if (c->type != MODEX_STRING) {
        buf_slice_put(out, c->value);
        return;
    }
    put_varint(out, ((uint64_t)c->value.len + 1) << 1); /* lengths are signed: zigzag */
    buf_slice_put(out, c->value);
    buf_byte(out, '\0');
}

static size_t varint_len(const unsigned char *at, const unsigned char *end)
{
    size_t n = 0;

    while (at + n < end && at[n] & 0x80)
        n++;
    return n + 1;
}

/* The payload of a value as in v41: packed as one unit, without its count and type. */
struct slice pmix_canonical(const pmix_value_t *v, struct buf *bytes)
{
    struct slice all;
    struct ppack w;

    if (v->type == PMIX_STRING)
        return slice_str(v->data.string);
    ppack_init(&w, bytes, &ptype_own);
    ppack(&w, v, 1, PMIX_VALUE);
    all = buf_slice(bytes);
    if (!ppack_ok(&w) || all.len < 2) {
        bytes->error = w.error == PTYPE_NO_MEMORY ? BUF_NO_MEMORY : BUF_TOO_LONG;
        return SLICE_NULL;
    }
    return slice_skip(all, 1 + varint_len((const unsigned char *)all.ptr + 1,
                                          (const unsigned char *)all.ptr + all.len));
}

bool pmix_value_of(uint16_t type, struct slice value, pmix_value_t *v_p)
{
    struct buf bytes = BUF_NULL((size_t)1 << 30);
    struct punpack r;
    int32_t n = 1;
    bool good;

    buf_byte(&bytes, 2); /* a count of one */
    put_canonical(&bytes, &(struct card){ .type = type, .value = value });
    punpack_init(&r, buf_slice(&bytes), &ptype_own);
    good = buf_ok(&bytes) && punpack(&r, v_p, &n, PMIX_VALUE) == PTYPE_FINE;
    buf_free(&bytes);
    return good;
}

/* Any encoding but v41's: the value has to be decoded. */
static void put_translated(struct ppack *w, const char *key, const struct card *c)
{
    pmix_value_t v;

    if (!pmix_value_of(c->type, c->value, &v)) {
        w->error = PTYPE_NO_MEMORY;
        return;
    }
    ppack_kval(w, key, &v);
    pmem_value_free(&v, NULL);
}

void pmix_put_card(struct ppack *w, const struct card *c)
{
    bool qualified = slice_starts(c->key, SLICE(MODEX_QUALIFIED));
    struct slice name = qualified ? SLICE(PMIX_QUALIFIED_VALUE) : c->key;
    char key[PMIX_MAX_KEYLEN + 1];

    if (!ppack_ok(w) || name.len > PMIX_MAX_KEYLEN)
        return;
    memcpy(key, name.ptr, name.len);
    key[name.len] = '\0';
    if (w->as->fixed || w->described) {
        put_translated(w, key, c);
        return;
    }
    ppack_str(w, key);
    put_canonical(w->out, c);
}

/* ---- attributes ------------------------------------------------------------------------------ */

bool pmix_flag_of(const pmix_value_t *v)
{
    return pmix_truth(v) == PMIX_BOOL_TRUE;
}

static bool read_number(const pmix_value_t *v, int64_t *n_p)
{
    switch (v->type) {
    case PMIX_INT: *n_p = v->data.integer; break;
    case PMIX_INT8: *n_p = v->data.int8; break;
    case PMIX_INT16: *n_p = v->data.int16; break;
    case PMIX_INT32: *n_p = v->data.int32; break;
    case PMIX_INT64: *n_p = v->data.int64; break;
    case PMIX_UINT: *n_p = v->data.uint; break;
    case PMIX_UINT8: *n_p = v->data.uint8; break;
    case PMIX_UINT16: *n_p = v->data.uint16; break;
    case PMIX_UINT32: *n_p = v->data.uint32; break;
    case PMIX_UINT64:
        *n_p = v->data.uint64 > INT64_MAX ? INT64_MAX : (int64_t)v->data.uint64;
        break;
    case PMIX_BYTE: *n_p = v->data.byte; break;
    case PMIX_PID: *n_p = v->data.pid; break;
    case PMIX_STATUS: *n_p = v->data.status; break;
    case PMIX_PROC_RANK: *n_p = v->data.rank; break;
    case PMIX_SIZE: *n_p = v->data.size > INT64_MAX ? INT64_MAX : (int64_t)v->data.size; break;
    default: return false;
    }
    return true;
}

bool pmix_is_number(const pmix_value_t *v)
{
    int64_t n;

    return read_number(v, &n);
}

uint64_t pmix_number_of(const pmix_value_t *v)
{
    int64_t n;

    return read_number(v, &n) && n > 0 ? (uint64_t)n : 0;
}

/* In nanoseconds; longer than a century is for ever, which is 0. */
uint64_t pmix_seconds_of(const pmix_value_t *v)
{
    uint64_t s = pmix_number_of(v);

    return s <= UINT32_MAX ? s * NS_PER_S : 0;
}

uint64_t pmix_timeout_of(const pmix_info_t *infos, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!strcmp(infos[i].key, PMIX_TIMEOUT))
            return pmix_seconds_of(&infos[i].value);
    }
    return 0;
}

const char *pmix_text_of(const pmix_info_t *info)
{
    return info->value.type == PMIX_STRING ? info->value.data.string : NULL;
}

void pmix_set_proc(pmix_proc_t *p, const char *nspace, uint32_t rank)
{
    memset(p, 0, sizeof *p);
    strncpy(p->nspace, nspace, PMIX_MAX_NSLEN);
    p->rank = rank;
}

void pmix_drop_infos(pmix_info_t *infos, size_t n)
{
    pmem_free(ptype_find(PMIX_INFO), infos, n, NULL);
    free(infos);
}
