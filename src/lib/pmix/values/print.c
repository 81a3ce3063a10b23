/* print.c - any PMIx item as readable text.
 *
 * Lines have OpenPMIx's format ("Data type: PMIX_INT<tab>Value: 5"), because people and scripts
 * look for that; items that it prints as an address or not at all are printed in full. The table at
 * the end has one printer per kind of type.
 */
#include "lib/pmix/values/print.h"

#include <inttypes.h>

#include "base/buf.h"
#include "lib/pmix/api/attributes.h"
#include "lib/pmix/api/constant_names.h"
#include "lib/pmix/values/value.h"

#define LOOK(ctype, at) (*(ctype const *)(const void *)(at))
#define OR_NULL(text)   ((text) != NULL ? (text) : "NULL")

typedef void printer(struct buf *out, const char *prefix, const void *item, pmix_data_type_t type);

static void print(struct buf *out, const char *prefix, const void *item, pmix_data_type_t type);

/* ---- Names of parts ------------------------------------------------------------------------- */

/* The name of a constant without the prefix of its group. */
static const char *short_name(const struct number_name *n, const char *head)
{
    size_t len = strlen(head);

    return strncmp(n->name, head, len) == 0 ? n->name + len : n->name;
}

static void rank_text(struct buf *out, pmix_rank_t rank, const char *head)
{
    const struct number_group *g = number_group(NUMBER_rank);

    for (size_t i = 0; i < g->count && !PMIX_RANK_IS_VALID(rank); i++)
        if (g->names[i].value == rank && strncmp(g->names[i].name, "PMIX_RANK", 9) == 0 &&
            rank != PMIX_RANK_VALID) {
            buf_str(out, short_name(&g->names[i], head));
            return;
        }
    buf_u64(out, rank);
}

static void proc_text(struct buf *out, const pmix_proc_t *proc)
{
    buf_put(out, proc->nspace, pmix_nslen(proc->nspace));
    buf_byte(out, ':');
    rank_text(out, proc->rank, "PMIX_RANK_");
}

/* The bits of a mask by their names. */
static void mask_text(struct buf *out, enum number_group_id id, const char *head, uint64_t mask)
{
    const struct number_group *g = number_group(id);
    const char *gap = "";

    for (size_t i = 0; i < g->count; i++) {
        uint64_t v = g->names[i].value;
        bool bit = v != 0 && (v & (v - 1)) == 0;
        if ((bit && (mask & v) != 0) || (v == 0 && mask == 0)) {
            buf_printf(out, "%s%s", gap, short_name(&g->names[i], head));
            gap = ":";
        }
    }
}

static void time_text(struct buf *out, time_t when)
{
    struct tm tm;
    char text[64];

    if (localtime_r(&when, &tm) != NULL && strftime(text, sizeof text, "%a %b %e %T %Y", &tm) > 0)
        buf_str(out, text);
    else
        buf_i64(out, when);
}

/* ---- Flat types ----------------------------------------------------------------------------- */

/* The label of most numbers; NUMBER_GROUPS: plain numbers. */
static const struct named {
    uint8_t group;
    bool mask;
    const char *head;
} named[PTYPE_NUMBERS] = {
    [PMIX_SCOPE] = { NUMBER_scope, false, NULL },
    [PMIX_DATA_RANGE] = { NUMBER_data_range, false, NULL },
    [PMIX_PROC_STATE] = { NUMBER_proc_state, false, NULL },
    [PMIX_JOB_STATE] = { NUMBER_job_state, false, NULL },
    [PMIX_LINK_STATE] = { NUMBER_link_state, false, NULL },
    [PMIX_ALLOC_DIRECTIVE] = { NUMBER_alloc_directive, false, NULL },
    [PMIX_RESBLOCK_DIRECTIVE] = { NUMBER_resource_block, false, NULL },
    [PMIX_LOCTYPE] = { NUMBER_locality, true, "PMIX_LOCALITY_SHARE_" },
    [PMIX_DEVTYPE] = { NUMBER_device_type, true, "PMIX_DEVTYPE_" },
    [PMIX_STOR_MEDIUM] = { NUMBER_storage_medium, true, "PMIX_STORAGE_MEDIUM_" },
    [PMIX_STOR_ACCESS] = { NUMBER_storage_accessibility, true, "PMIX_STORAGE_ACCESSIBILITY_" },
    [PMIX_STOR_PERSIST] = { NUMBER_storage_persistence, true, "PMIX_STORAGE_PERSISTENCE_" },
    [PMIX_STOR_ACCESS_TYPE] = { NUMBER_storage_access_type, true, "PMIX_STORAGE_ACCESS_" },
};

