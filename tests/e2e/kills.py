"""Kills daemons: seeded runs of jobs on hosts of their own, in each of which one daemon (or the
launcher) is killed, stopped or cut off at some moment of its life; see kills.sh.

    kills.py WIREUP WIREUPD AGENT PROGRAM FOLDER FIRST COUNT SLOTS [CONTROL]

A run is its seed: `kills.py ... SEED 1 1` repeats it (moments within a phase are not exactly the
same; KILLS_PHASE and KILLS_HOW choose for it, KILLS_VERBOSE shows all).  A CONTROL must be found:
mute, a launcher that says nothing; litter, a process that stays.  Prints a line for each run that went wrong and a table at the end; exit status 0: none did.

Each slot has HOSTS hosts: network and UTS name spaces on one bridge, called n1, n2, ... in each.  The
driver is the remote shell (kills_agent.c hands it the words): what it runs on a host is nobody's
child here, as with ssh."""
import errno
import os
import queue
import random
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

HOSTS = 4
PATIENCE = int(os.environ.get("KILLS_PATIENCE", "240"))  # a net for what hangs, not a measure
SIGNS = {'kill': signal.SIGKILL, 'stop': signal.SIGSTOP}


def batch(lines):
    subprocess.run(['ip', '-batch', '-'], input='\n'.join(lines) + '\n', text=True, check=True)


