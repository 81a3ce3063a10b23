/* classes.c - wireup_errors.h in an MPI program: each class is one of this MPI library's, and codes
 * can be added to it. */
#include <mpi.h>
#include <pmi.h>
#include <pmi2.h>
#include <pmix.h>
#include <wireup_errors.h>

#include "judge.h"

static bool good = true;

static void expect(const char *what, int class, int want)
{
    int code = 0, back = -1;

    MPI_Add_error_code(class, &code);
    MPI_Error_class(code, &back);
    if (class == want && back == want)
        return;
    printf("classes WRONG: %s is %d (its codes are of %d), not %d\n", what, class, back, want);
    good = false;
}

#define EXPECT(class, want) expect(#class, class, want)

int main(int argc, char **argv)
{
    begin(&argc, &argv);
#define WIREUP_PMI(code, class)    EXPECT(wireup_mpi_class_of_pmi(code), class);
#define WIREUP_PMI2(code, class)   EXPECT(wireup_mpi_class_of_pmi2(code), class);
#define WIREUP_PMIX(status, class) EXPECT(wireup_mpi_class_of_pmix(status), class);
#include <wireup_errors.def>
    EXPECT(wireup_mpi_class_of_pmi(PMI_FAIL), MPI_ERR_OTHER);
    EXPECT(wireup_mpi_class_of_pmi2(PMI2_ERR_OTHER), MPI_ERR_OTHER);
    EXPECT(wireup_mpi_class_of_pmix(PMIX_ERROR), MPI_ERR_OTHER);
    EXPECT(wireup_mpi_class_of_pmix(PMIX_ERR_NOMEM), spoil ? MPI_ERR_ARG : MPI_ERR_NO_MEM);
    good = good && wireup_mpi_class_of_pmi(PMI_SUCCESS) == MPI_SUCCESS &&
           wireup_mpi_class_of_pmi2(PMI2_SUCCESS) == MPI_SUCCESS &&
           wireup_mpi_class_of_pmix(PMIX_OPERATION_SUCCEEDED) == MPI_SUCCESS;
    return verdict("classes", good);
}
