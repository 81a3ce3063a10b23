"""floods.py UID HOW ...: user UID floods us until standard input ends; prints `ready` when it is under way, and at
the end how often it did it.

    port LOW-HIGH HELD   connects to these ports of this machine in turn and says nothing; HELD connections are
                       kept open
    names COUNT OWNER PID...   listens on so many abstract names by which launchers of user OWNER with pids about
                       these would be found, as they are and as they were
"""
import collections
import errno
import os
import resource
import select
import socket
import sys

uid, how = int(sys.argv[1]), sys.argv[2]


def become():
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    if uid != os.geteuid():
        os.setgroups([])
        os.setgid(uid)
        os.setuid(uid)


def over(wait):
    return bool(select.select([0], [], [], wait)[0])


def port(low, high, held):
    kept, count, said, where = collections.deque(), 0, False, low
    while not over(0):
        where = where + 1 if where < high else low
        s = socket.socket()
        s.setblocking(False)
        rc = s.connect_ex(('127.0.0.1', where))
        kept.append(s)
        count += rc in (0, errno.EINPROGRESS)
        if len(kept) > held:
            kept.popleft().close()
        if count >= 3000 and not said:
            said = True
            print('ready', flush=True)
    print(count)


def take(which, owner, pids):
    world = os.stat('/proc/self/ns/pid').st_ino
    kept = []
    for i in which:
        pid = int(pids[i % len(pids)])
        for name in (f'wireup/{owner}/{world}/{i + 2}',  # (a first version had no chance in its names)
                     f'wireup/{owner}/{world}.{pid}.{i:08x}'):
            s = socket.socket(socket.AF_UNIX)
            try:
                s.bind('\0' + name)
                s.listen(1)
                kept.append(s)
            except OSError as e:
                s.close()
                if e.errno != errno.EADDRINUSE:
                    raise
    return kept


def names(count, owner, pids):
    """In as many processes as it takes: each may have so many descriptors."""
    most = min(resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2 - 64, 5000)
    children = []
    for first in range(0, count, most):
        r, w = os.pipe()
        child = os.fork()
        if child == 0:
            kept = take(range(first, min(first + most, count)), owner, pids)
            os.write(w, b'r')
            over(None)
            os._exit(0 if kept else 1)
        os.close(w)
        if os.read(r, 1) != b'r':
            sys.exit('a name could not be taken')
        os.close(r)
        children.append(child)
    print('ready', flush=True)
    over(None)
    for child in children:
        os.waitpid(child, 0)
    print(count)


become()
if how == 'port':
    low, _, high = sys.argv[3].partition('-')
    port(int(low), int(high or low), int(sys.argv[4]))
else:
    names(int(sys.argv[3]), int(sys.argv[4]), sys.argv[5:])
