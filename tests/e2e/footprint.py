"""What is on the hosts of seeded runs besides processes: files in the folders that all share, mounts, name
spaces, and local sockets.  Whatever many runs together add to it, one of them has left.

In what private.sh gives a test, so nobody else adds anything."""
import collections
import os
import socket
import subprocess
import time

FOLDERS = '/tmp', '/dev/shm', '/run'
# The daemons of a Slurm that a test has started keep files of their own there, as long as they run.
SLURM = '/netns/slurm/'


def files_below(folder):
    return [os.path.join(where, name) for where, _, names in os.walk(folder) for name in names]


def name_spaces():
    """Of processes; those that a mount holds are among the mounts."""
    found = set()
    for pid in filter(str.isdigit, os.listdir('/proc')):
        for kind in 'net', 'mnt', 'uts', 'ipc':
            try:
                found.add(os.readlink(f'/proc/{pid}/ns/{kind}'))
            except OSError:
                pass                # it has ended
    return found


def mounts():
    with open('/proc/self/mountinfo') as table:
        return [' '.join(row.split()[3:]) for row in table]


def local_sockets(pid):
    """Type, state and name of each in the name space of this process."""
    with open(f'/proc/{pid}/net/unix') as table:
        rows = [row.split() for row in table][1:]
    return [' '.join(row[4:6] + row[7:]) for row in rows]


def look(hosts, ours):
    """{kind: Counter of what there is}; `ours`: the folder that is the runs' own."""
    there = {'name spaces': name_spaces(), 'mounts': mounts(), 'local sockets': local_sockets('self'),
             'files': [f for top in FOLDERS for f in files_below(top)
                       if not f.startswith(ours) and SLURM not in f]}
    for h in hosts:
        there[f'local sockets of {h.cable}'] = local_sockets(h.first.pid)
    return {kind: collections.Counter(found) for kind, found in there.items()}


def added(hosts, ours, before, patience):
    """{kind: what there is more than before}; what is on its way out has so many seconds for that."""
    until = time.monotonic() + patience
    while True:
        now = look(hosts, ours)
        more = {kind: sorted((found - before[kind]).elements()) for kind, found in now.items()}
        more = {kind: found for kind, found in more.items() if found}
        if not more or time.monotonic() > until:
            return more
        time.sleep(0.05)


class Planted:
    """One of each kind, as a control."""

    def __init__(self):
        self.file, self.point = '/dev/shm/planted', '/run/planted'
        open(self.file, 'w').close()
        os.mkdir(self.point)
        subprocess.run(['mount', '-t', 'tmpfs', 'planted', self.point], check=True)
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind('\0planted')
        self.socket.listen()
        self.space = subprocess.Popen(['unshare', '-n', 'sh', '-c', 'echo; exec sleep infinity'], stdout=subprocess.PIPE)
        self.space.stdout.readline()

    def remove(self):
        self.space.kill()
        self.space.wait()
        self.socket.close()
        subprocess.run(['umount', self.point], check=True)
        os.rmdir(self.point)
        os.unlink(self.file)
