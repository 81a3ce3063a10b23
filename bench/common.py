"""What the benchmarks share: running contenders in turn, medians, and ways to print them."""
import argparse
import json
import os
import platform
import re
import signal
import statistics
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def arguments(description, sizes, more=None):
    """more(parser) adds options of one benchmark alone."""
    p = argparse.ArgumentParser(description=description)
    p.add_argument('--build', default=os.environ.get('BUILD', 'build'),
                   help='build directory (default: build)')
    p.add_argument('--sizes', default=sizes, help=f'numbers of processes (default: {sizes})')
    p.add_argument('--rounds', type=int, default=5, help='runs of each contender (default: 5)')
    p.add_argument('--only', default='', help='contenders, by name (default: all that are here)')
    p.add_argument('--wireup', help='the launcher to measure (default: that of the build)')
    p.add_argument('--hydra', metavar='PATH', action='append', default=[],
                   help='one more mpiexec.hydra beside that of the path; may be given again')
    p.add_argument('--no-memory', action='store_true', help='leave out the memory runs')
    p.add_argument('--json', action='store_true', help='print JSON instead of lines')
    p.add_argument('--update', metavar='FILE',
                   help='also write the table into this document, between its markers')
    if more:
        more(p)
    args = p.parse_args()
    args.build = os.path.abspath(os.path.join(ROOT, args.build))
    args.wireup = args.wireup or os.path.join(args.build, 'src/launch/wireup')
    args.sizes = [int(n) for n in args.sizes.split(',')]
    return args


def alone(prepare):
    """Starts this program anew in a world of its own, whose processes and networks end with it, after that shell
    command."""
    if os.environ.get('WIREUP_BENCH_ALONE'):
        return
    os.environ['WIREUP_BENCH_ALONE'] = 'yes'
    os.execvp('unshare', ['unshare', '-n', '-u', '-m', '-p', '-f', '--mount-proc', '--kill-child', 'sh', '-c',
                          prepare + ' && exec "$@"', 'alone', *sys.argv])


def built(args, name):
    """A program of bench/ in the build directory."""
    path = os.path.join(args.build, 'bench', name)
    if not os.access(path, os.X_OK):
        sys.exit(f'{path} is not there: build first (make bench)')
    return path


def have(program):
    return any(os.access(os.path.join(d, program), os.X_OK)
               for d in os.environ['PATH'].split(os.pathsep))


# What a benchmark is about is said by the benchmark: others' libraries stay where they are.
os.environ['WIREUP_LIBRARIES'] = 'no'


def version_of(program):
    """None: it is not here."""
    try:
        text = subprocess.run([program, '--version'], capture_output=True, text=True).stdout
    except OSError:
        return None
    m = re.search(r'(\d+\.\d+(\.\d+)?)', text)
    return m.group(1) if m else '?'


def hydras(args):
    """name -> program: 'hydra', that of the path, where it is here, and 'hydra-VERSION' for each --hydra."""
    found = {'hydra': 'mpiexec.hydra'} if have('mpiexec.hydra') else {}
    for path in args.hydra:
        version = version_of(path)
        if version is None:
            sys.exit(f'--hydra: {path} cannot be run')
        found[f'hydra-{version}'] = os.path.abspath(path)
    return found


def launchers(args):
    """name -> function (number, command) giving the command line; those that are here."""
    found = {'wireup': args.wireup} if os.access(args.wireup, os.X_OK) else {}
    found.update(hydras(args))
    return {name: lambda n, cmd, program=program: [program, '-n', str(n), *cmd]
            for name, program in found.items()}


def peers_first(names):
    return sorted(names, key=lambda name: name == 'wireup')


def base_hydra(args):
    """The Hydra that the others are compared with: the last that the user has named."""
    return next(reversed(hydras(args)), 'hydra')


def marker(args, name):
    """Of a document's table: one of more than one Hydra stands beside the usual one."""
    return f'{name}-hydras' if args.hydra else name


def chosen(args, contenders):
    names = args.only.split(',') if args.only else list(contenders)
    return {name: contenders[name] for name in names}


class Hangs(Exception):
    """A contender that does not end."""


