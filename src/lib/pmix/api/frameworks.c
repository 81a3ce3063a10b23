/* frameworks.c - one symbol that is not in the interface, but that programs need.
 *
 * Open MPI 5 asks OpenPMIx which settings (`--mca NAME_… VALUE`) are OpenPMIx's own, and passes
 * those on as PMIX_MCA_NAME_….  Without the list its library does not load.  The names are those of
 * OpenPMIx 5.0; we read none of these settings, but processes with another PMIx library may. */
#include "pmix_common.h"

extern PMIX_EXPORT const char *const pmix_framework_names[];

const char *const pmix_framework_names[] = {
    "bfrops", "gds",  "mca",  "pcompress", "pdl",     "pif",   "pinstalldirs", "plog", "pmdl",
    "pnet",   "preg", "psec", "psensor",   "psquash", "pstat", "ptl",          NULL,
};
