"""Seeded runs: what kills.py and instants.py share.  Hosts of their own, the remote shell that starts
daemons there, what a run leaves, and the driver: so many runs, several at once, each one its seed.

Each slot has HOSTS hosts: network and UTS name spaces on one bridge, called n1, n2, ... in each.  The
driver is the remote shell (kills_agent.c hands it the words): what it runs on a host is nobody's
child here, as with ssh."""
import os
import queue
import random
import select
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

import footprint

HOSTS = int(os.environ.get("SEEDED_HOSTS", "4"))
PATIENCE = int(os.environ.get("KILLS_PATIENCE", "240"))  # a net for what hangs, not a measure


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


def signal_all(pids, sign):
    for pid in pids:
        try:
            os.kill(pid, sign)
        except ProcessLookupError:
            pass


def with_children(pid):
    """A launcher or daemon and its worker."""
    try:
        with open(f'/proc/{pid}/task/{pid}/children') as f:
            return [pid] + [int(w) for w in f.read().split()]
    except OSError:
        return [pid]


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


class Run:
    """One run.  The tests add `test` (their prefix in the environment), `act` (the deed, and the judgement,
    which adds to `wrong`), `told` (for VERBOSE) and __str__."""
    bound = PATIENCE                # for what is to go

    def __init__(self, seed, hosts, args):
        self.seed, self.hosts, self.args = seed, hosts, args
        self.random = random.Random(seed)
        self.folder = os.path.join(args.folder, f'run{seed}')
        self.mark = f'{self.test}_RUN={os.getpid()}.{seed}'.encode()
        self.wrong, self.stopped = [], []
        self.took = 0

    def tell(self, line):
        """From the remote shell: what it does."""

    def host(self, name):
        return next((h for h in self.hosts if h.name == name), None)

    def make_folder(self):
        for name in 'home', 'tmp', 'run':
            os.makedirs(os.path.join(self.folder, name))
        os.chmod(os.path.join(self.folder, 'run'), 0o700)

    def environment(self, **more):
        """Of the launcher and of its daemons."""
        env = {k: v for k, v in os.environ.items() if k != 'WU_MARK'}
        env.update(HOME=os.path.join(self.folder, 'home'), TMPDIR=os.path.join(self.folder, 'tmp'),
                   XDG_RUNTIME_DIR=os.path.join(self.folder, 'run'), KILLS_SHELL=self.shell.path, **more)
        key, value = self.mark.decode().split('=')
        env[key] = value
        return env

    # ---- what is left

    def left(self, spaces, but=()):
        """As living(), in these spaces (None: anywhere)."""
        found = {s: [one for one in v if one[0] not in but] for s, v in living(self.mark).items()
                 if spaces is None or s in spaces}
        return {s: v for s, v in found.items() if v}

    def wait_gone(self, spaces, but=()):
        until = time.monotonic() + self.bound
        while (left := self.left(spaces, but)) and time.monotonic() < until:
            time.sleep(0.05)
        if left:
            self.wrong.append(f'left: {left}')
            for pids in left.values():
                signal_all([p for p, _ in pids if p], signal.SIGKILL)

    def wait_closed(self, hosts):
        """A process that ends has no environment any more before its sockets are closed."""
        until = time.monotonic() + self.bound
        for h in hosts:
            while h.sockets() and time.monotonic() < until:
                time.sleep(0.02)
            if h.sockets():
                self.wrong.append(f'sockets: {h.sockets()}')

    def judge_files(self, excused):
        files = [f for name in ('home', 'tmp', 'run') for f in footprint.files_below(os.path.join(self.folder, name))]
        # (ThreadSanitizer leaves a file of its own when a program is killed as it starts.)
        files = [f for f in files if not excused(f) and not os.path.basename(f).startswith('tsan.rodata.')]
        if files:
            self.wrong.append(f'files: {files}')

    def go(self):
        try:
            self.act()
        except Exception as e:      # a driver that stumbles is no proof of anything
            self.wrong.append(repr(e))
        return not self.wrong


# ---- the driver

class Args:
    pass


def arguments():
    """... WIREUP WIREUPD AGENT PROGRAM FOLDER FIRST COUNT SLOTS [CONTROL]"""
    a = Args()
    a.wireup, a.wireupd, a.agent, a.program, a.folder = sys.argv[1:6]
    a.first, a.count, a.slots = map(int, sys.argv[6:9])
    a.control = sys.argv[9] if len(sys.argv) > 9 else ''
    return a


def hosts_up(slots):
    batch(['link add br0 type bridge', 'link set br0 up', 'addr add 10.77.255.1/16 dev br0',
           'link set lo up'])
    hosts = [[Host(s, i + 1) for i in range(HOSTS)] for s in range(slots)]
    batch([line for slot in hosts for h in slot for line in h.link()])
    for slot in hosts:
        for h in slot:
            h.go()
    return hosts


def hosts_down(hosts):
    for slot in hosts:
        for h in slot:
            h.first.kill()
            h.first.wait()
    batch(['link del br0'])


def drive(a, hosts, attempt):
    """attempt(SEED, HOSTS, the run before on these hosts): a run that is over.  The exit status."""
    seeds, bad, times = queue.Queue(), [], []
    all_hosts = [h for slot in hosts for h in slot]
    before = footprint.look(all_hosts, a.folder)
    planted = footprint.Planted() if a.control == 'planted' else None
    for seed in range(a.first, a.first + a.count):
        seeds.put(seed)

    def work(mine):
        run = None
        while True:
            try:
                seed = seeds.get_nowait()
            except queue.Empty:
                return
            run = attempt(seed, mine, run)
            times.append((run.took, str(run)))
            if os.environ.get(f'{run.test}_VERBOSE'):
                print(f'# {"BAD " if run.wrong else "good"} {run} {run.told()}', flush=True)
            if run.wrong:
                bad.append(seed)
                print(f'# {run}: ' + '; '.join(run.wrong), flush=True)
            shutil.rmtree(run.folder, ignore_errors=True)

    workers = [threading.Thread(target=work, args=(mine,)) for mine in hosts]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
    left = footprint.added(all_hosts, a.folder, before, PATIENCE)
    if planted:
        planted.remove()
    if left:
        print(f'# left by all runs together: {left}')
    slowest = max(times, default=(0, ''))
    print(f'# runs {len(times)} wrong {len(bad)} slowest {slowest[0]:.1f} s ({slowest[1]})')
    return 1 if bad or left or len(times) != a.count else 0  # (an exception ends a worker, and not this program)
