"""PMIxServer: a host of PMIx in Python (PMIx Standard, appendix B).

The functions of the host are in a dictionary.  Each is called with one dictionary, as the appendix says (clientconnected
and clientfinalized: with the process), in a thread of its own, one after the other; it may make any call.  It returns
the status, or a tuple of the status and the results.  Requests for which there is no function are not supported.
"""
import ctypes as c
import inspect
from typing import Any, Callable, Dict, List, Tuple

from . import _operation as op
from . import _tables as t
from . import _types as ct
from . import _values as v
from ._client import Infos, PMIxClient, Proc, Procs, Status, infos, nspace, one_proc, proc, procs, taken_text
from ._library import library

# ---- what the library passes: how many arguments of C, their types, and their value in Python
_INFOS = c.POINTER(ct.Info)
_PROCS = c.POINTER(ct.Proc)
KINDS = {
    'proc': ([_PROCS], v.get_proc),
    'object': ([c.c_void_p], None),
    'procs': ([_PROCS, c.c_size_t], lambda a, n: v.get_list('PROC', a, n)),
    'infos': ([_INFOS, c.c_size_t], lambda a, n: v.get_list('INFO', a, n)),
    'info': ([_INFOS], lambda a: v.get_struct('INFO', a.contents) if a else None),
    'apps': ([c.POINTER(ct.App), c.c_size_t], lambda a, n: v.get_list('APP', a, n)),
    'queries': ([c.POINTER(ct.Query), c.c_size_t], lambda a, n: v.get_list('QUERY', a, n)),
    'codes': ([c.POINTER(c.c_int), c.c_size_t], lambda a, n: a[:n] if a else []),
    'keys': ([c.POINTER(c.c_char_p)], v.get_words),
    'text': ([c.c_char_p], v.string),
    'bytes': ([c.c_void_p, c.c_size_t], lambda a, n: bytearray(c.string_at(a, n)) if a and n else bytearray()),
    'bo': ([c.POINTER(ct.ByteObject)], lambda a: v.get_bytes(a.contents) if a else None),
    'int': ([c.c_int], int),
    'uint8': ([c.c_uint8], int),
    'uint16': ([c.c_uint16], int),
    'uint32': ([c.c_uint32], int),
}


# ---- how a function's answer reaches the library; `keep` holds what is passed until it is released
def reply_op(done, argument, rc, _results, _keep):
    """A status alone."""
    done(rc, argument)


def reply_infos(done, argument, rc, results, keep):
    """Infos."""
    array, n = infos(results[0] if results else None, keep)
    released(lambda token: done(rc, c.cast(array, _INFOS) if n else None, n, argument, RELEASED, token), keep)


def reply_modex(done, argument, rc, results, keep):
    """Bytes."""
    data = results[0] if results and results[0] is not None else b''
    data = data.get('bytes', b'') if isinstance(data, dict) else data
    data = v.text(data, 'the data')
    place = keep.address(c.create_string_buffer(data, len(data))) if data else None
    released(lambda token: done(rc, place, len(data), argument, RELEASED, token), keep)


def reply_lookup(done, argument, rc, results, keep):
    """Published data."""
    array, n = v.listed('PDATA', results[0] if results else None, keep, 'pdata')
    done(rc, c.cast(array, c.POINTER(ct.Pdata)) if n else None, n, argument)


def reply_spawn(done, argument, rc, results, _keep):
    """A namespace."""
    done(rc, nspace(results[0]) if results and results[0] else None, argument)


def reply_tool(done, argument, rc, results, keep):
    """The name of a tool."""
    place = None
    if results and results[0]:
        place = ct.Proc()
        v.put_struct('PROC', place, results[0], keep)
    done(rc, c.pointer(place) if place else None, argument)


def reply_credential(done, argument, rc, results, keep):
    """A credential, and infos about it."""
    place = ct.ByteObject()
    if results and results[0]:
        v.put_bytes(place, results[0], keep)
    array, n = infos(results[1] if len(results) > 1 else None, keep)
    done(rc, c.pointer(place), c.cast(array, _INFOS) if n else None, n, argument)


def reply_validation(done, argument, rc, results, keep):
    """Infos about the owner of a credential."""
    array, n = infos(results[0] if results else None, keep)
    done(rc, c.cast(array, _INFOS) if n else None, n, argument)


