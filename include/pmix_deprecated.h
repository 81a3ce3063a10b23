/* pmix_deprecated.h - older names and spellings, all still supported.
 *
 * Most are macros that became functions: each only names the function that it calls.  Note: CREATE,
 * and every macro whose first argument is a result, assign to that argument; FREE and RELEASE set
 * it to NULL when done.  pmix_common.h includes this file.
 */
#ifndef PMIx_DEPRECATED_H
#define PMIx_DEPRECATED_H

#include <pmix_common.h>

#if defined(c_plusplus) || defined(__cplusplus)
extern "C" {
#endif

/* ---- Replaced names of constants and keys --------------------------------------------------- */

/* table: status OLD ALIAS */
#define PMIX_ERR_SILENT                    -2
#define PMIX_ERR_DEBUGGER_RELEASE          -3
#define PMIX_ERR_PROC_ABORTED              -7
#define PMIX_ERR_PROC_ABORTING             -9
#define PMIX_ERR_SERVER_FAILED_REQUEST     -10
#define PMIX_EXISTS                        -11
#define PMIX_ERR_HANDSHAKE_FAILED          -13
#define PMIX_ERR_READY_FOR_HANDSHAKE       -14
#define PMIX_ERR_PROC_ENTRY_NOT_FOUND      -17
#define PMIX_ERR_PACK_MISMATCH             -22
#define PMIX_ERR_IN_ERRNO                  -26
#define PMIX_ERR_DATA_VALUE_NOT_FOUND      -30
#define PMIX_ERR_INVALID_ARG               -33
#define PMIX_ERR_INVALID_KEY               -34
#define PMIX_ERR_INVALID_KEY_LENGTH        -35
#define PMIX_ERR_INVALID_VAL               -36
#define PMIX_ERR_INVALID_VAL_LENGTH        -37
#define PMIX_ERR_INVALID_LENGTH            -38
#define PMIX_ERR_INVALID_NUM_ARGS          -39
#define PMIX_ERR_INVALID_ARGS              -40
#define PMIX_ERR_INVALID_NUM_PARSED        -41
#define PMIX_ERR_INVALID_KEYVALP           -42
#define PMIX_ERR_INVALID_SIZE              -43
#define PMIX_ERR_INVALID_NAMESPACE         -44
#define PMIX_ERR_SERVER_NOT_AVAIL          -45
#define PMIX_ERR_NOT_IMPLEMENTED           -48
#define PMIX_DEBUG_WAITING_FOR_NOTIFY      -58
#define PMIX_ERR_FATAL                     -63
#define PMIX_ERR_NOT_AVAILABLE             -64
#define PMIX_ERR_VALUE_OUT_OF_BOUNDS       -65
#define PMIX_ERR_FILE_OPEN_FAILURE         -67
#define PMIX_ERR_FILE_READ_FAILURE         -68
#define PMIX_ERR_FILE_WRITE_FAILURE        -69
#define PMIX_ERR_SYS_LIMITS_PIPES          -70
#define PMIX_ERR_SYS_LIMITS_CHILDREN       -71
#define PMIX_ERR_PIPE_SETUP_FAILURE        -72
#define PMIX_ERR_EXE_NOT_ACCESSIBLE        -73
#define PMIX_ERR_JOB_WDIR_NOT_ACCESSIBLE   -74
#define PMIX_ERR_SYS_LIMITS_FILES          -75
#define PMIX_ERR_LOST_CONNECTION_TO_SERVER -101
#define PMIX_ERR_LOST_PEER_CONNECTION      -102
#define PMIX_ERR_LOST_CONNECTION_TO_CLIENT -103
#define PMIX_NOTIFY_ALLOC_COMPLETE         -105
#define PMIX_ERR_INVALID_TERMINATION       -112
#define PMIX_ERR_JOB_TERMINATED            -145
#define PMIX_ERR_UPDATE_ENDPOINTS          -146
#define PMIX_GDS_ACTION_COMPLETE           -148
#define PMIX_PROC_HAS_CONNECTED            -149
#define PMIX_CONNECT_REQUESTED             -150
#define PMIX_ERR_SYS_BASE                  -230
#define PMIX_ERR_NODE_DOWN                 -231
#define PMIX_ERR_NODE_OFFLINE              -232
#define PMIX_ERR_SYS_OTHER                 -330
/* end of table */

/* table: types OLD */
#define PMIX_BUFFER 26
/* end of table */

/* table: job_state OLD */
#define PMIX_JOB_STATE_PREPPED 1
/* end of table */

/* table: attributes OLD */
/* clang-format off */
#define PMIX_ALLOC_NETWORK             "pmix.alloc.net"                /* pmix_data_array_t * */
#define PMIX_ALLOC_NETWORK_ENDPTS      "pmix.alloc.endpts"             /* size_t */
#define PMIX_ALLOC_NETWORK_ENDPTS_NODE "pmix.alloc.endpts.nd"          /* size_t */
#define PMIX_ALLOC_NETWORK_ID          "pmix.alloc.netid"              /* char * */
#define PMIX_ALLOC_NETWORK_PLANE       "pmix.alloc.netplane"           /* char * */
#define PMIX_ALLOC_NETWORK_QOS         "pmix.alloc.netqos"             /* char * */
#define PMIX_ALLOC_NETWORK_SEC_KEY     "pmix.alloc.nsec"               /* pmix_byte_object_t */
#define PMIX_ALLOC_NETWORK_TYPE        "pmix.alloc.nettype"            /* char * */
#define PMIX_ARCH                      "pmix.arch"                     /* uint32_t */
#define PMIX_BFROPS_MODULE             "pmix.bfrops.mod"               /* char * */
#define PMIX_COLLECTIVE_ALGO           "pmix.calgo"                    /* char * */
#define PMIX_COLLECTIVE_ALGO_REQD      "pmix.calreqd"                  /* bool */
#define PMIX_DEBUG_APP_DIRECTIVES      "pmix.dbg.adirs"                /* pmix_data_array_t * */
#define PMIX_DEBUG_JOB                 "pmix.dbg.job"                  /* char * */
#define PMIX_DEBUG_JOB_DIRECTIVES      "pmix.dbg.jdirs"                /* pmix_data_array_t * */
#define PMIX_DEBUG_WAIT_FOR_NOTIFY     "pmix.dbg.notify"               /* bool */
#define PMIX_DSTPATH                   "pmix.dstpath"                  /* char * */
#define PMIX_EVENT_BASE                "pmix.evbase"                   /* void * */
#define PMIX_EVENT_NO_TERMINATION      "pmix.evnoterm"                 /* bool */
#define PMIX_EVENT_WANT_TERMINATION    "pmix.evterm"                   /* bool */
#define PMIX_GDS_MODULE                "pmix.gds.mod"                  /* char * */
#define PMIX_HWLOC_HOLE_KIND           "pmix.hwlocholek"               /* char * */
#define PMIX_HWLOC_SHARE_TOPO          "pmix.hwlocsh"                  /* bool */
#define PMIX_HWLOC_SHMEM_ADDR          "pmix.hwlocaddr"                /* size_t */
#define PMIX_HWLOC_SHMEM_FILE          "pmix.hwlocfile"                /* char * */
#define PMIX_HWLOC_SHMEM_SIZE          "pmix.hwlocsize"                /* size_t */
#define PMIX_HWLOC_XML_V1              "pmix.hwlocxml1"                /* char * */
#define PMIX_HWLOC_XML_V2              "pmix.hwlocxml2"                /* char * */
#define PMIX_IOF_STOP                  "pmix.iof.stop"                 /* bool */
#define PMIX_LOCALITY                  "pmix.loc"                      /* uint16_t */
#define PMIX_LOCAL_TOPO                "pmix.ltopo"                    /* char * */
#define PMIX_MAPPER                    "pmix.mapper"                   /* char * */
#define PMIX_MAP_BLOB                  "pmix.mblob"                    /* pmix_byte_object_t */
#define PMIX_MERGE_STDERR_STDOUT       "pmix.mergeerrout"              /* bool */
#define PMIX_NON_PMI                   "pmix.nonpmi"                   /* bool */
#define PMIX_NOTIFY_LAUNCH             "pmix.note.lnch"                /* bool */
#define PMIX_OUTPUT_NOCOPY             "pmix.nocopy"                   /* bool */
#define PMIX_OUTPUT_TO_DIRECTORY       "pmix.outdir"                   /* char * */
#define PMIX_OUTPUT_TO_FILE            "pmix.outfile"                  /* char * */
#define PMIX_PNET_SETUP_APP            "pmix.pnet.setapp"              /* pmix_byte_object_t */
#define PMIX_PROC_BLOB                 "pmix.pblob"                    /* pmix_byte_object_t */
#define PMIX_PROC_DATA                 "pmix.pdata"                    /* pmix_data_array_t * */
#define PMIX_PROC_URI                  "pmix.puri"                     /* char * */
#define PMIX_RECONNECT_SERVER          "pmix.cnct.recon"               /* bool */
#define PMIX_SINGLE_LISTENER           "pmix.sing.listnr"              /* bool */
#define PMIX_SIZE_ESTIMATE             "pmix.size.est"                 /* size_t */
#define PMIX_SOCKET_MODE               "pmix.sockmode"                 /* uint32_t */
#define PMIX_TAG_OUTPUT                "pmix.tagout"                   /* bool */
#define PMIX_TIMESTAMP_OUTPUT          "pmix.tsout"                    /* bool */
#define PMIX_TOPOLOGY                  "pmix.topo"                     /* void * */
#define PMIX_TOPOLOGY_FILE             "pmix.topo.file"                /* char * */
#define PMIX_TOPOLOGY_SIGNATURE        "pmix.toposig"                  /* char * */
#define PMIX_TOPOLOGY_XML              "pmix.topo.xml"                 /* char * */
#define PMIX_USOCK_DISABLE             "pmix.usock.disable"            /* bool */
/* clang-format on */
/* end of table */

/* ---- Replaced functions --------------------------------------------------------------------- */

/* The older name of PMIx_tool_attach_to_server, without the server's name.  (Standard 21.8.5) */
PMIX_EXPORT pmix_status_t PMIx_tool_connect_to_server(pmix_proc_t *proc, pmix_info_t info[],
                                                      size_t ninfo);

/* ---- Life of a structure -------------------------------------------------------------------- */

#define PMIX_PROC_CONSTRUCT(m) PMIx_Proc_construct(m)
#define PMIX_PROC_DESTRUCT(m)  PMIx_Proc_destruct(m)
#define PMIX_PROC_CREATE(m, n) (m) = PMIx_Proc_create(n)
#define PMIX_PROC_FREE(m, n)                                                                       \
    do {                                                                                           \
        PMIx_Proc_free((m), (n));                                                                  \
        (m) = NULL;                                                                                \
    } while (0)
#define PMIX_PROC_RELEASE(m)                                                                       \
    do {                                                                                           \
        PMIx_Proc_free((m), 1);                                                                    \
        (m) = NULL;                                                                                \
    } while (0)

#define PMIX_PROC_INFO_CONSTRUCT(m) PMIx_Proc_info_construct(m)
#define PMIX_PROC_INFO_DESTRUCT(m)  PMIx_Proc_info_destruct(m)
#define PMIX_PROC_INFO_CREATE(m, n) (m) = PMIx_Proc_info_create(n)
#define PMIX_PROC_INFO_FREE(m, n)                                                                  \
    do {                                                                                           \
        PMIx_Proc_info_free((m), (n));                                                             \
        (m) = NULL;                                                                                \
    } while (0)
#define PMIX_PROC_INFO_RELEASE(m)                                                                  \
    do {                                                                                           \
        PMIx_Proc_info_free((m), 1);                                                               \
        (m) = NULL;                                                                                \
    } while (0)

#define PMIX_PROC_STATS_CONSTRUCT(m) PMIx_Proc_stats_construct(m)
#define PMIX_PROC_STATS_DESTRUCT(m)  PMIx_Proc_stats_destruct(m)
#define PMIX_PROC_STATS_CREATE(m, n) (m) = PMIx_Proc_stats_create(n)
#define PMIX_PROC_STATS_FREE(m, n)                                                                 \
    do {                                                                                           \
        PMIx_Proc_stats_free((m), (n));                                                            \
        (m) = NULL;                                                                                \
    } while (0)
#define PMIX_PROC_STATS_RELEASE(m)                                                                 \
    do {                                                                                           \
        PMIx_Proc_stats_free((m), 1);                                                              \
        (m) = NULL;                                                                                \
    } while (0)

#define PMIX_DISK_STATS_CONSTRUCT(m) PMIx_Disk_stats_construct(m)
#define PMIX_DISK_STATS_DESTRUCT(m)  PMIx_Disk_stats_destruct(m)
#define PMIX_DISK_STATS_CREATE(m, n) (m) = PMIx_Disk_stats_create(n)
#define PMIX_DISK_STATS_FREE(m, n)                                                                 \
    do {                                                                                           \
        PMIx_Disk_stats_free((m), (n));                                                            \
        (m) = NULL;                                                                                \
    } while (0)
#define PMIX_DISK_STATS_RELEASE(m)                                                                 \
    do {                                                                                           \
        PMIx_Disk_stats_free((m), 1);                                                              \
        (m) = NULL;                                                                                \
    } while (0)

#define PMIX_NET_STATS_CONSTRUCT(m) PMIx_Net_stats_construct(m)
#define PMIX_NET_STATS_DESTRUCT(m)  PMIx_Net_stats_destruct(m)
#define PMIX_NET_STATS_CREATE(m, n) (m) = PMIx_Net_stats_create(n)
#define PMIX_NET_STATS_FREE(m, n)                                                                  \
    do {                                                                                           \
        PMIx_Net_stats_free((m), (n));                                                             \
        (m) = NULL;                                                                                \
    } while (0)
#define PMIX_NET_STATS_RELEASE(m)                                                                  \
    do {                                                                                           \
        PMIx_Net_stats_free((m), 1);                                                               \
        (m) = NULL;                                                                                \
    } while (0)

#define PMIX_NODE_STATS_CONSTRUCT(m) PMIx_Node_stats_construct(m)
#define PMIX_NODE_STATS_DESTRUCT(m)  PMIx_Node_stats_destruct(m)
#define PMIX_NODE_STATS_CREATE(m, n) (m) = PMIx_Node_stats_create(n)
#define PMIX_NODE_STATS_FREE(m, n)                                                                 \
    do {                                                                                           \
        PMIx_Node_stats_free((m), (n));                                                            \
        (m) = NULL;                                                                                \
    } while (0)
#define PMIX_NODE_STATS_RELEASE(m)                                                                 \
    do {                                                                                           \
        PMIx_Node_stats_free((m), 1);                                                              \
        (m) = NULL;                                                                                \
    } while (0)

#define PMIX_CPUSET_CONSTRUCT(m) PMIx_Cpuset_construct(m)
#define PMIX_CPUSET_DESTRUCT(m)  PMIx_Cpuset_destruct(m)
#define PMIX_CPUSET_CREATE(m, n) (m) = PMIx_Cpuset_create(n)
#define PMIX_CPUSET_FREE(m, n)                                                                     \
    do {                                                                                           \
        PMIx_Cpuset_free((m), (n));                                                                \
        (m) = NULL;                                                                                \
    } while (0)

#define PMIX_TOPOLOGY_CONSTRUCT(m) PMIx_Topology_construct(m)
#define PMIX_TOPOLOGY_DESTRUCT(m)  PMIx_Topology_destruct(m)
#define PMIX_TOPOLOGY_CREATE(m, n) (m) = PMIx_Topology_create(n)
#define PMIX_TOPOLOGY_FREE(m, n)                                                                   \
    do {                                                                                           \
        PMIx_Topology_free((m), (n));                                                              \
        (m) = NULL;                                                                                \
    } while (0)

#define PMIX_GEOMETRY_CONSTRUCT(m) PMIx_Geometry_construct(m)
#define PMIX_GEOMETRY_DESTRUCT(m)  PMIx_Geometry_destruct(m)
#define PMIX_GEOMETRY_CREATE(m, n) (m) = PMIx_Geometry_create(n)
#define PMIX_GEOMETRY_FREE(m, n)                                                                   \
    do {                                                                                           \
        PMIx_Geometry_free((m), (n));                                                              \
        (m) = NULL;                                                                                \
    } while (0)

#define PMIX_DEVICE_CONSTRUCT(m) PMIx_Device_construct(m)
#define PMIX_DEVICE_DESTRUCT(m)  PMIx_Device_destruct(m)
#define PMIX_DEVICE_CREATE(m, n) (m) = PMIx_Device_create(n)
#define PMIX_DEVICE_FREE(m, n)                                                                     \
    do {                                                                                           \
        PMIx_Device_free((m), (n));                                                                \
        (m) = NULL;                                                                                \
    } while (0)

#define PMIX_DEVICE_DIST_CONSTRUCT(m) PMIx_Device_distance_construct(m)
#define PMIX_DEVICE_DIST_DESTRUCT(m)  PMIx_Device_distance_destruct(m)
#define PMIX_DEVICE_DIST_CREATE(m, n) (m) = PMIx_Device_distance_create(n)
#define PMIX_DEVICE_DIST_FREE(m, n)                                                                \
    do {                                                                                           \
        PMIx_Device_distance_free((m), (n));                                                       \
        (m) = NULL;                                                                                \
    } while (0)

#define PMIX_RESOURCE_UNIT_CONSTRUCT(m) PMIx_Resource_unit_construct(m)
#define PMIX_RESOURCE_UNIT_DESTRUCT(m)  PMIx_Resource_unit_destruct(m)
#define PMIX_RESOURCE_UNIT_CREATE(m, n) (m) = PMIx_Resource_unit_create(n)
#define PMIX_RESOURCE_UNIT_FREE(m, n)                                                              \
    do {                                                                                           \
        PMIx_Resource_unit_free((m), (n));                                                         \
        (m) = NULL;                                                                                \
    } while (0)

#define PMIX_ENDPOINT_CONSTRUCT(m) PMIx_Endpoint_construct(m)
#define PMIX_ENDPOINT_DESTRUCT(m)  PMIx_Endpoint_destruct(m)
#define PMIX_ENDPOINT_CREATE(m, n) (m) = PMIx_Endpoint_create(n)
#define PMIX_ENDPOINT_FREE(m, n)                                                                   \
    do {                                                                                           \
        PMIx_Endpoint_free((m), (n));                                                              \
        (m) = NULL;                                                                                \
    } while (0)

#define PMIX_ENVAR_CONSTRUCT(m) PMIx_Envar_construct(m)
#define PMIX_ENVAR_DESTRUCT(m)  PMIx_Envar_destruct(m)
#define PMIX_ENVAR_CREATE(m, n) (m) = PMIx_Envar_create(n)
#define PMIX_ENVAR_FREE(m, n)                                                                      \
    do {                                                                                           \
        PMIx_Envar_free((m), (n));                                                                 \
        (m) = NULL;                                                                                \
    } while (0)

#define PMIX_BYTE_OBJECT_CONSTRUCT(m) PMIx_Byte_object_construct(m)
#define PMIX_BYTE_OBJECT_DESTRUCT(m)  PMIx_Byte_object_destruct(m)
#define PMIX_BYTE_OBJECT_CREATE(m, n) (m) = PMIx_Byte_object_create(n)
#define PMIX_BYTE_OBJECT_FREE(m, n)                                                                \
    do {                                                                                           \
        PMIx_Byte_object_free((m), (n));                                                           \
        (m) = NULL;                                                                                \
    } while (0)

#define PMIX_VALUE_CONSTRUCT(m) PMIx_Value_construct(m)
#define PMIX_VALUE_DESTRUCT(m)  PMIx_Value_destruct(m)
#define PMIX_VALUE_CREATE(m, n) (m) = PMIx_Value_create(n)
#define PMIX_VALUE_FREE(m, n)                                                                      \
    do {                                                                                           \
        PMIx_Value_free((m), (n));                                                                 \
        (m) = NULL;                                                                                \
    } while (0)
#define PMIX_VALUE_RELEASE(m)                                                                      \
    do {                                                                                           \
        PMIx_Value_free((m), 1);                                                                   \
        (m) = NULL;                                                                                \
    } while (0)

#define PMIX_INFO_CONSTRUCT(m) PMIx_Info_construct(m)
#define PMIX_INFO_DESTRUCT(m)  PMIx_Info_destruct(m)
#define PMIX_INFO_CREATE(m, n) (m) = PMIx_Info_create(n)
#define PMIX_INFO_FREE(m, n)                                                                       \
    do {                                                                                           \
        PMIx_Info_free((m), (n));                                                                  \
        (m) = NULL;                                                                                \
    } while (0)

#define PMIX_PDATA_CONSTRUCT(m) PMIx_Pdata_construct(m)
#define PMIX_PDATA_DESTRUCT(m)  PMIx_Pdata_destruct(m)
#define PMIX_PDATA_CREATE(m, n) (m) = PMIx_Pdata_create(n)
#define PMIX_PDATA_FREE(m, n)                                                                      \
    do {                                                                                           \
        PMIx_Pdata_free((m), (n));                                                                 \
        (m) = NULL;                                                                                \
    } while (0)
#define PMIX_PDATA_RELEASE(m)                                                                      \
    do {                                                                                           \
        PMIx_Pdata_free((m), 1);                                                                   \
        (m) = NULL;                                                                                \
    } while (0)

#define PMIX_APP_CONSTRUCT(m) PMIx_App_construct(m)
#define PMIX_APP_DESTRUCT(m)  PMIx_App_destruct(m)
#define PMIX_APP_CREATE(m, n) (m) = PMIx_App_create(n)
#define PMIX_APP_FREE(m, n)                                                                        \
    do {                                                                                           \
        PMIx_App_free((m), (n));                                                                   \
        (m) = NULL;                                                                                \
    } while (0)
#define PMIX_APP_RELEASE(m)                                                                        \
    do {                                                                                           \
        PMIx_App_free((m), 1);                                                                     \
        (m) = NULL;                                                                                \
    } while (0)

#define PMIX_QUERY_CONSTRUCT(m) PMIx_Query_construct(m)
#define PMIX_QUERY_DESTRUCT(m)  PMIx_Query_destruct(m)
#define PMIX_QUERY_CREATE(m, n) (m) = PMIx_Query_create(n)
#define PMIX_QUERY_FREE(m, n)                                                                      \
    do {                                                                                           \
        PMIx_Query_free((m), (n));                                                                 \
        (m) = NULL;                                                                                \
    } while (0)
#define PMIX_QUERY_RELEASE(m)                                                                      \
    do {                                                                                           \
        PMIx_Query_free((m), 1);                                                                   \
        (m) = NULL;                                                                                \
    } while (0)

#define PMIX_REGATTR_CONSTRUCT(m) PMIx_Regattr_construct(m)
#define PMIX_REGATTR_DESTRUCT(m)  PMIx_Regattr_destruct(m)
#define PMIX_REGATTR_CREATE(m, n) (m) = PMIx_Regattr_create(n)
#define PMIX_REGATTR_FREE(m, n)                                                                    \
    do {                                                                                           \
        PMIx_Regattr_free((m), (n));                                                               \
        (m) = NULL;                                                                                \
    } while (0)

/* Note the order: the macro takes the number first, the function the dimensions. */
#define PMIX_COORD_CREATE(m, n, d) (m) = PMIx_Coord_create((d), (n))
#define PMIX_COORD_CONSTRUCT(m)    PMIx_Coord_construct(m)
#define PMIX_COORD_DESTRUCT(m)     PMIx_Coord_destruct(m)
#define PMIX_COORD_FREE(m, n)                                                                      \
    do {                                                                                           \
        PMIx_Coord_free((m), (n));                                                                 \
        (m) = NULL;                                                                                \
    } while (0)

#define PMIX_DATA_BUFFER_CONSTRUCT(m) PMIx_Data_buffer_construct(m)
#define PMIX_DATA_BUFFER_DESTRUCT(m)  PMIx_Data_buffer_destruct(m)
#define PMIX_DATA_BUFFER_CREATE(m)    (m) = PMIx_Data_buffer_create()
#define PMIX_DATA_BUFFER_RELEASE(m)                                                                \
    do {                                                                                           \
        PMIx_Data_buffer_release(m);                                                               \
        (m) = NULL;                                                                                \
    } while (0)
#define PMIX_DATA_BUFFER_LOAD(b, d, s)   PMIx_Data_buffer_load((b), (d), (s))
#define PMIX_DATA_BUFFER_UNLOAD(b, d, s) PMIx_Data_buffer_unload((b), (char **)&(d), (size_t *)&(s))

#define PMIX_DATA_ARRAY_INIT(m, t)         PMIx_Data_array_init((m), (t))
#define PMIX_DATA_ARRAY_CONSTRUCT(m, n, t) PMIx_Data_array_construct((m), (n), (t))
#define PMIX_DATA_ARRAY_DESTRUCT(m)        PMIx_Data_array_destruct(m)
#define PMIX_DATA_ARRAY_CREATE(m, n, t)    (m) = PMIx_Data_array_create((n), (t))
#define PMIX_DATA_ARRAY_FREE(m)                                                                    \
    do {                                                                                           \
        PMIx_Data_array_free(m);                                                                   \
        (m) = NULL;                                                                                \
    } while (0)

/* ---- Keys, namespaces and processes --------------------------------------------------------- */

#define PMIX_CHECK_KEY(a, b)       PMIx_Check_key((a)->key, (b))
#define PMIX_CHECK_RESERVED_KEY(a) PMIx_Check_reserved_key(a)
#define PMIX_LOAD_KEY(a, b)        PMIx_Load_key((a), (b))

#define PMIX_CHECK_NSPACE(a, b)   PMIx_Check_nspace((a), (b))
#define PMIX_NSPACE_INVALID(a)    PMIx_Nspace_invalid(a)
#define PMIX_LOAD_NSPACE(a, b)    PMIx_Load_nspace((a), (b))
#define PMIX_CHECK_RANK(a, b)     PMIx_Check_rank((a), (b))
#define PMIX_CHECK_PROCID(a, b)   PMIx_Check_procid((a), (b))
#define PMIX_PROCID_INVALID(a)    PMIx_Procid_invalid(a)
#define PMIX_LOAD_PROCID(a, b, c) PMIx_Load_procid((a), (b), (c))
#define PMIX_XFER_PROCID(a, b)    PMIx_Xfer_procid((a), (b))
#define PMIX_PROCID_XFER(a, b)    PMIX_XFER_PROCID((a), (b))
#define PMIX_PROC_LOAD(m, n, r)   PMIx_Proc_load((m), (n), (r))

#define PMIX_MULTICLUSTER_NSPACE_CONSTRUCT(t, c, n)                                                \
    PMIx_Multicluster_nspace_construct((t), (c), (n))
#define PMIX_MULTICLUSTER_NSPACE_PARSE(t, c, n) PMIx_Multicluster_nspace_parse((t), (c), (n))

/* ---- Values --------------------------------------------------------------------------------- */

#define PMIX_VALUE_LOAD(v, d, t)        PMIx_Value_load((v), (d), (t))
#define PMIX_VALUE_UNLOAD(r, k, d, s)   (r) = PMIx_Value_unload((k), (d), (s))
#define PMIX_VALUE_XFER_DIRECT(r, v, s) (r) = PMIx_Value_xfer((v), (s))
#define PMIX_VALUE_XFER(r, v, s)                                                                   \
    do {                                                                                           \
        if ((v) == NULL)                                                                           \
            (v) = PMIx_Value_create(1);                                                            \
        (r) = (v) == NULL ? PMIX_ERR_NOMEM : PMIx_Value_xfer((v), (s));                            \
    } while (0)
#define PMIX_CHECK_TRUE(a) (PMIX_BOOL_TRUE == PMIx_Value_true(a))
#define PMIX_CHECK_BOOL(a) (PMIX_NON_BOOL != PMIx_Value_true(a))

/* Moves: the source is NULL and 0 afterwards. */
#define PMIX_BYTE_OBJECT_LOAD(b, d, s)                                                             \
    do {                                                                                           \
        (b)->bytes = (char *)(d);                                                                  \
        (d) = NULL;                                                                                \
        (b)->size = (s);                                                                           \
        (s) = 0;                                                                                   \
    } while (0)
#define PMIX_ENVAR_LOAD(m, e, v, s) PMIx_Envar_load((m), (e), (v), (s))

/* ---- Infos ---------------------------------------------------------------------------------- */

#define PMIX_INFO_LOAD(i, k, d, t)   (void)PMIx_Info_load((i), (k), (d), (t))
#define PMIX_INFO_XFER(d, s)         (void)PMIx_Info_xfer((d), (s))
#define PMIX_INFO_TRUE(m)            (PMIX_BOOL_TRUE == PMIx_Info_true(m))
#define PMIX_INFO_REQUIRED(m)        PMIx_Info_required(m)
#define PMIX_INFO_OPTIONAL(m)        PMIx_Info_optional(m)
#define PMIX_INFO_PROCESSED(m)       PMIx_Info_processed(m)
#define PMIX_INFO_SET_END(m)         PMIx_Info_set_end(m)
#define PMIX_INFO_SET_QUALIFIER(i)   PMIx_Info_qualifier(i)
#define PMIX_INFO_SET_PERSISTENT(ii) PMIx_Info_persistent(ii)
#define PMIX_INFO_IS_REQUIRED(m)     PMIx_Info_is_required(m)
#define PMIX_INFO_IS_OPTIONAL(m)     PMIx_Info_is_optional(m)
#define PMIX_INFO_WAS_PROCESSED(m)   PMIx_Info_was_processed(m)
#define PMIX_INFO_IS_END(m)          PMIx_Info_is_end(m)
#define PMIX_INFO_IS_QUALIFIER(i)    PMIx_Info_is_qualifier(i)
#define PMIX_INFO_IS_PERSISTENT(ii)  PMIx_Info_is_persistent(ii)

#define PMIX_INFO_LIST_START(p)               (p) = PMIx_Info_list_start()
#define PMIX_INFO_LIST_ADD(r, p, a, v, t)     (r) = PMIx_Info_list_add((p), (a), (v), (t))
#define PMIX_INFO_LIST_PREPEND(r, p, a, v, t) (r) = PMIx_Info_list_prepend((p), (a), (v), (t))
#define PMIX_INFO_LIST_INSERT(r, p, i)        (r) = PMIx_Info_list_insert((p), (i))
#define PMIX_INFO_LIST_XFER(r, p, a)          (r) = PMIx_Info_list_xfer((p), (a))
#define PMIX_INFO_LIST_CONVERT(r, p, m)       (r) = PMIx_Info_list_convert((p), (m))
#define PMIX_INFO_LIST_RELEASE(p)             PMIx_Info_list_release(p)

/* Both wipe the target first. */
#define PMIX_PDATA_LOAD(m, p, k, v, t)                                                             \
    do {                                                                                           \
        memset((m), 0, sizeof(pmix_pdata_t));                                                      \
        PMIx_Load_procid(&(m)->proc, (p)->nspace, (p)->rank);                                      \
        PMIx_Load_key((m)->key, (k));                                                              \
        PMIx_Value_load(&((m)->value), (v), (t));                                                  \
    } while (0)
#define PMIX_PDATA_XFER(d, s)                                                                      \
    do {                                                                                           \
        memset((d), 0, sizeof(pmix_pdata_t));                                                      \
        PMIx_Load_procid(&(d)->proc, (s)->proc.nspace, (s)->proc.rank);                            \
        PMIx_Load_key((d)->key, (s)->key);                                                         \
        PMIx_Value_xfer(&((d)->value), &((s)->value));                                             \
    } while (0)

/* ---- Applications, queries, attributes ------------------------------------------------------ */

#define PMIX_APP_INFO_CREATE(m, n)         PMIx_App_info_create((m), (n))
#define PMIX_QUERY_QUALIFIERS_CREATE(m, n) PMIx_Query_qualifiers_create((m), (n))
#define PMIX_REGATTR_LOAD(a, n, k, t, v)   PMIx_Regattr_load((a), (n), (k), (t), (v))
#define PMIX_REGATTR_XFER(a, b)            PMIx_Regattr_xfer((a), (b))

/* ---- Argument vectors and the environment --------------------------------------------------- */

/* APPEND and PREPEND take the vector and add the &; APPEND_UNIQUE and SETENV take its address. */
#define PMIX_ARGV_APPEND(r, a, b)        (r) = PMIx_Argv_append_nosize(&(a), (b))
#define PMIX_ARGV_PREPEND(r, a, b)       (r) = PMIx_Argv_prepend_nosize(&(a), (b))
#define PMIX_ARGV_APPEND_UNIQUE(r, a, b) (r) = PMIx_Argv_append_unique_nosize((a), (b))
#define PMIX_ARGV_SPLIT(a, b, c)         (a) = PMIx_Argv_split((b), (c))
#define PMIX_ARGV_JOIN(a, b, c)          (a) = PMIx_Argv_join((b), (c))
#define PMIX_ARGV_COUNT(r, a)            (r) = PMIx_Argv_count(a)
#define PMIX_ARGV_COPY(a, b)             (a) = PMIx_Argv_copy(b)
#define PMIX_ARGV_FREE(a)                                                                          \
    do {                                                                                           \
        PMIx_Argv_free(a);                                                                         \
        (a) = NULL;                                                                                \
    } while (0)
#define PMIX_SETENV(r, a, b, c) (r) = PMIx_Setenv((a), (b), true, (c))

/* ---- Lower-case helpers of 4.2 -------------------------------------------------------------- */

/* They were functions inside the header, then macros: here they are both, so that their addresses
 * can be taken and #ifdef finds them. */
static inline pmix_status_t pmix_argv_append_nosize(char ***argv, const char *arg)
{
    return PMIx_Argv_append_nosize(argv, arg);
}

static inline pmix_status_t pmix_argv_prepend_nosize(char ***argv, const char *arg)
{
    return PMIx_Argv_prepend_nosize(argv, arg);
}

static inline pmix_status_t pmix_argv_append_unique_nosize(char ***argv, const char *arg)
{
    return PMIx_Argv_append_unique_nosize(argv, arg);
}

static inline void pmix_argv_free(char **argv)
{
    PMIx_Argv_free(argv);
}

static inline char **pmix_argv_split_inter(const char *src_string, int delimiter,
                                           bool include_empty)
{
    return PMIx_Argv_split_inter(src_string, delimiter, include_empty);
}

static inline char **pmix_argv_split(const char *src_string, int delimiter)
{
    return PMIx_Argv_split(src_string, delimiter);
}

static inline char **pmix_argv_split_with_empty(const char *src_string, int delimiter)
{
    return PMIx_Argv_split_with_empty(src_string, delimiter);
}

static inline int pmix_argv_count(char **argv)
{
    return PMIx_Argv_count(argv);
}

static inline char *pmix_argv_join(char **argv, int delimiter)
{
    return PMIx_Argv_join(argv, delimiter);
}

static inline char **pmix_argv_copy(char **argv)
{
    return PMIx_Argv_copy(argv);
}

static inline pmix_status_t pmix_setenv(const char *name, const char *value, bool overwrite,
                                        char ***env)
{
    return PMIx_Setenv(name, value, overwrite, env);
}

static inline pmix_boolean_t pmix_check_true(const pmix_value_t *value)
{
    return PMIx_Value_true(value);
}

static inline void pmix_pdata_free(pmix_pdata_t *pd, size_t n)
{
    PMIx_Pdata_free(pd, n);
}

static inline void pmix_app_free(pmix_app_t *ap, size_t n)
{
    PMIx_App_free(ap, n);
}

static inline void pmix_proc_stats_free(pmix_proc_stats_t *ps, size_t n)
{
    PMIx_Proc_stats_free(ps, n);
}

static inline void pmix_disk_stats_free(pmix_disk_stats_t *d, size_t n)
{
    PMIx_Disk_stats_free(d, n);
}

static inline void pmix_net_stats_free(pmix_net_stats_t *nst, size_t n)
{
    PMIx_Net_stats_free(nst, n);
}

static inline void pmix_node_stats_free(pmix_node_stats_t *nd, size_t n)
{
    PMIx_Node_stats_free(nd, n);
}

#define pmix_argv_append_nosize(a, b)        PMIx_Argv_append_nosize(a, b)
#define pmix_argv_prepend_nosize(a, b)       PMIx_Argv_prepend_nosize(a, b)
#define pmix_argv_append_unique_nosize(a, b) PMIx_Argv_append_unique_nosize(a, b)
#define pmix_argv_free(a)                    PMIx_Argv_free(a)
#define pmix_argv_split(a, b)                PMIx_Argv_split(a, b)
#define pmix_argv_split_with_empty(a, b)     PMIx_Argv_split_with_empty(a, b)
#define pmix_argv_count(a)                   PMIx_Argv_count(a)
#define pmix_argv_join(a, b)                 PMIx_Argv_join(a, b)
#define pmix_argv_copy(a)                    PMIx_Argv_copy(a)
#define pmix_setenv(a, b, c, d)              PMIx_Setenv(a, b, c, d)

#if defined(c_plusplus) || defined(__cplusplus)
}
#endif

#endif
