/* pmix_credential.c - see pmix_credential.h. */
#include "server/pmix_credential.h"

#include <string.h>

#include "base/limit.h"
#include "core/request.h"
#include "server/pmix_value.h"

/* The kinds that will do, separated by commas. */
static struct slice read_kinds(struct command *c, const pmix_info_t *infos, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!strcmp(infos[i].key, PMIX_CRED_TYPE) && pmix_text_of(&infos[i]))
            return pmix_keep(c, slice_str(pmix_text_of(&infos[i])));
    }
    return SLICE_NULL;
}

void pmix_read_get_credential(struct command *c)
{
    struct pmsg_infos m;

    if (pmsg_read_infos(&c->r, c->s->release, &m) == PTYPE_FINE)
        pmix_ask(c, REQUEST_WITH(credential, .validate = false,
                                 .kinds = read_kinds(c, m.infos.items, m.infos.n)));
    pmsg_free_infos(&m, NULL);
}

/* Its length may include a final NUL. */
void pmix_read_validate(struct command *c)
{
    struct pmsg_validate m;

    if (pmsg_read_validate(&c->r, c->s->release, &m) == PTYPE_FINE) {
        struct slice text = m.credential;
        if (text.len && text.ptr[text.len - 1] == '\0')
            text.len--;
        pmix_ask(c, REQUEST_WITH(credential, .validate = true, .credential = pmix_keep(c, text),
                                 .kinds = read_kinds(c, m.infos.items, m.infos.n)));
    }
    pmsg_free_validate(&m, NULL);
}

static pmix_status_t credential_status(enum answer_status status)
{
    switch (status) {
    case ANSWER_OK: return PMIX_SUCCESS;
    case ANSWER_NOT_FOUND: return PMIX_ERR_NOT_SUPPORTED; /* none of these kinds here */
    case ANSWER_FAILED: return PMIX_ERR_INVALID_CRED;
    default: return pmix_status_of(status);
    }
}

static void load(pmix_info_t *info, const char *key, pmix_value_t v)
{
    memset(info, 0, sizeof *info);
    strncpy(info->key, key, PMIX_MAX_KEYLEN);
    info->value = v;
}

/* The kind of a credential, as an info; `text` holds it. */
static void load_kind(pmix_info_t *info, struct slice kind, struct buf *text)
{
    buf_slice_put(text, kind);
    load(info, PMIX_CRED_TYPE,
         (pmix_value_t){ .type = PMIX_STRING, .data.string = (char *)(uintptr_t)buf_cstr(text) });
}

void pmix_reply_credential(struct pmix_session *s, struct pmix_pending *p, const struct answer *a)
{
    struct buf text = BUF_NULL(LIMIT_CREDENTIAL + 1), kind = BUF_NULL(LIMIT_CREDENTIAL);
    pmix_info_t info;
    struct pmsg_credential m = { .has =
                                     PMSG_BIT(credential, credential) | PMSG_BIT(credential, infos),
                                 .infos = { 1, &info } };
    struct ppack w;

    if (a->status != ANSWER_OK) {
        pmix_reply_status(s, p->tag, credential_status(a->status));
        return;
    }
    buf_slice_put(&text, answer_to_credential(a).credential);
    buf_byte(&text, '\0'); /* its length includes the final NUL */
    load_kind(&info, answer_to_credential(a).kind, &kind);
    m.credential = buf_slice(&text);
    w = pmix_writer(s);
    pmsg_write_credential(&w, s->release, &m);
    if (!buf_ok(&text) || !buf_ok(&kind))
        w.error = PTYPE_NO_MEMORY;
    pmix_send_or_fail(s, p->tag, &w);
    buf_free(&text);
    buf_free(&kind);
}

void pmix_reply_validated(struct pmix_session *s, struct pmix_pending *p, const struct answer *a)
{
    struct slice found = answer_to_credential(a).credential;
    struct buf kind = BUF_NULL(LIMIT_CREDENTIAL);
    pmix_info_t infos[3];
    struct pmsg_status_infos m = { .has = PMSG_BIT(status_infos, infos), .infos = { 3, infos } };
    uint32_t ids[2];
    struct ppack w;

    if (a->status != ANSWER_OK || found.len != sizeof ids) {
        pmix_reply_status(s, p->tag, credential_status(a->status));
        return;
    }
    memcpy(ids, found.ptr, sizeof ids);
    load(&infos[0], PMIX_USERID, (pmix_value_t){ .type = PMIX_UINT32, .data.uint32 = ids[0] });
    load(&infos[1], PMIX_GRPID, (pmix_value_t){ .type = PMIX_UINT32, .data.uint32 = ids[1] });
    load_kind(&infos[2], answer_to_credential(a).kind, &kind);
    w = pmix_writer(s);
    pmsg_write_status_infos(&w, s->release, &m);
    if (!buf_ok(&kind))
        w.error = PTYPE_NO_MEMORY;
    pmix_send_or_fail(s, p->tag, &w);
    buf_free(&kind);
}
