/* xml.c - see xml.h. */
#include "topo/xml.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "topo/hwloc_dl.h"

static int export_text(const struct hwloc_dl *h, hwloc_topology_t t, unsigned long form,
                       struct buf *out, struct errmsg *err)
{
    char *text = NULL;
    int len = 0;

    if (h->topology_export_xmlbuffer(t, &text, &len, form) != 0 || len < 1)
        return errmsg_set(err, TOPO_XML_MISSING, "hwloc cannot write its topology as text");
    buf_put(out, text, (size_t)len - 1); /* len counts the final NUL */
    h->free_xmlbuffer(t, text);
    return buf_ok(out) ? 0 : -ENOMEM;
}

/* Loads the machine's, or that of the text. */
static int load(const struct hwloc_dl *h, hwloc_topology_t t, struct slice text, struct errmsg *err)
{
    if (h->topology_set_io_types_filter(t, HWLOC_TYPE_FILTER_KEEP_IMPORTANT) == 0 &&
        (!text.len ||
         h->topology_set_xmlbuffer(t, text.ptr, text.len < INT_MAX ? (int)text.len : 0) == 0) &&
        h->topology_load(t) == 0)
        return 0;
    return errmsg_set(err, TOPO_XML_MISSING, "hwloc cannot read the topology of this machine: %s",
                      err_text(errno));
}

static int write_form(struct slice from, unsigned long form, struct buf *out, struct errmsg *err)
{
    struct hwloc_dl h;
    hwloc_topology_t t = NULL;
    int rc = hwloc_dl_open(&h, err);

    if (rc)
        return TOPO_XML_MISSING;
    if (h.topology_init(&t) != 0)
        rc = -ENOMEM;
    else
        rc = load(&h, t, from, err);
    if (rc == 0)
        rc = export_text(&h, t, form, out, err);
    if (t)
        h.topology_destroy(t);
    hwloc_dl_close(&h);
    return rc;
}

int topo_xml(struct buf *out, struct errmsg *err)
{
    return write_form(SLICE_NULL, 0, out, err);
}

/* (hwloc wants the final NUL to be counted.) */
int topo_xml_v1(struct slice text, struct buf *out, struct errmsg *err)
{
    char *copy = strndup(text.len ? text.ptr : "", text.len);
    int rc =
        copy && text.len
            ? write_form(slice_mem(copy, text.len + 1), HWLOC_TOPOLOGY_EXPORT_XML_FLAG_V1, out, err)
            : errmsg_set(err, copy ? TOPO_XML_MISSING : -ENOMEM, "there is no topology");

    free(copy);
    return rc;
}
