"""Signals and time limits at seeded instants of a launcher's life, from its first instruction to its last;
see instants.sh.

    instants.py WIREUP WIREUPD AGENT PROGRAM FOLDER FIRST COUNT SLOTS [CONTROL]

A run is its seed: `instants.py ... SEED 1 1` repeats it (INSTANTS_WORLD and INSTANTS_HOW choose for it,
INSTANTS_VERBOSE shows all).  Worlds: one (this machine alone), four (four hosts), hang (one of the hosts
does not answer), dvm (up, run and down), srun (inside a Slurm allocation: only when it is chosen).  A
CONTROL must be found: deaf, a launcher that hears no signal; litter, a process that stays.

The judge: the launcher ends within INSTANTS_BOUND seconds, with the status of the signal (or of the time
limit, or of a job that was over before); what it says is true (nothing was started when it says so); no
process, file or socket is left on any host.  Hosts and the remote shell are those of kills.py."""
import os
import queue
import random
import re
import select
import shutil
import signal
import subprocess
import sys
import threading
import time

import kills
from kills import Host, batch, files_below, living, signal_all

BOUND = float(os.environ.get('INSTANTS_BOUND', '60'))   # a net: the launcher's own bounds add up to 23 s
PATIENCE = kills.PATIENCE
WORLDS = ('one', 'four', 'hang', 'dvm')
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
HOWS = ('signal', 'signal', 'signal', 'twice', 'limit', 'quit')
MODES = ('stay', 'stay', 'short', 'fail', 'stubborn', 'fences', 'flood')
ENDLESS = ('stay', 'stubborn', 'fences', 'flood')
CODE = {'short': 0, 'fail': 3}
# What nobody may ever read.
NEVER = re.compile(r'worker process|[Ss]egmentation|AddressSanitizer|assert|out of memory|Traceback')


class Shell(kills.Shell):
    """As there; the host `hang` never answers."""

    def serve(self, s):
        if s.recv(8192, kills.socket.MSG_PEEK).split(b'\n')[0] != b'hang':
            super().serve(s)
            return
        with s:
            _, fds, _, _ = kills.socket.recv_fds(s, 8192, 3)
            self.run_.tell('hang started')
            select.select([s], [], [], PATIENCE)
            for fd in fds:
                os.close(fd)


