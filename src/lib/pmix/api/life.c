/* life.c - construct, destruct, create, free: the same four for every structure.
 *
 * construct initializes the caller's memory and allocates nothing; destruct releases the memory
 * that a structure holds and leaves it empty again; create and free do that for arrays in new
 * memory. Each family is one row here; its members are described in proto/pmix_structs.def.
 */
#include "lib/pmix/values/value.h"

/* An empty process must not be rank 0, which is a valid rank. */
static void items_construct(pmix_data_type_t type, void *items, size_t n)
{
    static const pmix_node_pid_t nobody = PMIX_NODE_PID_STATIC_INIT;

    for (size_t i = 0; type == PMIX_PROC && i < n; i++)
        ((pmix_proc_t *)items)[i].rank = PMIX_RANK_UNDEF;
    for (size_t i = 0; type == PMIX_NODE_PID && i < n; i++)
        ((pmix_node_pid_t *)items)[i] = nobody;
}

static void construct(pmix_data_type_t type, void *item, size_t size)
{
    memset(item, 0, size);
    items_construct(type, item, 1);
}

static void destruct(pmix_data_type_t type, void *item)
{
    if (item == NULL)
        return;
    pmem_free(ptype_find(type), item, 1, foreign_objects());
    items_construct(type, item, 1);
}

static void *create(pmix_data_type_t type, size_t n, size_t size)
{
    void *items = n > 0 && n <= PTRDIFF_MAX / size ? calloc(n, size) : NULL;

    if (items != NULL)
        items_construct(type, items, n);
    return items;
}

static void release(pmix_data_type_t type, void *items, size_t n)
{
    pmem_release(ptype_find(type), items, n, foreign_objects());
    free(items);
}

