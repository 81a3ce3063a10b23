#!/usr/bin/env python3
"""Many launches in a row, some of them with violence.

    soak.py calm COUNT LAUNCHER PROGRAM...           every one has to end with 0
    soak.py wild COUNT SEED LAUNCHER PROGRAM...      each time somebody is killed at some moment: a rank,
                                                     the launcher, or the launcher politely

Prints one line: `calm COUNT good`, or `wild COUNT good` when every launcher ended (whatever its status:
the victim decides) and, after each, no process of that job was left.
"""
import os
import random
import signal
import subprocess
import sys
import time

NET = 300 # a net for what hangs; a loaded machine with sanitizers is slow


def marked(mark):
    """Living processes that carry the mark in their environment."""
    found = []
    for entry in os.listdir('/proc'):
        if entry.isdigit() and int(entry) != os.getpid():
            try:
                with open(f'/proc/{entry}/environ', 'rb') as f:
                    if b'SOAK=' + mark.encode() in f.read().split(b'\0'):
                        found.append(int(entry))
            except OSError:
                pass
    return found


def gone(mark):
    deadline = time.monotonic() + NET
    while time.monotonic() < deadline:
        left = marked(mark)
        if not left:
            return []
        time.sleep(0.005)
    return left


def portrait(mark):
    """Of everybody with the mark: what it is doing, for whoever has to find out why it does not end."""
    for pid in marked(mark):
        told = [str(pid)]
        for name in ('cmdline', 'wchan', 'syscall'):
            try:
                with open(f'/proc/{pid}/{name}', 'rb') as f:
                    told.append(f.read().replace(b'\0', b' ').decode(errors='replace').strip())
            except OSError as e:
                told.append(e.strerror)
        try:
            with open(f'/proc/{pid}/status') as f:
                told += [' '.join(line.split()) for line in f
                         if line.startswith(('State', 'PPid', 'SigPnd', 'ShdPnd', 'SigBlk', 'SigIgn'))]
        except OSError:
            pass
        print('; '.join(told))


def calm(count, command):
    for i in range(count):
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=NET)
        if done.returncode != 0:
            print(f'launch {i}: status {done.returncode}: {done.stdout.decode()[:500]}')
            return 1
    print(f'calm {count} good')
    return 0


def ranks(launcher_pid, mark):
    return [p for p in marked(mark) if p != launcher_pid and b'PMI_RANK=' in environ(p)]


def environ(pid):
    try:
        with open(f'/proc/{pid}/environ', 'rb') as f:
            return f.read()
    except OSError:
        return b''


def wild(count, seed, command):
    dice = random.Random(seed)
    statuses = {}
    for i in range(count):
        mark = f'{os.getpid()}.{i}'
        job = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, env=dict(os.environ, SOAK=mark))
        # From "just started" to "all wait in a barrier": the moment is drawn, not awaited.
        time.sleep(dice.choice([0, 0.001, 0.003, 0.006, 0.012, 0.03]) * dice.random())
        how = dice.choice(['rank', 'rank', 'kill', 'term', 'int'])
        try:
            if how == 'rank':
                deadline = time.monotonic() + NET
                while not (victims := ranks(job.pid, mark)) and time.monotonic() < deadline:
                    pass
                os.kill(dice.choice(victims), dice.choice([signal.SIGKILL, signal.SIGSEGV]))
            else:
                os.kill(job.pid, {'kill': signal.SIGKILL, 'term': signal.SIGTERM,
                                  'int': signal.SIGINT}[how])
        except ProcessLookupError:
            pass
        try:
            status = job.wait(timeout=NET)
        except subprocess.TimeoutExpired:
            print(f'launch {i} ({how}, seed {seed}): the launcher did not end')
            portrait(mark)
            return 1
        job.stdin.close()
        statuses[how, status] = statuses.get((how, status), 0) + 1
        if status == 0:
            print(f'launch {i} ({how}, seed {seed}): somebody was killed, and the status is 0')
            return 1
        left = gone(mark)
        if left:
            print(f'launch {i} ({how}, seed {seed}): processes {left} are left')
            portrait(mark)
            return 1
    print(f'wild {count} good')
    for (how, status), n in sorted(statuses.items()):
        print(f'{how}: status {status}: {n} times')
    return 0


def main(argv):
    # Behind the & of a shell it is ignored, and then a launcher that has just begun does not hear of it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if argv[0] == 'calm':
        return calm(int(argv[1]), argv[2:])
    return wild(int(argv[1]), int(argv[2]), argv[3:])


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
