/* pmi2.h - the Process Manager Interface, version 2: the processes of a parallel program learn
 * their ranks, exchange small values before they can communicate directly, and start more
 * processes.
 *
 * There is no standard; this is the interface of Slurm's libpmi2.so.0 (and of MPICH up to 4.0), for
 * which this library is a drop-in replacement: same soname, same names, same structs.  Where others
 * differ or are silent, this header documents this library's behaviour.
 *
 * Environment (set by the process manager):
 *   PMI_FD                 descriptor of the connection; with PMI_RANK and PMI_JOBID
 *   PMI_PORT, PMI_ID       instead of PMI_FD: "host:port" to connect to, and our id there
 *   neither                the process is alone (a singleton): size 1, rank 0, a key-value space
 *                          and attributes of its own, fences that return at once
 *   PMI_DEBUG              not empty and not 0: each call that fails writes one line with the
 *                          reason to standard error.  Otherwise nothing is ever printed, except by
 *                          PMI2_Abort.
 *
 * Thread-safe.  With Wireup's own server the requests of several threads are under way at the same
 * time: a thread that waits (in a fence, for an attribute, for a spawn) blocks no other.  With
 * other servers one request follows another, and a waiting thread blocks all others that need the
 * server.  A process forked after PMI2_Init has no part in its parent's connection: there every
 * call returns PMI2_ERR_INIT, PMI2_Init PMI2_FAIL.  Programs started with exec do not inherit the
 * connection while it is in use.  No call raises a signal, installs a handler, starts a thread, or
 * ends the process, except PMI2_Abort.
 *
 * Every call but PMI2_Init, PMI2_Initialized, PMI2_Finalize and PMI2_Abort returns PMI2_ERR_INIT
 * before PMI2_Init and after PMI2_Finalize.  A lost connection (the process manager ended, or
 * violated the protocol) is PMI2_FAIL, a refusal of the process manager PMI2_ERR_OTHER, lack of
 * memory PMI2_ERR_NOMEM.  (Slurm's library returns PMI2_ERR_OTHER for nearly everything; portable
 * programs compare with PMI2_SUCCESS only.)
 *
 * Returned strings end with a NUL.  One that does not fit is truncated: PMI2_KVS_Get reports this,
 * the other functions do not, so give them PMI2_MAX_VALLEN or PMI2_MAX_ATTRVALUE + 1 characters.
 */
#ifndef PMI2_H_INCLUDED
#define PMI2_H_INCLUDED

