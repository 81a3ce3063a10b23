"""The PMIx library of this process.

It is the libpmix.so.2 that the loader finds, ours or OpenPMIx's; the variable PMIX_LIBRARY names another file.  Calls
release Python's lock, so other threads run while one waits.
"""
import ctypes as c
import functools
import os

from . import _types as ct

_PROCS = [c.c_void_p, c.c_size_t]
_INFOS = [c.c_void_p, c.c_size_t]
_NB = [c.c_void_p]

# Arguments after which a callback and its argument follow; results are a status unless listed in RESULTS.
ARGUMENTS = {
    'PMIx_Init': [c.POINTER(ct.Proc), *_INFOS],
    'PMIx_Finalize': _INFOS,
    'PMIx_Initialized': [],
    'PMIx_Get_version': [],
    'PMIx_Abort': [c.c_int, c.c_char_p, *_PROCS],
    'PMIx_Progress': [],
    'PMIx_Store_internal': [c.POINTER(ct.Proc), c.c_char_p, c.POINTER(ct.Value)],
    'PMIx_Put': [c.c_uint8, c.c_char_p, c.POINTER(ct.Value)],
    'PMIx_Commit': [],
    'PMIx_Fence_nb': [*_PROCS, *_INFOS, ct.OpFn, *_NB],
    'PMIx_Get_nb': [c.POINTER(ct.Proc), c.c_char_p, *_INFOS, ct.ValueFn, *_NB],
    'PMIx_Publish_nb': [*_INFOS, ct.OpFn, *_NB],
    'PMIx_Lookup_nb': [c.c_void_p, *_INFOS, ct.LookupFn, *_NB],
    'PMIx_Unpublish_nb': [c.c_void_p, *_INFOS, ct.OpFn, *_NB],
    'PMIx_Spawn_nb': [*_INFOS, c.c_void_p, c.c_size_t, ct.SpawnFn, *_NB],
    'PMIx_Connect_nb': [*_PROCS, *_INFOS, ct.OpFn, *_NB],
    'PMIx_Disconnect_nb': [*_PROCS, *_INFOS, ct.OpFn, *_NB],
    'PMIx_Resolve_peers': [c.c_char_p, c.c_char_p, c.POINTER(c.POINTER(ct.Proc)), c.POINTER(c.c_size_t)],
    'PMIx_Resolve_nodes': [c.c_char_p, c.POINTER(c.c_char_p)],
    'PMIx_Query_info_nb': [c.c_void_p, c.c_size_t, ct.InfoFn, *_NB],
    'PMIx_Log_nb': [*_INFOS, *_INFOS, ct.OpFn, *_NB],
    'PMIx_Allocation_request_nb': [c.c_uint8, *_INFOS, ct.InfoFn, *_NB],
    'PMIx_Session_control': [c.c_uint32, *_INFOS, ct.InfoFn, *_NB],
    'PMIx_Job_control_nb': [*_PROCS, *_INFOS, ct.InfoFn, *_NB],
    'PMIx_Process_monitor_nb': [c.c_void_p, c.c_int, *_INFOS, ct.InfoFn, *_NB],
    'PMIx_Get_credential_nb': [*_INFOS, ct.CredentialFn, *_NB],
    'PMIx_Validate_credential_nb': [c.POINTER(ct.ByteObject), *_INFOS, ct.ValidationFn, *_NB],
    'PMIx_Group_construct_nb': [c.c_char_p, *_PROCS, *_INFOS, ct.InfoFn, *_NB],
    'PMIx_Group_invite_nb': [c.c_char_p, *_PROCS, *_INFOS, ct.InfoFn, *_NB],
    'PMIx_Group_join_nb': [c.c_char_p, c.c_void_p, c.c_int, *_INFOS, ct.InfoFn, *_NB],
    'PMIx_Group_leave_nb': [c.c_char_p, *_INFOS, ct.OpFn, *_NB],
    'PMIx_Group_destruct_nb': [c.c_char_p, *_INFOS, ct.OpFn, *_NB],
    'PMIx_Register_event_handler': [c.c_void_p, c.c_size_t, *_INFOS, ct.EventFn, ct.RegisteredFn, *_NB],
    'PMIx_Deregister_event_handler': [c.c_size_t, ct.OpFn, *_NB],
    'PMIx_Notify_event': [c.c_int, c.c_void_p, c.c_uint8, *_INFOS, ct.OpFn, *_NB],
    'PMIx_Fabric_register': [c.POINTER(ct.Fabric), *_INFOS],
    'PMIx_Fabric_update': [c.POINTER(ct.Fabric)],
    'PMIx_Fabric_deregister': [c.POINTER(ct.Fabric)],
    'PMIx_Load_topology': [c.c_void_p],
    'PMIx_Get_relative_locality': [c.c_char_p, c.c_char_p, c.POINTER(c.c_uint16)],
    'PMIx_Parse_cpuset_string': [c.c_char_p, c.POINTER(ct.Cpuset)],
    'PMIx_Cpuset_destruct': [c.POINTER(ct.Cpuset)],
    'PMIx_Get_cpuset': [c.POINTER(ct.Cpuset), c.c_uint8],
    'PMIx_Compute_distances_nb': [c.c_void_p, c.c_void_p, *_INFOS, ct.DistancesFn, *_NB],
    'PMIx_Error_string': [c.c_int],
    'PMIx_Proc_state_string': [c.c_uint8],
    'PMIx_Scope_string': [c.c_uint8],
    'PMIx_Persistence_string': [c.c_uint8],
    'PMIx_Data_range_string': [c.c_uint8],
    'PMIx_Info_directives_string': [c.c_uint32],
    'PMIx_Data_type_string': [c.c_uint16],
    'PMIx_Alloc_directive_string': [c.c_uint8],
    'PMIx_IOF_channel_string': [c.c_uint16],
    'PMIx_Job_state_string': [c.c_uint8],
    'PMIx_Link_state_string': [c.c_uint8],
    'PMIx_Device_type_string': [c.c_uint64],
    'PMIx_Get_attribute_string': [c.c_char_p],
    'PMIx_Get_attribute_name': [c.c_char_p],
    'PMIx_server_init': [c.c_void_p, *_INFOS],
    'PMIx_server_finalize': [],
    'PMIx_generate_regex': [c.c_char_p, c.POINTER(c.c_void_p)],
    'PMIx_generate_ppn': [c.c_char_p, c.POINTER(c.c_void_p)],
    'PMIx_server_generate_cpuset_string': [c.POINTER(ct.Cpuset), c.POINTER(c.c_char_p)],
    'PMIx_server_generate_locality_string': [c.POINTER(ct.Cpuset), c.POINTER(c.c_char_p)],
    'PMIx_server_register_nspace': [c.c_char_p, c.c_int, *_INFOS, ct.OpFn, *_NB],
    'PMIx_server_deregister_nspace': [c.c_char_p, ct.OpFn, *_NB],
    'PMIx_server_register_resources': [*_INFOS, ct.OpFn, *_NB],
    'PMIx_server_deregister_resources': [*_INFOS, ct.OpFn, *_NB],
    'PMIx_server_register_client': [c.POINTER(ct.Proc), c.c_uint, c.c_uint, c.c_void_p, ct.OpFn, *_NB],
    'PMIx_server_deregister_client': [c.POINTER(ct.Proc), ct.OpFn, *_NB],
    'PMIx_server_setup_fork': [c.POINTER(ct.Proc), c.POINTER(c.POINTER(c.c_char_p))],
    'PMIx_server_dmodex_request': [c.POINTER(ct.Proc), ct.DmodexFn, *_NB],
    'PMIx_server_setup_application': [c.c_char_p, *_INFOS, ct.SetupFn, *_NB],
    'PMIx_server_setup_local_support': [c.c_char_p, *_INFOS, ct.OpFn, *_NB],
    'PMIx_Register_attributes': [c.c_char_p, c.c_void_p],
    'PMIx_server_collect_inventory': [*_INFOS, ct.InfoFn, *_NB],
    'PMIx_server_deliver_inventory': [*_INFOS, *_INFOS, ct.OpFn, *_NB],
    'PMIx_server_IOF_deliver': [c.POINTER(ct.Proc), c.c_uint16, c.POINTER(ct.ByteObject), *_INFOS, ct.OpFn, *_NB],
    'PMIx_server_define_process_set': [c.c_void_p, c.c_size_t, c.c_char_p],
    'PMIx_server_delete_process_set': [c.c_char_p],
    'PMIx_tool_init': [c.POINTER(ct.Proc), *_INFOS],
    'PMIx_tool_finalize': [],
    'PMIx_tool_is_connected': [],
    'PMIx_tool_attach_to_server': [c.POINTER(ct.Proc), c.POINTER(ct.Proc), *_INFOS],
    'PMIx_tool_disconnect': [c.POINTER(ct.Proc)],
    'PMIx_tool_get_servers': [c.POINTER(c.POINTER(ct.Proc)), c.POINTER(c.c_size_t)],
    'PMIx_tool_set_server': [c.POINTER(ct.Proc), *_INFOS],
    'PMIx_IOF_pull': [*_PROCS, *_INFOS, c.c_uint16, ct.OutputFn, ct.RegisteredFn, *_NB],
    'PMIx_IOF_deregister': [c.c_size_t, *_INFOS, ct.OpFn, *_NB],
    'PMIx_IOF_push': [*_PROCS, c.POINTER(ct.ByteObject), *_INFOS, ct.OpFn, *_NB],
    'free': [c.c_void_p],
}
_TEXT = [name for name in ARGUMENTS if name.endswith('_string') and 'generate' not in name and 'Parse' not in name]
RESULTS = {
    **{name: c.c_char_p for name in [*_TEXT, 'PMIx_Get_version', 'PMIx_Get_attribute_name']},
    'PMIx_Progress': None, 'PMIx_server_deregister_nspace': None, 'PMIx_server_deregister_client': None,
    'PMIx_Cpuset_destruct': None, 'PMIx_tool_is_connected': c.c_bool, 'free': None,
}


@functools.lru_cache(maxsize=None)
def library():
    """The library, opened at the first call: its functions with their types.

    A function that this library does not have is missing here; call() then says PMIX_ERR_NOT_SUPPORTED.
    """
    opened = c.CDLL(os.environ.get('PMIX_LIBRARY') or 'libpmix.so.2')
    for name, arguments in ARGUMENTS.items():
        try:
            function = getattr(opened, name)
        except AttributeError:
            continue
        function.argtypes = arguments
        function.restype = RESULTS.get(name, c.c_int)
    return opened
