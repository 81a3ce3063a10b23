/* wireup_errors.h - the MPI error class of an error code of PMI-1, PMI-2 or PMIx, for libraries
 * that return MPI's errors where these interfaces failed (MPI_Add_error_code wants a class).
 *
 * Include it after MPI's own header, whose numbers it uses (they differ between MPI libraries), and
 * after those of pmi.h, pmi2.h and pmix.h that the program has: there is a function for each of
 * them. The table is wireup_errors.def.
 */
#ifndef WIREUP_ERRORS_H
#define WIREUP_ERRORS_H

#ifdef PMI_SUCCESS
/* A code of pmi.h: MPI_SUCCESS for PMI_SUCCESS, MPI_ERR_OTHER for what the table does not have. */
static inline int wireup_mpi_class_of_pmi(int code)
{
    switch (code) {
    case PMI_SUCCESS: return MPI_SUCCESS;
#define WIREUP_PMI(code, class)                                                                    \
    case code:                                                                                     \
        return class;
#define WIREUP_PMI2(code, class)
#define WIREUP_PMIX(status, class)
#include "wireup_errors.def"
#undef WIREUP_PMI
#undef WIREUP_PMI2
#undef WIREUP_PMIX
    default: return MPI_ERR_OTHER;
    }
}
#endif

#ifdef PMI2_SUCCESS
/* The same for a code of pmi2.h. */
static inline int wireup_mpi_class_of_pmi2(int code)
{
    switch (code) {
    case PMI2_SUCCESS: return MPI_SUCCESS;
#define WIREUP_PMI(code, class)
#define WIREUP_PMI2(code, class)                                                                   \
    case code:                                                                                     \
        return class;
#define WIREUP_PMIX(status, class)
#include "wireup_errors.def"
#undef WIREUP_PMI
#undef WIREUP_PMI2
#undef WIREUP_PMIX
    default: return MPI_ERR_OTHER;
    }
}
#endif

#ifdef PMIX_SUCCESS
/* The same for a status of pmix_common.h.  PMIX_OPERATION_SUCCEEDED is MPI_SUCCESS, too. */
static inline int wireup_mpi_class_of_pmix(int status)
{
    switch (status) {
    case PMIX_SUCCESS:
    case PMIX_OPERATION_SUCCEEDED: return MPI_SUCCESS;
#define WIREUP_PMI(code, class)
#define WIREUP_PMI2(code, class)
#define WIREUP_PMIX(status, class)                                                                 \
    case status:                                                                                   \
        return class;
#include "wireup_errors.def"
#undef WIREUP_PMI
#undef WIREUP_PMI2
#undef WIREUP_PMIX
    default: return MPI_ERR_OTHER;
    }
}
#endif

#endif
