"""PMIxClient: what every process may call (PMIx Standard, appendix B).

Methods return the status, or a tuple of the status and the results.  Arguments are the dictionaries and lists of that
appendix; a wrong one gives PMIX_ERR_BAD_PARAM, and the logger `pmix` says why.  Lists of infos may be left out.
"""
import ctypes as c
from typing import Any, Callable, Dict, List, Optional, Tuple

from . import _operation as op
from . import _tables as t
from . import _types as ct
from . import _values as v
from ._library import library

Status = int
Proc = Dict[str, Any]
Value = Dict[str, Any]
Infos = Optional[List[Dict[str, Any]]]
Procs = Optional[List[Proc]]


def infos(items, keep):
    """(array, number) of infos."""
    return v.listed('INFO', items, keep, 'infos')


def procs(items, keep):
    """(array, number) of processes."""
    return v.listed('PROC', items, keep, 'processes')


def proc(item, keep):
    """A process; None stays NULL."""
    return None if item is None else one_proc(item, keep)


def one_proc(item, keep):
    """A process that must be named."""
    place = ct.Proc()
    keep.append(place)
    v.put_struct('PROC', place, item, keep)
    return c.byref(place)


def keys(items, keep):
    """A NULL-ended array of keys, or NULL for none."""
    return v.words(list(items), keep, 'keys') if items else None


def value(item, keep):
    """A value."""
    place = ct.Value()
    keep.append(place)
    v.put_value(place, item, keep)
    return c.byref(place)


def key(item):
    """A key."""
    return v.plain(item, 'a key', ct.KEY_SIZE)


def nspace(item):
    """A namespace; empty stays NULL."""
    return v.plain(item, 'a namespace', ct.NSPACE_SIZE) if item else None


def codes(items, keep):
    """(array, number) of status codes."""
    return v.listed('STATUS', items, keep, 'codes')


def taken(pointer, size, name):
    """The items of an array that the library has allocated, which is freed."""
    found = v.get_list(name, pointer, size)
    library().free(pointer)
    return found


def taken_text(pointer):
    """A text that the library has allocated, which is freed."""
    found = v.string(pointer.value)
    library().free(pointer)
    return found


def _text(function, convert):
    @op.checked()
    def call(_self, item) -> str:
        return v.string(getattr(library(), function)(convert(item)))
    call.__doc__ = f'{function}: a number as a text.'
    return call


def _mask(item):
    return v.integer(item, 'the argument')


class Aio:
    """The same calls for asyncio: `await client.aio.fence()`."""

    def __init__(self, client):
        self._client = client

    def __getattr__(self, name):
        call = getattr(self._client, name)
        if not hasattr(call, 'begin'):
            raise AttributeError(f'{name} does not wait: call it without aio')
        return lambda *arguments, **words: call.begin(self._client, *arguments, **words)

    async def events(self, codes_=None, directives=None):
        """The events of these codes, one after the other: (status, source, infos)."""
        import asyncio
        loop = asyncio.get_running_loop()
        queue = asyncio.Queue()

        def handler(_reference, status, source, infos_, _results):
            loop.call_soon_threadsafe(queue.put_nowait, (status, source, infos_))
            return t.PMIX_EVENT_ACTION_COMPLETE, []

        rc, reference = await self.register_event_handler(codes_, directives, handler)
        if rc != t.PMIX_SUCCESS:
            raise RuntimeError(f'no handler of events: {self._client.error_string(rc)}')
        try:
            while True:
                yield await queue.get()
        finally:
            self._client.deregister_event_handler.begin(self._client, reference)


