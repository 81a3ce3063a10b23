/* pmix_query_test.c - queries without a socket: who sees which jobs, and what nodes tell. */
#include <arpa/inet.h>

#include "core/usage.h"
#include "server/node_part.h"
#include "server/pmix_usage.h"
#include "server/pmix_value.h"
#include "tests/pmix_bytes.h"
#include "tests/world.h"
#include "wire/pmix_message.h"

enum { HEADER = 16, QUERY = 15, TAG = 0x66, PID = 4711 };

/* A process of the first job says hello. */
static void enter(struct world *w, uint32_t rank)
{
    char text[256];
    struct peer *p = w->jobs[0].peers[rank];

    snprintf(text, sizeof text,
             "ffffffff ffffffff 00000000 00000000 'native' 00000000 00 'job_0' 000000%02x"
             "'5.0.11' 'v41' 01 'hash'",
             rank);
    world_write(w, p, pmix_bytes(text));
    buf_take(&p->out, buf_len(&p->out));
}

/* It asks for one key, about a job; NULL: about its own. */
static void ask(struct world *w, uint32_t rank, const char *key, const char *nspace)
{
    pmix_info_t about = { .value = { .type = PMIX_STRING } };
    char *keys[] = { (char *)(uintptr_t)key, NULL };
    pmix_query_t query = { .keys = keys, .qualifiers = &about, .nqual = nspace ? 1 : 0 };
    struct pmsg_query m = { .queries = { 1, &query } };
    struct buf body = BUF_NULL(4096);
    uint32_t words[4] = { 0, htonl(TAG), 0, 0 };
    char all[4096];
    struct ppack wr;

    strcpy(about.key, PMIX_NSPACE);
    about.value.data.string = (char *)(uintptr_t)nspace;
    ppack_init(&wr, &body, &ptype_own);
    buf_byte(&body, 2);
    buf_byte(&body, QUERY);
    pmsg_write_query(&wr, 0, &m);
    words[2] = htonl((uint32_t)buf_len(&body));
    memcpy(all, words, HEADER);
    memcpy(all + HEADER, buf_slice(&body).ptr, buf_len(&body));
    world_write(w, w->jobs[0].peers[rank], slice_mem(all, HEADER + buf_len(&body)));
    buf_free(&body);
}

/* The reply, to be freed; false: there is none. */
static bool reply(struct world *w, uint32_t rank, struct pmsg_status_infos *m)
{
    struct buf *out = &w->jobs[0].peers[rank]->out;
    struct slice s = buf_slice(out);
    struct punpack r;
    bool good;

    memset(m, 0, sizeof *m);
    if (s.len < HEADER)
        return false;
    punpack_init(&r, slice_skip(s, HEADER), &ptype_own);
    good = pmsg_read_status_infos(&r, PMSG_RELEASE(5, 0, 11), m) == PTYPE_FINE ||
           m->status != PMIX_SUCCESS;
    buf_take(out, s.len);
    return good;
}

static pmix_status_t status_of(struct world *w, uint32_t rank)
{
    struct pmsg_status_infos m;
    bool came = reply(w, rank, &m);
    pmix_status_t status = m.status;

    pmsg_free_status_infos(&m, NULL);
    return came ? status : 1;
}

static bool has_text(struct world *w, uint32_t rank, const char *text)
{
    struct pmsg_status_infos m;
    bool is = reply(w, rank, &m) && m.infos.n == 1 && m.infos.items[0].value.type == PMIX_STRING &&
              !strcmp(m.infos.items[0].value.data.string, text);

    pmsg_free_status_infos(&m, NULL);
    return is;
}