class Host:
    """One host: its first process holds the name spaces."""

    def __init__(self, slot, i):
        self.name = f'n{i}'
        self.cable = f'k{os.getpid() % 100000}s{slot}x{i}'   # old ones go a little late
        self.address = f'10.77.{slot}.{i}'
        self.first = subprocess.Popen(
            ['unshare', '-n', '-u', 'sh', '-c',
             f'hostname {self.name}; ip link set lo up; echo made; read -r _;'
             f'ip addr add {self.address}/16 dev eth0; ip link set eth0 up; echo up;'
             'exec sleep infinity'],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.first.stdout.readline()

    def link(self):
        self.space = os.readlink(f'/proc/{self.first.pid}/ns/net')
        return [f'link add {self.cable} type veth peer name eth0 netns {self.first.pid}',
                f'link set {self.cable} master br0 up']

    def go(self):
        self.first.stdin.write(b'go\n')
        self.first.stdin.flush()
        self.first.stdout.readline()
        self.reach()

    def reach(self):
        """A cable that is in carries only when the kernel comes to it.  Who refuses is reached."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            try:
                socket.create_connection((self.address, 9), 5).close()
            except ConnectionRefusedError:
                return
            except OSError:
                time.sleep(0.02)

    def cut(self):
        batch([f'link set {self.cable} down'])

    def mend(self):
        batch([f'link set {self.cable} up'])
        self.reach()

    def run(self, words, fds, env):
        return subprocess.Popen(['nsenter', '-t', str(self.first.pid), '-n', '-u', 'sh', '-c',
                                 'exec ' + ' '.join(words)],
                                stdin=fds[0], stdout=fds[1], stderr=fds[2], env=env,
                                start_new_session=True)

    def sockets(self):
        """Those that listen or are connected."""
        found = []
        for family in 'tcp', 'tcp6':
            with open(f'/proc/{self.first.pid}/net/{family}') as table:
                found += [f'{self.name}: {row.split()[1]} {row.split()[3]}' for row in table
                          if row.split()[3] in ('01', '0A')]
        return found


def environ(pid):
    try:
        with open(f'/proc/{pid}/environ', 'rb') as f:
            return f.read().split(b'\0')
    except OSError:
        return []


def living(mark):
    """{net name space: [(pid, command)]} of the processes of a run."""
    found = {}
    for name in os.listdir('/proc'):
        if not name.isdigit() or mark not in environ(name):
            continue
        try:
            space = os.readlink(f'/proc/{name}/ns/net')
            with open(f'/proc/{name}/cmdline', 'rb') as f:
                words = f.read().replace(b'\0', b' ').decode(errors='replace').strip()
        except OSError:
            continue
        if words:
            found.setdefault(space, []).append((int(name), words))
    return found


def state(pid):
    """Its state, as in `ps`, and its parent; ('X', 0): it is gone."""
    try:
        with open(f'/proc/{pid}/stat') as f:
            words = f.read().rsplit(')', 1)[1].split()
        return words[0], int(words[1])
    except OSError:
        return 'X', 0


def all_stand(pids):
    """Have all been stopped?  Who waits for a vfork does not come to it when its child is stopped."""
    states = {p: state(p) for p in pids}
    parents = {parent for s, parent in states.values() if s in 'Tt'}
    return all(s in 'TtZX' or s == 'D' and p in parents for p, (s, _) in states.items())


def portrait(mark):
    """living() with the state of each: who is stopped (T), and who is not."""
    return {space: [f'{pid} {state(pid)[0]} {words[:60]}' for pid, words in them]
            for space, them in living(mark).items()}


def signal_all(pids, sign):
    for pid in pids:
        try:
            os.kill(pid, sign)
        except ProcessLookupError:
            pass


def files_below(folder):
    return [os.path.join(where, name) for where, _, names in os.walk(folder) for name in names]


class Shell(threading.Thread):
    """The remote shell of one run: a socket on which agents bring their words and streams."""

    def __init__(self, run):
        super().__init__(daemon=True)
        self.run_, self.daemons = run, {}
        self.some = threading.Condition()
        self.path = os.path.join(run.folder, 'shell')
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen(64)

    def run(self):
        while True:
            try:
                s, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(s,), daemon=True).start()

    def serve(self, s):
        with s:
            text, fds, _, _ = socket.recv_fds(s, 8192, 3)
            words = text.decode().rstrip('\0').split('\n')
            host = self.run_.host(words[0])
            if len(fds) == 3 and host:
                p = host.run(words[1:], fds, self.run_.env_there)
                with self.some:
                    self.daemons[host.name] = p
                    self.some.notify_all()
            for fd in fds:
                os.close(fd)
            if len(fds) != 3 or not host:
                return
            self.run_.tell(f'{host.name} started')
            while p.poll() is None:
                # As sshd: who has asked has gone, or the command has ended.
                if select.select([s], [], [], 0.05)[0]:
                    break
            status = p.wait()
            try:
                s.sendall(bytes([status & 255 if status >= 0 else 255]))
            except OSError:
                pass

    def wait_for(self, name):
        """Its daemon may have come far before we have its pid."""
        with self.some:
            self.some.wait_for(lambda: name in self.daemons, PATIENCE)

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        os.unlink(self.path)


HOWS = ('guard', 'worker', 'both', 'both', 'stop', 'cut')
# Said of a connection whose other end died, hung or gave up as it came.
PASSING = ('it left without a greeting', 'it did not greet us in time', os.strerror(errno.ECONNRESET))
PHASES = ('start', 'boot', 'born', 'up', 'met', 'held', 'fences', 'leave', 'spawn')


class Run:
    def __init__(self, seed, slot, hosts, args):
        self.seed, self.hosts, self.args = seed, hosts, args
        r = self.random = random.Random(seed)
        self.nodes = r.randint(2, HOSTS)
        self.victim = seed % (self.nodes + 1)       # each in turn; 0: the launcher
        self.phase = os.environ.get('KILLS_PHASE') or r.choice(PHASES)
        self.how = os.environ.get('KILLS_HOW') or r.choice(HOWS)
        if self.phase == 'start' and self.how != 'cut':
            self.how = 'guard'                      # there is nothing else yet
        if self.victim == 0 and self.how in ('cut', 'ranks'):
            self.how = 'both'
        if self.victim == 0 and self.phase == 'survive':
            self.phase = 'held'
        if self.phase == 'survive' and not os.environ.get('KILLS_HOW'):
            self.how = r.choice((self.how, 'ranks'))
        self.delay = r.choice((0, 0, r.uniform(0, 0.05)))
        self.width = r.choice((1, 2, 32))
        if self.victim == 0 and self.how == 'stop':
            self.width = 32             # each level looks for a way to it in its turn
        self.ppn = r.choice((1, 2))
        self.way = r.choice(('auto', 'exchange'))
        self.folder = os.path.join(args.folder, f'run{seed}')
        self.lines = queue.Queue()
        self.wrong = []
        self.took = self.total = 0
        self.mark = f'KILLS_RUN={os.getpid()}.{seed}'.encode()

    def __str__(self):
        who = f'n{self.victim}' if self.victim else 'launcher'
        return f'seed {self.seed}: {self.nodes} nodes, width {self.width}, {self.way}, {self.how} {who} in {self.phase}'

    def tell(self, line):
        self.lines.put(line)

    def host(self, name):
        return next((h for h in self.hosts if h.name == name), None)

    def expect(self, *words):
        """The next line that ends like one of these; False: the launcher has ended."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            try:
                line = self.lines.get(timeout=0.05)
            except queue.Empty:
                if self.launcher.poll() is not None and self.lines.empty():
                    return False
                continue
            if line.split(' ', 1)[1].startswith('wrong'):
                self.wrong.append(line)
            if line in words:
                return True
        self.wrong.append(f'nobody said {words}')
        return False

    # ---- the job

    def read_tells(self):
        with open(self.fifo) as f:
            for line in f:
                self.tell(line.rstrip('\n'))

    def start(self):
        a = self.args
        for name in 'home', 'tmp', 'run':
            os.makedirs(os.path.join(self.folder, name))
        self.fifo = os.path.join(self.folder, 'tell')
        os.mkfifo(self.fifo)
        # Kept open for writing, so that it does not end between two words.
        threading.Thread(target=self.read_tells, daemon=True).start()
        self.keep = os.open(self.fifo, os.O_WRONLY)
        self.shell = Shell(self)
        self.shell.start()
        env = {k: v for k, v in os.environ.items() if k not in ('WU_MARK',)}
        env.update(HOME=os.path.join(self.folder, 'home'), TMPDIR=os.path.join(self.folder, 'tmp'),
                   XDG_RUNTIME_DIR=os.path.join(self.folder, 'run'), KILLS_TELL=self.fifo,
                   KILLS_SHELL=self.shell.path)
        key, value = self.mark.decode().split('=')
        env[key] = value
        self.env_there = env
        n = self.nodes * self.ppn
        words = [a.wireup, '-launch-agent', a.agent, '-wireupd', a.wireupd, '-tree-width',
                 str(self.width), '-collective', self.way, '-hosts', ','.join(f'n{i + 1}:{self.ppn}' for i in range(self.nodes)),
                 '-n', str(n)]
        self.ranks = [r for r in range(n) if r // self.ppn == self.victim - 1]
        mode = {'held': ['held', str((self.random.randrange(self.nodes)) * self.ppn)],
                'fences': ['fences'], 'leave': ['leave'], 'spawn': ['spawn'],
                'survive': ['survive', 'ranks' if self.how == 'ranks' else 'node'] + [str(r) for r in self.ranks]}.get(self.phase, ['stay'])
        if self.phase == 'survive':
            words.append('-disable-auto-cleanup')
        self.out = open(os.path.join(self.folder, 'out'), 'wb')
        self.err = open(os.path.join(self.folder, 'err'), 'wb')
        if a.control == 'litter':
            self.hosts[0].run(['sleep', '1000'], (subprocess.DEVNULL,) * 3, env)
        self.launcher = subprocess.Popen(words + [a.program] + mode, env=env, stdin=subprocess.DEVNULL,
                                         stdout=self.out,
                                         stderr=subprocess.DEVNULL if a.control == 'mute' else self.err,
                                         start_new_session=True)

    # ---- the deed

    def wait_for_moment(self):
        node = f'n{self.victim or self.random.randint(1, self.nodes)}'
        rank = self.ranks[0] if self.ranks else 0
        if self.phase in ('start', 'boot'):
            self.expect(f'{node} started')
        elif self.phase in ('born', 'up'):
            self.expect(f'{rank} {self.phase}')
        elif self.phase in ('met', 'survive'):
            self.expect(f'{rank} met')
        elif self.phase == 'leave':
            self.expect(f'{rank} out')
        elif self.phase == 'spawn':
            self.expect('0 in')
        else:
            self.expect(*[f'{r} in' for r in range(self.nodes * self.ppn)])
        if self.delay or self.phase == 'boot':
            time.sleep(self.delay)

    def targets(self):
        """Pids of the victim: guard and worker."""
        if self.victim and self.phase not in ('start', 'boot'):
            self.shell.wait_for(f'n{self.victim}')
        top = self.launcher if self.victim == 0 else self.shell.daemons.get(f'n{self.victim}')
        if not top or top.poll() is not None:
            return []
        pids = [top.pid]
        try:
            with open(f'/proc/{top.pid}/task/{top.pid}/children') as f:
                pids += [int(w) for w in f.read().split()]
        except OSError:
            pass
        return pids[:2]

    def freeze(self, pids, host):
        new = set(pids)
        until = time.monotonic() + PATIENCE
        while new:                  # who is not stopped yet may start others
            signal_all(new, signal.SIGSTOP)
            self.stopped += new
            # (A fork that was under way comes to its end.)
            while not all_stand(self.stopped) and time.monotonic() < until:
                time.sleep(0.002)
            there = living(self.mark).get(host.space, []) if host else []
            new = {p for p, _ in there} - set(self.stopped)

    def do_it(self):
        self.wait_for_moment()
        pids = self.targets()
        host = self.host(f'n{self.victim}')
        self.stopped = []
        if self.how == 'cut':
            host.cut()
            return
        if self.how == 'stop':      # all of that host, as if it hung
            self.freeze(pids, host)
            return
        if self.how == 'ranks':
            pids = [p for p, words in living(self.mark).get(host.space, []) if 'e2e-kills' in words]
        elif self.how == 'guard':
            pids = pids[:1]
        elif self.how == 'worker':  # which may not have been born yet
            until = time.monotonic() + PATIENCE
            while len(pids) == 1 and time.monotonic() < until:
                time.sleep(0.002)
                pids = self.targets()
            pids = pids[1:]
        signal_all(pids, signal.SIGKILL)
        self.missed = not pids

    # ---- the judgement

    def is_below(self, i):
        """Is node i below the victim in the tree of daemons?"""
        while i > self.victim:
            i = (i - 1) // self.width
        return i == self.victim

    def is_passing(self, line):
        """A line of the log about one of our own that comes in vain: whoever comes up as the job
        ends, or whoever looks for another parent: those below the victim, and the victim when it comes back."""
        m = re.search(r'refused a connection from ([0-9.]+):\d+: (.*)$', line)
        if not m or m.group(2) not in PASSING:
            return False
        return any(h.address == m.group(1) and (self.phase in ('start', 'boot') or self.is_below(i + 1))
                   for i, h in enumerate(self.hosts[:self.nodes]))

    def sentences(self):
        with open(os.path.join(self.folder, 'err'), errors='replace') as f:
            return [line.rstrip('\n') for line in f if line.strip() and not self.is_passing(line)]

    def judge_end(self):
        rc, said = self.launcher.returncode, self.sentences()
        name = f'n{self.victim}'
        early = self.missed or self.phase == 'leave'
        if early and rc == 0 and not said:
            return
        if self.victim == 0 and self.how in ('guard', 'both'):
            if said:
                self.wrong.append(f'the dead launcher has said {said}')
            return
        want = {'start': 125, 'boot': 125, 'survive': 1}.get(self.phase, 1)
        if self.phase in ('start', 'boot', 'born', 'up') and rc in (1, 125):
            want = rc               # perhaps the job has begun
        if self.how == 'ranks':
            want = 137
        if self.victim == 0:
            want = 137 if self.how == 'worker' else rc
        if rc != want:
            self.wrong.append(f'exit status {rc}, not {want}')
        if self.victim == 0 and self.how == 'stop' and (self.missed or self.lost_all(said)):
            return
        if len(said) != 1 or not re.search(self.subject(), said[0]):
            self.wrong.append(f'not one sentence about {name}: {said}')

    def subject(self):
        if self.victim:
            return rf'\b(node|on) n{self.victim}\b'
        return r'the worker process of wireup was killed by signal 9' if self.how == 'worker' else ''

    def lost_all(self, said):
        """A launcher that hung may find several nodes lost at once, or gone before they were up:
        one sentence about each, or one table of those that do not come up."""
        if self.phase in ('start', 'boot') and len(said) > 1 and re.fullmatch(
                rf'wireup: ([2-{self.nodes}]) of {self.nodes} nodes do not come up, and nothing was started:',
                said[0]):
            return all(re.match(r'wireup:   n\[?[1-9][-0-9,\]]* +\S', line) for line in said[1:])
        early = '(?: is lost)?' if self.phase in ('start', 'boot') else ' is lost'
        about = [re.match(rf'wireup: node n([1-{self.nodes}]){early}: ', line) for line in said]
        return all(about) and len(said) == len({m.group(1) for m in about}) > 1

    def left(self, spaces, but):
        found = {s: [one for one in v if one[0] not in but] for s, v in living(self.mark).items()
                 if s in spaces}
        return {s: v for s, v in found.items() if v}

    def wait_gone(self, spaces, but=()):
        until = time.monotonic() + PATIENCE
        while left := self.left(spaces, but):
            if time.monotonic() > until:
                self.wrong.append(f'left: {left}')
                for pids in left.values():
                    signal_all([p for p, _ in pids], signal.SIGKILL)
                return
            time.sleep(0.05)

    def judge_rest(self):
        used = self.hosts[:self.nodes]
        here = os.readlink('/proc/self/ns/net')
        frozen = self.host(f'n{self.victim}').space if self.victim and self.how == 'stop' else None
        # (Who was stopped on its way to that host is not there yet.)
        self.wait_gone([h.space for h in used if h.space != frozen] + [here],
                       self.stopped if frozen else ())
        if frozen:                  # it comes back, finds itself alone, and ends
            signal_all(self.stopped + [p for p, _ in living(self.mark).get(frozen, [])], signal.SIGCONT)
            self.wait_gone([frozen, here])
        if self.how == 'cut':
            self.host(f'n{self.victim}').mend()
        # A process that ends has no environment any more before its sockets are closed.
        until = time.monotonic() + PATIENCE
        for h in used:
            while h.sockets() and time.monotonic() < until:
                time.sleep(0.02)
            if h.sockets():
                self.wrong.append(f'sockets: {h.sockets()}')
        left = [f for name in ('home', 'tmp', 'run') for f in files_below(os.path.join(self.folder, name))]
        # Who is killed cannot remove where tools find it; who comes next does.
        left = [f for f in left if not (self.victim == 0 and self.how in ('guard', 'both', 'worker')
                                        and '/run/' in f)]
        if left:
            self.wrong.append(f'files: {left}')

    def judge(self):
        until = time.monotonic() + PATIENCE
        if self.victim == 0 and self.how == 'stop':
            # Its daemons have lost it; then it comes back.  (Who starts them may still be on the
            # way to their hosts.)
            spaces = [h.space for h in self.hosts[:self.nodes]] + [os.readlink('/proc/self/ns/net')]
            self.missed = not self.left(spaces, self.stopped)
            self.wait_gone(spaces, self.stopped)
            signal_all(self.stopped, signal.SIGCONT)
            if self.missed:         # it had started nobody who could lose it
                signal_all(self.stopped[:1], signal.SIGTERM)
            until = time.monotonic() + PATIENCE
        while self.launcher.poll() is None and time.monotonic() < until:
            self.expect('never')
        if self.launcher.poll() is None:
            self.wrong.append(f'the launcher has not ended: it has said {self.sentences()}, '
                              f'stopped were {self.stopped}, and there are {portrait(self.mark)}')
            if os.environ.get('KILLS_DEBUG'):
                subprocess.run(['sh', '-c', os.environ['KILLS_DEBUG'], str(self.launcher.pid)])
            with open(f'/proc/{self.launcher.pid}/task/{self.launcher.pid}/children') as f:
                signal_all([self.launcher.pid] + [int(w) for w in f.read().split()], signal.SIGKILL)
            self.launcher.wait()
        else:
            self.judge_end()
        self.judge_rest()

    def go(self):
        began = time.monotonic()
        self.missed, self.stopped = False, []
        self.start()
        try:
            self.do_it()
            done = time.monotonic()
            self.judge()
        finally:
            os.close(self.keep)
            self.shell.close()
            self.out.close()
            self.err.close()
        self.took, self.total = time.monotonic() - done, time.monotonic() - began
        return not self.wrong


class Args:
    pass


def main():
    a = Args()
    a.wireup, a.wireupd, a.agent, a.program, a.folder = sys.argv[1:6]
    first, count, slots = map(int, sys.argv[6:9])
    a.control = sys.argv[9] if len(sys.argv) > 9 else ''
    batch(['link add br0 type bridge', 'link set br0 up', 'addr add 10.77.255.1/16 dev br0',
           'link set lo up'])
    hosts = [[Host(s, i + 1) for i in range(HOSTS)] for s in range(slots)]
    batch([line for slot in hosts for h in slot for line in h.link()])
    for slot in hosts:
        for h in slot:
            h.go()
    seeds, bad, times = queue.Queue(), [], []
    for seed in range(first, first + count):
        seeds.put(seed)

    def work(slot):
        pulled = None               # the host whose cable the run before has pulled
        while True:
            try:
                seed = seeds.get_nowait()
            except queue.Empty:
                return
            for again in (True, False):
                run = Run(seed, slot, hosts[slot], a)
                try:
                    good = run.go()
                except Exception as e:      # a driver that stumbles is no proof of anything
                    run.wrong.append(repr(e))
                    good = False
                # Others may still look for a host that is back: the test's own fault.
                lame = pulled and any('No route to host' in w and re.search(
                    rf'\b{pulled.name}\b|\b{re.escape(pulled.address)}\b', w) for w in run.wrong)
                if good or not again or not lame:
                    break
                print(f'# {run}: its network was not up, once more')
                shutil.rmtree(run.folder, ignore_errors=True)
            pulled = run.host(f'n{run.victim}') if run.how == 'cut' else None
            times.append((run.took, str(run)))
            if os.environ.get('KILLS_VERBOSE'):
                print(f'# {"good" if good else "BAD "} {run} ({run.total:.1f} s) {run.sentences()}', flush=True)
            if not good:
                bad.append(seed)
                print(f'# {run}: ' + '; '.join(run.wrong), flush=True)

    workers = [threading.Thread(target=work, args=(s,)) for s in range(slots)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
    for slot in hosts:
        for h in slot:
            h.first.kill()
            h.first.wait()
    batch(['link del br0'])
    slowest = max(times, default=(0, ''))
    print(f'# runs {len(times)} wrong {len(bad)} slowest {slowest[0]:.1f} s ({slowest[1]})')
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
