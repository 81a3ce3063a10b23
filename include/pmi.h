/* pmi.h - the Process Manager Interface, version 1: the processes of a parallel program learn their
 * ranks and exchange small values before they can communicate directly.
 *
 * The text that comes nearest to a standard is Flux RFC 13 ("RFC" below names its sections); where
 * it is silent this header documents this library's behaviour.  Functions marked optional in RFC 13
 * work here too.
 *
 * Environment (set by the process manager):
 *   PMI_FD                 descriptor of the connection; with PMI_RANK, PMI_SIZE, PMI_SPAWNED
 *   PMI_PORT, PMI_ID       instead of PMI_FD: "host:port" to connect to, and our id there
 *   neither                the process is alone (a singleton): size 1, rank 0, a key-value space of
 *                          its own, barriers that return at once
 *   PMI_DEBUG              not empty and not 0: each call that fails writes one line with the
 *                          reason to standard error.  Otherwise nothing is ever printed, except by
 *                          PMI_Abort.
 *
 * Thread-safe; a thread that waits in PMI_Barrier does not block other threads' calls that need no
 * reply from the process manager.  A process forked after PMI_Init has no part in its parent's
 * connection: there every call returns PMI_ERR_INIT, PMI_Init PMI_FAIL.  Programs started with exec
 * do not inherit the connection while it is in use.  No call raises a signal, installs a handler,
 * starts a thread, or ends the process, except PMI_Abort.
 *
 * Every call but PMI_Init, PMI_Initialized, PMI_Finalize, PMI_Abort and the four option functions
 * returns PMI_ERR_INIT before PMI_Init and after PMI_Finalize.  A lost connection (the process
 * manager ended, or violated the protocol) is PMI_FAIL.  Lack of memory is PMI_ERR_NOMEM.  Lengths
 * of strings are in bytes and include the final NUL.
 */
#ifndef PMI_H_INCLUDED
#define PMI_H_INCLUDED