/* A process that has become another user sees its own job alone. */
static void test_rights(void)
{
    static const char *const keys[] = { PMIX_QUERY_NAMESPACE_INFO,
                                        PMIX_QUERY_JOB_STATUS,
                                        PMIX_QUERY_PROC_TABLE,
                                        PMIX_QUERY_LOCAL_PROC_TABLE,
                                        PMIX_QUERY_RESOLVE_PEERS,
                                        PMIX_QUERY_RESOLVE_NODE,
                                        PMIX_JOB_SIZE };
    struct world w;

    world_open(&w, 2, 1);
    world_job(&w, 2, 1, JOB_NO_RANK);
    enter(&w, 0);
    enter(&w, 1);
    server_deliver(&w.server, INPUT(rights_lost, .connection = w.jobs[0].peers[1]->id));
    ask(&w, 0, PMIX_QUERY_NAMESPACES, NULL);
    OK(has_text(&w, 0, "job_0,job_1"));
    ask(&w, 1, PMIX_QUERY_NAMESPACES, NULL);
    OK(has_text(&w, 1, "job_0"));
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        ask(&w, 0, keys[i], "job_1");
        EQ(status_of(&w, 0), PMIX_SUCCESS);
        ask(&w, 1, keys[i], "job_1");
        EQ(status_of(&w, 1), PMIX_ERR_NOT_FOUND);
        ask(&w, 1, keys[i], "job_0");
        EQ(status_of(&w, 1), PMIX_SUCCESS);
    }
    world_close(&w);
}

static bool is_authorized(struct world *w, uint32_t rank, const char *call)
{
    struct pmsg_status_infos m;
    const pmix_data_array_t *a;
    bool is = false;

    ask(w, rank, PMIX_QUERY_AUTHORIZATIONS, NULL);
    if (reply(w, rank, &m) && m.infos.n == 1 && m.infos.items[0].value.type == PMIX_DATA_ARRAY) {
        a = m.infos.items[0].value.data.darray;
        for (size_t i = 0; a->type == PMIX_STRING && i < a->size; i++)
            is = is || !strcmp(((char **)a->array)[i], call);
    }
    pmsg_free_status_infos(&m, NULL);
    return is;
}

static void test_authorizations(void)
{
    struct world w;

    world_open(&w, 2, 1);
    enter(&w, 0);
    enter(&w, 1);
    server_deliver(&w.server, INPUT(rights_lost, .connection = w.jobs[0].peers[1]->id));
    OK_F(is_authorized(&w, 0, "PMIx_Spawn") && is_authorized(&w, 0, "PMIx_Fence"),
         "a process of the user may spawn");
    OK_F(!is_authorized(&w, 1, "PMIx_Spawn") && !is_authorized(&w, 1, "PMIx_Job_control") &&
             is_authorized(&w, 1, "PMIx_Fence"),
         "one that is another user now may not, but takes part in its job");
    OK_F(!is_authorized(&w, 0, "PMIx_Resource_block"), "nobody may call what is refused");
    world_close(&w);
}

/* Nor does a client of a host of another user see more, whom that host has let in. */
static void test_owner(void)
{
    struct world w;

    world_open(&w, 2, 1);
    world_job(&w, 2, 1, JOB_NO_RANK);
    enter(&w, 0);
    server_deliver(&w.server, INPUT(owner, .connection = w.jobs[0].peers[0]->id,
                                    .uid = w.server.core.uid + 1, .gid = w.server.core.gid));
    ask(&w, 0, PMIX_QUERY_NAMESPACES, NULL);
    OK(has_text(&w, 0, "job_0"));
    ask(&w, 0, PMIX_QUERY_JOB_STATUS, "job_1");
    EQ(status_of(&w, 0), PMIX_ERR_NOT_FOUND);
    world_close(&w);
}

/* ---- what nodes tell ------------------------------------------------------------------------- */

static int proc_of(int pid, struct proc_usage *u)
{
    *u = (struct proc_usage){ .unshared = (uint64_t)pid * 1000000, .state = "S" };
    return 0;
}

static int node_of(struct node_usage *u)
{
    *u = (struct node_usage){ .daemon = 3000000 };
    return 0;
}

static int storages_of(storage_fn *fn, void *arg)
{
    fn(arg, &(struct storage_usage){
                .source = "disk", .path = "/here", .type = "ext4", .version = "4.2" });
    fn(arg, &(struct storage_usage){ .source = "disk", .path = "/a,b", .type = "ext4" });
    return 0;
}

