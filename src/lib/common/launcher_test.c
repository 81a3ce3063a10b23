/* launcher_test.c - real environments of launchers, and the message that a process in them gets. */
#include <string.h>

#include "lib/common/launcher.h"
#include "tests/tap.h"

/* "A=1 B=2" */
static const char *from_text(void *arg, const char *name)
{
    static char value[64];
    size_t len = strlen(name);

    for (const char *at = arg; at; at = strchr(at, ' ')) {
        at += *at == ' ';
        if (!strncmp(at, name, len) && at[len] == '=') {
            snprintf(value, sizeof value, "%.*s", (int)strcspn(at + len + 1, " "), at + len + 1);
            return value;
        }
    }
    return NULL;
}

static void expect(enum launcher_wants wants, const char *environment, const char *want)
{
    struct errmsg err = { "" };
    bool found = launcher_found(wants, from_text, (void *)(uintptr_t)environment, &err);

    if (!OK_F(found == (want != NULL) && (!want || strstr(err.text, want)), "%s: %s", environment,
              want ? want : "alone"))
        printf("# said: %s\n", err.text);
}

int main(void)
{
    static const char srun[] =
        "SLURM_JOB_ID=7 SLURM_PROCID=1 SLURM_NTASKS=4 SLURM_STEP_NUM_TASKS=4";

    /* no launcher */
    expect(LAUNCHER_PMI, "HOME=/root", NULL);
    expect(LAUNCHER_PMI, "SLURM_JOB_ID=7 SLURM_NTASKS=4", NULL); /* the shell of salloc */
    expect(LAUNCHER_PMI, "SLURM_PROCID=x SLURM_NTASKS=4", NULL);
    expect(LAUNCHER_PMI, "PMI_RANK=5 PMI_SIZE=2", NULL); /* left over from another job */

    /* Slurm */
    expect(LAUNCHER_PMI, srun, "Slurm's srun (SLURM_PROCID=1, SLURM_STEP_NUM_TASKS=4)");
    expect(LAUNCHER_PMI, srun, "use srun --mpi=pmi2 -n 4 PROGRAM");
    expect(LAUNCHER_PMIX, srun, "use srun --mpi=pmix -n 4 PROGRAM");
    expect(LAUNCHER_PMI, srun, "WIREUP_SINGLETON=1");
    expect(LAUNCHER_PMI, "SLURM_PROCID=0 SLURM_NTASKS=4", "SLURM_PROCID=0, SLURM_NTASKS=4");
    expect(LAUNCHER_PMI, "SLURM_PROCID=3 SLURM_NPROCS=4", "SLURM_NPROCS=4");
    expect(LAUNCHER_PMI, "SLURM_PROCID=0 SLURM_NTASKS=1", NULL);
    expect(LAUNCHER_PMI, "SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=1 SLURM_NTASKS=4", NULL);
    /* the script of sbatch, and a step that it starts */
    expect(LAUNCHER_PMI, "ENVIRONMENT=BATCH SLURM_PROCID=0 SLURM_NTASKS=4", NULL);
    expect(LAUNCHER_PMI, "ENVIRONMENT=BATCH SLURM_PROCID=0 SLURM_NTASKS=4 SLURM_STEP_NUM_TASKS=2",
           "srun --mpi=pmi2 -n 2");
    expect(LAUNCHER_PMI, "ENVIRONMENT=LOGIN SLURM_PROCID=0 SLURM_NTASKS=4", "srun");

    /* the others */
    expect(LAUNCHER_PMI, "FLUX_TASK_RANK=0 FLUX_JOB_SIZE=2 SLURM_PROCID=0 SLURM_NTASKS=1",
           "use flux run -o pmi=simple -n 2 PROGRAM");
    expect(LAUNCHER_PMIX, "FLUX_TASK_RANK=0 FLUX_JOB_SIZE=2", "flux run -o pmi=pmix -n 2");
    expect(LAUNCHER_PMI, "FLUX_TASK_RANK=0 FLUX_JOB_SIZE=1", NULL);
    expect(LAUNCHER_PMI, "PALS_RANKID=3 PMI_RANK=3 PMI_SIZE=8", "PALS (the mpiexec of HPE Cray)");
    expect(LAUNCHER_PMIX, "PALS_RANKID=3 PMI_SIZE=8", "mpiexec --pmi=pmix");
    expect(LAUNCHER_PMI, "PALS_RANKID=3", "wireup -n N PROGRAM");
    expect(LAUNCHER_PMI, "JSM_NAMESPACE_RANK=1 JSM_NAMESPACE_SIZE=2 PMIX_RANK=1", "jsrun");
    expect(LAUNCHER_PMI,
           "OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 PMIX_RANK=1 SLURM_PROCID=0 "
           "SLURM_NTASKS=1",
           "Open MPI's mpirun (OMPI_COMM_WORLD_RANK=1, OMPI_COMM_WORLD_SIZE=2)");
    expect(LAUNCHER_PMI, "PMIX_RANK=0 PMIX_NAMESPACE=prterun-1", "use wireup -n N PROGRAM");
    expect(LAUNCHER_PMI, "PMI_RANK=1 PMI_SIZE=2", "PMI_FD and PMI_PORT are missing");
    expect(LAUNCHER_PMI, "PMI_RANK=0 PMI_SIZE=1", NULL);

    /* allowed */
    expect(LAUNCHER_PMI, "WIREUP_SINGLETON=1 SLURM_PROCID=1 SLURM_NTASKS=4", NULL);
    expect(LAUNCHER_PMI, "WIREUP_SINGLETON=0 SLURM_PROCID=1 SLURM_NTASKS=4", "srun");
    expect(LAUNCHER_PMI, "WIREUP_SINGLETON= SLURM_PROCID=1 SLURM_NTASKS=4", "srun");
    return tap_done();
}
