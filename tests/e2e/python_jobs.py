"""Jobs from Python, by the module wireup: started, watched, traced, signalled, on standing daemons.

    python_jobs.py FOLDER PROGRAM AGENT          PROGRAM: one that exchanges addresses (e2e-libpmi exchange)
                                                 AGENT: what starts a daemon on a node that is a name space
"""
import os
import subprocess
import sys

import wireup

folder, program, agent = sys.argv[1:4]
trace = os.path.join(folder, 'trace')


def until(condition):
    """Waits for what the next lines are about."""
    while True:
        found = condition()
        if found:
            return found


print('run', sorted(wireup.run('sh', '-c', 'echo I am $PMI_RANK of $PMI_SIZE', n=3)))
print('exchange', sorted(wireup.run(program, 'exchange', n=4, trace=trace)))
rows = list(wireup.trace(trace, ranks=[0, 1]))
print('trace', len(rows) > 4, {type(row) for row in rows} == {dict})
print('timeline', 'rank' in wireup.timeline(trace), wireup.timeline(trace, trace + '.svg') == '',
      os.path.getsize(trace + '.svg') > 1000)
with wireup.launch('sh', '-c', 'echo up; exec sleep 1000', n=2, name='sleepers') as job:
    print('lines', next(job.lines())[1], next(job.lines())[1])
    row = until(job.row)
    print('row', row['name'], row['ranks'], row['state'])
    print('who', job.who()['jobs'][0]['processes'], job.names().get('schema'))
    print('jobs', len(wireup.jobs()))
    job.signal('USR1')
    print('signalled', job.wait() != 0, 'signal 10' in job.errors)
print('gone', job.row(), wireup.jobs())
with wireup.launch('sleep', 1000, n=2) as job:
    try:
        job.wait(timeout=0.01)
    except subprocess.TimeoutExpired:
        print('still there')
print('ended', job.wait() != 0)
for failing in (lambda: wireup.run('sh', '-c', 'exit 3', n=2), lambda: wireup.run('/nowhere/program'),
                lambda: wireup.who('nobody'), lambda: wireup.timeline('/nowhere/trace')):
    try:
        failing()
        print('no error')
    except wireup.WireupError as error:
        print('error', error.status, bool(str(error)))
with wireup.Dvm(hosts=['n1', 'n2'], options=['-launch-agent', agent]) as dvm:
    print('dvm', sorted(line for _, line in dvm.run('hostname', n=4, options=['-map-by', 'node'])))
print('down', wireup.jobs(), flush=True)