static uint64_t unsigned_of(const void *item, size_t size)
{
    return size == 1   ? LOOK(uint8_t, item)
           : size == 2 ? LOOK(uint16_t, item)
           : size == 4 ? LOOK(uint32_t, item)
                       : LOOK(uint64_t, item);
}

static int64_t signed_of(const void *item, size_t size)
{
    return size == 1   ? LOOK(int8_t, item)
           : size == 2 ? LOOK(int16_t, item)
           : size == 4 ? LOOK(int32_t, item)
                       : LOOK(int64_t, item);
}

static void head(struct buf *out, const char *prefix, pmix_data_type_t type)
{
    buf_printf(out, "%sData type: %s\t", prefix, PMIx_Data_type_string(type));
}

static void print_signed(struct buf *out, const char *prefix, const void *item,
                         pmix_data_type_t type)
{
    head(out, prefix, type);
    buf_printf(out, "Value: %" PRId64, signed_of(item, ptype_find(type)->size));
}

static void print_unsigned(struct buf *out, const char *prefix, const void *item,
                           pmix_data_type_t type)
{
    head(out, prefix, type);
    buf_printf(out, "Value: %" PRIu64, unsigned_of(item, ptype_find(type)->size));
}

static void print_named(struct buf *out, const char *prefix, const void *item,
                        pmix_data_type_t type)
{
    const struct named *n = &named[type];
    uint64_t v = unsigned_of(item, ptype_find(type)->size);

    head(out, prefix, type);
    buf_str(out, "Value: ");
    if (n->mask)
        mask_text(out, (enum number_group_id)n->group, n->head, v);
    else
        buf_str(out, number_text((enum number_group_id)n->group, v));
}

static void print_bool(struct buf *out, const char *prefix, const void *item, pmix_data_type_t type)
{
    head(out, prefix, type);
    buf_printf(out, "Value: %s", LOOK(bool, item) ? "TRUE" : "FALSE");
}

static void print_real(struct buf *out, const char *prefix, const void *item, pmix_data_type_t type)
{
    head(out, prefix, type);
    buf_printf(out, "Value: %f",
               type == PMIX_FLOAT ? (double)LOOK(float, item) : LOOK(double, item));
}

static void print_time(struct buf *out, const char *prefix, const void *item, pmix_data_type_t type)
{
    const struct timeval *tv = item;

    head(out, prefix, type);
    buf_str(out, "Value: ");
    if (type == PMIX_TIMEVAL)
        buf_printf(out, "%lld.%06ld", (long long)tv->tv_sec, (long)tv->tv_usec);
    else
        time_text(out, LOOK(time_t, item));
}

static void print_status(struct buf *out, const char *prefix, const void *item,
                         pmix_data_type_t type)
{
    head(out, prefix, type);
    buf_printf(out, "Value: %s", PMIx_Error_string(LOOK(pmix_status_t, item)));
}

static void print_type(struct buf *out, const char *prefix, const void *item, pmix_data_type_t type)
{
    head(out, prefix, type);
    buf_printf(out, "Value: %s", PMIx_Data_type_string(LOOK(pmix_data_type_t, item)));
}

static void print_channel(struct buf *out, const char *prefix, const void *item,
                          pmix_data_type_t type)
{
    head(out, prefix, type);
    buf_printf(out, "Value: %s", PMIx_IOF_channel_string(LOOK(pmix_iof_channel_t, item)));
}

static void print_directives(struct buf *out, const char *prefix, const void *item,
                             pmix_data_type_t type)
{
    char *text = PMIx_Info_directives_string(LOOK(pmix_info_directives_t, item));

    head(out, prefix, type);
    buf_printf(out, "Value: %s", OR_NULL(text));
    free(text);
}

static void print_rank(struct buf *out, const char *prefix, const void *item, pmix_data_type_t type)
{
    head(out, prefix, type);
    buf_str(out, "Value: ");
    rank_text(out, LOOK(pmix_rank_t, item), "");
}

static void print_pointer(struct buf *out, const char *prefix, const void *item,
                          pmix_data_type_t type)
{
    head(out, prefix, type);
    buf_printf(out, "Address: %p", LOOK(void *, item));
}

