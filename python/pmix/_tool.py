"""PMIxTool and PMIxScheduler (PMIx Standard, appendix B)."""
import ctypes as c
from typing import Any, Callable, Dict, List, Optional, Tuple

from . import _operation as op
from . import _tables as t
from . import _types as ct
from . import _values as v
from ._client import Infos, Proc, Procs, Status, infos, proc, procs, taken
from ._library import library
from ._server import PMIxServer


class PMIxTool(PMIxServer):
    """A tool of PMIx."""

    # pylint: disable=arguments-differ,arguments-renamed
    @op.checked(None)
    def init(self, dicts: Infos = None) -> Tuple[Status, Proc]:
        """Connects to a server: (status, own name)."""
        keep = v.Keep()
        me = ct.Proc()
        rc = library().PMIx_tool_init(c.byref(me), *infos(dicts, keep))
        return rc, v.get_struct('PROC', me)

    def finalize(self, _dicts: Infos = None) -> Status:
        """Ends all connections."""
        op.worker.flush()
        return library().PMIx_tool_finalize()

    @op.checked()
    def is_connected(self) -> bool:
        """Whether a server is connected."""
        return library().PMIx_tool_is_connected()

    @op.checked()
    def disconnect(self, server: Any, _pyinfo: Infos = None) -> Status:
        """Ends the connection to a server; a list of processes: as PMIxClient.disconnect."""
        if isinstance(server, (list, tuple)):
            return super().disconnect(server, _pyinfo)
        keep = v.Keep()
        return library().PMIx_tool_disconnect(proc(server, keep))

    @op.checked(None, None)
    def attach_to_server(self, dicts: Infos = None) -> Tuple[Status, Proc, Proc]:
        """(status, own name, name of the server) of one more connection."""
        keep = v.Keep()
        me, server = ct.Proc(), ct.Proc()
        rc = library().PMIx_tool_attach_to_server(c.byref(me), c.byref(server), *infos(dicts, keep))
        return rc, v.get_struct('PROC', me), v.get_struct('PROC', server)

    connect_to_server = attach_to_server  # the Standard's name

    @op.checked([])
    def get_servers(self) -> Tuple[Status, List[Proc]]:
        """(status, servers that are connected); the first gets the requests."""
        found, n = c.POINTER(ct.Proc)(), c.c_size_t()
        rc = library().PMIx_tool_get_servers(c.byref(found), c.byref(n))
        return rc, taken(found, n.value, 'PROC') if rc == t.PMIX_SUCCESS else []

    @op.checked()
    def set_server(self, server: Proc, pyinfo: Infos = None) -> Status:
        """Sends requests to this server from now on."""
        keep = v.Keep()
        return library().PMIx_tool_set_server(proc(server, keep), *infos(pyinfo, keep))

    @op.operation(-1)
    def iof_pull(self, started, pyprocs: Procs, iof_channel: int, pydirs: Infos,
                 hdlr: Optional[Callable[..., Any]]):
        """(status, reference): hdlr(reference, channel, source, payload, infos) gets the output of processes."""
        keep = v.Keep()
        function = ct.OutputFn(output_caller(hdlr)) if hdlr else ct.OutputFn()
        self._keep_handler(started, function)
        started.start(library().PMIx_IOF_pull, *procs(pyprocs, keep), *infos(pydirs, keep),
                      v.number('IOF_CHANNEL', iof_channel), function, op.on_registered, keep=keep)

    @op.operation()
    def iof_deregister(self, started, regid: int, pydirs: Infos = None):
        """Ends the delivery of output."""
        keep = v.Keep()
        started.start(library().PMIx_IOF_deregister, v.number('SIZE', regid), *infos(pydirs, keep), op.on_op, keep=keep)

    @op.operation()
    def iof_push(self, started, pytargets: Procs, data: Optional[Dict[str, Any]], pydirs: Infos = None):
        """Sends bytes to the standard input of processes; none: its end."""
        keep = v.Keep()
        place = ct.ByteObject()
        if data:
            v.put_bytes(place, data, keep)
        started.start(library().PMIx_IOF_push, *procs(pytargets, keep), c.byref(place), *infos(pydirs, keep), op.on_op,
                      keep=[place, keep])


def output_caller(handler):
    """The function of C that calls a handler of output in the thread of handlers."""
    def on_output(reference, channel, source, payload, info, n):
        given = (reference, channel, v.get_proc(source), v.get_bytes(payload.contents) if payload else None,
                 v.get_list('INFO', info, n))
        op.worker.run(lambda: handler(*given))
    return on_output


class PMIxScheduler(PMIxTool):
    """A tool that is the scheduler of its system."""

    @op.checked(None)
    def init(self, dicts: Infos = None) -> Tuple[Status, Proc]:
        """Connects to the system's controller as its scheduler."""
        role = {'key': t.PMIX_SERVER_SCHEDULER, 'value': True, 'val_type': t.PMIX_BOOL}
        return super().init([*(dicts or []), role])

    @op.operation([])
    def assign_session(self, started, sessionID: int, allocID: str, ilist: Infos = None,  # pylint: disable=invalid-name
                       applist: Optional[List[Dict[str, Any]]] = None):
        """Gives a session an allocation, and the applications that it runs."""
        keep = v.Keep()
        given = [{'key': t.PMIX_ALLOC_ID, 'value': allocID, 'val_type': t.PMIX_STRING}, *(ilist or [])]
        if applist:
            apps = {'type': t.PMIX_APP, 'array': applist}
            given.append({'key': t.PMIX_SESSION_APP, 'value': apps, 'val_type': t.PMIX_DATA_ARRAY})
        started.start(library().PMIx_Session_control, v.number('UINT32', sessionID), *infos(given, keep), op.on_infos,
                      keep=keep)
