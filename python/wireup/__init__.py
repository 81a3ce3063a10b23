"""Parallel jobs from Python: start them, watch them, and read what the commands of Wireup tell.

    import wireup

    with wireup.launch('./solver', '--steps', '10', n=4, trace='job.trace') as job:
        for rank, line in job.lines():
            print(rank, line)
        print(job.wait())
    wireup.timeline('job.trace', 'job.html')

    with wireup.Dvm(hosts=['a', 'b']) as dvm:       # standing daemons: jobs start in milliseconds
        dvm.run('./hello', n=8)

What a command prints as JSON is described in docs/json.md.  A command that fails raises WireupError with its sentence.
The command is the `wireup` on PATH, or the one that the variable WIREUP names.
"""
import json
import os
import re
import shutil
import signal as signals
import subprocess
import threading
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple, Union

__all__ = ['Dvm', 'Job', 'WireupError', 'enter', 'jobs', 'launch', 'names', 'run', 'timeline', 'trace', 'who']

Row = Dict[str, Any]
Name = Union[str, int]


class WireupError(Exception):
    """A command of Wireup has failed: `status` is its exit status, the text what it said."""

    def __init__(self, status: int, text: str):
        super().__init__(text.strip() or f'wireup has ended with {status}')
        self.status = status


def command() -> str:
    """The path of wireup."""
    found = os.environ.get('WIREUP') or shutil.which('wireup')
    if not found:
        raise WireupError(127, 'wireup: not found on PATH; the variable WIREUP names it')
    return found


def _tell(*words: Any) -> str:
    """What a command prints."""
    done = subprocess.run([command(), *map(str, words)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False, text=True, errors='surrogateescape')
    if done.returncode:
        raise WireupError(done.returncode, done.stderr)
    return done.stdout


def _option(name: str, value: Any) -> List[str]:
    return [] if value is None else [f'-{name}', ','.join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)]


class Job:
    """A job that was started: its launcher, and what the commands tell of it.

    As a context manager it ends the job on the way out."""

    def __init__(self, words: Sequence[Any], **popen: Any):
        self.words = [str(word) for word in words]
        self._launcher = subprocess.Popen(self.words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,  # pylint: disable=consider-using-with
                                          errors='surrogateescape', **popen)
        self._said: List[str] = []
        self._reader = threading.Thread(target=self._read_errors, daemon=True)
        self._reader.start()
        self.pid = self._launcher.pid

    def _read_errors(self) -> None:
        for line in self._launcher.stderr:
            self._said.append(line)

    def __enter__(self) -> 'Job':
        return self

    def __exit__(self, *_error: Any) -> None:
        self.end()

    def lines(self) -> Iterator[Tuple[int, str]]:
        """(rank, line) of the standard output of all processes, as they come."""
        for line in self._launcher.stdout:
            found = re.match(r'\[(\d+)\] ?(.*)', line.rstrip('\n'), re.S)
            yield (int(found[1]), found[2]) if found else (-1, line.rstrip('\n'))

    def wait(self, timeout: Optional[float] = None) -> int:
        """The exit status of the job; subprocess.TimeoutExpired after `timeout` seconds."""
        status = self._launcher.wait(timeout)
        self._reader.join()
        return status

    @property
    def errors(self) -> str:
        """What the launcher and the processes have written on standard error so far."""
        return ''.join(self._said)

    def row(self) -> Optional[Row]:
        """The row of `wireup ps`: id, name, state, processor time, memory; None before the start and after the end."""
        return next((one for one in jobs() if one['launcher'] == self.pid), None)

    def who(self, stacks: bool = False) -> Row:
        """What its processes wait for."""
        return who(self.pid, stacks)

    def names(self) -> Row:
        """The names that it has published."""
        return names(self.pid)

    def signal(self, number: Union[int, str]) -> None:
        """Sends a signal to all of its processes, on all nodes."""
        _tell('kill', '--signal', int(number) if isinstance(number, int) else number, self.pid)

    def end(self) -> int:
        """Ends it, if it has not ended: its exit status."""
        if self._launcher.poll() is None:
            self._launcher.send_signal(signals.SIGTERM)
        try:
            self._launcher.communicate()
        except ValueError:  # its output has been read to the end
            self._launcher.wait()
        return self._launcher.returncode