/* ---- Texts and bytes ------------------------------------------------------------------------ */

static void print_text(struct buf *out, const char *prefix, const void *item, pmix_data_type_t type)
{
    head(out, prefix, type);
    buf_printf(out, "Value: %s", (const char *)item);
}

/* Of a compressed one only the head can be shown. */
static void print_regex(struct buf *out, const char *prefix, const void *item,
                        pmix_data_type_t type)
{
    head(out, prefix, type);
    buf_printf(out, "Name: %s", OR_NULL(LOOK(char *, item)));
}

static void print_bytes(struct buf *out, const char *prefix, const void *item,
                        pmix_data_type_t type)
{
    head(out, prefix, type);
    buf_printf(out, "Size: %zu", ((const pmix_byte_object_t *)item)->size);
}

static void print_buffer(struct buf *out, const char *prefix, const void *item,
                         pmix_data_type_t type)
{
    buf_printf(out, "%s%s NumBytesUsed: %zu", prefix, PMIx_Data_type_string(type),
               ((const pmix_data_buffer_t *)item)->bytes_used);
}

static void print_envar(struct buf *out, const char *prefix, const void *item,
                        pmix_data_type_t type)
{
    const pmix_envar_t *e = item;

    head(out, prefix, type);
    buf_printf(out, "Name: %s\tValue: %s\tSeparator: ", OR_NULL(e->envar), OR_NULL(e->value));
    if (e->separator != '\0')
        buf_byte(out, e->separator);
}

/* ---- Structures ----------------------------------------------------------------------------- */

static void print_proc(struct buf *out, const char *prefix, const void *item, pmix_data_type_t type)
{
    (void)type;
    buf_printf(out, "%sPROC: ", prefix);
    proc_text(out, item);
}

static void print_proc_info(struct buf *out, const char *prefix, const void *item,
                            pmix_data_type_t type)
{
    const pmix_proc_info_t *p = item;

    head(out, prefix, type);
    buf_printf(out, "Value:\n%s\tPROC: ", prefix);
    proc_text(out, &p->proc);
    buf_printf(out, "\n%s\tHostname: %s\tExecutable: %s\n%s\tPid: %ld\tExit code: %d\tState: %s",
               prefix, OR_NULL(p->hostname), OR_NULL(p->executable_name), prefix, (long)p->pid,
               p->exit_code, PMIx_Proc_state_string(p->state));
}

/* The content of a value, by its type. */
static void print_value(struct buf *out, const char *prefix, const void *item,
                        pmix_data_type_t type)
{
    const pmix_value_t *v = item;
    enum shape shape = value_shape(v->type);
    const void *data = &v->data;

    buf_printf(out, "%s%s: ", prefix, PMIx_Data_type_string(type));
    if (v->type == PMIX_UNDEF) {
        buf_str(out, " Data type: PMIX_UNDEF");
        return;
    }
    if (shape == SHAPE_STRING || shape == SHAPE_HEAP)
        data = v->data.ptr;
    if (shape == SHAPE_NONE)
        buf_printf(out, " Data type: %s(%u)\tValue: UNPRINTABLE", PMIx_Data_type_string(v->type),
                   v->type);
    else if (data == NULL)
        buf_printf(out, " Data type: %s\tValue: NULL", PMIx_Data_type_string(v->type));
    else
        print(out, " ", data, v->type);
}

static void print_info(struct buf *out, const char *prefix, const void *item, pmix_data_type_t type)
{
    const pmix_info_t *info = item;
    const struct attribute *a = attribute_by_text(info->key);

    (void)type;
    buf_printf(out, "%sKEY: %.*s\n%s\t", prefix, PMIX_MAX_KEYLEN, a != NULL ? a->name : info->key,
               prefix);
    print_directives(out, prefix, &info->flags, PMIX_INFO_DIRECTIVES);
    buf_printf(out, "\n%s\t", prefix);
    print_value(out, prefix, &info->value, PMIX_VALUE);
}

static void print_pdata(struct buf *out, const char *prefix, const void *item,
                        pmix_data_type_t type)
{
    const pmix_pdata_t *p = item;

    (void)type;
    buf_printf(out, "%s  ", prefix);
    print_proc(out, prefix, &p->proc, PMIX_PROC);
    buf_printf(out, "  KEY: %.*s ", PMIX_MAX_KEYLEN, p->key);
    print_value(out, prefix, &p->value, PMIX_VALUE);
}

