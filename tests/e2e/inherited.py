#!/usr/bin/env python3
"""Compares what a process has with what the table says of how it was started.

    inherited.py from TABLE WAY SIDE1 SIDE2 FILE...   each line of these outputs of `inherited show` has the value of the
                                                      side that the table names (one line for each that has not)
    inherited.py missed TABLE WAY SIDE1 SIDE2 NAMES PREFIX
                                                      of the attributes in NAMES those whose deviation `from` does not
                                                      find in PREFIX.1, PREFIX.2 ..., each of which has one
    inherited.py twins TABLE WAY A B C D              two outputs of `inherited random` that a shell has started one
                                                      after the other, A and B, and two of this way: they differ where
                                                      A and B do, unless the table says `alike`
    inherited.py memory TEXT PID...                   those of the processes that have the text in their memory; nothing
                                                      that could be read is an error
    inherited.py start PID...                         the random bytes that the kernel has given them at their start
    inherited.py table TABLE WAYS FILE                every row has its reason, is of an attribute in FILE and of
                                                      one of WAYS, and none is hidden by those before it

A row of the table: attribute, ways, where from, reason, with tabs between them.  The first two may have * and several
words that | separates; the first row that fits counts.  Where from: `launcher` (side 1), `node` (side 2), `=VALUE`,
`any`; of attributes that begin with `random:`, `differs` or `alike`.
"""
import fnmatch
import struct
import sys

RANDOM = 25  # AT_RANDOM
MOST = 1 << 30  # of one mapping: sanitizers have larger ones, for notes of their own


def read_table(path):
    with open(path, encoding='utf-8') as f:
        rows = [line.rstrip('\n').split('\t') for line in f if line.strip() and not line.startswith('#')]
    for row in rows:
        if len(row) != 4:
            sys.exit(f'{path}: a row has four columns, not {len(row)}: {row}')
    return rows


def read_lines(path):
    with open(path, encoding='utf-8', errors='replace') as f:
        return dict(line.rstrip('\n').split('\t', 1) for line in f)


def fits(patterns, name):
    return any(fnmatch.fnmatchcase(name, p) for p in patterns.split('|'))


def find(rows, name, way):
    for row in rows:
        if fits(row[0], name) and fits(row[1], way):
            return row
    return None


def wanted(origin, name, side1, side2):
    if origin.startswith('='):
        return origin[1:]
    return {'launcher': side1, 'node': side2}[origin].get(name, 'nothing')


def compare(rows, way, side1, side2, seen):
    found = []
    for name in sorted(side1.keys() | seen.keys()):
        row = find(rows, name, way)
        if row is None:
            found.append(f'{name}: the table has no row')
        elif row[2] != 'any':
            want = wanted(row[2], name, side1, side2)
            if seen.get(name) != want:
                found.append(f'{name}: {seen.get(name)}, not {want} ({row[2]})')
    return found


def missed(rows, way, side1, side2, names, prefix):
    with open(names, encoding='utf-8') as f:
        all_names = f.read().splitlines()
    return [name for i, name in enumerate(all_names)
            if not any(line.startswith(name + ': ')
                       for line in compare(rows, way, side1, side2, read_lines(f'{prefix}.{i + 1}')))]


def twins(rows, way, a, b, c, d):
    found = []
    for name in sorted(a):
        row = find(rows, name, way)
        if row is None:
            found.append(f'{name}: the table has no row')
        elif a[name] != b[name] and (c.get(name) == d.get(name)) != (row[2] == 'alike'):
            found.append(f'{name}: {c.get(name)} and {d.get(name)} ({row[2]})')
    return found


def check(rows, ways, names):
    found = []
    for i, row in enumerate(rows):
        mine = [(n, w) for n in names for w in ways if fits(row[0], n) and fits(row[1], w)]
        if not any(find(rows, n, w) is row for n, w in mine):
            found.append(f'row {i + 1} is of nothing: {row}')
        if row[2] not in ('launcher', 'differs') and not row[3]:
            found.append(f'row {i + 1} has no reason: {row}')
    return found


def pieces(pid):
    """The memory that the process may read, except what the kernel keeps."""
    with open(f'/proc/{pid}/maps', encoding='utf-8', errors='replace') as f:
        places = [line.split() for line in f]
    with open(f'/proc/{pid}/mem', 'rb', buffering=0) as f:
        for at, rights, *_, name in ([*place, ''] if len(place) == 5 else place[:6] for place in places):
            begin, end = (int(x, 16) for x in at.split('-'))
            if not rights.startswith('r') or end - begin > MOST or name in ('[vvar]', '[vvar_vclock]', '[vsyscall]'):
                continue
            try:
                f.seek(begin)
                yield f.read(end - begin)
            except OSError:
                pass  # a guard, or a file that has been cut


def holders(text, pids):
    found = []
    for pid in pids:
        memory = list(pieces(pid))
        if not memory:
            sys.exit(f'the memory of {pid} cannot be read')
        if any(text.encode() in piece for piece in memory):
            found.append(pid)
    return found


def random_bytes(pid):
    with open(f'/proc/{pid}/auxv', 'rb') as f:
        words = f.read()
    vector = dict(struct.iter_unpack('NN', words))
    with open(f'/proc/{pid}/mem', 'rb', buffering=0) as f:
        f.seek(vector[RANDOM])
        return f.read(16).hex()


def main():
    what = sys.argv[1]
    if what == 'memory':
        print(' '.join(holders(sys.argv[2], sys.argv[3:])))
        return
    if what == 'start':
        print('\n'.join(map(random_bytes, sys.argv[2:])))
        return
    rows = read_table(sys.argv[2])
    found = []
    if what == 'from':
        side1, side2 = map(read_lines, sys.argv[4:6])
        for path in sys.argv[6:]:
            found += compare(rows, sys.argv[3], side1, side2, read_lines(path))
    elif what == 'missed':
        found = missed(rows, sys.argv[3], *map(read_lines, sys.argv[4:6]), *sys.argv[6:8])
    elif what == 'twins':
        found = twins(rows, sys.argv[3], *map(read_lines, sys.argv[4:8]))
    else:
        found = check(rows, sys.argv[3].split(), list(read_lines(sys.argv[4])))
    print('\n'.join(found))


main()