class PMIxClient:
    """A client of PMIx."""

    def __init__(self):
        self._handlers: Dict[int, Any] = {}
        self._fabric: Optional[ct.Fabric] = None

    @property
    def aio(self) -> Aio:
        """The calls for asyncio."""
        return Aio(self)

    # ---- beginning and end

    @op.checked(None)
    def init(self, dicts: Infos = None) -> Tuple[Status, Proc]:
        """Connects to the server: (status, own process)."""
        keep = v.Keep()
        me = ct.Proc()
        rc = library().PMIx_Init(c.byref(me), *infos(dicts, keep))
        return rc, v.get_struct('PROC', me)

    @op.checked()
    def finalize(self, dicts: Infos = None) -> Status:
        """Ends the connection."""
        keep = v.Keep()
        given = infos(dicts, keep)
        op.worker.flush()
        return library().PMIx_Finalize(*given)

    def initialized(self) -> int:
        """1 between init and finalize, else 0."""
        return library().PMIx_Initialized()

    def get_version(self) -> bytes:
        """The text of PMIx_Get_version."""
        return library().PMIx_Get_version()

    def progress(self) -> None:
        """Does what is due, where the library has no thread."""
        library().PMIx_Progress()

    @op.checked()
    def abort(self, status: int, msg: Optional[str] = None, peers: Procs = None) -> Status:
        """Aborts processes; none named: the whole job."""
        keep = v.Keep()
        return library().PMIx_Abort(v.number('INT', status), None if msg is None else v.plain(msg, 'a message'),
                                    *procs(peers, keep))

    # ---- exchange

    @op.checked()
    def store_internal(self, pyproc: Proc, pykey: str, pyval: Value) -> Status:
        """Stores a value for this process alone."""
        keep = v.Keep()
        return library().PMIx_Store_internal(proc(pyproc, keep), key(pykey), value(pyval, keep))

    @op.checked()
    def put(self, scope: int, ky: str, val: Value) -> Status:
        """Puts a value for others, who see it after commit."""
        keep = v.Keep()
        return library().PMIx_Put(v.number('SCOPE', scope), key(ky), value(val, keep))

    def commit(self) -> Status:
        """Sends what was put to the server."""
        return library().PMIx_Commit()

    @op.operation()
    def fence(self, started, peers: Procs = None, dicts: Infos = None):
        """Waits until all of `peers` have called it; none named: the whole job."""
        keep = v.Keep()
        started.start(library().PMIx_Fence_nb, *procs(peers, keep), *infos(dicts, keep), op.on_op, keep=keep)

    @op.operation(None)
    def get(self, started, pyproc: Optional[Proc], ky: str, dicts: Infos = None):
        """(status, value) of a key of a process."""
        keep = v.Keep()
        started.start(library().PMIx_Get_nb, proc(pyproc, keep), None if ky is None else key(ky),
                      *infos(dicts, keep), op.on_value, keep=keep)

    # ---- names

    @op.operation()
    def publish(self, started, dicts: Infos = None):
        """Publishes infos."""
        keep = v.Keep()
        started.start(library().PMIx_Publish_nb, *infos(dicts, keep), op.on_op, keep=keep)

    @op.operation()
    def unpublish(self, started, pykeys: Optional[List[str]] = None, dicts: Infos = None):
        """Withdraws keys; none named: all of this process."""
        keep = v.Keep()
        started.start(library().PMIx_Unpublish_nb, keys(pykeys, keep), *infos(dicts, keep), op.on_op, keep=keep)

    @op.operation([])
    def lookup(self, started, data: List[Any], dicts: Infos = None):
        """(status, list of pdata) of keys: strings, or dictionaries with 'key'."""
        keep = v.Keep()
        if not isinstance(data, (list, tuple)) or not data:
            raise v.BadValue('keys must be a list of strings or of dictionaries')
        asked = [v.member(one, 'key', 'pdata') if isinstance(one, dict) else one for one in data]
        started.start(library().PMIx_Lookup_nb, keys(asked, keep), *infos(dicts, keep), op.on_lookup, keep=keep)

    # ---- jobs

    @op.operation(None)
    def spawn(self, started, jobInfo: Infos, pyapps: List[Dict[str, Any]]):  # pylint: disable=invalid-name
        """Starts a job: (status, its namespace)."""
        keep = v.Keep()
        apps = v.listed('APP', pyapps, keep, 'apps')
        started.start(library().PMIx_Spawn_nb, *infos(jobInfo, keep), *apps, op.on_spawn, keep=keep)

    @op.operation()
    def connect(self, started, peers: Procs, pyinfo: Infos = None):
        """Connects processes."""
        keep = v.Keep()
        started.start(library().PMIx_Connect_nb, *procs(peers, keep), *infos(pyinfo, keep), op.on_op, keep=keep)

    @op.operation()
    def disconnect(self, started, peers: Procs, pyinfo: Infos = None):
        """Ends a connection of processes."""
        keep = v.Keep()
        started.start(library().PMIx_Disconnect_nb, *procs(peers, keep), *infos(pyinfo, keep), op.on_op, keep=keep)

    @op.checked([])
    def resolve_peers(self, pynode: Optional[str], pyns: Optional[str]) -> Tuple[Status, List[Proc]]:
        """The processes of a namespace (none: all) on a node (none: this one)."""
        found, n = c.POINTER(ct.Proc)(), c.c_size_t()
        rc = library().PMIx_Resolve_peers(v.plain(pynode, 'a node') if pynode else None, nspace(pyns), c.byref(found),
                                          c.byref(n))
        return rc, taken(found, n.value, 'PROC') if rc == t.PMIX_SUCCESS else []

    @op.checked(None)
    def resolve_nodes(self, pyns: Optional[str]) -> Tuple[Status, str]:
        """The nodes of a namespace (none: of all), separated by commas."""
        found = c.c_char_p()
        rc = library().PMIx_Resolve_nodes(nspace(pyns), c.byref(found))
        return rc, taken_text(found) if rc == t.PMIX_SUCCESS else None

    @op.operation([])
    def query(self, started, pyq: List[Dict[str, Any]]):
        """(status, infos) that answer queries."""
        keep = v.Keep()
        queries = v.listed('QUERY', pyq, keep, 'queries')
        started.start(library().PMIx_Query_info_nb, *queries, op.on_infos, keep=keep)

    @op.operation()
    def log(self, started, pydata: Infos, pydirs: Infos = None):
        """Logs infos."""
        keep = v.Keep()
        started.start(library().PMIx_Log_nb, *infos(pydata, keep), *infos(pydirs, keep), op.on_op, keep=keep)

    @op.operation([])
    def allocation_request(self, started, directive: int, pyinfo: Infos = None):
        """(status, infos) of a request for an allocation."""
        keep = v.Keep()
        started.start(library().PMIx_Allocation_request_nb, v.number('ALLOC_DIRECTIVE', directive),
                      *infos(pyinfo, keep), op.on_infos, keep=keep)

    @op.operation([])
    def job_control(self, started, pytargets: Procs = None, pydirs: Infos = None):
        """(status, infos) of directives for processes; none named: the whole job."""
        keep = v.Keep()
        started.start(library().PMIx_Job_control_nb, *procs(pytargets, keep), *infos(pydirs, keep), op.on_infos,
                      keep=keep)

    job_ctrl = job_control  # the Standard's name

    @op.operation([])
    def monitor(self, started, pymonitor_info: Any, code: int, pydirs: Infos = None):
        """(status, infos) of a request to watch this process."""
        keep = v.Keep()
        one = pymonitor_info[0] if isinstance(pymonitor_info, (list, tuple)) and pymonitor_info else pymonitor_info
        watched, _ = infos([one], keep)
        started.start(library().PMIx_Process_monitor_nb, watched, v.number('STATUS', code), *infos(pydirs, keep),
                      op.on_infos, keep=keep)

    # ---- credentials

    @op.operation(None)
    def get_credential(self, started, pyinfo: Infos = None):
        """(status, credential)."""
        keep = v.Keep()
        started.start(library().PMIx_Get_credential_nb, *infos(pyinfo, keep), op.on_credential, keep=keep)

    @op.operation([])
    def validate_credential(self, started, pycred: Dict[str, Any], pyinfo: Infos = None):
        """(status, infos) about the owner of a credential."""
        keep = v.Keep()
        credential = ct.ByteObject()
        keep.append(credential)
        v.put_bytes(credential, pycred, keep)
        started.start(library().PMIx_Validate_credential_nb, c.byref(credential), *infos(pyinfo, keep),
                      op.on_validation, keep=keep)

    # ---- groups

    @op.operation([])
    def group_construct(self, started, group: str, peers: Procs, pyinfo: Infos = None):
        """(status, infos): all of `peers` construct a group."""
        keep = v.Keep()
        started.start(library().PMIx_Group_construct_nb, v.plain(group, 'a group'), *procs(peers, keep),
                      *infos(pyinfo, keep), op.on_infos, keep=keep)

    construct_group = group_construct  # the Standard's name

    @op.operation([])
    def group_invite(self, started, group: str, peers: Procs, pyinfo: Infos = None):
        """(status, infos): invites `peers` into a group."""
        keep = v.Keep()
        started.start(library().PMIx_Group_invite_nb, v.plain(group, 'a group'), *procs(peers, keep),
                      *infos(pyinfo, keep), op.on_infos, keep=keep)

    @op.operation([])
    def group_join(self, started, group: str, leader: Optional[Proc], opt: int, pyinfo: Infos = None):
        """(status, infos): accepts or declines an invitation."""
        keep = v.Keep()
        started.start(library().PMIx_Group_join_nb, v.plain(group, 'a group'), proc(leader, keep),
                      v.number('INT', opt), *infos(pyinfo, keep), op.on_infos, keep=keep)

    @op.operation()
    def group_leave(self, started, group: str, pyinfo: Infos = None):
        """Leaves a group."""
        keep = v.Keep()
        started.start(library().PMIx_Group_leave_nb, v.plain(group, 'a group'), *infos(pyinfo, keep), op.on_op,
                      keep=keep)

    @op.operation()
    def group_destruct(self, started, group: str, pyinfo: Infos = None):
        """All members end their group."""
        keep = v.Keep()
        started.start(library().PMIx_Group_destruct_nb, v.plain(group, 'a group'), *infos(pyinfo, keep), op.on_op,
                      keep=keep)

    # ---- events

    @op.operation(-1)
    def register_event_handler(self, started, pycodes: Optional[List[int]], pyinfo: Infos,
                               hdlr: Callable[..., Any]):
        """(status, reference): hdlr(reference, status, source, infos, results) is called for each event.

        It returns (status, infos), a status, or nothing: PMIX_EVENT_NO_ACTION_TAKEN."""
        keep = v.Keep()
        if not callable(hdlr):
            raise v.BadValue('a handler must be a function')
        function = ct.EventFn(event_caller(hdlr))
        self._keep_handler(started, function)
        started.start(library().PMIx_Register_event_handler, *codes(pycodes, keep), *infos(pyinfo, keep), function,
                      op.on_registered, keep=keep)

    def _keep_handler(self, started, function):
        """Keeps a function of C until its handler is removed."""
        def registered(ended):
            rc, reference = ended.result()
            if rc == t.PMIX_SUCCESS:
                self._handlers[reference] = function
        started.add_done_callback(registered)

    @op.operation()
    def deregister_event_handler(self, started, ref: int):
        """Removes a handler."""
        started.add_done_callback(lambda _: self._handlers.pop(ref, None))
        started.start(library().PMIx_Deregister_event_handler, v.number('SIZE', ref), op.on_op)

    @op.operation()
    def notify_event(self, started, status: int, pysrc: Optional[Proc], range: int,  # pylint: disable=redefined-builtin
                     pyinfo: Infos = None):
        """Raises an event."""
        keep = v.Keep()
        started.start(library().PMIx_Notify_event, v.number('STATUS', status), proc(pysrc, keep),
                      v.number('DATA_RANGE', range), *infos(pyinfo, keep), op.on_op, keep=keep)

    # ---- fabric

    def _fabric_infos(self, rc):
        if rc != t.PMIX_SUCCESS or self._fabric is None:
            return rc, None
        fabric = self._fabric
        return rc, {'name': v.string(fabric.name), 'index': fabric.index,
                    'info': v.get_list('INFO', fabric.info, fabric.ninfo)}

    @op.checked(None)
    def fabric_register(self, dicts: Infos = None) -> Tuple[Status, Dict[str, Any]]:
        """(status, fabric)."""
        if self._fabric is not None:
            return t.PMIX_ERR_RESOURCE_BUSY, None
        keep = v.Keep()
        self._fabric = ct.Fabric()
        rc = library().PMIx_Fabric_register(c.byref(self._fabric), *infos(dicts, keep))
        if rc != t.PMIX_SUCCESS:
            self._fabric = None
        return self._fabric_infos(rc)

    @op.checked(None)
    def fabric_update(self, _index: Optional[int] = None) -> Tuple[Status, Dict[str, Any]]:
        """(status, fabric)."""
        if self._fabric is None:
            return t.PMIX_ERR_INIT, None
        return self._fabric_infos(library().PMIx_Fabric_update(c.byref(self._fabric)))

    @op.checked()
    def fabric_deregister(self, _index: Optional[int] = None) -> Status:
        """Forgets the fabric."""
        if self._fabric is None:
            return t.PMIX_ERR_INIT
        rc = library().PMIx_Fabric_deregister(c.byref(self._fabric))
        self._fabric = None
        return rc

    # ---- topology

    @op.checked()
    def load_topology(self) -> Status:
        """Reads the topology of this node."""
        topology = ct.KINDS['TOPO']()
        return library().PMIx_Load_topology(c.byref(topology))

    @op.checked([])
    def get_relative_locality(self, loc1: str, loc2: str) -> Tuple[Status, List[int]]:
        """(status, list of PMIX_LOCALITY_...) that two processes share."""
        mask = c.c_uint16()
        rc = library().PMIx_Get_relative_locality(v.plain(loc1, 'a locality'), v.plain(loc2, 'a locality'),
                                                  c.byref(mask))
        return rc, [1 << bit for bit in range(16) if mask.value & 1 << bit]

    @op.checked(None)
    def parse_cpuset_string(self, csetstr: str) -> Tuple[Status, Dict[str, Any]]:
        """(status, cpuset) of a text such as 'hwloc:0-3'."""
        place = ct.Cpuset()
        rc = library().PMIx_Parse_cpuset_string(v.plain(csetstr, 'a cpuset'), c.byref(place))
        return self._cpuset(rc, place)

    @op.checked(None)
    def get_cpuset(self, ref: int) -> Tuple[Status, Dict[str, Any]]:
        """(status, cpuset) of this process or thread."""
        place = ct.Cpuset()
        rc = library().PMIx_Get_cpuset(c.byref(place), v.number('UINT8', ref))
        return self._cpuset(rc, place)

    @staticmethod
    def _cpuset(rc, place):
        if rc != t.PMIX_SUCCESS:
            return rc, None
        found = v.get_cpuset(place)
        library().PMIx_Cpuset_destruct(c.byref(place))
        return rc, found

    @op.operation([])
    def compute_distances(self, started, pycpus: Optional[Dict[str, Any]] = None, dicts: Infos = None):
        """(status, distances) of devices from a cpuset; none: the own one."""
        keep = v.Keep()
        place = None
        if pycpus:
            place = ct.Cpuset()
            keep.append(place)
            v.put_struct('PROC_CPUSET', place, pycpus, keep)
        started.start(library().PMIx_Compute_distances_nb, None, c.byref(place) if place else None,
                      *infos(dicts, keep), op.on_distances, keep=keep)

    # ---- texts

    error_string = _text('PMIx_Error_string', _mask)
    proc_state_string = _text('PMIx_Proc_state_string', _mask)
    scope_string = _text('PMIx_Scope_string', _mask)
    persistence_string = _text('PMIx_Persistence_string', _mask)
    data_range_string = _text('PMIx_Data_range_string', _mask)
    info_directives_string = _text('PMIx_Info_directives_string', _mask)
    data_type_string = _text('PMIx_Data_type_string', _mask)
    alloc_directive_string = _text('PMIx_Alloc_directive_string', _mask)
    iof_channel_string = _text('PMIx_IOF_channel_string', _mask)
    job_state_string = _text('PMIx_Job_state_string', _mask)
    link_state_string = _text('PMIx_Link_state_string', _mask)
    device_type_string = _text('PMIx_Device_type_string', _mask)
    get_attribute_string = _text('PMIx_Get_attribute_string', v.text)
    get_attribute_name = _text('PMIx_Get_attribute_name', v.text)