def released(call, keep):
    """call(token), keeping `keep` until the library releases the token."""
    op.Operation().start(call, keep=keep)


@ct.ReleaseFn
def RELEASED(token):  # pylint: disable=invalid-name
    """The library needs an answer no longer."""
    op.Operation.called_back(token, t.PMIX_SUCCESS)


REPLIES = {'op': (ct.OpFn, reply_op), 'infos': (ct.InfoFn, reply_infos), 'modex': (ct.ModexFn, reply_modex),
           'lookup': (ct.LookupFn, reply_lookup), 'spawn': (ct.SpawnFn, reply_spawn), 'tool': (ct.ToolFn, reply_tool),
           'credential': (ct.CredentialFn, reply_credential), 'validation': (ct.ValidationFn, reply_validation)}

# The module's members in their order: member; names in the dictionary; what is passed, each (kind, name); answer;
# whether the function of C returns a status.
_SOURCE = ('proc', 'source')
_DIRECTIVES = ('infos', 'directives')
UPCALLS = [
    ('client_connected', ('clientconnected',), [('proc', 'proc'), ('object', None)], 'op', True),
    ('client_finalized', ('clientfinalized',), [('proc', 'proc'), ('object', None)], 'op', True),
    ('abort', ('abort', 'clientaborted'),
     [('proc', 'caller'), ('object', None), ('int', 'status'), ('text', 'msg'), ('procs', 'targets')], 'op', True),
    ('fence_nb', ('fencenb', 'fence'), [('procs', 'procs'), _DIRECTIVES, ('bytes', 'data')], 'modex', True),
    ('direct_modex', ('directmodex', 'dmodex'), [('proc', 'proc'), _DIRECTIVES], 'modex', True),
    ('publish', ('publish',), [('proc', 'proc'), _DIRECTIVES], 'op', True),
    ('lookup', ('lookup',), [('proc', 'proc'), ('keys', 'keys'), _DIRECTIVES], 'lookup', True),
    ('unpublish', ('unpublish',), [('proc', 'proc'), ('keys', 'keys'), _DIRECTIVES], 'op', True),
    ('spawn', ('spawn',), [('proc', 'proc'), ('infos', 'jobinfo'), ('apps', 'apps')], 'spawn', True),
    ('connect', ('connect',), [('procs', 'procs'), _DIRECTIVES], 'op', True),
    ('disconnect', ('disconnect',), [('procs', 'procs'), _DIRECTIVES], 'op', True),
    ('register_events', ('registerevents', 'register_events'), [('codes', 'codes'), _DIRECTIVES], 'op', True),
    ('deregister_events', ('deregisterevents', 'deregister_events'), [('codes', 'codes')], 'op', True),
    ('listener', (), [], 'op', True),
    ('notify_event', ('notify_event', 'notifyevent'),
     [('int', 'code'), _SOURCE, ('uint8', 'range'), _DIRECTIVES], 'op', True),
    ('query', ('query',), [_SOURCE, ('queries', 'queries')], 'infos', True),
    ('tool_connected', ('toolconnected', 'tool_connected'), [_DIRECTIVES], 'tool', False),
    ('log', ('log',), [_SOURCE, ('infos', 'data'), _DIRECTIVES], 'op', False),
    ('allocate', ('allocate',), [_SOURCE, ('uint8', 'action'), _DIRECTIVES], 'infos', True),
    ('job_control', ('jobcontrol', 'job_control'), [_SOURCE, ('procs', 'targets'), _DIRECTIVES], 'infos', True),
    ('monitor', ('monitor',), [_SOURCE, ('info', 'monitor'), ('int', 'error'), _DIRECTIVES], 'infos', True),
    ('get_credential', ('getcredential', 'get_credential'), [_SOURCE, _DIRECTIVES], 'credential', True),
    ('validate_credential', ('validatecredential', 'validate_credential'),
     [_SOURCE, ('bo', 'credential'), _DIRECTIVES], 'validation', True),
    ('iof_pull', ('iofpull', 'iof_pull'), [('procs', 'sources'), _DIRECTIVES, ('uint16', 'channels')], 'op', True),
    ('push_stdin', ('pushstdin', 'iof_push'),
     [_SOURCE, ('procs', 'targets'), _DIRECTIVES, ('bo', 'payload')], 'op', True),
    ('group', ('group',), [('int', 'op'), ('text', 'group'), ('procs', 'procs'), _DIRECTIVES], 'infos', True),
    ('fabric', ('fabric',), [_SOURCE, ('int', 'op'), _DIRECTIVES], 'infos', True),
    ('client_connected2', ('clientconnected2',), [('proc', 'proc'), ('object', None), ('infos', 'info')], 'op', True),
    ('session_control', ('sessioncontrol', 'session_control'),
     [_SOURCE, ('uint32', 'session'), _DIRECTIVES], 'infos', True),
]
PROCESS_FIRST = ('client_connected', 'client_finalized', 'client_connected2')


