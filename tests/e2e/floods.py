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


def names(count, owner, pids):
    world = os.stat('/proc/self/ns/pid').st_ino
    kept = []
    for i in range(count):
        pid = int(pids[i % len(pids)])
        for name in (f'wireup/{owner}/{world}/{i + 2}',  # (a first version had no chance in its names)
                     f'wireup/{owner}/{world}.{pid}.{i:08x}'):
            s = socket.socket(socket.AF_UNIX)
            try:
                s.bind('\0' + name)
                s.listen(1)
                kept.append(s)
            except OSError:
                s.close()  # it is taken
    print('ready', flush=True)
    sys.stdin.read()
    print(len(kept))


become()
if how == 'port':
    low, _, high = sys.argv[3].partition('-')
    port(int(low), int(high or low), int(sys.argv[4]))
else:
    names(int(sys.argv[3]), int(sys.argv[4]), sys.argv[5:])
