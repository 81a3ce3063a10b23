"""Where a key lies in a process's memory.

    keys.py KEY-IN-HEX PID...

Prints for each: how often it is, as bytes and as text, in memory that a core file would show, and in
memory that none shows (MADV_DONTDUMP)."""
import re
import sys

text = sys.argv[1].lower()
MOST = 64 << 20  # stores, which are mapped with room to grow, hold what programs have put
words = (bytes.fromhex(text), text.encode())


def mappings(pid):
    """(first, behind the last, shown in core files) of all that can be read."""
    found = []
    with open(f'/proc/{pid}/smaps') as f:
        for line in f:
            m = re.match(r'([0-9a-f]+)-([0-9a-f]+) (r\S+) ', line)
            if m and int(m[2], 16) - int(m[1], 16) < MOST:
                found.append([int(m[1], 16), int(m[2], 16), True])
            elif re.match(r'[0-9a-f]+-', line):
                found.append([0, 0, True])
            elif line.startswith('VmFlags:') and ' dd' in line and found:
                found[-1][2] = False
    return [m for m in found if m[1]]


for pid in sys.argv[2:]:
    shown = hidden = 0
    with open(f'/proc/{pid}/mem', 'rb', 0) as mem:
        for first, end, is_shown in mappings(pid):
            try:
                mem.seek(first)
                data = mem.read(end - first)
            except (OSError, ValueError, OverflowError):
                continue  # the kernel's own pages
            n = sum(data.count(w) for w in words)
            shown += n if is_shown else 0
            hidden += 0 if is_shown else n
    with open(f'/proc/{pid}/comm') as f:
        print(f.read().strip(), 'shown', shown, 'hidden', hidden)
