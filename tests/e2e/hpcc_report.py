#!/usr/bin/env python3
"""Judges a report of the HPC Challenge (hpcc 1.5.0): `good`, or what is wrong, one line each.

    hpcc_report.py RANKS hpccoutf.txt

hpcc's own word (Success=1) is not enough, and is too much.  It does not tell of a wrong solution of HPL.  And on
more than four ranks its MPIRandomAccess loses updates under any launcher: a rank has four receives open and takes
the first that is complete, by number, not by time.  So it can take the last rank's "finished" before updates that
came earlier; it then cancels the other receives, and with them what they hold.  That was up to 134 words of a
table of 8192, of which hpcc excuses 1 %.  With one receive, on up to four ranks, no update can be lost.
"""
import re
import sys

SECTIONS = """MPIRandomAccess StarRandomAccess SingleRandomAccess MPIRandomAccess_LCG StarRandomAccess_LCG
    SingleRandomAccess_LCG PTRANS StarDGEMM SingleDGEMM StarSTREAM SingleSTREAM MPIFFT StarFFT SingleFFT
    LatencyBandwidth HPL Summary""".split()
ONE_RECEIVE = 4  # ranks
EXACT = 1e-12    # what a transform and its inverse may leave of numbers below 1


def sections_of(report):
    """The text of each section that begins and ends."""
    return dict(re.findall(r'^Begin of (\w+) section\.$(.*?)^End of \1 section\.$', report, re.M | re.S))


def numbers(pattern, text):
    return [float(n) for n in re.findall(pattern, text, re.M)]


def complaints(ranks, report):
    sections = sections_of(report)
    for name in SECTIONS:
        if name not in sections:
            yield f'{name} has not ended'
    excused = False
    for name, text in sections.items():
        wrong = any(numbers(r'^Node\(s\) with error (\d+)$', text)) or '(failed)' in text
        if wrong and name.startswith('MPIRandomAccess') and ranks > ONE_RECEIVE:
            excused = True
        elif wrong:
            yield f'{name} has failed'
    for name in 'PTRANS', 'HPL':
        passed, failed = (sum(numbers(rf'^ *(\d+) tests completed and {how} residual', sections.get(name, '')))
                          for how in ('passed', 'failed'))
        if not passed or failed:
            yield f'{name}: {passed:.0f} passed, {failed:.0f} failed'
    if not any(0 <= n < EXACT for n in numbers(r'^max\(\|x-x0\|\): *(\S+)$', sections.get('MPIFFT', ''))):
        yield 'MPIFFT is not exact'
    if not excused and '\nSuccess=1\n' not in sections.get('Summary', ''):
        yield 'hpcc says that something has failed'


def main():
    try:
        with open(sys.argv[2], encoding='utf-8', errors='replace') as file:
            report = file.read()
    except OSError:
        report = ''
    print('\n'.join(complaints(int(sys.argv[1]), report)) or 'good')


main()
