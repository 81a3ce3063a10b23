/* xml.c - see xml.h. */
#include "topo/xml.h"

#include <errno.h>

#include "topo/hwloc_dl.h"

static int export_text(const struct hwloc_dl *h, hwloc_topology_t t, struct buf *out,
                       struct errmsg *err)
{
    char *text = NULL;
    int len = 0;

    if (h->topology_export_xmlbuffer(t, &text, &len, 0) != 0 || len < 1)
        return errmsg_set(err, TOPO_XML_MISSING, "hwloc cannot write its topology as text");
    buf_put(out, text, (size_t)len - 1); /* len counts the final NUL */
    h->free_xmlbuffer(t, text);
    return buf_ok(out) ? 0 : -ENOMEM;
}

int topo_xml(struct buf *out, struct errmsg *err)
{
    struct hwloc_dl h;
    hwloc_topology_t t = NULL;
    int rc = hwloc_dl_open(&h, err);

    if (rc)
        return TOPO_XML_MISSING;
    if (h.topology_init(&t) != 0)
        rc = -ENOMEM;
    else if (h.topology_set_io_types_filter(t, HWLOC_TYPE_FILTER_KEEP_IMPORTANT) != 0 ||
             h.topology_load(t) != 0)
        rc = errmsg_set(err, TOPO_XML_MISSING, "hwloc cannot read the topology of this machine: %s",
                        err_text(errno));
    else
        rc = export_text(&h, t, out, err);
    if (t)
        h.topology_destroy(t);
    hwloc_dl_close(&h);
    return rc;
}
