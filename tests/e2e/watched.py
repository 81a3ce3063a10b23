"""Watches a running job with all tools at once, and kills them at random moments; see watched.sh.

    watched.py WIREUP PMIXTOOL JOB FIRST COUNT

A seed decides which tools are started, in what order, and when each is killed (or not).  Prints a line for
each tool that said something wrong (killed ones may say anything), and how many were started and killed."""
import os
import random
import signal
import subprocess
import sys
import time

NET = 300  # seconds; only catches hangs


def tools(wireup, pmixtool, job):
    """Each with whether its exit has to be 0 when nobody kills it."""
    own = [['ps'], ['ps', '--json'], ['top'], ['top', '--json', '--count', '2', '--period', '0.5'], ['who'],
           ['who', '--json'], ['who', job], ['who', '--stacks', job], ['who', '--stacks', '--json'], ['names', job],
           ['tools'], ['attach', job, '--print'], ['attach', job, '1', '--json'], ['kill', '-s', 'CONT', job],
           ['attach', job, '--debugger', 'cat /proc/%p/status; true']]
    found = [[wireup] + words for words in own]
    return found + [[pmixtool, 'watch']] * 3


class Tool:
    def __init__(self, words, rng, dies=None):
        self.words = words
        self.dies = rng.random() < 0.7 if dies is None else dies
        self.due = time.monotonic() + rng.random() ** 3 * 1.5 if self.dies else None
        self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.PIPE, start_new_session=True)


def uri_of(wireup, launcher):
    text = subprocess.run([wireup, 'tools'], stdout=subprocess.PIPE, text=True, timeout=NET, check=True).stdout
    rows = dict(line.split('\t', 1) for line in text.splitlines())
    return rows[launcher]


def watch(all_tools, rng):
    """(started, killed, complaints); one that ends by itself, and one that does not, are always there."""
    running = [Tool(words, rng) for words in rng.sample(all_tools, rng.randint(3, 8))]
    running.append(Tool(all_tools[0], rng, False))
    running.append(Tool([all_tools[0][0], 'top', '--json', '--period', '0.5'], rng, True))
    started, killed, wrong = len(running), 0, []
    for t in sorted((t for t in running if t.dies), key=lambda t: t.due):
        time.sleep(max(0, t.due - time.monotonic()))
        if t.process.poll() is None:
            killed += 1
            os.kill(t.process.pid, signal.SIGKILL)
    for t in running:
        try:
            said = t.process.communicate(timeout=NET)[1]
        except subprocess.TimeoutExpired:
            os.kill(t.process.pid, signal.SIGKILL)
            said = t.process.communicate()[1] + b'it hung'
            wrong.append(f'{t.words}: it hung')
        if t.process.returncode not in (0, -signal.SIGKILL):
            wrong.append(f'{t.words}: exit status {t.process.returncode}: {said[-300:]}')
    return started, killed, wrong


def main(argv):
    wireup, pmixtool, job, first, count = argv[1], argv[2], argv[3], int(argv[4]), int(argv[5])
    launcher = os.environ['WU_LAUNCHER_PID']
    os.environ['PMIX_TOOL_URI'] = uri_of(wireup, launcher)
    all_tools = tools(wireup, pmixtool, job)
    started = killed = 0
    for seed in range(first, first + count):
        n, k, wrong = watch(all_tools, random.Random(seed))
        started, killed = started + n, killed + k
        for line in wrong:
            print(f'seed {seed}: {line}')
        sys.stdout.flush()
    print(f'# {started} tools, {killed} killed')
    print('some were killed' if killed and killed < started else 'WRONG: all or none were killed')


if __name__ == '__main__':
    main(sys.argv)
