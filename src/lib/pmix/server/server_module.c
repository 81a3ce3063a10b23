/* server_module.c - the host's functions, from a struct of unknown length.
 *
 * PMIx_server_init gets a pointer to a struct that has grown: 25 members in 3.x, 28 in 4.x, 29 in
 * 5.x; 6.1 put others before the 29th.  Reading further than the host's own headers go would take
 * any following memory for a function.  So only the 25 are read unconditionally.  The others are
 * read when the object that holds the struct, or the one that has called, imports functions which
 * came with such a release: then it was built with headers that have the members too.  A host may
 * also pass the size (wireup_server.h), which tells the order of 6.0 and 6.1 too: our own headers
 * declare what is new there, so the imports do not tell it. */
#include "lib/pmix/server/server_module.h"

#include <elf.h>
#include <link.h>
#include <string.h>

enum { MEMBERS_3 = 25, MEMBERS_4 = 28, MEMBERS_5 = 29, MEMBERS_6_0 = 30, MEMBERS_6_1 = 32 };

/* The longer ones, as OpenPMIx's headers of 6.0 and 6.1 have them. */
struct module_6_0 {
    void (*first[MEMBERS_5])(void);
    pmix_server_resource_block_fn_t resource_block;
};

struct module_6_1 {
    void (*first[MEMBERS_4])(void);
    pmix_server_tool_connection2_fn_t tool_connected2;
    pmix_server_log2_fn_t log2;
    pmix_server_session_control_fn_t session_control;
    pmix_server_resource_block_fn_t resource_block;
};

_Static_assert(sizeof(pmix_server_module_t) == MEMBERS_5 * sizeof(void (*)(void)), "that of 5.0");
_Static_assert(sizeof(struct module_6_1) == MEMBERS_6_1 * sizeof(void (*)(void)), "that of 6.1");

/* All functions that programs built with the headers of 3.x can import. */
static const char *const early[] = {
    "PMIx_Abort",
    "PMIx_Alloc_directive_string",
    "PMIx_Allocation_request",
    "PMIx_Allocation_request_nb",
    "PMIx_Commit",
    "PMIx_Connect",
    "PMIx_Connect_nb",
    "PMIx_Data_copy",
    "PMIx_Data_copy_payload",
    "PMIx_Data_pack",
    "PMIx_Data_print",
    "PMIx_Data_range_string",
    "PMIx_Data_type_string",
    "PMIx_Data_unpack",
    "PMIx_Deregister_event_handler",
    "PMIx_Disconnect",
    "PMIx_Disconnect_nb",
    "PMIx_Error_string",
    "PMIx_Fence",
    "PMIx_Fence_nb",
    "PMIx_Finalize",
    "PMIx_generate_ppn",
    "PMIx_generate_regex",
    "PMIx_Get",
    "PMIx_Get_credential",
    "PMIx_Get_nb",
    "PMIx_Get_version",
    "PMIx_Info_directives_string",
    "PMIx_Init",
    "PMIx_Initialized",
    "PMIx_IOF_channel_string",
    "PMIx_IOF_deregister",
    "PMIx_IOF_pull",
    "PMIx_IOF_push",
    "PMIx_Job_control",
    "PMIx_Job_control_nb",
    "PMIx_Log",
    "PMIx_Log_nb",
    "PMIx_Lookup",
    "PMIx_Lookup_nb",
    "PMIx_Notify_event",
    "PMIx_Persistence_string",
    "PMIx_Proc_state_string",
    "PMIx_Process_monitor",
    "PMIx_Process_monitor_nb",
    "PMIx_Publish",
    "PMIx_Publish_nb",
    "PMIx_Put",
    "PMIx_Query_info_nb",
    "PMIx_Register_event_handler",
    "PMIx_Resolve_nodes",
    "PMIx_Resolve_peers",
    "PMIx_Scope_string",
    "PMIx_server_collect_inventory",
    "PMIx_server_deliver_inventory",
    "PMIx_server_deregister_client",
    "PMIx_server_deregister_nspace",
    "PMIx_server_dmodex_request",
    "PMIx_server_finalize",
    "PMIx_server_init",
    "PMIx_server_IOF_deliver",
    "PMIx_server_register_client",
    "PMIx_server_register_nspace",
    "PMIx_server_setup_application",
    "PMIx_server_setup_fork",
    "PMIx_server_setup_local_support",
    "PMIx_Spawn",
    "PMIx_Spawn_nb",
    "PMIx_Store_internal",
    "PMIx_tool_connect_to_server",
    "PMIx_tool_finalize",
    "PMIx_tool_init",
    "PMIx_Unpublish",
    "PMIx_Unpublish_nb",
    "PMIx_Validate_credential",
};

