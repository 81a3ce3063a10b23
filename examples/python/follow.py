#!/usr/bin/env python3
"""follow.py - a notebook in cells (`# %%`): starts a job, follows it while it runs, and draws its timeline.
The same calls serve a dashboard or a test; each cell can be run by itself in an editor that knows cells.
The picture is follow.html, a page that needs nothing else.

    python3 follow.py
"""
# %% What runs: any program; here shells that wait for each other are enough.
import wireup

PROGRAM = ['sh', '-c', 'echo "rank $PMI_RANK works"; read -r word; echo "rank $PMI_RANK has read $word"']

# %% Start it.  Its messages are recorded for the picture.
job = wireup.launch(*PROGRAM, n=3, name='followed', trace='follow.trace', options=['-stdin', 'none'])

# %% Its output, line by line, with the rank of each.
lines = list(job.lines())
for rank, line in sorted(lines):
    print(rank, line)

# %% How it ended, and what was recorded: as many dictionaries as there were messages and events.
status = job.wait()
events = list(wireup.trace('follow.trace'))
print('exit status', status, '-', len(events), 'records')

# %% The picture: what each process did when, and who was waited for.
wireup.timeline('follow.trace', 'follow.html')
assert len(lines) == 6 and status == 0 and events, (lines, status)
print('follow: good')
