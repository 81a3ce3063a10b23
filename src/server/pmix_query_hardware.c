/* pmix_query_hardware.c - the shape of a node's hardware (PRRTE's signature), from hwloc's XML. */
#include <string.h>

#include "server/info_array.h"
#include "server/node_part.h"
#include "server/pmix_findings.h"

static unsigned count_objects(const char *xml, const char *type)
{
    size_t len = strlen(type);
    unsigned n = 0;

    for (const char *at = xml; (at = strstr(at, "type=\"")); at++) {
        const char *name = at + sizeof "type=\"" - 1;
        n += !strncmp(name, type, len) && name[len] == '"';
    }
    return n;
}

/* <info name="Architecture" value="x86_64"/> */
static struct slice architecture(const char *xml)
{
    static const char key[] = "name=\"Architecture\" value=\"";
    const char *at = strstr(xml, key), *end;

    if (!at)
        return slice_str("unknown");
    at += sizeof key - 1;
    end = strchr(at, '"');
    return end ? slice_mem(at, (size_t)(end - at)) : slice_str("unknown");
}

/* "1N:1S:1L3:4L2:4L1:4C:8H:x86_64:le" */
static void put_signature(const char *xml, struct buf *out)
{
    static const char *const objects[][2] = { { "NUMANode", "N" }, { "Package", "S" },
                                              { "L3Cache", "L3" }, { "L2Cache", "L2" },
                                              { "L1Cache", "L1" }, { "Core", "C" },
                                              { "PU", "H" } };
    const union {
        uint16_t number;
        uint8_t first;
    } order = { .number = 1 };

    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++)
        buf_printf(out, "%u%s:", count_objects(xml, objects[i][0]), objects[i][1]);
    buf_slice_put(out, architecture(xml));
    buf_str(out, order.first ? ":le" : ":be");
}

/* The next node that has told its hardware. */
static const char *next_xml(const struct pmix_findings *f, const pmix_info_t **part_p)
{
    *part_p = pmix_next_part(f, NODE_PART_OF_HARDWARE, *part_p);
    return *part_p ? info_inside_text(*part_p, PMIX_HWLOC_XML_V2) : NULL;
}

static bool is_meant(const struct query_subject *about, const pmix_info_t *part)
{
    const char *host = info_inside_text(part, PMIX_HOSTNAME);

    return !about->host || (host && !strcmp(host, about->host));
}

/* Of the requester's node, which is the first, if no other is named. */
void pmix_find_signature(struct pmix_findings *f, const char *key,
                         const struct query_subject *about)
{
    struct buf text = BUF_NULL(1 << 12);
    const pmix_info_t *part = NULL;
    const char *xml;

    while ((xml = next_xml(f, &part)) && !is_meant(about, part))
        ;
    if (xml) {
        put_signature(xml, &text);
        pmix_found_text(f, key, &text);
    } else {
        f->missed++;
    }
    buf_free(&text);
}

/* Each signature has the number of the first node with it, counting those with new ones. */
void pmix_find_topology_index(struct pmix_findings *f, const char *key,
                              const struct query_subject *about)
{
    struct buf seen = BUF_NULL(1 << 20), one = BUF_NULL(1 << 12);
    const pmix_info_t *part = NULL;
    size_t n = 0, index = SIZE_MAX;
    const char *xml;

    while (index == SIZE_MAX && (xml = next_xml(f, &part))) {
        struct slice rest = buf_slice(&seen);
        size_t at = 0;
        buf_clear(&one);
        put_signature(xml, &one);
        while (rest.len && !slice_eq(slice_cut(&rest, '\n'), buf_slice(&one)))
            at++;
        if (at == n) {
            buf_slice_put(&seen, buf_slice(&one));
            buf_byte(&seen, '\n');
            n++;
        }
        if (is_meant(about, part))
            index = at;
    }
    if (index != SIZE_MAX)
        info_array_add(&f->list, key,
                       (pmix_value_t){ .type = PMIX_INT, .data.integer = (int)index });
    else
        f->missed++;
    buf_free(&seen);
    buf_free(&one);
}
