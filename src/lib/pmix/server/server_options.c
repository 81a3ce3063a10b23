/* server_options.c - see server_options.h. */
#include "lib/pmix/server/server_options.h"

#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "base/slice.h"
#include "wireup_server.h"

static bool flag_of(const pmix_info_t *info)
{
    return PMIx_Value_true(&info->value) != PMIX_BOOL_FALSE;
}

static const char *text_of(const pmix_info_t *info)
{
    return info->value.type == PMIX_STRING ? info->value.data.string : NULL;
}

/* `NAMESPACE.RANK`; a namespace can have dots. */
static pmix_status_t read_singleton(const pmix_info_t *infos, size_t ninfos, pmix_proc_t *p)
{
    const char *text = NULL, *dot;

    for (size_t i = 0; infos && i < ninfos; i++) {
        if (PMIx_Check_key(infos[i].key, PMIX_SINGLETON))
            text = text_of(&infos[i]);
    }
    if (!text)
        return PMIX_SUCCESS;
    dot = strrchr(text, '.');
    if (!dot || dot == text || dot - text > PMIX_MAX_NSLEN ||
        !slice_u32(slice_str(dot + 1), &p->rank) || p->rank >= LIMIT_JOB_PROCS)
        return PMIX_ERR_BAD_PARAM;
    memcpy(p->nspace, text, (size_t)(dot - text));
    return PMIX_SUCCESS;
}

static void read_option(const pmix_info_t *i, struct pserver_options *o, size_t *size_p)
{
    const char *key = i->key;

    if (PMIx_Check_key(key, PMIX_SERVER_NSPACE))
        o->nspace = text_of(i);
    else if (PMIx_Check_key(key, PMIX_SERVER_RANK))
        PMIx_Value_get_number(&i->value, &o->rank, PMIX_UINT32);
    else if (PMIx_Check_key(key, PMIX_HOSTNAME) || PMIx_Check_key(key, PMIX_SERVER_HOSTNAME))
        o->hostname = text_of(i);
    else if (PMIx_Check_key(key, PMIX_SERVER_TMPDIR))
        o->tmpdir = text_of(i);
    else if (PMIx_Check_key(key, PMIX_SYSTEM_TMPDIR))
        o->system_tmpdir = text_of(i);
    else if (PMIx_Check_key(key, PMIX_USERID))
        PMIx_Value_get_number(&i->value, &o->uid, PMIX_UINT32);
    else if (PMIx_Check_key(key, PMIX_GRPID))
        PMIx_Value_get_number(&i->value, &o->gid, PMIX_UINT32);
    else if (PMIx_Check_key(key, PMIX_SERVER_TOOL_SUPPORT))
        o->serves_tools = flag_of(i);
    else if (PMIx_Check_key(key, PMIX_SERVER_SYSTEM_SUPPORT))
        o->is_system = flag_of(i);
    else if (PMIx_Check_key(key, PMIX_SERVER_SCHEDULER))
        o->is_scheduler = flag_of(i);
    else if (PMIx_Check_key(key, PMIX_SERVER_SYS_CONTROLLER))
        o->is_controller = flag_of(i);
    else if (PMIx_Check_key(key, PMIX_SERVER_SESSION_SUPPORT))
        o->is_session = flag_of(i);
    else if (PMIx_Check_key(key, PMIX_SERVER_SHARE_TOPOLOGY))
        o->shares_topology = flag_of(i);
    else if (PMIx_Check_key(key, PMIX_SERVER_GATEWAY))
        o->is_gateway = flag_of(i);
    else if (PMIx_Check_key(key, PMIX_TCP_REPORT_URI))
        o->report = text_of(i);
    else if (PMIx_Check_key(key, PMIX_TCP_IPV4_PORT))
        PMIx_Value_get_number(&i->value, &o->port, PMIX_INT32);
    else if (PMIx_Check_key(key, PMIX_LAUNCHER_RENDEZVOUS_FILE))
        o->launcher_file = text_of(i);
    else if (PMIx_Check_key(key, WIREUP_MODULE_SIZE) && i->value.type == PMIX_SIZE)
        *size_p = i->value.data.size;
    else if (PMIx_Check_key(key, PMIX_EXTERNAL_PROGRESS) && flag_of(i))
        o->progress = PSERVER_PROGRAM;
    else if (PMIx_Check_key(key, PMIX_EVENT_BASE) && i->value.type == PMIX_POINTER &&
             i->value.data.ptr)
        o->event_base = i->value.data.ptr;
}

pmix_status_t options_read(const pmix_info_t *infos, size_t ninfos, struct pserver_options *o,
                           size_t *size_p)
{
    const char *rank = getenv("PMIX_SERVER_RANK");

    *o = (struct pserver_options){ .uid = ID_UNSET,
                                   .gid = ID_UNSET,
                                   .nspace = getenv("PMIX_SERVER_NAMESPACE"),
                                   .rank = rank ? (uint32_t)strtoul(rank, NULL, 10) : 0 };
    for (size_t i = 0; infos && i < ninfos; i++)
        read_option(&infos[i], o, size_p);
    if (o->event_base)
        o->progress = PSERVER_BASE;
    if (o->port < 0 || o->port > UINT16_MAX ||
        read_singleton(infos, ninfos, &o->singleton) != PMIX_SUCCESS)
        return PMIX_ERR_BAD_PARAM;
    return client_thread_cpus_read(infos, ninfos, &o->cpus);
}