static int devices_of(net_device_fn *fn, void *arg)
{
    fn(arg, &(struct net_device){ .name = "eth0",
                                  .type = "Ethernet",
                                  .bus = "pci",
                                  .driver = "mlx5_core",
                                  .firmware = "16.35",
                                  .vendor = "0x15b3",
                                  .pci = "0000:3b:00.0",
                                  .address = "02:00:00:00:00:01",
                                  .index = 7,
                                  .mtu = 1500,
                                  .speed = 100000000,
                                  .link = NET_LINK_UP });
    return 0;
}

static struct slice topology_of(void *arg)
{
    return slice_str(arg);
}

static const struct machine machine = { .name = "a",
                                        .proc = proc_of,
                                        .node = node_of,
                                        .storages = storages_of,
                                        .devices = devices_of,
                                        .topology = topology_of,
                                        .topology_arg = (void *)(uintptr_t) "<xml/>" };

static void begin(struct world *w)
{
    world_open(w, 2, 1);
    w->server.core.is_manager = true;
    w->jobs[0].job->procs[1].pid = PID;
    enter(w, 0);
}

/* The host's answer to the effect, with these bytes. */
static void answer(struct world *w, enum answer_status status, struct slice parts)
{
    struct answer a = ANSWER_TO(node_parts, status, .parts = parts);

    server_answer(&w->server, w->last.u.node_parts.ticket, &a);
    world_settle(w);
}

static void own_part(const struct world *w, struct buf *part)
{
    node_part_write(&w->server, w->last.u.node_parts.parts, &machine, part);
}

/* The pid of rank 1 in the table, or -1. */
static int pid_replied(struct world *w)
{
    struct pmsg_status_infos m;
    const pmix_data_array_t *a;
    int pid = -1;

    if (reply(w, 0, &m) && m.infos.n == 1 && m.infos.items[0].value.type == PMIX_DATA_ARRAY) {
        a = m.infos.items[0].value.data.darray;
        if (a->type == PMIX_PROC_INFO && a->size == 2)
            pid = ((const pmix_proc_info_t *)a->array)[1].pid;
    }
    pmsg_free_status_infos(&m, NULL);
    return pid;
}

/* A node's own word on its processes counts; where it does not come, what is known here. */
static void test_table(void)
{
    struct buf part = BUF_NULL(1 << 20);
    struct world w;

    begin(&w);
    ask(&w, 0, PMIX_QUERY_PROC_TABLE, NULL);
    EQ(w.last.kind, EFFECT_node_parts);
    EQ(w.last.u.node_parts.parts, NODE_PART_PROCS);
    OK(!w.last.u.node_parts.local && buf_len(&w.jobs[0].peers[0]->out) == 0);
    own_part(&w, &part);
    w.jobs[0].job->procs[1].pid = 1;
    answer(&w, ANSWER_OK, buf_slice(&part));
    EQ(pid_replied(&w), PID);
    ask(&w, 0, PMIX_QUERY_PROC_TABLE, NULL);
    answer(&w, ANSWER_OK, SLICE_NULL);
    EQ(pid_replied(&w), 1);
    ask(&w, 0, PMIX_QUERY_PROC_TABLE, NULL);
    answer(&w, ANSWER_NOT_FOUND, SLICE_NULL);
    EQ(pid_replied(&w), 1);
    w.server.core.is_manager = false; /* a host that starts no processes is not asked */
    ask(&w, 0, PMIX_QUERY_PROC_TABLE, NULL);
    EQ(pid_replied(&w), 1);
    buf_free(&part);
    world_close(&w);
}

/* The value of the first info of an array; NULL: it is none. */
static const pmix_value_t *first_of(const pmix_value_t *v)
{
    const pmix_data_array_t *a = v && v->type == PMIX_DATA_ARRAY ? v->data.darray : NULL;

    return a && a->type == PMIX_INFO && a->size ? &((const pmix_info_t *)a->array)->value : NULL;
}

static const pmix_info_t *find_in(const pmix_value_t *v, const char *key)
{
    const pmix_data_array_t *a = v && v->type == PMIX_DATA_ARRAY ? v->data.darray : NULL;

    for (size_t i = 0; a && i < a->size; i++) {
        if (!strcmp(((const pmix_info_t *)a->array)[i].key, key))
            return (const pmix_info_t *)a->array + i;
    }
    return NULL;
}