/* n elements, each on lines of its own. */
static void print_elements(struct buf *out, const char *prefix, const void *items, size_t n,
                           pmix_data_type_t type)
{
    const struct ptype *t = ptype_find(type);
    const char *at = items;

    for (size_t i = 0; i < n && t != NULL && items != NULL && buf_ok(out); i++, at += t->size) {
        const void *item = type == PMIX_STRING ? LOOK(char *, at) : (const void *)at;
        buf_byte(out, '\n');
        if (item == NULL)
            buf_printf(out, "%sData type: PMIX_STRING\tValue: NULL", prefix);
        else
            print(out, prefix, item, type);
    }
}

/* The prefix of a nested item; callers' names are short, and so is any readable nesting. */
enum { PREFIX_MAX = 256 };

static const char *deeper(char *place, const char *prefix, const char *by)
{
    snprintf(place, PREFIX_MAX, "%s%s", prefix, by);
    return place;
}

static void print_array(struct buf *out, const char *prefix, const void *item,
                        pmix_data_type_t type)
{
    const pmix_data_array_t *a = item;
    char place[PREFIX_MAX];

    head(out, prefix, type);
    buf_printf(out, "Type: %s\tSize: %zu", PMIx_Data_type_string(a->type), a->size);
    print_elements(out, deeper(place, prefix, prefix), a->array, a->size, a->type);
}

static void print_query(struct buf *out, const char *prefix, const void *item,
                        pmix_data_type_t type)
{
    const pmix_query_t *q = item;
    char place[PREFIX_MAX];

    head(out, prefix, type);
    buf_str(out, "Value:");
    for (char **key = q->keys; key != NULL && *key != NULL; key++)
        buf_printf(out, "\n%s\tKey: %s", prefix, *key);
    print_elements(out, deeper(place, prefix, "\t"), q->qualifiers, q->nqual, PMIX_INFO);
}

static void argv_line(struct buf *out, const char *prefix, const char *name, char *const *argv)
{
    buf_printf(out, "\n%s%s:", prefix, name);
    for (; argv != NULL && *argv != NULL; argv++)
        buf_printf(out, " %s", *argv);
}

static void print_app(struct buf *out, const char *prefix, const void *item, pmix_data_type_t type)
{
    const pmix_app_t *app = item;
    char place[PREFIX_MAX];

    (void)type;
    buf_printf(out, "%sCMD: %s", prefix, OR_NULL(app->cmd));
    argv_line(out, prefix, "ARGV", app->argv);
    argv_line(out, prefix, "ENV", app->env);
    buf_printf(out, "\n%sCWD: %s\n%sMAXPROCS: %d\n%sINFO: %zu", prefix, OR_NULL(app->cwd), prefix,
               app->maxprocs, prefix, app->ninfo);
    print_elements(out, deeper(place, prefix, "\t"), app->info, app->ninfo, PMIX_INFO);
}

static void print_coord(struct buf *out, const char *prefix, const void *item,
                        pmix_data_type_t type)
{
    static const char *const views[] = { "UNDEF", "LOGICAL", "PHYSICAL" };
    const pmix_coord_t *c = item;

    head(out, prefix, type);
    buf_printf(out, "View: %s\tDims: %zu", c->view < 3 ? views[c->view] : "UNKNOWN", c->dims);
    for (size_t i = 0; i < c->dims && c->coord != NULL; i++)
        buf_printf(out, "%s%" PRIu32, i == 0 ? "\tCoord: " : ",", c->coord[i]);
}

static void print_regattr(struct buf *out, const char *prefix, const void *item,
                          pmix_data_type_t type)
{
    const pmix_regattr_t *r = item;

    head(out, prefix, type);
    buf_printf(out, "Name: %s\tString: %.*s\tType: %s", OR_NULL(r->name), PMIX_MAX_KEYLEN,
               r->string[0] != '\0' ? r->string : "NULL", PMIx_Data_type_string(r->type));
    for (char **line = r->description; line != NULL && *line != NULL; line++)
        buf_printf(out, "\n%s\t%s", prefix, *line);
}

