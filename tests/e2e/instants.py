"""Signals and time limits at seeded instants of a launcher's life, from its first instruction to its last;
see instants.sh.

    instants.py WIREUP WIREUPD AGENT PROGRAM FOLDER FIRST COUNT SLOTS [CONTROL]

A run is its seed: `instants.py ... SEED 1 1` repeats it (INSTANTS_WORLD and INSTANTS_HOW choose for it,
INSTANTS_VERBOSE shows all).  Worlds: one (this machine alone), four (four hosts), hang (one of the hosts
does not answer), dvm (up, run and down), srun (inside a Slurm allocation: only when it is chosen).  A
CONTROL must be found: deaf, a launcher that hears no signal; litter, a process that stays.

The judge: the launcher ends within INSTANTS_BOUND seconds, with the status of the signal (or of the time
limit, or of a job that was over before); what it says is true (nothing was started when it says so); no
process, file or socket is left on any host.  Hosts, remote shell and driver: seeded.py."""
import os
import re
import select
import signal
import socket
import subprocess
import sys
import time

import seeded
from seeded import PATIENCE, all_stand, living, signal_all, with_children

BOUND = float(os.environ.get('INSTANTS_BOUND', '60'))   # a net: the launcher's own bounds add up to 23 s
WORLDS = ('one', 'four', 'hang', 'dvm')
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
HOWS = ('signal', 'signal', 'signal', 'twice', 'limit', 'quit')
MODES = ('stay', 'stay', 'short', 'fail', 'stubborn', 'fences', 'flood')
ENDLESS = ('stay', 'stubborn', 'fences', 'flood')
CODE = {'short': 0, 'fail': 3}
# What nobody may ever read.
NEVER = re.compile(r'worker process|[Ss]egmentation|AddressSanitizer|assert|out of memory|Traceback')


class Shell(seeded.Shell):
    """As there; the host `hang` never answers."""

    def serve(self, s):
        if s.recv(8192, socket.MSG_PEEK).split(b'\n')[0] != b'hang':
            super().serve(s)
            return
        with s:
            _, fds, _, _ = socket.recv_fds(s, 8192, 3)
            self.run_.tell('hang started')
            select.select([s], [], [], PATIENCE)
            for fd in fds:
                os.close(fd)


def is_pending(pid, sign):
    """It has not taken the signal yet.  Of two that are pending, the kernel hands out the lower number first."""
    try:
        with open(f'/proc/{pid}/status') as f:
            return int(re.search(r'^ShdPnd:\s*(\w+)', f.read(), re.M).group(1), 16) >> (sign - 1) & 1
    except (OSError, AttributeError):
        return False


class Run(seeded.Run):
    test = 'INSTANTS'
    bound = BOUND

    def __init__(self, seed, hosts, args):
        super().__init__(seed, hosts, args)
        r = self.random
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
        self.said_all = []
        self.signs = [self.sign]            # those that may have come first

    def __str__(self):
        when = '' if self.how == 'limit' else f' after {self.delay * 1000:.0f} ms'
        return (f'seed {self.seed}: {self.world}, {self.how} {self.sign.name}{when} to {self.target}, '
                f'program {self.mode}, width {self.width}')

    # ---- what is run

    def prepare(self):
        self.make_folder()
        self.started = os.path.join(self.folder, 'started')
        self.shell = Shell(self)
        self.shell.start()
        self.env = self.env_there = self.environment(INSTANTS_STARTED=self.started, KILLS_TELL='/dev/null')

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
            signal_all(with_children(p.pid), signal.SIGKILL)
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
                if is_pending(p.pid, self.sign):
                    self.signs.append(self.again)
                signal_all([p.pid], self.again)
        try:
            p.wait(BOUND)
        except subprocess.TimeoutExpired:
            self.wrong.append(f'it has not ended within {BOUND:.0f} s: it has said {self.said()}')
            if os.environ.get('INSTANTS_DEBUG'):
                subprocess.run(['sh', '-c', os.environ['INSTANTS_DEBUG'], str(p.pid)])
            signal_all(with_children(p.pid), signal.SIGKILL)
            p.wait()
        self.took = time.monotonic() - began

    def freeze(self):
        """All of n2, as if it hung."""
        if self.world != 'stuck':
            return
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            there = {p for p, _ in living(self.mark).get(self.hosts[1].space, [])}
            if there <= set(self.stopped) and all_stand(self.stopped):
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
        ours = (124,) if self.how == 'limit' else tuple(n for s in self.signs for n in (128 + s, -s))
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
        if self.world != 'srun':
            return super().left(spaces, but)
        found = super().left(None, but)
        steps = subprocess.run(['squeue', '-s', '-h', '-j', os.environ['SLURM_JOB_ID'], '-o', '%i %j'],
                               capture_output=True, text=True).stdout.split('\n')
        if steps := [(0, s) for s in steps if 'wireupd' in s]:
            found['steps'] = steps
        return found

    def judge_rest(self):
        self.thaw()
        self.wait_gone([h.space for h in self.hosts] + [os.readlink('/proc/self/ns/net')])
        self.wait_closed(self.hosts)
        # Daemons that Slurm kills leave where they are to be found; who comes next removes it.
        self.judge_files(lambda f: self.world == 'srun' and '/run/wireup/' in f)

    def act(self):
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

    def told(self):
        return f'({self.took:.2f} s) {self.said_all}'


def main():
    a = seeded.arguments()
    for sign in SIGNALS:        # who ignores them has us ignore them (nohup)
        signal.signal(sign, signal.SIG_DFL)
    slurm = os.environ.get('INSTANTS_WORLD') == 'srun'
    hosts = [[] for _ in range(a.slots)] if slurm else seeded.hosts_up(a.slots)

    def attempt(seed, mine, _):
        run = Run(seed, mine, a)
        run.go()
        return run

    rc = seeded.drive(a, hosts, attempt)
    if not slurm:
        seeded.hosts_down(hosts)
    return rc


if __name__ == '__main__':
    sys.exit(main())