#if defined(__cplusplus)
extern "C" {
#endif

#define PMI2_MAX_KEYLEN    64   /* a key, with its NUL */
#define PMI2_MAX_VALLEN    1024 /* a value, without it */
#define PMI2_MAX_ATTRVALUE 1024 /* an attribute, likewise */
#define PMI2_ID_NULL       (-1) /* "any process" */

/* A message: number of characters of its length, and its maximum size (of Slurm and MPICH). */
#define PMII_COMMANDLEN_SIZE 6
#define PMII_MAX_COMMAND_LEN (64 * 1024)

/* Return codes. */
#define PMI2_SUCCESS                0
#define PMI2_FAIL                   (-1)
#define PMI2_ERR_INIT               1 /* not initialized */
#define PMI2_ERR_NOMEM              2 /* out of memory */
#define PMI2_ERR_INVALID_ARG        3
#define PMI2_ERR_INVALID_KEY        4 /* empty or NULL; no such key; a duplicate put */
#define PMI2_ERR_INVALID_KEY_LENGTH 5
#define PMI2_ERR_INVALID_VAL        6 /* NULL; the server cannot take it; no list of integers */
#define PMI2_ERR_INVALID_VAL_LENGTH 7
#define PMI2_ERR_INVALID_LENGTH     8
#define PMI2_ERR_INVALID_NUM_ARGS   9
#define PMI2_ERR_INVALID_ARGS       10
#define PMI2_ERR_INVALID_NUM_PARSED 11
#define PMI2_ERR_INVALID_KEYVALP    12
#define PMI2_ERR_INVALID_SIZE       13
#define PMI2_ERR_OTHER              14 /* refused by the process manager */

/* A way to reach the leader of another job, for process managers that let the jobs copy each
 * other's key-value spaces.  Wireup reads both itself: nothing of it is used or changed. */
typedef struct PMI2_Connect_comm {
    int (*read)(void *buf, int maxlen, void *ctx);
    int (*write)(const void *buf, int len, void *ctx);
    void *ctx;
    int isMaster; /* 1, 0, or -1: neither side is */
} PMI2_Connect_comm_t;

/* Pairs of strings, for the info and preput lists of PMI2_Job_Spawn.
 *
 * There are two binary-incompatible forms:
 *   Slurm, and MPICH up to 4.0 (and MPICH of any version configured for Slurm's PMI-2): the struct
 *     below, of which `key` and `value` are read.  An info list is an array of structs; the preput
 *     list is an array of pointers to structs.
 *   MPICH from 4.1 on with its own PMI-2: PMI2_keyval_t { const char *key; const char *val; }, both
 *     lists arrays of structs.
 * A library named libpmi2.so.0 is called by programs built for Slurm's, so this header declares the
 * first form.  Lists in the second form are recognized and accepted; a list in neither form is an
 * error (PMI2_ERR_INVALID_ARG), and is not used. */
typedef struct MPID_Info {
    int handle;
    int pobj_mutex;
    int ref_count;
    struct MPID_Info *next;
    char *key;
    char *value;
} MPID_Info;

#define PMI2U_Info MPID_Info

/* ---- Initialization ---------------------------------------------------------------------- */

/* Connects to the process manager.  *spawned becomes 1 when PMI2_Job_Spawn (or PMI_Spawn_multiple)
 * started this process, else 0; *size the number of processes of the job; *rank this process's rank
 * among them, from 0; *appnum the number of the executable that it runs, from 0 (a singleton has
 * -1). Any of them may be NULL.  If already initialized it returns the same results.  After
 * PMI2_Finalize it may be called again.
 *   PMI2_FAIL  no connection, an unsupported version, an invalid environment, or a process forked
 *              from one that is initialized */
int PMI2_Init(int *spawned, int *size, int *rank, int *appnum);

/* Disconnects from the process manager, after sending any puts not fenced yet.  If not initialized
 * it succeeds and does nothing.
 *   PMI2_FAIL  the process manager did not reply; the library is finalized all the same */
int PMI2_Finalize(void);

/* Not 0 between PMI2_Init and PMI2_Finalize; otherwise 0.  This is no return code. */
int PMI2_Initialized(void);

/* Aborts: with flag not 0 the whole job, which ends with that exit code; with 0 only this
 * process (the process manager decides what happens to its job).  Prints msg (NULL: nothing) on
 * standard error: through the process manager when that is Wireup and the whole job ends, else
 * from here.  Does not return: the process ends with exit(flag). */
int PMI2_Abort(int flag, const char msg[]);

/* ---- Jobs -------------------------------------------------------------------------------- */

/* Starts processes, as a job of their own: for each i below count, maxprocs[i] (1 or more) of the
 * program cmds[i] with the argcs[i] arguments argvs[i] (without the program's name; argvs, or
 * argvs[i], may be NULL when there are none) and the info_keyval_sizes[i] pairs
 * info_keyval_vectors[i].  Wireup reads the keys wdir, path, host, hosts, hostfile, add-host,
 * add-hostfile, env and soft; others are skipped.  The preput pairs are in the new job's key-value
 * space before its first process runs.  jobId, if it is not NULL and jobIdSize positive, gets the
 * new job's name.  errors, if not NULL, has room for one number per requested process: 0 for each
 * that was started.
 *   PMI2_ERR_INVALID_ARG  count, maxprocs or a list is invalid
 *   PMI2_ERR_OTHER        nothing, or not everything, was started: see errors; or there is no
 *                         process manager */
int PMI2_Job_Spawn(int count, const char *cmds[], int argcs[], const char **argvs[],
                   const int maxprocs[], const int info_keyval_sizes[],
                   const struct MPID_Info *info_keyval_vectors[], int preput_keyval_size,
                   const struct MPID_Info *preput_keyval_vector[], char jobId[], int jobIdSize,
                   int errors[]);

/* The name of this job, which is also that of its key-value space; truncated to jobid_size - 1
 * characters (Wireup's names have fewer than 256).
 *   PMI2_ERR_INVALID_ARG  jobid is NULL
 *   PMI2_ERR_INVALID_LENGTH  jobid_size is not positive */
int PMI2_Job_GetId(char jobid[], int jobid_size);

/* This process's rank, and the number of processes of the job (not of the node, whatever the name
 * suggests), as from PMI2_Init.
 *   PMI2_ERR_INVALID_ARG  the pointer is NULL */
int PMI2_Job_GetRank(int *rank);
int PMI2_Info_GetSize(int *size);

/* From now on until PMI2_Job_Disconnect (once for each connect) the processes of both jobs may read
 * each other's key-value spaces with PMI2_KVS_Get, and if one of the jobs is aborted, so is the
 * other.  Jobs that have spawned each other are connected from the start.  Not collective. conn may
 * be NULL and is not changed.
 *   PMI2_ERR_INVALID_ARG  jobid is NULL or empty
 *   PMI2_ERR_OTHER        no such job, or a process manager that is not Wireup */
int PMI2_Job_Connect(const char jobid[], PMI2_Connect_comm_t *conn);
int PMI2_Job_Disconnect(const char jobid[]);

/* ---- Key-value space --------------------------------------------------------------------- */

/* Puts a value, visible to all processes once all of them have fenced.  A key can be put only once.
 * The value may be empty and hold any characters.  With Wireup the put waits in the library until
 * the next fence (or another request to the server), which also reports a refusal.
 *   PMI2_ERR_INVALID_KEY         NULL, empty, put before by this process or seen from another, or
 *                                reserved (PMI_...)
 *   PMI2_ERR_INVALID_KEY_LENGTH  PMI2_MAX_KEYLEN characters or more
 *   PMI2_ERR_INVALID_VAL         NULL; or this process manager cannot take it unchanged (a `;` for
 *                                MPICH's and Slurm's)
 *   PMI2_ERR_INVALID_VAL_LENGTH  more than PMI2_MAX_VALLEN characters */
int PMI2_KVS_Put(const char key[], const char value[]);

/* Waits until all processes of the job have called it; their earlier puts are then visible to all.
 * (Hydra replies at once, and waits in PMI2_KVS_Get instead.)
 *   PMI2_ERR_INVALID_KEY  a put of this process was refused (the fence took place)
 *   PMI2_ERR_OTHER        a process will not come any more */
int PMI2_KVS_Fence(void);

/* The value of key in the space of the job named jobid; NULL or "" is the own job.  src_pmi_id is
 * the rank that put it, or PMI2_ID_NULL: a hint.  At most maxvalue - 1 characters and a NUL go to
 * value (nothing, when maxvalue is not positive).  *vallen becomes the length of the value, negated
 * if the value was truncated.  Nothing is changed when there is no such key.
 *   PMI2_ERR_INVALID_KEY  it was never put (or no such job; or it is NULL or empty)
 *   PMI2_ERR_INVALID_ARG  value is NULL and maxvalue positive, or vallen is NULL
 *   PMI2_ERR_INVALID_VAL  the value holds a NUL (a PMIx process put it) */
int PMI2_KVS_Get(const char *jobid, int src_pmi_id, const char key[], char value[], int maxvalue,
                 int *vallen);

/* ---- Attributes -------------------------------------------------------------------------- */

/* An attribute of this node, put by a process of the job on it.  With waitfor not 0 the call waits
 * until it is put, or until every other process of the job on the node has finalized or ended.
 *
 * Wireup has two by itself: localRanks, the ranks of the job on this node ("0,2,5"), and
 * localRanksCount.  And an attribute whose name begins with "connected:" is visible to the
 * processes of all connected jobs (parent, spawned, PMI2_Job_Connect) on the node: a get takes
 * the own job's, or else theirs, and waits for both.
 *
 * *found becomes 1, and value the attribute (truncated to valuelen - 1 characters); or *found
 * becomes 0, and value is not touched.
 *   PMI2_ERR_OTHER  with waitfor, from Wireup: all the others on this node wait in this call, too
 *   PMI2_ERR_INVALID_ARG  a pointer is NULL
 *   PMI2_ERR_INVALID_KEY, PMI2_ERR_INVALID_KEY_LENGTH  as for PMI2_KVS_Put */
int PMI2_Info_GetNodeAttr(const char name[], char value[], int valuelen, int *found, int waitfor);

/* The same for an attribute that is a comma-separated list of integers; never waits.  At most
 * arraylen of them go to array; *outlen becomes their number.
 *   PMI2_ERR_INVALID_VAL  it is no such list (*found is 1) */
int PMI2_Info_GetNodeAttrIntArray(const char name[], int array[], int arraylen, int *outlen,
                                  int *found);

/* Puts an attribute of this node: visible to all processes of the job on it when the call returns.
 * Replaces an earlier one.  Under Wireup, wireup.cleanup registers what is removed when the job has
 * ended, even if that crashes: files and shared memory, "/path,shm:/name,sysv:NUMBER".  Codes as
 * for PMI2_KVS_Put. */
int PMI2_Info_PutNodeAttr(const char name[], const char value[]);

/* Job attributes from the process manager.  Wireup's are
 *   universeSize                  the most processes that there could be; -1: no limit
 *   PMI_process_mapping           which ranks are on which node: (vector,(node,nodes,ranks),...)
 *   PMI_hwloc_xmlfile             name of a file with this node's topology, for hwloc
 *   PMI_mpi_memory_alloc_kinds    if the user has set it (-memory-alloc-kinds)
 *   PMI_dead_processes            comma-separated ranks, once there are any
 *   PMI_signals_forwarded         which signals `wireup` passes on: SIGINT,SIGTERM,...
 *   hasNameServ                   TRUE: names can be published
 *   physTopology                  complete on one node, hierarchical on several
 *   physTopologyLevels            of such: complete,complete (between nodes, inside each)
 *   isHeterogeneous               FALSE on one node; of several it is not known
 *   PMI_netinfo_of_task           this node's addresses: (host,(interface,IP_V4,address),...)
 *   KEY                           for each -job-attr KEY=VALUE of the user
 * A singleton has the first two.  *found, value and codes as for PMI2_Info_GetNodeAttr. */
int PMI2_Info_GetJobAttr(const char name[], char value[], int valuelen, int *found);
int PMI2_Info_GetJobAttrIntArray(const char name[], int array[], int arraylen, int *outlen,
                                 int *found);

/* ---- Names ------------------------------------------------------------------------------- */

/* Publishes a port under a name, for all jobs of this user on this node, until its publisher ends.
 * info_ptr is not read, here and below.
 *   PMI2_ERR_INVALID_ARG  NULL or empty, or more than PMI2_MAX_VALLEN characters
 *   PMI2_ERR_OTHER        the name is taken */
int PMI2_Nameserv_publish(const char service_name[], const struct MPID_Info *info_ptr,
                          const char port[]);

/* The port (truncated to portLen - 1 characters).
 *   PMI2_ERR_OTHER        the name is not published */
int PMI2_Nameserv_lookup(const char service_name[], const struct MPID_Info *info_ptr, char port[],
                         int portLen);

/* Withdraws it.
 *   PMI2_ERR_OTHER        the name is not published */
int PMI2_Nameserv_unpublish(const char service_name[], const struct MPID_Info *info_ptr);

/* ---- Slurm's ring ------------------------------------------------------------------------ */

#define HAVE_PMIX_RING 1

/* Collective: all processes form a ring, ordered by nodes and on a node by ranks.  *rank becomes
 * this process's place, *ranks the number of places, left and right the values of the two
 * neighbours (truncated to maxvalue - 1 characters).  A single process is its own neighbour.
 *   PMI2_ERR_INVALID_ARG        a pointer is NULL
 *   PMI2_ERR_INVALID_VAL_LENGTH more than PMI2_MAX_VALLEN characters */
int PMIX_Ring(const char value[], int *rank, int *ranks, char left[], char right[], int maxvalue);

#if defined(__cplusplus)
}
#endif

#endif