def launch(program: str, *arguments: Any, n: Optional[int] = None, hosts: Any = None, name: Optional[str] = None,
           trace: Optional[str] = None, options: Sequence[Any] = (), dvm: bool = False, **popen: Any) -> Job:  # pylint: disable=redefined-outer-name
    """Starts a job: n processes of a program.

    hosts: names of nodes; name: of the job, for `wireup ps`; trace: file that records its messages; options: further
    options of wireup; dvm: on the standing daemons; others (cwd, env, stdin) are those of subprocess.Popen."""
    words = [command(), *(['run'] if dvm else []), '-prepend-rank', *_option('n', n), *_option('hosts', hosts),
             *_option('job-name', name), *_option('trace', trace), *options, program, *arguments]
    popen.setdefault('stdin', subprocess.DEVNULL)
    return Job(words, **popen)


def run(program: str, *arguments: Any, **how: Any) -> List[Tuple[int, str]]:
    """Runs a job to its end: (rank, line) of all its output.  One that fails raises WireupError."""
    with launch(program, *arguments, **how) as job:
        said = list(job.lines())
        status = job.wait()
    if status:
        raise WireupError(status, job.errors)
    return said


def jobs() -> List[Row]:
    """The jobs of your launchers on this machine, as `wireup ps` lists them."""
    return json.loads(_tell('ps', '--json'))['jobs']


def enter(job: Name, rank: Optional[int] = None) -> int:
    """Makes this process a rank of a job of `wireup serve` (without a rank: the first that has not come), by its environment:
    call it before the process initializes MPI, PMIx or PMI.  Returns the rank."""
    row = json.loads(_tell('enter', '--json', job, *([] if rank is None else [rank])))
    for name in row['unset']:
        os.environ.pop(name, None)
    os.environ.update(row['environment'])
    return row['rank']


def who(job: Optional[Name] = None, stacks: bool = False) -> Row:
    """What the processes of a job (of all) wait for."""
    return json.loads(_tell('who', '--json', *(['--stacks'] if stacks else []), *([] if job is None else [job])))


def names(job: Optional[Name] = None) -> Row:
    """The names that a job (all) has published."""
    return json.loads(_tell('names', '--json', *([] if job is None else [job])))


def trace(file: str, ranks: Any = None, commands: Any = None) -> Iterator[Row]:
    """The messages and events of a trace, one dictionary each."""
    words = ['trace', '--json']
    for option, value in (('--rank', ranks), ('--command', commands)):
        if value is not None:
            words += [option, ','.join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)]
    for line in _tell(*words, file).splitlines():
        yield json.loads(line)


def timeline(file: str, output: Optional[str] = None) -> str:
    """Draws a trace: into a file (.html, .svg, .json, .txt), or as a text."""
    return _tell('timeline', *(['--output', output] if output else []), file)


class Dvm:
    """Standing daemons, on which jobs start in milliseconds; a context manager, which ends them."""

    def __init__(self, hosts: Any = None, options: Sequence[Any] = ()):
        self._words = [*_option('hosts', hosts), *options]

    def __enter__(self) -> 'Dvm':
        _tell('up', *self._words)
        return self

    def __exit__(self, *_error: Any) -> None:
        _tell('down')

    def launch(self, program: str, *arguments: Any, **how: Any) -> Job:
        """As launch(), on the daemons."""
        return launch(program, *arguments, dvm=True, **how)

    def run(self, program: str, *arguments: Any, **how: Any) -> List[Tuple[int, str]]:
        """As run(), on the daemons."""
        return run(program, *arguments, dvm=True, **how)
