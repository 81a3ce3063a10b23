#!/usr/bin/env python3
"""PMIx tools that are killed at random instants while a job runs, which must not notice.

    pmixtools_kills.py WIREUP TOOLS PROGRAM TMP SEED COUNT [spoil]

PROGRAM is e2e-pmixtools, TOOLS the folder of the tools.  COUNT tools are started, 25 for each job, each by a seed of its
own: which tool, and when it is killed, or that it is not.  spoil: the job is ended instead."""
import json
import os
import random
import signal
import subprocess
import sys
import time

EACH = 25
wireup, tools, program, tmp, seed, count = sys.argv[1:7]
spoil = len(sys.argv) > 7
stop = os.path.join(tmp, 'stop')


def tool(*words):
    return [os.path.join(tools, words[0]), *words[1:]]


def begin_job():
    for name in os.listdir(tmp):
        if name.startswith('stop'):
            os.unlink(os.path.join(tmp, name))
    job = subprocess.Popen([wireup, '-n', '3', program, stop], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + 300
    while not all(os.path.exists(f'{stop}.{r}') for r in range(3)):
        if job.poll() is not None or time.monotonic() > end:
            sys.exit(f'the job does not run: {job.communicate()}')
        time.sleep(0.01)
    asked = subprocess.run(tool('pquery', '--json', 'PMIX_QUERY_NAMESPACES'), capture_output=True, text=True, timeout=300)
    return job, json.loads(asked.stdout)['results'][0]['value']


def choices(ns, number):
    yield tool('pps', '--nodes')
    yield tool('pquery', f'PMIX_QUERY_PROC_TABLE[PMIX_NSPACE={ns}]', 'PMIX_QUERY_NODE_RESOURCE_USAGE')
    yield tool('pquery', f'PMIX_QUERY_PROC_RESOURCE_USAGE[PMIX_NSPACE={ns}]')
    yield tool('pattrs', '--host', 'all', '--client', 'all')
    yield tool('plookup', '--wait', '--timeout', '1', 'tools.key,never')
    yield tool('pctrl', '--targets', f'{ns}:1', '--pset', f'set{number}')
    yield tool('pctrl', '--targets', ns, '--pause')
    yield tool('pctrl', '--targets', f'{ns}:2', '--signal', 'CONT')
    yield tool('pevent', '--range', 'global', '--event', '-12345')
    yield tool('palloc', '--nodes', '1')


def one(number, ns):
    """Starts a tool, and kills it after up to 25 ms: most need 10."""
    rng = random.Random(number)
    words = rng.choice(list(choices(ns, number)))
    how = rng.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGSTOP, None])
    p = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(rng.uniform(0, 0.025))
    if how == signal.SIGSTOP:
        p.send_signal(how)
        time.sleep(0.01)
        how = signal.SIGKILL
    if how:
        p.send_signal(how)
    p.wait(timeout=300)
    if '--pause' in words:
        subprocess.run(tool('pctrl', '--targets', ns, '--resume'), check=True, capture_output=True, timeout=300)
    return os.path.basename(words[0])


def main():
    done, jobs, first = 0, 0, int(seed)
    while done < int(count):
        job, ns = begin_job()
        jobs += 1
        for _ in range(min(EACH, int(count) - done)):
            name = one(first + done, ns)
            if job.poll() is not None:
                print(f'seed {first + done} ({name}): the job has ended: {job.communicate()}')
                return 1
            done += 1
        if spoil:
            job.terminate()
        open(stop, 'w', encoding='ascii').close()
        said, wrong = job.communicate(timeout=300)
        if job.returncode or said != 'pmixtools good\n' or wrong:
            print(f'seeds up to {first + done - 1}: the job ends with {job.returncode}: {said!r} {wrong!r}')
            return 1
    print(f'{done} tools killed in {jobs} jobs: good')
    return 0


sys.exit(main())
