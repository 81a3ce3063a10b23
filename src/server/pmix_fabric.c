/* pmix_fabric.c - see pmix_fabric.h. */
#include "server/pmix_fabric.h"

#include "core/core.h"
#include "core/request.h"
#include "server/node_part.h"
#include "server/pmix_findings.h"
#include "wire/pmix_message.h"

enum { OUR_FABRIC = 0 };

static void ask_devices(struct command *c)
{
    struct request_node_parts rq = { .local = true, .parts = NODE_PART_DEVICES };

    if (c->s->base.peer->core->is_manager)
        pmix_ask(c, (struct request){ .kind = REQ_node_parts, .u.node_parts = rq });
    else
        pmix_reply_status(c->s, c->tag, PMIX_ERR_NOT_SUPPORTED);
}

void pmix_read_fabric(struct command *c)
{
    struct pmsg_infos m;

    if (pmsg_read_infos(&c->r, c->s->release, &m) == PTYPE_FINE)
        ask_devices(c);
    pmsg_free_infos(&m, NULL);
}

void pmix_read_fabric_update(struct command *c)
{
    struct pmsg_fabric_update m;

    if (pmsg_read_fabric_update(&c->r, c->s->release, &m) != PTYPE_FINE)
        return;
    if (m.index == OUR_FABRIC)
        ask_devices(c);
    else
        pmix_reply_status(c->s, c->tag, PMIX_ERR_NOT_FOUND);
}

static void send_fabric(struct pmix_session *s, uint32_t tag, const struct info_array *l)
{
    struct pmsg_status_infos m = { .has = PMSG_BIT(status_infos, infos),
                                   .status = PMIX_SUCCESS,
                                   .infos = { l->n, l->items } };
    struct ppack w;

    if (l->no_memory) {
        pmix_reply_status(s, tag, PMIX_ERR_NOMEM);
        return;
    }
    w = pmix_writer(s);
    pmsg_write_status_infos(&w, s->release, &m);
    pmix_send_or_fail(s, tag, &w);
}

/* The words that the devices have for the key, each once; nothing if none is known. */
static void report_words(struct pmix_findings *f, const char *key, const char *of_device)
{
    struct buf words = BUF_NULL(1 << 12);
    const pmix_info_t *part = NULL;

    while ((part = pmix_next_part(f, NODE_PART_OF_DEVICE, part))) {
        const char *word = info_inside_text(part, of_device);
        if (word && !pmix_has_word(buf_slice(&words), slice_str(word)))
            buf_printf(&words, "%s%s", buf_len(&words) ? "," : "", word);
    }
    if (buf_len(&words))
        pmix_found_text(f, key, &words);
    buf_free(&words);
}

/* (A node without devices has a fabric of none.) */
void pmix_reply_fabric(struct pmix_session *s, struct pmix_pending *p, const struct answer *a)
{
    const pmix_query_t all = { .keys = NULL };
    const struct query_subject about = { .query = &all };
    struct pmix_findings f = { .s = s };

    pmix_read_parts(answer_to_node_parts(a).parts, &f.parts);
    info_array_add(&f.list, PMIX_FABRIC_INDEX,
                   (pmix_value_t){ .type = PMIX_SIZE, .data.size = OUR_FABRIC });
    pmix_find_device_count(&f, PMIX_FABRIC_NUM_DEVICES, &about);
    pmix_find_devices(&f, PMIX_FABRIC_DEVICES, &about);
    report_words(&f, PMIX_FABRIC_IDENTIFIER, PMIX_FABRIC_DEVICE_TYPE);
    report_words(&f, PMIX_FABRIC_VENDOR, PMIX_FABRIC_DEVICE_VENDOR);
    f.list.no_memory = f.list.no_memory || f.parts.no_memory;
    send_fabric(s, p->tag, &f.list);
    info_array_free(&f.list);
    info_array_free(&f.parts);
}
