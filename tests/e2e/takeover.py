"""Launchers of DVMs that are lost, and those that take over: seeded runs on hosts of their own; see takeover.sh.

    takeover.py WIREUP WIREUPD AGENT PROGRAM FOLDER FIRST COUNT SLOTS [CONTROL]

A run is its seed (TAKEOVER_PHASE and TAKEOVER_HOW choose for it, TAKEOVER_VERBOSE shows all).  A DVM comes up with
-keep, and its launcher is killed (guard, worker or both), stopped, or a host cut off:

    rising     while it comes up               idle       while nothing runs
    launching  while a job starts              running    while a job makes one fence after the other
    ending     while a job ends                taking     and so is the one that takes over
    down       while the DVM ends              nobody     and nobody takes over

The judge: another launcher takes over with all nodes and their slots in use; a job that ran ends with its own exit
status, and all its ranks have met; the DVM takes jobs, and ends; where nobody takes over, and at the end, no process,
socket or file is left on any host.  A CONTROL must be found: mortal, a DVM without -keep; litter, a process that stays."""
import fcntl
import json
import os
import signal
import subprocess
import sys
import threading
import time

import seeded
from seeded import HOSTS, PATIENCE, Shell, living, signal_all

PHASES = ('rising', 'idle', 'launching', 'launching', 'running', 'running', 'ending', 'down', 'taking', 'nobody')
HOWS = ('guard', 'worker', 'both')
CODE = 7


def parent_of(pid):
    return seeded.state(pid)[1]


