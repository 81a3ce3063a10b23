/* operations.h - the C types of the members in proto/operations.def and
 * proto/requests.def. */
#ifndef WIREUP_CORE_OPERATIONS_H
#define WIREUP_CORE_OPERATIONS_H

#define OPERATION_TYPE_JOB              uint32_t
#define OPERATION_TYPE_ID               uint32_t
#define OPERATION_TYPE_RANK             uint32_t
#define OPERATION_TYPE_PROC             uint32_t
#define OPERATION_TYPE_CONNECTION       uint32_t
#define OPERATION_TYPE_TICKET           uint64_t
#define OPERATION_TYPE_U64              uint64_t
#define OPERATION_TYPE_U32              uint32_t
#define OPERATION_TYPE_U16              uint16_t
#define OPERATION_TYPE_U8               uint8_t
#define OPERATION_TYPE_I64              int64_t
#define OPERATION_TYPE_INT              int
#define OPERATION_TYPE_BOOL             bool
#define OPERATION_TYPE_STATUS           enum answer_status
#define OPERATION_TYPE_PROC_EVENT       enum proc_event
#define OPERATION_TYPE_TEXT             struct slice
#define OPERATION_TYPE_WHY              struct slice
#define OPERATION_TYPE_SECRET           struct slice
#define OPERATION_TYPE_UINTS            struct part_uints
#define OPERATION_TYPE_INTS             struct part_ints
#define OPERATION_TYPE_TEXTS            struct part_texts
#define OPERATION_TYPE_COLL_ID          struct coll_id
#define OPERATION_TYPE_SPAWN            struct spawn_request *
#define OPERATION_TYPE_QUERY            struct nameservice_query *
#define OPERATION_TYPE_CONTRIBUTION     struct contribution *
#define OPERATION_TYPE_NAME_PERSISTENCE enum name_persistence
#define OPERATION_TYPE_NAME_ACCESS      struct name_access
#define OPERATION_TYPE_NAME_SCOPE       struct name_scope
#define OPERATION_TYPE_MEMBERS          const struct member *
#define OPERATION_TYPE_CARDS            const struct card *
#define OPERATION_TYPE_JOB_POINTER      struct job *

#endif