class Run:
    def __init__(self, seed, slot, hosts, args):
        self.seed, self.slot, self.hosts, self.args = seed, slot, hosts, args
        r = self.random = random.Random(seed)
        self.world = os.environ.get('INSTANTS_WORLD') or r.choice(WORLDS)
        if self.world == 'four' and seed % 12 == 0:     # rarely: each takes the launcher's whole patience
            self.world = 'stuck'
        self.how = os.environ.get('INSTANTS_HOW') or r.choice(HOWS)
        self.mode = os.environ.get('INSTANTS_MODE') or r.choice(MODES)
        self.sign = r.choice(SIGNALS)
        self.again = r.choice(SIGNALS)
        span = r.choice((0.03, 0.1, 0.3, 0.6, 1.5) if self.world == 'srun' else (0.005, 0.03, 0.1, 0.3, 0.6))
        self.delay, self.delay_again = r.uniform(0, span), r.choice((0.03, 0.1, 0.3)) * r.random() + 0.025
        self.target = r.choice(('up', 'run', 'run', 'down')) if self.world == 'dvm' else 'job'
        self.width = r.choice((1, 2, 32))
        if self.target == 'up' and self.how == 'limit' or self.target == 'down' and self.how != 'twice':
            self.how = 'signal'
        if args.control:
            self.world, self.how, self.mode, self.target = 'one', 'signal', 'stay', 'job'
            self.sign, self.delay = signal.SIGTERM, 0.2
        self.folder = os.path.join(args.folder, f'run{seed}')
        self.mark = f'INSTANTS_RUN={os.getpid()}.{seed}'.encode()
        self.wrong, self.said_all, self.stopped = [], [], []
        self.took = 0

    def __str__(self):
        when = '' if self.how == 'limit' else f' after {self.delay * 1000:.0f} ms'
        return (f'seed {self.seed}: {self.world}, {self.how} {self.sign.name}{when} to {self.target}, '
                f'program {self.mode}, width {self.width}')

    # ---- as kills.py's runs, for its Shell

    def tell(self, line):
        pass

    def host(self, name):
        return next((h for h in self.hosts if h.name == name), None)

    # ---- what is run

    def prepare(self):
        for name in 'home', 'tmp', 'run':
            os.makedirs(os.path.join(self.folder, name))
        os.chmod(os.path.join(self.folder, 'run'), 0o700)
        self.started = os.path.join(self.folder, 'started')
        self.shell = Shell(self)
        self.shell.start()
        env = {k: v for k, v in os.environ.items() if k != 'WU_MARK'}
        env.update(HOME=os.path.join(self.folder, 'home'), TMPDIR=os.path.join(self.folder, 'tmp'),
                   XDG_RUNTIME_DIR=os.path.join(self.folder, 'run'), KILLS_SHELL=self.shell.path,
                   INSTANTS_STARTED=self.started, KILLS_TELL='/dev/null')
        key, value = self.mark.decode().split('=')
        env[key] = value
        self.env = self.env_there = env

    def program(self):
        """sh -c: says that it runs, and does what the mode says."""
        then = {'stay': 'exec sleep 1000', 'short': 'exec sleep 0.1', 'fail': 'sleep 0.05; exit 3',
                'stubborn': 'trap "" INT TERM HUP; exec sleep 1000',
                'fences': f'exec {self.args.program} fences',
                'flood': 'exec head -c 4000000 /dev/zero'}[self.mode]
        return ['sh', '-c', 'echo run >>"$INSTANTS_STARTED"; ' + then]

    def nodes(self):
        if self.world == 'srun':        # as the allocation says
            return ['-wireupd', self.args.wireupd]
        words = ['-launch-agent', self.args.agent, '-wireupd', self.args.wireupd, '-tree-width', str(self.width)]
        names = {'four': 'n1,n2,n3,n4', 'stuck': 'n1,n2,n3,n4', 'hang': 'n1,hang,n2', 'dvm': 'n1,n2,n3'}
        return words + ['-hosts', names[self.world]] if self.world in names else []

    def command(self, words):
        """Standing daemons are found by name, so each run has a host for its launchers."""
        if self.world == 'dvm':
            return ['nsenter', '-t', str(self.hosts[3].first.pid), '-n', '-u'] + words
        return words

    def begin(self, words, name, out=None):
        self.err_name = os.path.join(self.folder, name)
        with open(self.err_name, 'wb') as err:
            return subprocess.Popen(self.command([self.args.wireup] + words), env=self.env,
                                    stdin=subprocess.DEVNULL, stderr=err,
                                    stdout=out or subprocess.DEVNULL, start_new_session=True)

    def said(self):
        with open(self.err_name, errors='replace') as f:
            return [line.rstrip('\n') for line in f if line.strip()]

    def whole(self, words, name):
        """A command that nobody disturbs: its status."""
        p = self.begin(words, name)
        try:
            return p.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.wrong.append(f'{words} hangs')
            kill_tree(p.pid)
            return p.wait()

    # ---- the deed

    def disturb(self, p):
        began = time.monotonic()
        if self.how != 'limit':
            try:
                p.wait(self.delay)
            except subprocess.TimeoutExpired:
                pass
            began = time.monotonic()
            if self.how == 'quit':          # a report, and nothing ends by it
                p.poll() is None and self.delay > 0.02 and os.kill(p.pid, signal.SIGQUIT)
                time.sleep(0.05)
            self.freeze()
            signal_all([p.pid] if p.poll() is None else [], self.sign)
        if self.how == 'twice' or self.mode == 'stubborn' and self.how == 'signal' and self.seed % 8:
            try:
                p.wait(self.delay_again)
            except subprocess.TimeoutExpired:
                signal_all([p.pid], self.again)
        try:
            p.wait(BOUND)
        except subprocess.TimeoutExpired:
            self.wrong.append(f'it has not ended within {BOUND:.0f} s: it has said {self.said()}')
            if os.environ.get('INSTANTS_DEBUG'):
                subprocess.run(['sh', '-c', os.environ['INSTANTS_DEBUG'], str(p.pid)])
            kill_tree(p.pid)
            p.wait()
        self.took = time.monotonic() - began

    def freeze(self):
        """All of n2, as if it hung."""
        if self.world != 'stuck':
            return
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            there = {p for p, _ in living(self.mark).get(self.hosts[1].space, [])}
            if there <= set(self.stopped) and kills.all_stand(self.stopped):
                return
            signal_all(there, signal.SIGSTOP)
            self.stopped = list(there | set(self.stopped))
            time.sleep(0.002)

    def thaw(self):
        """It comes back, finds itself alone, and ends."""
        if self.stopped:
            others = [h.space for h in self.hosts if h is not self.hosts[1]]
            self.wait_gone(others + [os.readlink('/proc/self/ns/net')], self.stopped)
        signal_all(self.stopped, signal.SIGCONT)

    # ---- the judgement

    def judge_status(self, p, natural):
        """natural: the statuses of an end that has nothing to do with us."""
        rc, said = p.returncode, self.said()
        self.said_all += said
        text = '\n'.join(said)
        ours = (124,) if self.how == 'limit' else (128 + self.sign, -self.sign)
        if rc not in ours + tuple(natural):
            self.wrong.append(f'exit status {rc}, not one of {ours + tuple(natural)}: {said}')
        if 'interrupted' in text and rc not in ours and self.how != 'limit':
            self.wrong.append(f'exit status {rc} after {said}')
        if NEVER.search(text):
            self.wrong.append(f'it has said {said}')
        if re.search(r'nothing was started|before anything was started', text) and os.path.exists(self.started):
            self.wrong.append(f'it has started something, and has said {said}')
        m = re.search(r'came up \((\d+) of (\d+)\)', text)
        if m and not int(m.group(1)) <= int(m.group(2)) <= 4:
            self.wrong.append(f'it has said {said}')

    def natural(self):
        if self.world == 'hang':
            return ()
        return (CODE[self.mode],) if self.mode in CODE else ()

    def job(self, words):
        out = drain = None
        if self.mode == 'flood':            # the reader does not read, and does not go
            drain, out = os.pipe()
        limit = ['-timeout', '1'] if self.how == 'limit' else []
        n = 4 if self.world != 'one' else 3
        p = self.begin(words + limit + self.nodes() * (self.target == 'job') + ['-n', str(n)] + self.program(),
                       'err', out)
        if out:
            os.close(out)
        try:
            self.disturb(p)
        finally:
            if drain:
                os.close(drain)
        self.judge_status(p, self.natural())

    def dvm(self):
        if self.target == 'up':
            p = self.begin(['up'] + self.nodes(), 'err')
            self.disturb(p)
            self.judge_status(p, (0,))
            if p.returncode == 0 and self.whole(['down'], 'down'):
                self.wrong.append('what was up cannot be brought down')
            return
        if self.whole(['up'] + self.nodes(), 'up'):
            self.wrong.append(f'it does not come up: {self.said()}')
            return
        if self.target == 'run':
            self.job(['run'])
            if self.whole(['run', '-n', '3', 'true'], 'after'):
                self.wrong.append(f'the standing daemons are spoilt: {self.said()}')
            self.whole(['down'], 'down')
        else:
            p = self.begin(['down'], 'err')
            self.disturb(p)
            self.judge_status(p, (0,))
            self.whole(['down'], 'down')    # it may be down, or be going

    def left(self, spaces, but=()):
        found = {s: [one for one in v if one[0] not in but] for s, v in living(self.mark).items()
                 if s in spaces or self.world == 'srun'}
        if self.world == 'srun':
            steps = subprocess.run(['squeue', '-s', '-h', '-j', os.environ['SLURM_JOB_ID'], '-o', '%i %j'],
                                   capture_output=True, text=True).stdout.split('\n')
            found['steps'] = [(0, s) for s in steps if 'wireupd' in s]
        return {s: v for s, v in found.items() if v}

    def wait_gone(self, spaces, but=()):
        until = time.monotonic() + BOUND
        while (left := self.left(spaces, but)) and time.monotonic() < until:
            time.sleep(0.02)
        if left:
            self.wrong.append(f'left: {left}')
            for pids in left.values():
                signal_all([p for p, _ in pids if p], signal.SIGKILL)

    def judge_rest(self):
        self.thaw()
        self.wait_gone([h.space for h in self.hosts] + [os.readlink('/proc/self/ns/net')])
        until = time.monotonic() + BOUND
        while time.monotonic() < until and any(h.sockets() for h in self.hosts):
            time.sleep(0.02)
        self.wrong += [f'sockets: {h.sockets()}' for h in self.hosts if h.sockets()]
        files = [f for name in ('home', 'tmp', 'run') for f in files_below(os.path.join(self.folder, name))]
        # Daemons that Slurm kills leave where they are to be found; who comes next removes it.
        files = [f for f in files if not (self.world == 'srun' and '/run/wireup/' in f)]
        if files:
            self.wrong.append(f'files: {files}')

    def go(self):
        self.prepare()
        try:
            if self.args.control == 'litter':
                subprocess.Popen(['sleep', '1000'], env=self.env)
            if self.world == 'dvm':
                self.dvm()
            else:
                self.job([])
            self.judge_rest()
        finally:
            self.shell.close()
        return not self.wrong