class Run(seeded.Run):
    test = 'TAKEOVER'

    def __init__(self, seed, hosts, args):
        super().__init__(seed, hosts, args)
        r = self.random
        self.nodes = r.randint(2, HOSTS)
        self.phase = os.environ.get('TAKEOVER_PHASE') or PHASES[seed % len(PHASES)]
        self.how = os.environ.get('TAKEOVER_HOW') or r.choice(HOWS)
        if not os.environ.get('TAKEOVER_HOW') and self.phase in ('idle', 'running') and seed % 40 < 10:
            self.how = r.choice(('stop', 'cut'))        # 17 s and more until it is noticed
        self.delay = r.uniform(0, 0.3)
        self.ppn = r.choice((1, 2))
        self.bound_s = {'nobody': 2, 'rising': 3, 'down': 3}.get(self.phase, 100)
        self.total = 0

    def __str__(self):
        return f'seed {self.seed}: {self.nodes} nodes, {self.how} in {self.phase}'

    # ---- commands

    def popen(self, *words, name='out'):
        with open(os.path.join(self.folder, name), 'ab') as out:
            return subprocess.Popen([self.args.wireup, *words], env=self.env_there, stdin=subprocess.DEVNULL,
                                    stdout=out, stderr=out, start_new_session=True)

    def wireup(self, *words, name='out'):
        p = self.popen(*words, name=name)
        try:
            return p.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.wrong.append(f'{words[0]} does not end')
            p.kill()
            return p.wait()

    def said(self, name='out'):
        try:
            with open(os.path.join(self.folder, name), errors='replace') as f:
                return f.read().replace('\n', ' | ')    # reports are one line
        except OSError:
            return ''

    def must(self, *words, name='out'):
        rc = self.wireup(*words, name=name)
        if rc:
            self.wrong.append(f'{" ".join(words[:2])}: {rc}: {self.said(name)[-600:]}')
        return rc == 0

    def up_words(self):
        keep = [] if self.args.control == 'mortal' else ['-keep', self.keep, '-keep-time', str(self.bound_s)]
        return ['up', *keep, '-launch-agent', self.args.agent, '-wireupd', self.args.wireupd, '-hosts',
                ','.join(f'n{i + 1}:{self.ppn}' for i in range(self.nodes))]

    # ---- who leads the DVM

    def leaders(self):
        """All that `wireup up` is: who waits in the foreground, guard and worker."""
        here = os.readlink('/proc/self/ns/net')
        return [p for p, words in living(self.mark).get(here, []) if ' up ' in words]

    def leader(self):
        try:
            with open(self.keep) as f:
                return next(int(line.split()[1]) for line in f if line.startswith('launcher '))
        except (OSError, StopIteration):
            return 0

    def victims(self):
        worker = self.leader()
        guard = parent_of(worker) if worker else 0
        if not worker or guard <= 1:
            return self.leaders()
        return {'guard': [guard], 'worker': [worker]}.get(self.how, [guard, worker])

    def is_led(self):
        """A process that ends has no environment any more before its files are closed."""
        try:
            with open(self.keep) as f:
                fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except FileNotFoundError:
            return False
        except BlockingIOError:
            return True
        return False

    def wait_lost(self):
        self.wait_for('the launcher is gone', lambda: not self.leaders() and not self.is_led())

    def lose(self):
        signal_all(self.victims(), signal.SIGKILL)
        self.wait_lost()

    def wait_for(self, what, true):
        until = time.monotonic() + PATIENCE
        while not true():
            if time.monotonic() > until:
                self.wrong.append(f'not in time: {what}; ps: {self.dvm()}')
                return False
            time.sleep(0.05)
        return True

    def dvm(self):
        """(slots, used) of the DVM; None: there is none."""
        p = subprocess.run([self.args.wireup, 'ps', '--json'], env=self.env_there, stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=PATIENCE)
        try:
            return next((one for one in json.loads(p.stdout)['launchers'] if one['dvm']), None)
        except ValueError:
            return None

    def slots(self):
        d = self.dvm()
        return (d['slots'], d['slots'] - d['slots_free']) if d else None

    def take_over(self):
        all_ = self.nodes * self.ppn
        if not self.must('up', '-takeover', self.keep):
            return False
        if self.phase == 'launching':       # who knows how far the job is
            return self.wait_for(f'{all_} slots', lambda: (self.slots() or (0,))[0] == all_)
        return self.wait_for(f'{all_} slots, {self.used()} in use', lambda: self.slots() == (all_, self.used()))

    def used(self):
        return self.nodes * self.ppn if self.job and self.job.poll() is None and self.meets else 0

    # ---- jobs

    def start_job(self):
        self.job = self.popen('run', '-dvm', 'dvm', '-n', str(self.nodes * self.ppn), self.args.program, 'until', self.stop,
                              str(CODE), name='job')

    def read_tells(self):
        with open(self.fifo) as f:
            for line in f:
                self.tells.add(line.rstrip('\n'))

    def wait_met(self):
        n = self.nodes * self.ppn
        self.meets = self.wait_for('all ranks meet', lambda: all(f'{r} in' in self.tells for r in range(n)))

    def let_go(self):
        open(self.stop, 'w').close()

    def judge_job(self, may_fail=False):
        try:
            rc = self.job.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.wrong.append(f'the job does not end: {self.said("job")[-600:]}')
            signal_all([self.job.pid], signal.SIGKILL)
            return
        said = self.said('job')
        whole = all(f'rank {r} has met all' in said for r in range(self.nodes * self.ppn))
        if may_fail and rc not in (0, CODE) and 'wireup:' in said:
            return
        if rc != CODE or not whole:
            self.wrong.append(f'the job: {rc}: {said[-800:]}')

    # ---- the runs

    def rising(self):
        p = self.popen(*self.up_words())
        time.sleep(self.delay)
        signal_all(self.leaders(), signal.SIGKILL)
        p.wait()

    def idle(self):
        self.lose()
        time.sleep(self.delay)
        self.take_over()

    def launching(self):
        self.start_job()
        time.sleep(self.delay)
        self.lose()
        self.take_over()
        self.let_go()
        self.judge_job(True)

    def running(self):
        self.start_job()
        self.wait_met()
        self.lose()
        time.sleep(self.delay)
        self.take_over()
        self.let_go()
        self.judge_job()

    def ending(self):
        self.start_job()
        self.wait_met()
        self.let_go()
        time.sleep(self.delay / 3)
        self.lose()
        self.judge_job()
        self.take_over()

    def taking(self):
        self.start_job()
        self.wait_met()
        self.lose()
        p = self.popen('up', '-takeover', self.keep)
        time.sleep(self.delay)
        signal_all(self.leaders(), signal.SIGKILL)
        p.wait()
        self.wait_lost()
        self.take_over()
        self.let_go()
        self.judge_job()

    def down(self):
        p = self.popen('down')
        time.sleep(self.delay / 3)
        signal_all(self.leaders(), signal.SIGKILL)
        p.wait()

    def nobody(self):
        self.start_job()
        self.wait_met()
        self.lose()
        self.judge_job(True)
        if self.job.returncode in (0, CODE):
            self.wrong.append('the job has ended well without its nodes')
        self.judge_end()
        if self.wireup('up', '-takeover', self.keep, name='late') == 0:
            self.wait_for('a DVM without nodes', lambda: self.slots() is not None)

    def stopped_launcher(self):
        pids, before = self.leaders(), self.links(range(self.nodes))
        signal_all(pids, signal.SIGSTOP)
        self.wait_held(range(self.nodes), before)
        if self.wireup('up', '-takeover', self.keep, name='refused') == 0 or 'has a launcher' not in self.said('refused'):
            self.wrong.append(f'a launcher that hangs is replaced: {self.said("refused")}')
        signal_all(pids, signal.SIGCONT)
        self.wait_whole()

    def cut_host(self):
        i = self.random.randrange(self.nodes)
        before = self.links([i])
        self.hosts[i].cut()
        self.wait_held([i], before)
        self.hosts[i].mend()
        self.wait_whole()

    def links(self, hosts):
        return {s for i in hosts for s in self.hosts[i].sockets() if s.split()[2] == '01'}

    def wait_held(self, hosts, before):
        """Their daemons have none of the links that they had."""
        self.wait_for('the daemons have lost the launcher', lambda: not self.links(hosts) & before)

    def wait_whole(self):
        self.wait_for('all nodes are back', lambda: self.slots() == (self.nodes * self.ppn, 0))

    def do_it(self):
        if self.how in ('stop', 'cut'):
            (self.stopped_launcher if self.how == 'stop' else self.cut_host)()
        else:
            getattr(self, self.phase)()

    def start(self):
        self.make_folder()
        self.job, self.meets = None, False
        self.keep, self.stop = os.path.join(self.folder, 'keep'), os.path.join(self.folder, 'stop')
        self.fifo, self.tells = os.path.join(self.folder, 'tell'), set()
        os.mkfifo(self.fifo)
        threading.Thread(target=self.read_tells, daemon=True).start()
        self.open = os.open(self.fifo, os.O_WRONLY)     # it does not end between two words
        self.shell = Shell(self)
        self.shell.start()
        self.env_there = self.environment(KILLS_TELL=self.fifo)
        if self.args.control == 'litter':
            self.hosts[0].run(['sleep', '1000'], (subprocess.DEVNULL,) * 3, self.env_there)

    def judge_end(self):
        self.wait_gone([h.space for h in self.hosts[:self.nodes]] + [os.readlink('/proc/self/ns/net')])
        self.wait_closed(self.hosts[:self.nodes])

    def judge(self):
        if self.phase not in ('rising', 'down') and not self.wrong:
            if self.phase != 'nobody':
                self.must('run', '-dvm', 'dvm', '-n', str(self.nodes * self.ppn), 'true')
            if self.dvm():
                self.must('down')
            if os.path.exists(self.keep) and self.phase != 'nobody':
                self.wrong.append('the file stays')
        self.judge_end()
        self.wireup('ps')           # who is killed cannot remove where tools find it; who comes next does
        self.judge_files(lambda f: False)

    def act(self):
        began = time.monotonic()
        self.start()
        try:
            if self.phase == 'rising' or self.must(*self.up_words()):
                self.do_it()
            done = time.monotonic()
            self.judge()
        finally:
            signal_all(self.leaders(), signal.SIGKILL)
            os.close(self.open)
            self.shell.close()
        self.took, self.total = time.monotonic() - done, time.monotonic() - began

    def told(self):
        return f'({self.total:.1f} s) {self.said()[-300:]!r}'


def main():
    a = seeded.arguments()

    def attempt(seed, hosts, _before):
        run = Run(seed, hosts, a)
        run.go()
        return run

    hosts = seeded.hosts_up(a.slots)
    rc = seeded.drive(a, hosts, attempt)
    seeded.hosts_down(hosts)
    return rc


if __name__ == "__main__":
    sys.exit(main())
