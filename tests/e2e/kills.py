"""Kills daemons: seeded runs of jobs on hosts of their own, in each of which one daemon (or the
launcher) is killed, stopped or cut off at some moment of its life; see kills.sh.

    kills.py WIREUP WIREUPD AGENT PROGRAM FOLDER FIRST COUNT SLOTS [CONTROL]

A run is its seed: `kills.py ... SEED 1 1` repeats it (moments within a phase are not exactly the
same; KILLS_PHASE and KILLS_HOW choose for it, KILLS_VERBOSE shows all).  A CONTROL must be found:
mute, a launcher that says nothing; litter, a process that stays; planted, other things that do.
Prints a line for each run that went wrong and a table at the end; exit status 0: none did.
Hosts, remote shell and driver: seeded.py."""
import errno
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

import seeded
from seeded import HOSTS, PATIENCE, Shell, all_stand, living, signal_all, state, with_children


def portrait(mark):
    """living() with the state of each: who is stopped (T), and who is not."""
    return {space: [f'{pid} {state(pid)[0]} {words[:60]}' for pid, words in them]
            for space, them in living(mark).items()}


HOWS = ('guard', 'worker', 'both', 'both', 'stop', 'cut')
# Said of a connection whose other end died, hung or gave up as it came.
PASSING = ('it closed the connection before the handshake', 'it did not send its handshake in time: ', os.strerror(errno.ECONNRESET))
PHASES = ('start', 'boot', 'born', 'up', 'met', 'held', 'fences', 'leave', 'spawn')


class Run(seeded.Run):
    test = 'KILLS'

    def __init__(self, seed, hosts, args):
        super().__init__(seed, hosts, args)
        r = self.random
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
        self.lines = queue.Queue()
        self.missed = False
        self.total = 0

    def __str__(self):
        who = f'n{self.victim}' if self.victim else 'launcher'
        return f'seed {self.seed}: {self.nodes} nodes, width {self.width}, {self.way}, {self.how} {who} in {self.phase}'

    def tell(self, line):
        self.lines.put(line)

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
        self.make_folder()
        self.fifo = os.path.join(self.folder, 'tell')
        os.mkfifo(self.fifo)
        # Kept open for writing, so that it does not end between two words.
        threading.Thread(target=self.read_tells, daemon=True).start()
        self.keep = os.open(self.fifo, os.O_WRONLY)
        self.shell = Shell(self)
        self.shell.start()
        env = self.env_there = self.environment(KILLS_TELL=self.fifo)
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
        return with_children(top.pid)[:2]

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
        if not m or not m.group(2).startswith(PASSING):
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
        self.wait_closed(used)
        # Who is killed cannot remove where tools find it; who comes next does.
        if self.how in ('guard', 'both', 'worker'):
            subprocess.run([self.args.wireup, 'ps'], env=self.env_there, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, timeout=PATIENCE)
        self.judge_files(lambda f: False)

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
            signal_all(with_children(self.launcher.pid), signal.SIGKILL)
            self.launcher.wait()
        else:
            self.judge_end()
        self.judge_rest()

    def act(self):
        began = time.monotonic()
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

    def told(self):
        return f'({self.total:.1f} s) {self.sentences()}'

    # ---- after a cable was pulled

    def pulled(self):
        return self.host(f'n{self.victim}') if self.how == 'cut' else None

    def is_lame(self, host):
        """Others may still look for a host that is back: the test's own fault."""
        return any('No route to host' in w and re.search(
            rf'\b{host.name}\b|\b{re.escape(host.address)}\b', w) for w in self.wrong)


def main():
    a = seeded.arguments()

    def attempt(seed, hosts, before):
        pulled = before and before.pulled()
        run = Run(seed, hosts, a)
        if run.go() or not (pulled and run.is_lame(pulled)):
            return run
        print(f'# {run}: its network was not up, once more')
        shutil.rmtree(run.folder, ignore_errors=True)
        run = Run(seed, hosts, a)
        run.go()
        return run

    hosts = seeded.hosts_up(a.slots)
    rc = seeded.drive(a, hosts, attempt)
    seeded.hosts_down(hosts)
    return rc


if __name__ == "__main__":
    sys.exit(main())