/* What a device shows, as a query tells it. */
static void test_device(void)
{
    static const struct {
        const char *key, *text;
    } texts[] = {
        { PMIX_FABRIC_DEVICE_NAME, "eth0" },
        { PMIX_FABRIC_DEVICE_TYPE, "Ethernet" },
        { PMIX_FABRIC_DEVICE_BUS_TYPE, "pci" },
        { PMIX_FABRIC_DEVICE_PCI_DEVID, "0000:3b:00.0" },
        { PMIX_FABRIC_DEVICE_VENDORID, "0x15b3" },
        { PMIX_FABRIC_DEVICE_VENDOR, "Mellanox" },
        { PMIX_FABRIC_DEVICE_DRIVER, "mlx5_core" },
        { PMIX_FABRIC_DEVICE_FIRMWARE, "16.35" },
        { PMIX_FABRIC_DEVICE_ADDRESS, "02:00:00:00:00:01" },
    };
    struct buf part = BUF_NULL(1 << 20);
    const pmix_info_t *i;
    const pmix_value_t *device;
    struct pmsg_status_infos m;
    struct world w;

    begin(&w);
    ask(&w, 0, PMIX_FABRIC_DEVICES, NULL);
    own_part(&w, &part);
    answer(&w, ANSWER_OK, buf_slice(&part));
    OK(reply(&w, 0, &m) && m.infos.n == 1);
    device = m.infos.n ? first_of(&m.infos.items[0].value) : NULL;
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        i = find_in(device, texts[k].key);
        OK_F(i && i->value.type == PMIX_STRING && !strcmp(i->value.data.string, texts[k].text),
             "the device's %s", texts[k].key);
    }
    i = find_in(device, PMIX_FABRIC_DEVICE_INDEX);
    OK(i && i->value.type == PMIX_UINT32 && i->value.data.uint32 == 7);
    i = find_in(device, PMIX_FABRIC_DEVICE_MTU);
    OK(i && i->value.type == PMIX_SIZE && i->value.data.size == 1500);
    i = find_in(device, PMIX_FABRIC_DEVICE_SPEED);
    OK(i && i->value.type == PMIX_SIZE && i->value.data.size == 100000000);
    i = find_in(device, PMIX_FABRIC_DEVICE_STATE);
    OK(i && i->value.type == PMIX_LINK_STATE && i->value.data.linkstate == PMIX_LINK_UP);
    pmsg_free_status_infos(&m, NULL);
    buf_free(&part);
    world_close(&w);
}

/* Every key that needs parts, with the parts cut anywhere: there is always a reply. */
static void test_cut(void)
{
    static const char *const keys[] = { PMIX_QUERY_PROC_TABLE,
                                        PMIX_QUERY_MEMORY_USAGE,
                                        PMIX_QUERY_PROC_RESOURCE_USAGE,
                                        PMIX_QUERY_NODE_RESOURCE_USAGE,
                                        PMIX_HWLOC_XML_V2,
                                        PMIX_QUERY_STORAGE_LIST,
                                        PMIX_STORAGE_TYPE,
                                        PMIX_FABRIC_DEVICES,
                                        PMIX_FABRIC_DEVICE,
                                        PMIX_FABRIC_NUM_DEVICES,
                                        PMIX_QUERY_GROUP_NAMES };
    unsigned silent = 0, found = 0;
    struct world w;

    begin(&w);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        struct buf part = BUF_NULL(1 << 20);
        ask(&w, 0, keys[i], NULL);
        own_part(&w, &part);
        answer(&w, ANSWER_OK, buf_slice(&part));
        found += status_of(&w, 0) == PMIX_SUCCESS;
        for (size_t n = 0; n < buf_len(&part); n++) {
            ask(&w, 0, keys[i], NULL);
            answer(&w, ANSWER_OK, slice_head(buf_slice(&part), n));
            silent += status_of(&w, 0) == 1;
        }
        buf_free(&part);
    }
    EQ(found, sizeof keys / sizeof *keys);
    EQ(silent, 0);
    world_close(&w);
}