def function_type(row):
    """The type of C of a member."""
    _, _, kinds, reply, status = row
    arguments = [one for kind, _ in kinds for one in KINDS[kind][0]]
    return c.CFUNCTYPE(c.c_int if status else None, *arguments, REPLIES[reply][0], c.c_void_p)


class Module(c.Structure):
    """pmix_server_module_t"""
    _fields_ = [(row[0], function_type(row)) for row in UPCALLS]


def takes(function, count):
    """Whether a function can be called with so many arguments."""
    try:
        inspect.signature(function).bind(*range(count))
    except TypeError:
        return False
    except ValueError:  # nobody can say
        return count == 1
    return True


def upcall(row, function):
    """The function of C for a function of the host."""
    member, _, kinds, reply, status = row

    def called(*arguments):
        rest = list(arguments)
        given = {}
        for kind, name in kinds:
            types, convert = KINDS[kind]
            passed, rest = rest[:len(types)], rest[len(types):]
            if convert:
                given[name] = convert(*passed)
        done, argument = rest
        op.worker.run(lambda: answer(member, function, given, reply, done, argument))
        return t.PMIX_SUCCESS if status else None
    return function_type(row)(called)


def call_host(member, function, given):
    """Calls a function of the host: (status, results)."""
    if member in PROCESS_FIRST:
        two = member == 'client_connected2' and takes(function, 2)
        said = function(given['proc'], given['info']) if two else function(given['proc'])
    else:
        said = function(given)
    if isinstance(said, (tuple, list)):
        return (said[0] if said else t.PMIX_SUCCESS), list(said[1:])
    return (t.PMIX_SUCCESS if said is None else said), []


def answer(member, function, given, reply, done, argument):
    """Calls a function of the host, and passes its answer on; one that fails is PMIX_ERROR."""
    try:
        rc, results = call_host(member, function, given)
        rc = t.PMIX_SUCCESS if rc == t.PMIX_OPERATION_SUCCEEDED else v.number('STATUS', rc)
    except Exception:  # pylint: disable=broad-except
        op.log.exception('the function %s of the host has failed', member)
        rc, results = t.PMIX_ERROR, []
    if not done:
        return
    try:
        REPLIES[reply][1](done, argument, rc, results, v.Keep())
    except Exception:  # pylint: disable=broad-except
        op.log.exception('the answer of the function %s of the host cannot be passed on', member)
        REPLIES[reply][1](done, argument, t.PMIX_ERROR, [], v.Keep())


def module_of(functions):
    """The module of a dictionary of functions."""
    module = Module()
    rows = {name: row for row in UPCALLS for name in row[1]}
    for name, function in (functions or {}).items():
        if name not in rows:
            raise v.BadValue(f'a host has no function {name!r}')
        if not callable(function):
            raise v.BadValue(f'{name!r} must be a function')
        setattr(module, rows[name][0], upcall(rows[name], function))
    return module


# The modules of all servers of this process: the library may call them as long as it lives.
_modules: List[Module] = []


def pattern(function, items, joint):
    """A list of names in the short form that the library makes, which may have NUL bytes."""
    if isinstance(items, (list, tuple)):
        items = joint.join(v.string(v.plain(one, 'a name')) for one in items)
    found = c.c_void_p()
    rc = getattr(library(), function)(v.plain(items, 'the names'), c.byref(found))
    if rc != t.PMIX_SUCCESS:
        return rc, bytearray()
    data = c.string_at(found)
    if data == b'blob:':
        data = blob(found.value)
    library().free(found)
    return rc, bytearray(data)