static void print_geometry(struct buf *out, const char *prefix, const void *item,
                           pmix_data_type_t type)
{
    const pmix_geometry_t *g = item;

    head(out, prefix, type);
    buf_printf(out, "Value: Fabric: %zu UUID: %s OSName: %s", g->fabric, OR_NULL(g->uuid),
               OR_NULL(g->osname));
    print_elements(out, prefix, g->coordinates, g->ncoords, PMIX_COORD);
}

static void print_distance(struct buf *out, const char *prefix, const void *item,
                           pmix_data_type_t type)
{
    const pmix_device_distance_t *d = item;

    head(out, prefix, type);
    buf_printf(out, "Value: UUID: %s OSName: %s Type: %s Min: %u Max: %u", OR_NULL(d->uuid),
               OR_NULL(d->osname), PMIx_Device_type_string(d->type), d->mindist, d->maxdist);
}

static void print_device(struct buf *out, const char *prefix, const void *item,
                         pmix_data_type_t type)
{
    const pmix_device_t *d = item;

    head(out, prefix, type);
    buf_printf(out, "Value: UUID: %s OSName: %s Type: %s", OR_NULL(d->uuid), OR_NULL(d->osname),
               PMIx_Device_type_string(d->type));
}

static void print_endpoint(struct buf *out, const char *prefix, const void *item,
                           pmix_data_type_t type)
{
    const pmix_endpoint_t *e = item;

    head(out, prefix, type);
    buf_printf(out, "Value: %s(%s) #bytes: %zu", OR_NULL(e->uuid), OR_NULL(e->osname),
               e->endpt.size);
}

static void print_unit(struct buf *out, const char *prefix, const void *item, pmix_data_type_t type)
{
    const pmix_resource_unit_t *u = item;

    (void)type;
    buf_printf(out, "%sTYPE: %s  COUNT: %zu", prefix, PMIx_Device_type_string(u->type), u->count);
}

static void print_node_pid(struct buf *out, const char *prefix, const void *item,
                           pmix_data_type_t type)
{
    const pmix_node_pid_t *n = item;

    head(out, prefix, type);
    buf_printf(out, "Host: %s\tNode: %" PRIu32 "\tPid: %ld", OR_NULL(n->hostname), n->nodeid,
               (long)n->pid);
}

static void print_cpuset(struct buf *out, const char *prefix, const void *item,
                         pmix_data_type_t type)
{
    const struct ptype_foreign *foreign = foreign_objects();
    char *text = NULL;

    if (foreign == NULL || foreign->cpuset_text(item, &text) != 0)
        text = NULL;
    head(out, prefix, type);
    buf_printf(out, "Value: %s", OR_NULL(text));
    free(text);
}

static void print_topology(struct buf *out, const char *prefix, const void *item,
                           pmix_data_type_t type)
{
    head(out, prefix, type);
    buf_printf(out, "Source: %s", OR_NULL(((const pmix_topology_t *)item)->source));
}

/* Statistics: every member by its name, from the descriptor. */
static void print_members(struct buf *out, const char *prefix, const char *line,
                          const void *numbers, const char *const *names, size_t n)
{
    const uint64_t *at = numbers;

    for (size_t i = 0; i < n; i++)
        buf_printf(out, "%s%s%s: %" PRIu64, i % 3 == 0 ? line : "", i % 3 == 0 ? prefix : " ",
                   names[i], at[i]);
}

static void print_disk_stats(struct buf *out, const char *prefix, const void *item,
                             pmix_data_type_t type)
{
    static const char *const names[] = {
        "NumReadsCompleted",  "NumReadsMerged",  "NumSectorsRead",      "MillisecReading",
        "NumWritesCompleted", "NumWritesMerged", "NumSectorsWrote",     "MillisecWriting",
        "NumIOsInProgress",   "MillisecondsIO",  "WeightedMillisecsIO",
    };
    const pmix_disk_stats_t *d = item;

    buf_printf(out, "%s%s Disk: %s", prefix, PMIx_Data_type_string(type), OR_NULL(d->disk));
    print_members(out, prefix, "\n", &d->num_reads_completed, names, sizeof names / sizeof *names);
}

static void print_net_stats(struct buf *out, const char *prefix, const void *item,
                            pmix_data_type_t type)
{
    static const char *const names[] = {
        "NumBytesRecvd", "NumPacketsRecv", "NumRecvErrors",
        "NumBytesSent",  "NumPacketsSent", "NumSendErrors",
    };
    const pmix_net_stats_t *n = item;

    buf_printf(out, "%s%s Interface: %s", prefix, PMIx_Data_type_string(type),
               OR_NULL(n->net_interface));
    print_members(out, prefix, "\n", &n->num_bytes_recvd, names, sizeof names / sizeof *names);
}