/* New in 5.0; and some that are new in 6.x, where the 29th member is another. */
static const char *const later[] = { "PMIx_Session_control", "PMIx_Proc_string",
                                     "PMIx_Info_list_add_unique", "PMIx_Info_list_add_value",
                                     "PMIx_Info_list_xfer_unique" };
static const char *const latest[] = { "PMIx_Heartbeat",     "PMIx_Progress_thread_stop",
                                      "PMIx_Rank_valid",    "PMIx_Resource_block",
                                      "PMIx_Device_create", "PMIx_Node_pid_create" };

static bool is_one_of(const char *name, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!strcmp(name, list[i]))
            return true;
    }
    return false;
}

#define IS_ONE_OF(name, list) is_one_of(name, list, sizeof(list) / sizeof *(list))

struct search {
    uintptr_t wanted;
    bool found, uses_4, uses_5, uses_6;
};

static bool contains(const struct dl_phdr_info *info, uintptr_t address)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + p->p_vaddr;
        if (p->p_type == PT_LOAD && address >= start && address - start < p->p_memsz)
            return true;
    }
    return false;
}

/* The old hash table has the number of symbols; without it the strings give it, since every
 * linker puts them after the symbols. */
static size_t count_symbols(const ElfW(Sym) * symbols, const char *strings, const uint32_t *hash)
{
    if (hash)
        return hash[1];
    if ((uintptr_t)strings <= (uintptr_t)symbols)
        return 0;
    return ((uintptr_t)strings - (uintptr_t)symbols) / sizeof *symbols;
}

static void look_at_imports(struct search *s, const ElfW(Dyn) * d)
{
    const ElfW(Sym) *symbols = NULL;
    const char *strings = NULL;
    const uint32_t *hash = NULL;
    size_t n, size = 0;

    for (; d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_SYMTAB)
            symbols = (const void *)d->d_un.d_ptr;
        else if (d->d_tag == DT_STRTAB)
            strings = (const void *)d->d_un.d_ptr;
        else if (d->d_tag == DT_STRSZ)
            size = d->d_un.d_val;
        else if (d->d_tag == DT_HASH)
            hash = (const void *)d->d_un.d_ptr;
    }
    n = symbols && strings ? count_symbols(symbols, strings, hash) : 0;
    for (size_t i = 1; i < n; i++) {
        const char *name = strings + symbols[i].st_name;
        if (symbols[i].st_name >= size || symbols[i].st_shndx != SHN_UNDEF ||
            strncmp(name, "PMIx_", 5) != 0)
            continue;
        s->uses_4 = s->uses_4 || !IS_ONE_OF(name, early);
        s->uses_5 = s->uses_5 || IS_ONE_OF(name, later);
        s->uses_6 = s->uses_6 || IS_ONE_OF(name, latest);
    }
}

static int look(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct search *s = arg;

    (void)size;
    if (!contains(info, s->wanted))
        return 0;
    s->found = true;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            look_at_imports(s, (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr));
    }
    return 1;
}

/* Memory that belongs to no object was filled by the caller. */
size_t smodule_members(const void *module, const void *caller)
{
    struct search s = { .wanted = (uintptr_t)module };

    dl_iterate_phdr(look, &s);
    if (!s.found) {
        s.wanted = (uintptr_t)caller;
        dl_iterate_phdr(look, &s);
    }
    if (s.uses_5 && !s.uses_6)
        return MEMBERS_5;
    return s.uses_4 ? MEMBERS_4 : MEMBERS_3;
}

void smodule_take(struct pserver *s, const pmix_server_module_t *m, size_t members)
{
    const struct module_6_1 *longer = (const void *)m;

    if (!m)
        return;
    if (members >= MEMBERS_6_1) {
        memcpy(&s->module, m, MEMBERS_4 * sizeof(void (*)(void)));
        s->module.session_control = longer->session_control;
        s->tool_connected2 = longer->tool_connected2;
        s->log2 = longer->log2;
        s->resource_block = longer->resource_block;
        return;
    }
    memcpy(&s->module, m, (members < MEMBERS_5 ? members : MEMBERS_5) * sizeof(void (*)(void)));
    if (members == MEMBERS_6_0)
        s->resource_block = ((const struct module_6_0 *)(const void *)m)->resource_block;
}