/* Names of storage are lists: those that cannot be are left out. */
static void test_storage(void)
{
    struct buf part = BUF_NULL(1 << 20);
    struct world w;

    begin(&w);
    ask(&w, 0, PMIX_QUERY_STORAGE_LIST, NULL);
    own_part(&w, &part);
    answer(&w, ANSWER_OK, buf_slice(&part));
    OK(has_text(&w, 0, "a:/here"));
    ask(&w, 0, PMIX_STORAGE_VERSION, NULL);
    answer(&w, ANSWER_OK, buf_slice(&part));
    OK_F(has_text(&w, 0, "4.2"), "the version of a storage");
    ask(&w, 0, PMIX_HWLOC_XML_V2, NULL);
    OK_F(w.last.u.node_parts.local, "one node alone is asked for its hardware");
    buf_free(&part);
    world_close(&w);
}

/* ---- samples for monitors -------------------------------------------------------------------- */

/* How many samples of processes there are for these targets. */
static size_t samples(struct world *w, uint32_t rank, const char *key, uint16_t type, void *items,
                      struct slice parts)
{
    pmix_data_array_t list = { .type = type, .size = 1, .array = items };
    pmix_info_t request[2] = { { .value = { .type = PMIX_DATA_ARRAY } },
                               { .value = { .type = PMIX_DATA_ARRAY, .data.darray = &list } } };
    struct info_array out = { .items = NULL };
    size_t n;

    strcpy(request[0].key, PMIX_MONITOR_PROC_RESOURCE_USAGE);
    strcpy(request[1].key, key);
    OK(pmix_usage_parts(&request[0]) == NODE_PART_USAGE && pmix_usage_is_fine(request, 2));
    pmix_usage_samples(pmix_session_of(w->jobs[0].peers[rank]->session), request, 2, parts, &out);
    n = out.n;
    info_array_free(&out);
    return n;
}

/* A pid with its node, which only clients of 6.1 can send; bare ones, and jobs that are not seen,
 * in tests/e2e/monitors.c. */
static void test_samples(void)
{
    struct buf part = BUF_NULL(1 << 20);
    pmix_proc_t all = { "job_1", PMIX_RANK_WILDCARD };
    pmix_node_pid_t pid = { .pid = PID };
    struct world w;

    begin(&w);
    world_job(&w, 2, 1, JOB_NO_RANK);
    w.jobs[1].job->procs[0].pid = PID + 1;
    node_part_write(&w.server, NODE_PART_USAGE, &machine, &part);
    EQ(samples(&w, 0, PMIX_MONITOR_TARGET_PIDS, PMIX_NODE_PID, &pid, buf_slice(&part)), 1);
    pid.pid = -1;
    EQ(samples(&w, 0, PMIX_MONITOR_TARGET_PIDS, PMIX_NODE_PID, &pid, buf_slice(&part)), 2);
    pid.nodeid = 1;
    EQ(samples(&w, 0, PMIX_MONITOR_TARGET_PIDS, PMIX_NODE_PID, &pid, buf_slice(&part)), 0);
    pid.hostname = (char *)(uintptr_t) "elsewhere";
    EQ(samples(&w, 0, PMIX_MONITOR_TARGET_PIDS, PMIX_NODE_PID, &pid, buf_slice(&part)), 0);
    EQ(samples(&w, 0, PMIX_MONITOR_TARGET_PROCS, PMIX_PROC, &all, buf_slice(&part)), 1);
    server_deliver(&w.server, INPUT(rights_lost, .connection = w.jobs[0].peers[0]->id));
    EQ(samples(&w, 0, PMIX_MONITOR_TARGET_PROCS, PMIX_PROC, &all, buf_slice(&part)), 0);
    buf_free(&part);
    world_close(&w);
}

int main(void)
{
    test_rights();
    test_authorizations();
    test_owner();
    test_table();
    test_device();
    test_cut();
    test_storage();
    test_samples();
    return tap_done();
}
