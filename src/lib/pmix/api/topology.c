/* topology.c - PMIx's calls about processors and devices: a layer over src/topo/pmix_topo.h.
 *
 * None of them needs a server or an init.
 */
#include "topo/pmix_topo.h"

#include "lib/pmix/values/value.h"
#include "pmix_server.h"
#include "server/pmix_calls.h"

static pmix_status_t status_of(int rc)
{
    switch (rc) {
    case 0: return PMIX_SUCCESS;
    case PTOPO_MISSING:
    case PTOPO_OTHER: return PMIX_ERR_NOT_SUPPORTED;
    case PTOPO_MALFORMED: return PMIX_ERR_BAD_PARAM;
    case PTOPO_NOTHING: return PMIX_ERR_NOT_FOUND;
    default: return PMIX_ERR_NOMEM;
    }
}

/* A topology that is already loaded stays as it is. */
pmix_status_t PMIx_Load_topology(pmix_topology_t *topo)
{
    if (topo == NULL)
        return PMIX_ERR_BAD_PARAM;
    return topo->topology != NULL ? PMIX_SUCCESS : status_of(ptopo_load(topo));
}

pmix_status_t PMIx_Parse_cpuset_string(const char *cpuset_string, pmix_cpuset_t *cpuset)
{
    if (cpuset_string == NULL || cpuset == NULL)
        return PMIX_ERR_BAD_PARAM;
    return status_of(ptopo_cpuset_parse(cpuset_string, cpuset));
}

pmix_status_t PMIx_server_generate_cpuset(const char *cpuset_string, pmix_cpuset_t *cpuset)
{
    return PMIx_Parse_cpuset_string(cpuset_string, cpuset);
}

pmix_status_t PMIx_server_generate_cpuset_string(const pmix_cpuset_t *cpuset, char **cpuset_string)
{
    if (cpuset == NULL || cpuset_string == NULL)
        return PMIX_ERR_BAD_PARAM;
    *cpuset_string = NULL;
    return status_of(ptopo_cpuset_text(cpuset, cpuset_string));
}

/* NULL for a process that is not bound: it has no locality of its own. */
pmix_status_t PMIx_server_generate_locality_string(const pmix_cpuset_t *cpuset, char **locality)
{
    if (cpuset == NULL || locality == NULL)
        return PMIX_ERR_BAD_PARAM;
    return status_of(ptopo_locality_text(cpuset, locality));
}

pmix_status_t PMIx_Get_relative_locality(const char *locality1, const char *locality2,
                                         pmix_locality_t *locality)
{
    if (locality1 == NULL || locality2 == NULL || locality == NULL)
        return PMIX_ERR_BAD_PARAM;
    return status_of(ptopo_shared(locality1, locality2, locality));
}

pmix_status_t PMIx_Get_cpuset(pmix_cpuset_t *cpuset, pmix_bind_envelope_t ref)
{
    if (cpuset == NULL || (ref != PMIX_CPUBIND_PROCESS && ref != PMIX_CPUBIND_THREAD))
        return PMIX_ERR_BAD_PARAM;
    return status_of(ptopo_bound(ref == PMIX_CPUBIND_THREAD, cpuset));
}

/* Reads the infos' request; ids has room for all of them. */
static bool read_wanted(const pmix_info_t *info, size_t ninfo, const char **ids,
                        struct ptopo_wanted *wanted)
{
    *wanted = (struct ptopo_wanted){ .ids = ids };
    for (size_t i = 0; i < ninfo; i++) {
        const pmix_value_t *v = &info[i].value;
        if (strcmp(info[i].key, PMIX_DEVICE_TYPE) == 0) {
            if (v->type != PMIX_DEVTYPE && v->type != PMIX_UINT64)
                return false;
            wanted->types |= v->data.devtype;
        } else if (strcmp(info[i].key, PMIX_DEVICE_ID) == 0) {
            if (v->type != PMIX_STRING || v->data.string == NULL)
                return false;
            ids[wanted->nids++] = v->data.string;
        }
    }
    return true;
}

pmix_status_t PMIx_Compute_distances(pmix_topology_t *topo, pmix_cpuset_t *cpuset,
                                     pmix_info_t info[], size_t ninfo,
                                     pmix_device_distance_t *distances[], size_t *ndist)
{
    struct ptopo_wanted wanted;
    const char **ids;
    pmix_status_t rc;

    if (distances == NULL || ndist == NULL)
        return PMIX_ERR_BAD_PARAM;
    *distances = NULL;
    *ndist = 0;
    if (topo == NULL || topo->topology == NULL || cpuset == NULL || cpuset->bitmap == NULL ||
        (info == NULL && ninfo > 0))
        return PMIX_ERR_BAD_PARAM;
    rc = pmix_call_check(PMIX_CALL_COMPUTE_DISTANCES, info, ninfo);
    if (rc != PMIX_SUCCESS)
        return rc;
    ids = calloc(ninfo + 1, sizeof *ids);
    if (ids == NULL)
        return PMIX_ERR_NOMEM;
    rc = read_wanted(info, ninfo, ids, &wanted)
             ? status_of(ptopo_distances(topo, cpuset, &wanted, distances, ndist))
             : PMIX_ERR_BAD_PARAM;
    free(ids);
    return rc;
}