def kill_tree(pid):
    """The launcher and its worker; what they have started goes with them."""
    try:
        with open(f'/proc/{pid}/task/{pid}/children') as f:
            signal_all([pid] + [int(w) for w in f.read().split()], signal.SIGKILL)
    except OSError:
        pass


class Args:
    pass


def main():
    a = Args()
    a.wireup, a.wireupd, a.agent, a.program, a.folder = sys.argv[1:6]
    first, count, slots = map(int, sys.argv[6:9])
    for sign in SIGNALS:        # who ignores them has us ignore them (nohup)
        signal.signal(sign, signal.SIG_DFL)
    a.control = sys.argv[9] if len(sys.argv) > 9 else ''
    slurm = os.environ.get('INSTANTS_WORLD') == 'srun'
    hosts = [[] for _ in range(slots)]
    if not slurm:
        batch(['link add br0 type bridge', 'link set br0 up', 'addr add 10.77.255.1/16 dev br0',
               'link set lo up'])
        hosts = [[Host(s, i + 1) for i in range(kills.HOSTS)] for s in range(slots)]
        batch([line for slot in hosts for h in slot for line in h.link()])
        for slot in hosts:
            for h in slot:
                h.go()
    seeds, bad, times = queue.Queue(), [], []
    for seed in range(first, first + count):
        seeds.put(seed)

    def work(slot):
        while True:
            try:
                seed = seeds.get_nowait()
            except queue.Empty:
                return
            run = Run(seed, slot, hosts[slot], a)
            try:
                good = run.go()
            except Exception as e:          # a driver that stumbles is no proof of anything
                run.wrong.append(repr(e))
                good = False
            shutil.rmtree(run.folder, ignore_errors=True)
            times.append((run.took, str(run)))
            if os.environ.get('INSTANTS_VERBOSE'):
                print(f'# {"good" if good else "BAD "} {run} ({run.took:.2f} s) {run.said_all}', flush=True)
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
    if not slurm:
        batch(['link del br0'])
    slowest = max(times, default=(0, ''))
    print(f'# runs {len(times)} wrong {len(bad)} slowest {slowest[0]:.1f} s ({slowest[1]})')
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