def measure(args, command, patience=600):
    """One run: {'wall_ms', 'cpu_ms', 'rss_kb'} and what it printed.  Raises Hangs after so many seconds."""
    read, write = os.pipe()

    def as_three():
        os.dup2(write, 3)

    done = subprocess.Popen([built(args, 'bench-measure'), *command], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, preexec_fn=as_three, pass_fds=[3], start_new_session=True)
    os.close(write)
    try:
        out, err = done.communicate(timeout=patience)
    except subprocess.TimeoutExpired:
        os.killpg(done.pid, signal.SIGKILL)
        os.close(read)
        done.communicate()
        raise Hangs(f'{" ".join(command)}: has not ended after {patience} s') from None
    with os.fdopen(read) as f:
        text = f.read()
    result = json.loads(text) if text else {'status': 'no result'}
    if result['status'] != 0:
        sys.exit(f'{" ".join(command)}: status {result["status"]}\n{err.decode()[-2000:]}')
    return result, out.decode()


def rounds(args, contenders, n):
    """Runs all contenders in turn, A B C C B A A B C, after one turn that does not count: who comes
    first finds the machine as the others have left it.  One that hangs is left out, and named on standard error.

    contenders: name -> function(n) giving one run's {figure: value}.  name -> {figure: median}."""
    runs = {name: [] for name in contenders}
    for turn in range(args.rounds + 1):
        for name, once in list(contenders.items())[::1 if turn % 2 else -1]:
            if name not in runs:
                continue
            try:
                result = once(n)
            except Hangs as e:
                print(f'{name} is left out: {e}', file=sys.stderr, flush=True)
                del runs[name]
                continue
            if turn > 0:
                runs[name].append(result)
    return {name: {figure: statistics.median(r[figure] for r in results)
                   for figure in results[0]}
            for name, results in runs.items()}


def descendants(pid):
    parents = {}
    for entry in os.listdir('/proc'):
        if entry.isdigit():
            try:
                with open(f'/proc/{entry}/stat') as f:
                    fields = f.read().rpartition(')')[2].split()
                parents[int(entry)] = int(fields[1])
            except OSError:
                pass
    found, more = [pid], [pid]
    while more:
        more = [p for p, parent in parents.items() if parent in more]
        found += more
    return found


def launcher_memory(args, launcher, n):
    """{'peak_kb', 'pss_kb', 'processes'} of the launcher's own processes while n ranks, known to each
    other, stand still.  peak: sum of their largest resident sizes; pss: shared pages shared out."""
    raw = built(args, 'bench-pmi1-raw')
    job = subprocess.Popen(launcher(n, [raw, 'hold']), stdin=subprocess.PIPE,
                           stdout=subprocess.PIPE)
    line = job.stdout.readline()
    if line != b'held\n':
        job.kill()
        sys.exit(f'{raw} hold said {line!r}')
    total = {'peak_kb': 0, 'pss_kb': 0, 'processes': 0}
    for pid in descendants(job.pid):
        try:
            if os.path.samefile(f'/proc/{pid}/exe', raw):
                continue
            with open(f'/proc/{pid}/status') as f:
                total['peak_kb'] += int(re.search(r'VmHWM:\s*(\d+)', f.read()).group(1))
            with open(f'/proc/{pid}/smaps_rollup') as f:
                total['pss_kb'] += int(re.search(r'Pss:\s*(\d+)', f.read()).group(1))
            total['processes'] += 1
        except OSError:
            pass
    job.stdin.close()
    job.wait()
    return total


def machine():
    model = 'unknown processor'
    with open('/proc/cpuinfo') as f:
        m = re.search(r'model name\s*:\s*(.*)', f.read())
        model = m.group(1) if m else model
    return f'{os.cpu_count()} processors ({model}), Linux {platform.release()}'


def versions(args):
    found = [('wireup', version_of(args.wireup))]
    found += [('Hydra', version_of(program)) for program in hydras(args).values()]
    return ', '.join(f'{name} {version}' for name, version in found if version)


def update(path, marker, table):
    """Puts the table between the marker's comments in a Markdown document."""
    begin, end = f'<!-- {marker}: begin -->', f'<!-- {marker}: end -->'
    with open(path) as f:
        text = f.read()
    if begin not in text or end not in text:
        sys.exit(f'{path} has no {begin} ... {end}')
    head, tail = text.split(begin)[0], text.split(end)[1]
    with open(path, 'w') as f:
        f.write(f'{head}{begin}\n{table}\n{end}{tail}')