#define CONSTRUCT(Name, type)                                                                      \
    void PMIx_##Name##_construct(c_##type *p)                                                      \
    {                                                                                              \
        construct(PMIX_##type, p, sizeof *p);                                                      \
    }
#define DESTRUCT(Name, type)                                                                       \
    void PMIx_##Name##_destruct(c_##type *p)                                                       \
    {                                                                                              \
        destruct(PMIX_##type, p);                                                                  \
    }
#define CREATE(Name, type)                                                                         \
    c_##type *PMIx_##Name##_create(size_t n)                                                       \
    {                                                                                              \
        return create(PMIX_##type, n, sizeof(c_##type));                                           \
    }
#define FREE(Name, type)                                                                           \
    void PMIx_##Name##_free(c_##type *p, size_t n)                                                 \
    {                                                                                              \
        release(PMIX_##type, p, n);                                                                \
    }
#define FAMILY(Name, type)                                                                         \
    CONSTRUCT(Name, type) DESTRUCT(Name, type) CREATE(Name, type) FREE(Name, type)

#define TYPE(name, number, ctype, member, shape, state) typedef ctype c_##name;
#include "proto/pmix_types.def"
#undef TYPE

FAMILY(Proc, PROC)
FAMILY(Proc_info, PROC_INFO)
FAMILY(Proc_stats, PROC_STATS)
FAMILY(Disk_stats, DISK_STATS)
FAMILY(Net_stats, NET_STATS)
FAMILY(Node_stats, NODE_STATS)
FAMILY(Byte_object, BYTE_OBJECT)
FAMILY(Envar, ENVAR)
FAMILY(Cpuset, PROC_CPUSET)
FAMILY(Topology, TOPO)
FAMILY(Geometry, GEOMETRY)
FAMILY(Device, DEVICE)
FAMILY(Device_distance, DEVICE_DIST)
FAMILY(Resource_unit, RESOURCE_UNIT)
FAMILY(Node_pid, NODE_PID)
FAMILY(Endpoint, ENDPOINT)
FAMILY(Regattr, REGATTR)
FAMILY(Query, QUERY)
FAMILY(App, APP)
FAMILY(Pdata, PDATA)

/* Values and infos are built and dropped by the thousand: they have fast paths. */
CONSTRUCT(Value, VALUE)
CREATE(Value, VALUE)
CONSTRUCT(Info, INFO)
CREATE(Info, INFO)

void PMIx_Value_free(pmix_value_t *v, size_t n)
{
    for (size_t i = 0; v != NULL && i < n; i++)
        value_release(&v[i]);
    free(v);
}

void infos_release(pmix_info_t *infos, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if ((infos[i].flags & PMIX_INFO_PERSISTENT) == 0 &&
            value_shape(infos[i].value.type) != SHAPE_FLAT)
            value_release(&infos[i].value);
}

void PMIx_Info_free(pmix_info_t *p, size_t n)
{
    if (p == NULL)
        return;
    infos_release(p, n);
    free(p);
}

void PMIx_Info_destruct(pmix_info_t *p)
{
    if (p == NULL)
        return;
    if ((p->flags & PMIX_INFO_PERSISTENT) == 0)
        PMIx_Value_destruct(&p->value);
}

void PMIx_Query_release(pmix_query_t *p)
{
    PMIx_Query_free(p, 1);
}

void PMIx_App_release(pmix_app_t *p)
{
    PMIx_App_free(p, 1);
}

/* ---- Families with more than the four -------------------------------------------------------- */

CONSTRUCT(Coord, COORD)
DESTRUCT(Coord, COORD)
FREE(Coord, COORD)

pmix_coord_t *PMIx_Coord_create(size_t dims, size_t number)
{
    pmix_coord_t *coords = create(PMIX_COORD, number, sizeof *coords);

    for (size_t i = 0; coords != NULL && dims > 0 && i < number; i++) {
        coords[i].coord = create(PMIX_UINT32, dims, sizeof(uint32_t));
        if (coords[i].coord == NULL) {
            PMIx_Coord_free(coords, number);
            return NULL;
        }
        coords[i].dims = dims;
    }
    return coords;
}

/* An index that no fabric has. */
void PMIx_Fabric_construct(pmix_fabric_t *p)
{
    *p = (pmix_fabric_t){ .index = SIZE_MAX };
}

/* The memory is moved, not copied. */
void PMIx_Byte_object_load(pmix_byte_object_t *b, char *d, size_t sz)
{
    b->bytes = d;
    b->size = sz;
}

static void replace_text(char **place, const char *text)
{
    if (text != NULL)
        *place = strdup(text);
}

void PMIx_Envar_load(pmix_envar_t *e, char *var, char *value, char separator)
{
    replace_text(&e->envar, var);
    replace_text(&e->value, value);
    e->separator = separator;
}

void PMIx_Regattr_load(pmix_regattr_t *info, const char *name, const char *key,
                       pmix_data_type_t type, const char *description)
{
    replace_text(&info->name, name);
    if (key != NULL)
        PMIx_Load_key(info->string, key);
    info->type = type;
    if (description != NULL)
        PMIx_Argv_append_nosize(&info->description, description);
}

void PMIx_Regattr_xfer(pmix_regattr_t *dest, const pmix_regattr_t *src)
{
    if (pmem_copy(ptype_find(PMIX_REGATTR), dest, src, 1, NULL) != PTYPE_FINE)
        PMIx_Regattr_construct(dest);
}

void PMIx_App_info_create(pmix_app_t *p, size_t n)
{
    p->info = PMIx_Info_create(n);
    p->ninfo = p->info != NULL ? n : 0;
}

void PMIx_Query_qualifiers_create(pmix_query_t *p, size_t n)
{
    p->qualifiers = PMIx_Info_create(n);
    p->nqual = p->qualifiers != NULL ? n : 0;
}

void PMIx_Pdata_load(pmix_pdata_t *dest, const pmix_proc_t *p, const char *key, const void *data,
                     pmix_data_type_t type)
{
    PMIx_Pdata_construct(dest);
    PMIx_Load_procid(&dest->proc, p->nspace, p->rank);
    PMIx_Load_key(dest->key, key);
    PMIx_Value_load(&dest->value, data, type);
}

void PMIx_Pdata_xfer(pmix_pdata_t *dest, pmix_pdata_t *src)
{
    if (dest == NULL)
        return;
    PMIx_Pdata_construct(dest);
    PMIx_Load_procid(&dest->proc, src->proc.nspace, src->proc.rank);
    PMIx_Load_key(dest->key, src->key);
    PMIx_Value_xfer(&dest->value, &src->value);
}

/* ---- Buffers of packed data ------------------------------------------------------------------ */

CONSTRUCT(Data_buffer, DATA_BUFFER)
DESTRUCT(Data_buffer, DATA_BUFFER)

pmix_data_buffer_t *PMIx_Data_buffer_create(void)
{
    return create(PMIX_DATA_BUFFER, 1, sizeof(pmix_data_buffer_t));
}

void PMIx_Data_buffer_release(pmix_data_buffer_t *b)
{
    release(PMIX_DATA_BUFFER, b, 1);
}

/* The bytes are moved, and the old content of the buffer is released. */
void PMIx_Data_buffer_load(pmix_data_buffer_t *b, char *bytes, size_t sz)
{
    if (b == NULL)
        return;
    if (b->base_ptr != bytes)
        free(b->base_ptr);
    *b = (pmix_data_buffer_t){ .base_ptr = bytes,
                               .pack_ptr = bytes != NULL ? bytes + sz : NULL,
                               .unpack_ptr = bytes,
                               .bytes_allocated = bytes != NULL ? sz : 0,
                               .bytes_used = bytes != NULL ? sz : 0 };
}

/* Only the bytes not yet unpacked, at the start of memory that the caller may free. */
void PMIx_Data_buffer_unload(pmix_data_buffer_t *b, char **bytes, size_t *sz)
{
    size_t read;

    *bytes = NULL;
    *sz = 0;
    if (b == NULL || b->base_ptr == NULL)
        return;
    read = b->unpack_ptr != NULL ? (size_t)(b->unpack_ptr - b->base_ptr) : 0;
    if (b->bytes_used > read) {
        *bytes = b->base_ptr;
        *sz = b->bytes_used - read;
        if (read > 0)
            memmove(*bytes, *bytes + read, *sz);
    } else {
        free(b->base_ptr);
    }
    PMIx_Data_buffer_construct(b);
}

/* ---- Arrays of any type ---------------------------------------------------------------------- */

void PMIx_Data_array_init(pmix_data_array_t *p, pmix_data_type_t type)
{
    *p = (pmix_data_array_t){ .type = type };
}

/* Unknown types have no elements. */
void PMIx_Data_array_construct(pmix_data_array_t *p, size_t num, pmix_data_type_t type)
{
    const struct ptype *t = ptype_find(type);

    *p = (pmix_data_array_t){ .type = num > 0 ? type : PMIX_UNDEF };
    if (t == NULL || num == 0)
        return;
    p->array = create(type, num, t->size);
    p->size = p->array != NULL ? num : 0;
}

void PMIx_Data_array_destruct(pmix_data_array_t *d)
{
    const struct ptype *t;

    if (d == NULL)
        return;
    t = ptype_find(d->type);
    if (d->type == PMIX_INFO && d->array != NULL)
        infos_release(d->array, d->size);
    else if (t != NULL && !ptype_flat(t) && d->array != NULL)
        pmem_release(t, d->array, d->size, foreign_objects());
    free(d->array);
    *d = (pmix_data_array_t){ .type = PMIX_UNDEF };
}

pmix_data_array_t *PMIx_Data_array_create(size_t n, pmix_data_type_t type)
{
    pmix_data_array_t *d = malloc(sizeof *d);

    if (d != NULL)
        PMIx_Data_array_construct(d, n, type);
    return d;
}

void PMIx_Data_array_free(pmix_data_array_t *p)
{
    PMIx_Data_array_destruct(p);
    free(p);
}
