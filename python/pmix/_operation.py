"""Calls that end later: one Operation for each, whether its caller waits or awaits it.

Every call of the interface that has a non-blocking form uses that form: so a signal such as Ctrl-C reaches a program
that waits, and the same call can be awaited in asyncio (client.aio).
"""
import ctypes as c
import functools
import itertools
import logging
import queue
import threading

from . import _tables as t
from . import _types as ct
from . import _values as v

log = logging.getLogger('pmix')


class Operation:
    """A call that has been made.  wait() returns what the call returns; `await` does as well."""

    _tokens = itertools.count(1)
    _pending = {}
    _lock = threading.Lock()

    def __init__(self, *empty):
        self._empty = empty
        self._results = empty
        self._status = None
        self._ended = threading.Event()
        self._watchers = []
        self._kept = None

    def start(self, function, *arguments, keep=None):
        """Calls a function whose last argument is the token of this operation."""
        self._kept = (keep, arguments)  # the library may read them until it calls back, a key, too
        token = next(self._tokens)
        with self._lock:
            self._pending[token] = self
        rc = function(*arguments, token)
        if rc not in (None, t.PMIX_SUCCESS):  # no callback will come
            with self._lock:
                self._pending.pop(token, None)
            self.finish(t.PMIX_SUCCESS if rc == t.PMIX_OPERATION_SUCCEEDED else rc)
        return self

    @classmethod
    def called_back(cls, token, status, *results):
        """The library has called back."""
        with cls._lock:
            operation = cls._pending.pop(token, None)
        if operation:
            operation.finish(status, *results)

    def finish(self, status, *results):
        """It has ended."""
        with self._lock:
            if self._status is not None:
                return
            self._status = status
            if results:
                self._results = results
            watchers, self._watchers = self._watchers, []
        self._kept = None
        self._ended.set()
        for watcher in watchers:
            watcher(self)

    def add_done_callback(self, watcher):
        """Calls watcher(self) when it has ended, at once if it has already."""
        with self._lock:
            if self._status is None:
                self._watchers.append(watcher)
                return
        watcher(self)

    def result(self):
        """The status, or a tuple of the status and the results."""
        return (self._status, *self._results) if self._empty else self._status

    def wait(self):
        """Waits for the end; other threads, and handlers of signals, run meanwhile."""
        self._ended.wait()
        return self.result()

    def __await__(self):
        import asyncio
        loop = asyncio.get_running_loop()
        future = loop.create_future()

        def wake():
            if not future.done():
                future.set_result(self.result())

        self.add_done_callback(lambda _: loop.call_soon_threadsafe(wake))
        return future.__await__()


@functools.lru_cache(maxsize=None)
def missing_endings():
    """How the messages about functions end that the library does not have."""
    from ._library import ARGUMENTS
    return tuple(f'undefined symbol: {name}' for name in ARGUMENTS)


def refusal(name, error):
    """The status of a call that was not made, because of its arguments or of the library; other errors are raised."""
    if isinstance(error, v.BadValue):
        log.error('%s: %s', name, error)
        return t.PMIX_ERR_BAD_PARAM
    if not str(error).endswith(missing_endings()):
        raise error
    return t.PMIX_ERR_NOT_SUPPORTED


class operation:
    """Decorates a method that starts an Operation: calling the method waits for the end of it.

    The arguments of the decorator are the results of a call that fails."""

    def __init__(self, *empty):
        self.empty = empty

    def __call__(self, function):
        empty = self.empty

        def begin(self, *arguments, **words):
            started = Operation(*empty)
            try:
                function(self, started, *arguments, **words)
            except (v.BadValue, AttributeError) as error:
                started.finish(refusal(function.__name__, error))
            return started

        @functools.wraps(function)
        def call(self, *arguments, **words):
            return begin(self, *arguments, **words).wait()

        call.begin = begin
        return call


def checked(*empty):
    """Decorates a method that is done when it returns: wrong arguments become PMIX_ERR_BAD_PARAM."""
    def decorate(function):
        @functools.wraps(function)
        def call(self, *arguments, **words):
            try:
                return function(self, *arguments, **words)
            except (v.BadValue, AttributeError) as error:
                rc = refusal(function.__name__, error)
            return (rc, *empty) if empty else rc
        return call
    return decorate


# ---- what the library calls ------------------------------------------------------------------------


@ct.OpFn
def on_op(status, token):
    """A call without results has ended."""
    Operation.called_back(token, status)


@ct.ValueFn
def on_value(status, value, token):
    """A get has ended."""
    Operation.called_back(token, status, v.get_value(value.contents) if value and status == t.PMIX_SUCCESS else None)


@ct.InfoFn
def on_infos(status, infos, n, token, release, argument):
    """A call has ended that returns infos."""
    found = v.get_list('INFO', infos, n)
    if release:
        release(argument)
    Operation.called_back(token, status, found)


@ct.LookupFn
def on_lookup(status, data, n, token):
    """A look-up has ended."""
    found = v.get_list('PDATA', data, n) if status in (t.PMIX_SUCCESS, t.PMIX_ERR_PARTIAL_SUCCESS) else []
    Operation.called_back(token, status, [one for one in found if one['val_type'] != t.PMIX_UNDEF])


@ct.SpawnFn
def on_spawn(status, nspace, token):
    """A spawn has ended."""
    Operation.called_back(token, status, v.string(nspace) if status == t.PMIX_SUCCESS else None)


@ct.CredentialFn
def on_credential(status, credential, _infos, _n, token):
    """A credential has been made."""
    made = credential and status == t.PMIX_SUCCESS
    Operation.called_back(token, status, v.get_bytes(credential.contents) if made else None)


@ct.ValidationFn
def on_validation(status, infos, n, token):
    """A credential has been validated."""
    Operation.called_back(token, status, v.get_list('INFO', infos, n))


@ct.RegisteredFn
def on_registered(status, reference, token):
    """A handler has been registered."""
    Operation.called_back(token, status, reference if status == t.PMIX_SUCCESS else -1)


@ct.DistancesFn
def on_distances(status, distances, n, token, release, argument):
    """Distances have been computed."""
    found = v.get_list('DEVICE_DIST', distances, n)
    if release:
        release(argument)
    Operation.called_back(token, status, found)


@ct.DmodexFn
def on_dmodex(status, data, size, token):
    """What a process has put."""
    found = c.string_at(data, size) if data and size else b''
    Operation.called_back(token, status, {'bytes': found, 'size': len(found)})


@ct.SetupFn
def on_setup(status, infos, n, token, done, argument):
    """What an application needs."""
    found = v.get_list('INFO', infos, n)
    if done:
        done(t.PMIX_SUCCESS, argument)
    Operation.called_back(token, status, found)


# ---- functions of the program, which the library has called ----------------------------------------


class Worker:
    """The thread in which handlers and functions of a host run.

    The thread of the library must not wait; here a handler may make any call."""

    def __init__(self):
        self._jobs = queue.SimpleQueue()
        self._thread = None
        self._lock = threading.Lock()

    def run(self, job):
        """Has the thread call job()."""
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._serve, name='pmix', daemon=True)
                self._thread.start()
        self._jobs.put(job)

    def flush(self):
        """Returns when all jobs so far have been done; at once in the thread itself."""
        if self._thread is None or threading.current_thread() is self._thread:
            return
        done = threading.Event()
        self._jobs.put(done.set)
        done.wait()

    def _serve(self):
        while True:
            job = self._jobs.get()
            try:
                job()
            except Exception:  # pylint: disable=broad-except
                log.exception('a function of this program has failed')


worker = Worker()
