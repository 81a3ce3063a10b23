/* pmix_version.h - the release of the PMIx interface that these headers have.
 *
 * Programs test these to see which functions they may use.  They name the release of OpenPMIx whose
 * interface Wireup offers in full, not a version of Wireup; see docs/compatibility.md.
 */
#ifndef PMIx_VERSION_H
#define PMIx_VERSION_H

#define PMIX_VERSION_MAJOR   5L
#define PMIX_VERSION_MINOR   0L
#define PMIX_VERSION_RELEASE 11L

/* The three as one number, 0x00MMmmrr, for comparisons in #if. */
#define PMIX_NUMERIC_VERSION 0x0005000b

/* Capability flags that a release has beyond its number. */
#define PMIX_CAP_BASE     1
#define PMIX_CAPABILITIES (PMIX_CAP_BASE)

#endif
