/* tool_infos.c - see tool_infos.h. */
#include "tools/pmix/tool_infos.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "pmix.h"

void tool_infos_add(struct tool_infos *i, const char *key, const void *data, pmix_data_type_t type)
{
    pmix_info_t *info;

    if (i->n == TOOL_INFOS_MAX)
        return;
    info = &i->items[i->n++];
    PMIx_Info_construct(info);
    PMIx_Info_load(info, key, data, type);
    PMIx_Info_required(info);
}

void tool_infos_text(struct tool_infos *i, const struct tool_line *l, enum tool_option o,
                     const char *key)
{
    if (l->values[o])
        tool_infos_add(i, key, l->values[o], PMIX_STRING);
}

void tool_infos_flag(struct tool_infos *i, const struct tool_line *l, enum tool_option o,
                     const char *key)
{
    if (l->values[o])
        tool_infos_add(i, key, NULL, PMIX_BOOL);
}

void tool_infos_free(struct tool_infos *i)
{
    while (i->n)
        PMIx_Info_destruct(&i->items[--i->n]);
}

const char *tool_key(const char *word)
{
    return PMIx_Get_attribute_string(word);
}

/* ---- texts as values ------------------------------------------------------------------------- */

/* PMIX_UNDEF: the key is none of PMIx's. */
static pmix_data_type_t type_of(const char *key)
{
    static const struct {
        const char *text;
        pmix_data_type_t type;
    } attributes[] = {
#define ATTR(name, text, type, state, since) { text, PMIX_##type },
#include "proto/pmix_attributes.def"
#undef ATTR
    };

    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
        if (!strcmp(attributes[i].text, key))
            return attributes[i].type;
    }
    return PMIX_UNDEF;
}

static bool read_flag(const char *text, bool *flag_p)
{
    *flag_p = !*text || !strcmp(text, "true") || !strcmp(text, "1") || !strcmp(text, "yes");
    return *flag_p || !strcmp(text, "false") || !strcmp(text, "0") || !strcmp(text, "no");
}

/* One unsigned integer of each width. */
static bool load_number(pmix_info_t *info, const char *key, const char *text, pmix_data_type_t type)
{
    union {
        uint64_t u64;
        uint32_t u32;
        uint16_t u16;
        uint8_t u8;
        double d;
        float f;
    } v = { 0 };
    uint64_t number;
    char *end;

    if (type == PMIX_FLOAT || type == PMIX_DOUBLE) {
        double d = strtod(text, &end);
        if (end == text || *end)
            return false;
        if (type == PMIX_FLOAT)
            v.f = (float)d;
        else
            v.d = d;
        return PMIx_Info_load(info, key, &v, type) == PMIX_SUCCESS;
    }
    if (type == PMIX_PROC_RANK && !strcmp(text, "*"))
        number = PMIX_RANK_WILDCARD;
    else if (!slice_u64(slice_str(text), &number))
        return false;
    v.u64 = number;
    if (type != PMIX_UINT64 && type != PMIX_SIZE && type != PMIX_INT64) {
        if (number > UINT32_MAX)
            return false;
        v.u32 = (uint32_t)number;
    }
    if (type == PMIX_UINT16 || type == PMIX_INT16)
        v.u16 = (uint16_t)number;
    if (type == PMIX_UINT8 || type == PMIX_INT8 || type == PMIX_BYTE)
        v.u8 = (uint8_t)number;
    return PMIx_Info_load(info, key, &v, type) == PMIX_SUCCESS;
}

static bool load_proc(pmix_info_t *info, const char *key, const char *text)
{
    pmix_proc_t proc;

    return tool_proc_read(slice_str(text), &proc) &&
           PMIx_Info_load(info, key, &proc, PMIX_PROC) == PMIX_SUCCESS;
}

bool tool_info_read(pmix_info_t *info, const char *key, const char *text)
{
    pmix_data_type_t type = type_of(key);
    bool flag;

    PMIx_Info_construct(info);
    switch (type) {
    case PMIX_UNDEF:
    case PMIX_STRING: return PMIx_Info_load(info, key, text, PMIX_STRING) == PMIX_SUCCESS;
    case PMIX_BOOL:
        return read_flag(text, &flag) && PMIx_Info_load(info, key, &flag, type) == PMIX_SUCCESS;
    case PMIX_PROC: return load_proc(info, key, text);
    case PMIX_PROC_RANK:
    case PMIX_PID:
    case PMIX_SIZE:
    case PMIX_INT:
    case PMIX_UINT:
    case PMIX_INT8:
    case PMIX_INT16:
    case PMIX_INT32:
    case PMIX_INT64:
    case PMIX_UINT8:
    case PMIX_UINT16:
    case PMIX_UINT32:
    case PMIX_UINT64:
    case PMIX_BYTE:
    case PMIX_FLOAT:
    case PMIX_DOUBLE: return load_number(info, key, text, type);
    default: return false;
    }
}

bool tool_proc_read(struct slice text, pmix_proc_t *proc_p)
{
    const char *colon = memrchr(text.ptr, ':', text.len);
    struct slice name = text, rank = SLICE("*");
    uint32_t number = PMIX_RANK_WILDCARD;

    if (colon) {
        name.len = (size_t)(colon - text.ptr);
        rank = slice_skip(text, name.len + 1);
    }
    if (!name.len || name.len > PMIX_MAX_NSLEN)
        return false;
    if (!slice_is(rank, "*") && (!slice_u32(rank, &number) || number > PMIX_RANK_VALID))
        return false;
    memset(proc_p, 0, sizeof *proc_p);
    memcpy(proc_p->nspace, name.ptr, name.len);
    proc_p->rank = number;
    return true;
}

int tool_signal_read(const char *text)
{
    uint32_t number;

    if (slice_u32(slice_str(text), &number))
        return number < NSIG ? (int)number : 0;
    if (!strncmp(text, "SIG", 3))
        text += 3;
    for (int i = 1; i < NSIG; i++) {
        const char *name = sigabbrev_np(i);
        if (name && !strcmp(name, text))
            return i;
    }
    return 0;
}