def event_caller(handler):
    """The function of C that calls a handler of events in the thread of handlers."""
    def on_event(reference, status, source, info, n, results, nresults, done, argument):
        given = (reference, status, v.get_proc(source), v.get_list('INFO', info, n),
                 v.get_list('INFO', results, nresults))
        op.worker.run(lambda: answer_event(handler, given, done, argument))
    return on_event


def answer_event(handler, given, done, argument):
    """Calls a handler, and passes its answer on."""
    rc, results = t.PMIX_EVENT_NO_ACTION_TAKEN, []
    keep = v.Keep()
    try:
        answer = handler(*given)
        if isinstance(answer, tuple):
            rc, results = answer[0], answer[1] if len(answer) > 1 and answer[1] else []
        elif answer is not None:
            rc = answer
        array, n = infos(results, keep)
    except Exception:  # pylint: disable=broad-except
        op.log.exception('a handler of events has failed')
        rc, array, n = t.PMIX_EVENT_NO_ACTION_TAKEN, None, 0
    if not done:
        return
    if n:  # the library says when it needs them no longer
        op.Operation().start(lambda token: done(rc, c.cast(array, c.POINTER(ct.Info)), n, op.on_op, token, argument),
                             keep=keep)
    else:
        done(rc, None, 0, ct.OpFn(), None, argument)