def blob(address):
    """A compressed form: texts up to size=N:, each with its NUL, then N bytes."""
    end = address
    while True:
        word = c.string_at(end)
        end += len(word) + 1
        if word.startswith(b'size=') and word.endswith(b':'):
            return c.string_at(address, end - address + int(word[5:-1]))


class PMIxServer(PMIxClient):
    """A server of PMIx."""

    # pylint: disable=arguments-differ,arguments-renamed
    @op.checked()
    def init(self, dicts: Infos = None, map: Dict[str, Callable[..., Any]] = None) -> Status:  # pylint: disable=redefined-builtin
        """Becomes a server, with these functions."""
        keep = v.Keep()
        module = module_of(map)
        _modules.append(module)
        size = {'key': 'wireup.module.size', 'value': c.sizeof(Module), 'val_type': t.PMIX_SIZE}
        return library().PMIx_server_init(c.byref(module), *infos([*(dicts or []), size], keep))

    @op.checked()
    def set_server_module(self, map: Dict[str, Callable[..., Any]]) -> Status:  # pylint: disable=redefined-builtin
        """Offers the functions of a server, in a tool."""
        module = module_of(map)
        _modules.append(module)
        function = library().PMIx_tool_set_server_module
        function.argtypes = [c.c_void_p]
        return function(c.byref(module))

    def finalize(self, _dicts: Infos = None) -> Status:
        """Ends: clients lose their connections."""
        op.worker.flush()
        return library().PMIx_server_finalize()

    @op.checked(bytearray())
    def generate_regex(self, hosts: List[str]) -> Tuple[Status, bytearray]:
        """(status, short form) of names of nodes, for PMIX_NODE_MAP."""
        return pattern('PMIx_generate_regex', hosts, ',')

    @op.checked(bytearray())
    def generate_ppn(self, procs: List[str]) -> Tuple[Status, bytearray]:  # pylint: disable=redefined-outer-name
        """(status, short form) of the ranks of each node ('0,1'), for PMIX_PROC_MAP."""
        return pattern('PMIx_generate_ppn', procs, ';')

    def _cpuset_text(self, function, cpuset):
        keep = v.Keep()
        place, said = ct.Cpuset(), c.c_char_p()
        v.put_struct('PROC_CPUSET', place, cpuset, keep)
        rc = getattr(library(), function)(c.byref(place), c.byref(said))
        return rc, taken_text(said) if rc == t.PMIX_SUCCESS else None

    @op.checked(None)
    def generate_cpuset_string(self, cpuset: Dict[str, Any]) -> Tuple[Status, str]:
        """(status, text) of a cpuset, for PMIX_CPUSET."""
        return self._cpuset_text('PMIx_server_generate_cpuset_string', cpuset)

    @op.checked(None)
    def generate_locality_string(self, cpuset: Dict[str, Any]) -> Tuple[Status, str]:
        """(status, text) of the place of a cpuset, for PMIX_LOCALITY_STRING."""
        return self._cpuset_text('PMIx_server_generate_locality_string', cpuset)

    @op.operation()
    def register_nspace(self, started, ns: str, nlocalprocs: int, dicts: Infos = None):
        """Registers a job."""
        keep = v.Keep()
        started.start(library().PMIx_server_register_nspace, nspace(ns), v.number('INT', nlocalprocs),
                      *infos(dicts, keep), op.on_op, keep=keep)

    @op.operation()
    def deregister_nspace(self, started, ns: str):
        """Deregisters a job."""
        started.start(library().PMIx_server_deregister_nspace, nspace(ns), op.on_op)

    @op.operation()
    def register_resources(self, started, directives: Infos):
        """Registers resources that belong to no job."""
        keep = v.Keep()
        started.start(library().PMIx_server_register_resources, *infos(directives, keep), op.on_op, keep=keep)

    @op.operation()
    def deregister_resources(self, started, directives: Infos):
        """Deregisters them."""
        keep = v.Keep()
        started.start(library().PMIx_server_deregister_resources, *infos(directives, keep), op.on_op, keep=keep)

    @op.operation()
    def register_client(self, started, proc: Proc, uid: int, gid: int):  # pylint: disable=redefined-outer-name
        """Registers a process: only this user may connect as it."""
        keep = v.Keep()
        started.start(library().PMIx_server_register_client, one_proc(proc, keep), v.number('UINT32', uid),
                      v.number('UINT32', gid), None, op.on_op, keep=keep)

    @op.operation()
    def deregister_client(self, started, proc: Proc):  # pylint: disable=redefined-outer-name
        """Deregisters a process."""
        keep = v.Keep()
        started.start(library().PMIx_server_deregister_client, one_proc(proc, keep), op.on_op, keep=keep)

    @op.checked()
    def setup_fork(self, proc: Proc, envin: Dict[str, str]) -> Status:  # pylint: disable=redefined-outer-name
        """Adds the variables by which a process finds this server to a dictionary."""
        keep = v.Keep()
        array = c.POINTER(c.c_char_p)()
        rc = library().PMIx_server_setup_fork(one_proc(proc, keep), c.byref(array))
        pointers = c.cast(array, c.POINTER(c.c_void_p))
        i = 0
        while pointers and pointers[i]:
            name, _, value = v.string(c.string_at(pointers[i])).partition('=')
            envin[name] = value
            library().free(pointers[i])
            i += 1
        library().free(array)
        return rc

    @op.operation(None)
    def dmodex_request(self, started, proc: Proc, _dataout: Any = None):  # pylint: disable=redefined-outer-name
        """(status, bytes) that a process has put."""
        keep = v.Keep()
        started.start(library().PMIx_server_dmodex_request, one_proc(proc, keep), op.on_dmodex, keep=keep)

    @op.operation([])
    def setup_application(self, started, ns: str, dicts: Infos = None):
        """(status, infos) that every node needs before a job starts."""
        keep = v.Keep()
        started.start(library().PMIx_server_setup_application, nspace(ns), *infos(dicts, keep), op.on_setup, keep=keep)

    @op.operation()
    def setup_local_support(self, started, ns: str, ilist: Infos = None):
        """Applies them on this node."""
        keep = v.Keep()
        started.start(library().PMIx_server_setup_local_support, nspace(ns), *infos(ilist, keep), op.on_op, keep=keep)

    @op.checked()
    def register_attributes(self, function: str, attrs: List[str]) -> Status:
        """Registers the attributes that the host supports in a function."""
        keep = v.Keep()
        return library().PMIx_Register_attributes(v.plain(function, 'a function'), v.words(attrs, keep, 'attributes'))

    @op.operation([])
    def collect_inventory(self, started, pydirs: Infos = None):
        """(status, infos) about this node."""
        keep = v.Keep()
        started.start(library().PMIx_server_collect_inventory, *infos(pydirs, keep), op.on_infos, keep=keep)

    @op.operation()
    def deliver_inventory(self, started, pyinfo: Infos, pydirs: Infos = None):
        """Takes in what other nodes have collected."""
        keep = v.Keep()
        started.start(library().PMIx_server_deliver_inventory, *infos(pyinfo, keep), *infos(pydirs, keep), op.on_op,
                      keep=keep)

    @op.operation()
    def iof_deliver(self, started, pysrc: Proc, pychannel: int, pydata: Dict[str, Any], pydirs: Infos = None):
        """Delivers output to subscribers."""
        keep = v.Keep()
        data = ct.ByteObject()
        v.put_bytes(data, pydata, keep)
        started.start(library().PMIx_server_IOF_deliver, proc(pysrc, keep), v.number('IOF_CHANNEL', pychannel),
                      c.byref(data), *infos(pydirs, keep), op.on_op, keep=[data, keep])

    @op.checked()
    def define_process_set(self, members: Procs, name: str) -> Status:
        """Defines a set of processes."""
        keep = v.Keep()
        return library().PMIx_server_define_process_set(*procs(members, keep), v.plain(name, 'a name'))

    @op.checked()
    def delete_process_set(self, name: str) -> Status:
        """Deletes it."""
        return library().PMIx_server_delete_process_set(v.plain(name, 'a name'))

    @op.operation([])
    def session_control(self, started, sessionID: int, ilist: Infos = None):  # pylint: disable=invalid-name
        """(status, infos) of directives for a session."""
        keep = v.Keep()
        started.start(library().PMIx_Session_control, v.number('UINT32', sessionID), *infos(ilist, keep), op.on_infos,
                      keep=keep)