#ifdef __cplusplus
extern "C" {
#endif

#define PMI_VERSION    1
#define PMI_SUBVERSION 2

/* Return codes (RFC "Return Codes"). */
#define PMI_SUCCESS                0
#define PMI_FAIL                   (-1)
#define PMI_ERR_INIT               1 /* not initialized */
#define PMI_ERR_NOMEM              2 /* out of memory, or a buffer that is too small */
#define PMI_ERR_INVALID_ARG        3
#define PMI_ERR_INVALID_KEY        4 /* also: no such key; a duplicate put */
#define PMI_ERR_INVALID_KEY_LENGTH 5
#define PMI_ERR_INVALID_VAL        6 /* also: the server cannot transport the value */
#define PMI_ERR_INVALID_VAL_LENGTH 7
#define PMI_ERR_INVALID_LENGTH     8
#define PMI_ERR_INVALID_NUM_ARGS   9
#define PMI_ERR_INVALID_ARGS       10
#define PMI_ERR_INVALID_NUM_PARSED 11
#define PMI_ERR_INVALID_KEYVALP    12
#define PMI_ERR_INVALID_SIZE       13
#define PMI_ERR_INVALID_KVS        14 /* no such key-value space */

typedef int PMI_BOOL;
#define PMI_TRUE  1
#define PMI_FALSE 0

/* A pair of strings; for the info and preput lists of PMI_Spawn_multiple. */
typedef struct PMI_keyval_t {
    const char *key;
    char *val;
} PMI_keyval_t;

/* Longest port name, with its NUL: the most that PMI_Lookup_name writes. */
#define PMI_MAX_PORT_NAME 1024

/* Groups for PMI_Barrier_group, instead of a list of ranks. */
#define PMI_GROUP_WORLD ((const int *)0) /* all processes */
#define PMI_GROUP_SELF  ((const int *)1) /* only this process */
#define PMI_GROUP_NODE  ((const int *)2) /* the processes of this node */

/* ---- Initialization (RFC "Initialization") ----------------------------------------------- */

/* Connects to the process manager.  *spawned becomes 1 when PMI_Spawn_multiple started this
 * process, else 0.  If already initialized it succeeds and changes nothing.  After PMI_Finalize it
 * may be called again.
 *   PMI_ERR_INVALID_ARG  spawned is NULL
 *   PMI_FAIL             no connection, an unsupported version, an invalid environment, or a
 *                        process forked from one that is initialized */
int PMI_Init(int *spawned);

/* *initialized becomes 1 between PMI_Init and PMI_Finalize, else 0.
 *   PMI_ERR_INVALID_ARG  initialized is NULL */
int PMI_Initialized(PMI_BOOL *initialized);

/* Disconnects from the process manager, after committing any uncommitted puts.  If not initialized
 * it succeeds and does nothing.  A second call is harmless.
 *   PMI_FAIL             the process manager did not reply; the library is finalized all the same
 */
int PMI_Finalize(void);

/* Ends the whole program with exit_code, and prints error_msg (NULL: nothing) on standard error:
 * through the process manager when that is Wireup, else from here.  Does not return: the process
 * ends with exit(exit_code). */
int PMI_Abort(int exit_code, const char error_msg[]);

/* ---- Process group (RFC "Process Group Information") -------------------------------------- */

/* Number of processes of the program.
 *   PMI_ERR_INVALID_ARG  size is NULL */
int PMI_Get_size(int *size);

/* Rank of this process, from 0 to size - 1.
 *   PMI_ERR_INVALID_ARG  rank is NULL */
int PMI_Get_rank(int *rank);

/* The most processes that the program could have, counting those it can spawn; -1: no limit. A
 * singleton has 1.
 *   PMI_ERR_INVALID_ARG  size is NULL
 *   PMI_FAIL             the process manager does not provide it */
int PMI_Get_universe_size(int *size);

/* Number of the executable that this process runs, among those of the program, from 0. A singleton
 * has -1.
 *   PMI_ERR_INVALID_ARG  appnum is NULL
 *   PMI_FAIL             the process manager does not provide it */
int PMI_Get_appnum(int *appnum);

/* ---- This node (RFC "Local Process Group Information"; optional) -------------------------- */

/* Number of processes of the program on this node, this one included; from the job's
 * PMI_process_mapping.  When that is unknown: 1.
 *   PMI_ERR_INVALID_ARG  size is NULL */
int PMI_Get_clique_size(int *size);

/* Their ranks, in ascending order.
 *   PMI_ERR_INVALID_ARG     ranks is NULL
 *   PMI_ERR_INVALID_LENGTH  length (number of items in ranks) is less than the clique's size */
int PMI_Get_clique_ranks(int ranks[], int length);

/* ---- Key-value space (RFC "Key Value Store") ---------------------------------------------- */

/* Name of the program's key-value space.
 *   PMI_ERR_INVALID_ARG     kvsname is NULL
 *   PMI_ERR_INVALID_LENGTH  length is too small for the name */
int PMI_KVS_Get_my_name(char kvsname[], int length);

/* The same name, by two older functions. */
int PMI_Get_id(char id_str[], int length);
int PMI_Get_kvs_domain_id(char id_str[], int length);

/* The maximum lengths of KVS names, keys and values, as set by the process manager, all with their
 * NUL.  PMI_Get_id_length_max is an older name of the first.
 *   PMI_ERR_INVALID_ARG  length is NULL */
int PMI_KVS_Get_name_length_max(int *length);
int PMI_KVS_Get_key_length_max(int *length);
int PMI_KVS_Get_value_length_max(int *length);
int PMI_Get_id_length_max(int *length);

/* Puts value under key.  Others see it after this process's next PMI_KVS_Commit and a PMI_Barrier;
 * this process sees it at once.  A key can be put only once.
 *
 * With Wireup as the process manager a value may hold any bytes but NUL, and may be empty.  Other
 * process managers cannot carry every value through their text protocol: values that they would
 * truncate or change (blanks, newlines, the empty value, with some the backslash) are refused.
 * Under Wireup a key wireup.cleanup, or wireup.cleanup.ANYTHING, registers what is removed when the
 * job has ended, even if that crashes: files and shared memory, "/path,shm:/name,sysv:NUMBER".
 *   PMI_ERR_INVALID_KVS         kvsname is NULL or no such space
 *   PMI_ERR_INVALID_KEY         key is NULL, empty, reserved (PMI_...), cannot be sent, or was put
 *                               before, as far as is known by now (else the next PMI_KVS_Commit or
 *                               PMI_Barrier reports it)
 *   PMI_ERR_INVALID_KEY_LENGTH  longer than PMI_KVS_Get_key_length_max allows
 *   PMI_ERR_INVALID_VAL         value is NULL, or cannot be sent
 *   PMI_ERR_INVALID_VAL_LENGTH  longer than PMI_KVS_Get_value_length_max allows
 *   PMI_FAIL                    refused by the process manager */
int PMI_KVS_Put(const char kvsname[], const char key[], const char value[]);

/* Sends all puts since the last commit to the process manager.  Does not wait for other processes.
 *   PMI_ERR_INVALID_ARG  kvsname is NULL
 *   PMI_ERR_INVALID_KVS  no such space
 *   PMI_ERR_INVALID_KEY  a key that was committed before turned out to be a duplicate
 *   PMI_FAIL             refused by the process manager (quota) */
int PMI_KVS_Commit(const char kvsname[]);

/* Copies the value of key into value[0 .. length - 1], entirely or not at all.
 *   PMI_ERR_INVALID_KVS     kvsname is NULL or no such space
 *   PMI_ERR_INVALID_KEY     key is NULL, or was never put
 *   PMI_ERR_INVALID_VAL     value is NULL, or the value is no string (it holds a NUL)
 *   PMI_ERR_INVALID_LENGTH  length is too small for the value */
int PMI_KVS_Get(const char kvsname[], const char key[], char value[], int length);

/* Creates a new, empty space (optional).  Its name may be sent to other processes of the program,
 * which use it with the functions above and below.  With process managers other than Wireup the
 * keys of such a space share the length limit with its number (about ten bytes less than in the
 * first space).
 *   PMI_ERR_INVALID_ARG     kvsname is NULL
 *   PMI_ERR_INVALID_LENGTH  length is too small for the name
 *   PMI_FAIL                refused by the process manager */
int PMI_KVS_Create(char kvsname[], int length);

/* Destroys a space (optional): its name is no longer valid.  The program's own space stays.
 *   PMI_ERR_INVALID_ARG  kvsname is NULL
 *   PMI_ERR_INVALID_KVS  not a space made by PMI_KVS_Create */
int PMI_KVS_Destroy(const char kvsname[]);

/* Iterates over the pairs of a space in the order of their puts (optional): first, then next until
 * key comes back empty, which is the end and a success.  Own puts are committed before.  Reserved
 * keys (PMI_...) are left out.  One iteration at a time per process.  Legacy process managers
 * cannot list their keys: PMI_FAIL.
 *   PMI_ERR_INVALID_KVS         kvsname is NULL or no such space; next: another space than first
 *   PMI_ERR_INVALID_KEY         key is NULL
 *   PMI_ERR_INVALID_KEY_LENGTH  key_len is too small (the iteration does not advance)
 *   PMI_ERR_INVALID_VAL         val is NULL
 *   PMI_ERR_INVALID_VAL_LENGTH  val_len is too small (the iteration does not advance)
 *   PMI_FAIL                    next without first */
int PMI_KVS_Iter_first(const char kvsname[], char key[], int key_len, char val[], int val_len);
int PMI_KVS_Iter_next(const char kvsname[], char key[], int key_len, char val[], int val_len);

/* Waits until all processes of the program have called it.  Puts made before are visible to
 * all afterwards.
 *   PMI_ERR_INVALID_KEY  one of this process's puts was a duplicate; the barrier took place
 *   PMI_ERR_INVALID_VAL  the process manager has changed a value with a backslash; likewise
 *   PMI_FAIL             a process has died or left, or the connection is lost */
int PMI_Barrier(void);

/* Waits until all members of a group have called it with the same group and tag (PMI 1.2). group:
 * PMI_GROUP_WORLD, PMI_GROUP_SELF, PMI_GROUP_NODE (count is ignored), or count ranks, this
 * process's among them.  tag distinguishes simultaneous barriers of one group; NULL is allowed.
 *   PMI_ERR_INVALID_ARG  count < 1, a rank outside of the program, or this process is no member
 *   PMI_FAIL             as PMI_Barrier; or the process manager does not support groups, except
 *                        for PMI_GROUP_WORLD */
int PMI_Barrier_group(const int *group, int count, const char *tag);

/* ---- More processes (RFC "Dynamic Process Management") ------------------------------------ */

/* Starts count commands as a new program (the spawned processes have their own ranks and their own
 * space).  For command i: cmds[i], the program; argvs[i], its arguments, ending with NULL, without
 * the program's name (NULL: none; argvs may be NULL); maxprocs[i], how many; info_keyval_sizes[i]
 * pairs at info_keyval_vectors[i] (wdir, path, host, ... ; sizes and vectors may be NULL).  The
 * preput pairs are in the new program's space before its first process starts.  errors (NULL: not
 * wanted) has room for one number per process, in order: 0 or the reason why it did not start.
 *   PMI_ERR_INVALID_ARG  count < 1, cmds or maxprocs NULL, an empty command, a negative number, a
 *                        NULL key, a string with a newline
 *   PMI_FAIL             refused; or there is no process manager */
int PMI_Spawn_multiple(int count, const char *cmds[], const char **argvs[], const int maxprocs[],
                       const int info_keyval_sizes[], const PMI_keyval_t *info_keyval_vectors[],
                       int preput_keyval_size, const PMI_keyval_t preput_keyval_vector[],
                       int errors[]);

/* Publishes port under service_name, unpublishes it, or looks it up.  port of PMI_Lookup_name has
 * room for PMI_MAX_PORT_NAME bytes.
 *   PMI_ERR_INVALID_ARG  NULL, empty, too long, or a string that the server cannot transport
 *   PMI_FAIL             already published; not published; or there is no process manager */
int PMI_Publish_name(const char service_name[], const char port[]);
int PMI_Unpublish_name(const char service_name[]);
int PMI_Lookup_name(const char service_name[], char port[]);

/* ---- Options on the command line (RFC, optional; not before 2009's MPICH only) ------------- */

/* Reads the options at the start of args: words PMI_NAME=VALUE, up to the first other word.
 * *num_parsed: how many words; *keyvalp: as many pairs (NULL when none), free with
 * PMI_Free_keyvals; *size: their number.
 *   PMI_ERR_INVALID_NUM_ARGS    num_args < 0
 *   PMI_ERR_INVALID_ARGS        args is NULL
 *   PMI_ERR_INVALID_NUM_PARSED  num_parsed is NULL
 *   PMI_ERR_INVALID_KEYVALP     keyvalp is NULL
 *   PMI_ERR_INVALID_SIZE        size is NULL */
int PMI_Parse_option(int num_args, char *args[], int *num_parsed, PMI_keyval_t **keyvalp,
                     int *size);

/* Removes the words PMI_NAME=VALUE from a command line, at any position: *argcp and *argvp keep the
 * others, in order.  *keyvalp and *size as above.
 *   PMI_ERR_INVALID_ARG  a NULL pointer, or *argcp < 0 */
int PMI_Args_to_keyval(int *argcp, char *((*argvp)[]), PMI_keyval_t **keyvalp, int *size);

/* Frees the results of the two functions above.
 *   PMI_ERR_INVALID_ARG  size < 0, or keyvalp is NULL and size is not 0 */
int PMI_Free_keyvals(PMI_keyval_t keyvalp[], int size);

/* A readable description of these options.  *length: in, the room in str; out, the length of the
 * whole text.
 *   PMI_ERR_INVALID_ARG     str or length is NULL
 *   PMI_ERR_INVALID_LENGTH  *length < 1
 *   PMI_ERR_NOMEM           the room is too small: str holds the beginning */
int PMI_Get_options(char *str, int *length);

#ifdef __cplusplus
}
#endif

#endif
