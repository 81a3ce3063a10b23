/* openmpi5.h - what Open MPI 5 has besides the interface of 4.1, for programs that are compiled
 * with the header of that: sessions, and what programs do about failed processes (ULFM).  With
 * newer headers it declares nothing that they have.
 */
#ifndef WIREUP_E2E_OPENMPI5_H
#define WIREUP_E2E_OPENMPI5_H

#include <mpi.h>

#if defined OPEN_MPI && OMPI_MAJOR_VERSION >= 5
#include <mpi-ext.h>
#endif

#if defined OPEN_MPI && OMPI_MAJOR_VERSION < 5
struct ompi_instance_t;
typedef struct ompi_instance_t *MPI_Session;
#define MPI_SESSION_NULL NULL

int MPI_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session *session);
int MPI_Session_finalize(MPI_Session *session);
int MPI_Session_get_num_psets(MPI_Session session, MPI_Info info, int *n);
int MPI_Session_get_nth_pset(MPI_Session session, MPI_Info info, int n, int *len, char *name);
int MPI_Group_from_session_pset(MPI_Session session, const char *name, MPI_Group *group);
int MPI_Comm_create_from_group(MPI_Group group, const char *tag, MPI_Info info,
                               MPI_Errhandler errhandler, MPI_Comm *comm);

enum { MPIX_ERR_PROC_FAILED = 75, MPIX_ERR_REVOKED = 77 };

int MPIX_Comm_revoke(MPI_Comm comm);
int MPIX_Comm_shrink(MPI_Comm comm, MPI_Comm *smaller);
int MPIX_Comm_agree(MPI_Comm comm, int *flag);
#endif

#endif