static void print_proc_stats(struct buf *out, const char *prefix, const void *item,
                             pmix_data_type_t type)
{
    const pmix_proc_stats_t *p = item;

    buf_printf(out, "%s%s SAMPLED AT: %lld.%06ld\n%snode: %s proc: ", prefix,
               PMIx_Data_type_string(type), (long long)p->sample_time.tv_sec,
               (long)p->sample_time.tv_usec, prefix, OR_NULL(p->node));
    proc_text(out, &p->proc);
    buf_printf(out, " pid: %ld cmd: %s state: %c pri: %d #threads: %u Processor: %u\n%s\t",
               (long)p->pid, OR_NULL(p->cmd), p->state != '\0' ? p->state : '-', (int)p->priority,
               p->num_threads, p->processor, prefix);
    buf_printf(out,
               "time: %lld.%06ld cpu: %.2f  PSS: %.2f  VMsize: %.2f PeakVMSize: %.2f RSS: %.2f",
               (long long)p->time.tv_sec, (long)p->time.tv_usec, (double)p->percent_cpu,
               (double)p->pss, (double)p->vsize, (double)p->peak_vsize, (double)p->rss);
}

static void print_node_stats(struct buf *out, const char *prefix, const void *item,
                             pmix_data_type_t type)
{
    const pmix_node_stats_t *n = item;

    buf_printf(out, "%s%s SAMPLED AT: %lld.%06ld\tNode: %s\n", prefix, PMIx_Data_type_string(type),
               (long long)n->sample_time.tv_sec, (long)n->sample_time.tv_usec, OR_NULL(n->node));
    buf_printf(out, "%sTotal Mem: %.2f Free Mem: %.2f Buffers: %.2f Cached: %.2f\n", prefix,
               (double)n->total_mem, (double)n->free_mem, (double)n->buffers, (double)n->cached);
    buf_printf(out, "%sSwapCached: %.2f SwapTotal: %.2f SwapFree: %.2f Mapped: %.2f\n", prefix,
               (double)n->swap_cached, (double)n->swap_total, (double)n->swap_free,
               (double)n->mapped);
    buf_printf(out, "%s\tla: %.2f\tla5: %.2f\tla15: %.2f", prefix, (double)n->la, (double)n->la5,
               (double)n->la15);
    print_elements(out, prefix, n->diskstats, n->ndiskstats, PMIX_DISK_STATS);
    print_elements(out, prefix, n->netstats, n->nnetstats, PMIX_NET_STATS);
}

/* ---- The table ------------------------------------------------------------------------------ */

