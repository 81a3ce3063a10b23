/* hwloc_dl.h - libhwloc, opened on first use (base/dynlib.h): `h->topology_load(t)`.
 *
 * The header at build time and the library at run time must agree on the layout of objects; the
 * major API version is checked.
 */
#ifndef WIREUP_TOPO_HWLOC_DL_H
#define WIREUP_TOPO_HWLOC_DL_H

#include <hwloc.h>

#include "base/err.h"

struct hwloc_dl {
    void *library; /* NULL: not open */
#define HWLOC_FN(result, name, parameters) result(*name) parameters;
#include "topo/hwloc_dl.def"
#undef HWLOC_FN
};

#define HWLOC_DL_NULL ((struct hwloc_dl){ 0 })

/* HWLOC_DL_MISSING: there is no usable libhwloc; the sentence gives the reason. */
enum { HWLOC_DL_MISSING = 1 };
int hwloc_dl_open(struct hwloc_dl *h, struct errmsg *err);
void hwloc_dl_close(struct hwloc_dl *h); /* harmless twice */

#endif
