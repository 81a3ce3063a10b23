/* xml.h - this machine's whole topology, devices included, as hwloc's XML text.
 *
 * For programs that bring their own hwloc: reading the text costs them a hundredth of discovering
 * the machine themselves, on a node where hundreds do so at once.
 */
#ifndef WIREUP_TOPO_XML_H
#define WIREUP_TOPO_XML_H

#include "base/buf.h"
#include "base/err.h"

/* Appends the text.  0; TOPO_XML_MISSING: no hwloc, or it cannot read this machine; -ENOMEM. */
enum { TOPO_XML_MISSING = 1 };
int topo_xml(struct buf *out, struct errmsg *err);

/* Appends the same in the form that hwloc 1 reads. */
int topo_xml_v1(struct slice text, struct buf *out, struct errmsg *err);

#endif