static printer *const printers[PTYPE_NUMBERS] = {
    [PMIX_BOOL] = print_bool,
    [PMIX_BYTE] = print_unsigned,
    [PMIX_STRING] = print_text,
    [PMIX_SIZE] = print_unsigned,
    [PMIX_PID] = print_signed,
    [PMIX_INT] = print_signed,
    [PMIX_INT8] = print_signed,
    [PMIX_INT16] = print_signed,
    [PMIX_INT32] = print_signed,
    [PMIX_INT64] = print_signed,
    [PMIX_UINT] = print_unsigned,
    [PMIX_UINT8] = print_unsigned,
    [PMIX_UINT16] = print_unsigned,
    [PMIX_UINT32] = print_unsigned,
    [PMIX_UINT64] = print_unsigned,
    [PMIX_FLOAT] = print_real,
    [PMIX_DOUBLE] = print_real,
    [PMIX_TIMEVAL] = print_time,
    [PMIX_TIME] = print_time,
    [PMIX_STATUS] = print_status,
    [PMIX_VALUE] = print_value,
    [PMIX_PROC] = print_proc,
    [PMIX_APP] = print_app,
    [PMIX_INFO] = print_info,
    [PMIX_PDATA] = print_pdata,
    [PMIX_BYTE_OBJECT] = print_bytes,
    [PMIX_PERSIST] = print_unsigned,
    [PMIX_POINTER] = print_pointer,
    [PMIX_SCOPE] = print_named,
    [PMIX_DATA_RANGE] = print_named,
    [PMIX_COMMAND] = print_unsigned,
    [PMIX_INFO_DIRECTIVES] = print_directives,
    [PMIX_DATA_TYPE] = print_type,
    [PMIX_PROC_STATE] = print_named,
    [PMIX_PROC_INFO] = print_proc_info,
    [PMIX_DATA_ARRAY] = print_array,
    [PMIX_PROC_RANK] = print_rank,
    [PMIX_QUERY] = print_query,
    [PMIX_COMPRESSED_STRING] = print_bytes,
    [PMIX_ALLOC_DIRECTIVE] = print_named,
    [PMIX_IOF_CHANNEL] = print_channel,
    [PMIX_ENVAR] = print_envar,
    [PMIX_COORD] = print_coord,
    [PMIX_REGATTR] = print_regattr,
    [PMIX_REGEX] = print_regex,
    [PMIX_JOB_STATE] = print_named,
    [PMIX_LINK_STATE] = print_named,
    [PMIX_PROC_CPUSET] = print_cpuset,
    [PMIX_GEOMETRY] = print_geometry,
    [PMIX_DEVICE_DIST] = print_distance,
    [PMIX_ENDPOINT] = print_endpoint,
    [PMIX_TOPO] = print_topology,
    [PMIX_DEVTYPE] = print_named,
    [PMIX_LOCTYPE] = print_named,
    [PMIX_COMPRESSED_BYTE_OBJECT] = print_bytes,
    [PMIX_PROC_NSPACE] = print_text,
    [PMIX_PROC_STATS] = print_proc_stats,
    [PMIX_DISK_STATS] = print_disk_stats,
    [PMIX_NET_STATS] = print_net_stats,
    [PMIX_NODE_STATS] = print_node_stats,
    [PMIX_DATA_BUFFER] = print_buffer,
    [PMIX_STOR_MEDIUM] = print_named,
    [PMIX_STOR_ACCESS] = print_named,
    [PMIX_STOR_PERSIST] = print_named,
    [PMIX_STOR_ACCESS_TYPE] = print_named,
    [PMIX_DEVICE] = print_device,
    [PMIX_RESBLOCK_DIRECTIVE] = print_named,
    [PMIX_RESOURCE_UNIT] = print_unit,
    [PMIX_NODE_PID] = print_node_pid,
};

static void print(struct buf *out, const char *prefix, const void *item, pmix_data_type_t type)
{
    if (type < PTYPE_NUMBERS && printers[type] != NULL)
        printers[type](out, prefix, item, type);
    else
        buf_printf(out, "%sData type: %s(%u)\tValue: UNPRINTABLE", prefix,
                   PMIx_Data_type_string(type), type);
}

/* The longest text of one item. */
#define TEXT_MAX ((size_t)1 << 30)

pmix_status_t print_item(const char *prefix, const void *item, pmix_data_type_t type, char **text_p)
{
    struct buf out = BUF_NULL(TEXT_MAX);

    if (type >= PTYPE_NUMBERS || printers[type] == NULL)
        return PMIX_ERR_UNKNOWN_DATA_TYPE;
    if (item == NULL)
        return PMIX_ERR_BAD_PARAM;
    print(&out, prefix != NULL ? prefix : " ", item, type);
    *text_p = buf_steal(&out, NULL);
    buf_free(&out);
    return *text_p != NULL ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
}

static char *text_of(const char *prefix, const void *item, pmix_data_type_t type)
{
    char *text = NULL;

    return print_item(prefix, item, type, &text) == PMIX_SUCCESS ? text : NULL;
}

char *PMIx_Value_string(const pmix_value_t *value)
{
    return text_of(NULL, value, PMIX_VALUE);
}

char *PMIx_Info_string(const pmix_info_t *info)
{
    return text_of(NULL, info, PMIX_INFO);
}

char *PMIx_App_string(const pmix_app_t *app)
{
    return text_of("", app, PMIX_APP);
}

char *PMIx_Resource_unit_string(const pmix_resource_unit_t *unit)
{
    return text_of("", unit, PMIX_RESOURCE_UNIT);
}

char *PMIx_Proc_string(const pmix_proc_t *proc)
{
    struct buf out = BUF_NULL(TEXT_MAX);
    char *text;

    if (proc == NULL)
        return NULL;
    proc_text(&out, proc);
    text = buf_steal(&out, NULL);
    buf_free(&out);
    return text;
}
