/* pmix_findings.c - see pmix_findings.h. */
#include "server/pmix_findings.h"

#include <string.h>

#include "core/core.h"
#include "wire/pmix_message.h"

bool pmix_sees_nspace(const struct pmix_session *s, const char *nspace)
{
    const struct peer *p = s->base.peer;

    return (!p->restricted && p->uid == p->core->uid) || !strcmp(nspace, p->job->nspace);
}

bool pmix_sees_job(const struct pmix_session *s, const struct job *j)
{
    return pmix_sees_nspace(s, j->nspace);
}

void pmix_found_text(struct pmix_findings *f, const char *key, struct buf *text)
{
    const char *s = buf_cstr(text);

    if (s)
        info_array_text(&f->list, key, s);
    else
        f->list.no_memory = true;
    buf_free(text);
}

bool pmix_has_word(struct slice words, struct slice word)
{
    while (words.len) {
        if (slice_eq(slice_cut(&words, ','), word))
            return true;
    }
    return false;
}

const pmix_info_t *pmix_next_part(const struct pmix_findings *f, const char *key,
                                  const pmix_info_t *last)
{
    size_t from = last ? (size_t)(last - f->parts.items) + 1 : 0;

    for (size_t i = from; i < f->parts.n; i++) {
        if (!strcmp(f->parts.items[i].key, key))
            return &f->parts.items[i];
    }
    return NULL;
}

void pmix_read_parts(struct slice parts, struct info_array *l)
{
    struct punpack r;

    punpack_init(&r, parts, &ptype_own);
    while (punpack_ok(&r) && punpack_left(&r)) {
        struct pmsg_infos m;
        if (pmsg_read_infos(&r, 0, &m) == PTYPE_FINE) {
            for (size_t i = 0; i < m.infos.n; i++) {
                info_array_add(l, m.infos.items[i].key, m.infos.items[i].value);
                m.infos.items[i].value = (pmix_value_t){ .type = PMIX_UNDEF };
            }
        }
        pmsg_free_infos(&m, NULL);
    }
}
