"""Another user of the machine, who tries every door of a launcher, a daemon or a PMIx server.

    second_user.py doors PID...            (root) the listening sockets of these processes and of all below
                                           them: `tcp PORT PID` and `unix NAME PID` (NAME begins with @ or /)
    second_user.py spawn PORT CANARY       says hello as a tool and asks for a program that makes the file CANARY
    second_user.py leave PORT PID DIRECTORY UID INTRUDER
                                           (root) the same as the user INTRUDER, who leaves in every way (leave_*);
                                           once as a tool, once as process 0 of `testjob`;
                                           first while PID, whose door it is, is stopped, then while it is not
    second_user.py every DIRECTORY [DOORS-FILE]
                                           every payload at every door; a program that is started by one of them
                                           makes a file in DIRECTORY that is named after it
    second_user.py door FILE               a door of his own, tcp and unix, whose names are written to FILE as
                                           doors would; who comes is let in and sent away
    second_user.py flood KIND NAME SECONDS connects and closes, as fast as it goes
    second_user.py hold KIND NAME SECONDS  2,000 connections, held
    second_user.py drip KIND NAME SECONDS  200 connections that say a byte at a time
    second_user.py besiege SECONDS         crowds at every TCP door of root's that there is, as soon as it is there
    second_user.py names UID COUNT         COUNT names in the abstract name space, as launchers of UID might have
    second_user.py singleton PORT-FILE CANARY
                                           waits for a launcher that takes in a process on a port, and asks it
                                           for a program
    second_user.py turncoat CANARY INTRUDER
                                           a rank of root's, which becomes INTRUDER after its init and asks for
                                           a program and a name, and tries to write to the job's store
    second_user.py refuse PORT-FILE        answers daemons that they have the wrong version

Prints `WHAT: answered N`: how many bytes came back; `ready` when what it holds is held."""
import array
import encodings.idna  # (what a process that has become another user may not be able to load)
import os
import resource
import signal
import socket
import struct
import sys
import threading
import time

NET = 300  # seconds: a net for what hangs


# ---- doors -------------------------------------------------------------------------------------

def descendants(roots):
    children = {}
    for pid in (p for p in os.listdir('/proc') if p.isdigit()):
        try:
            with open(f'/proc/{pid}/stat') as f:
                parent = int(f.read().rpartition(')')[2].split()[1])
        except OSError:
            continue
        children.setdefault(parent, []).append(int(pid))
    found, todo = [], list(roots)
    while todo:
        pid = todo.pop()
        found.append(pid)
        todo += children.get(pid, [])
    return found


def sockets_of(pid):
    try:
        names = os.listdir(f'/proc/{pid}/fd')
    except OSError:
        return
    for name in names:
        try:
            link = os.readlink(f'/proc/{pid}/fd/{name}')
        except OSError:
            continue
        if link.startswith('socket:['):
            yield int(link[8:-1])


def listening():
    """Doors of this network name space by inode."""
    doors = {}
    for table in 'tcp', 'tcp6':
        with open(f'/proc/net/{table}') as f:
            for line in f.readlines()[1:]:
                word = line.split()
                if word[3] == '0A':
                    doors[int(word[9])] = f'tcp {int(word[1].rpartition(":")[2], 16)}'
    with open('/proc/net/unix') as f:
        for line in f.readlines()[1:]:
            word = line.split(None, 7)
            if int(word[3], 16) & 0x10000:
                doors[int(word[6])] = 'unix ' + (word[7].strip() if len(word) > 7 else '?')
    return doors


def where_it_is(door, pid):
    """A socket that was made by the descriptor of its directory: where others find it (it may have another name
    by now: each that is in there)."""
    kind, name = door.split(None, 1)
    head, _, rest = name.partition('/proc/self/fd/')
    if kind != 'unix' or head:
        return [door]
    directory = os.readlink(f'/proc/{pid}/fd/{rest.partition("/")[0]}')
    return [f'unix {directory}/{entry}' for entry in os.listdir(directory)]


def print_doors(*pids):
    doors = listening()
    for pid in descendants(int(p) for p in pids):
        for inode in sockets_of(pid):
            if inode in doors:
                for door in where_it_is(doors[inode], pid):
                    print(door, pid)


# ---- payloads ----------------------------------------------------------------------------------

def string(text):
    """A PMIx string: its length in the 4.1 encoding (zigzag, base 128), the bytes, a zero."""
    data = text.encode() + b'\0'
    n, head = len(data) << 1, b''
    while n >= 128:
        head += bytes([n & 127 | 128])
        n >>= 7
    return head + bytes([n]) + data


def hello(uid, gid, flag, space='', rank=0):
    body = b'native\0' + struct.pack('>I', 8) + struct.pack('=II', uid, gid) + bytes([flag])
    if flag:
        body += struct.pack('>II', uid, gid)
    if flag in (0, 4, 5, 9, 10):
        body += space.encode() + b'\0' + struct.pack('>I', rank)
    body += b'4.2.2rc2\0v41\0\1hash\0'
    return struct.pack('=iIII', -1, 0xFFFFFFFF, len(body), 0) + body


def message(tag, body):
    return struct.pack('>IIII', 0, tag, len(body), 0) + body


def pmix_spawn(canary):
    app = string('/usr/bin/touch') + b'\x04' + string('/usr/bin/touch') + string(canary) + b'\0'
    return message(101, b'\x02\x09\x02\0\x02\1\x02' + app + string('/') + b'\x02\0')


def tool_spawn(canary, uid=0):
    return hello(uid, uid, 3) + pmix_spawn(canary)


def pmi1_spawn(canary):
    return (f'mcmd=spawn\nnprocs=1\nexecname=/usr/bin/touch\ntotspawns=1\nspawnssofar=1\nargcnt=1\n'
            f'arg1={canary}\ninfo_num=0\nendcmd\n').encode()


def pmi2(text):
    return b'%6d' % len(text) + text.encode()


def pmi2_spawn(canary):
    return pmi2('cmd=spawn;thrid=0;ncmds=1;preputcount=0;subcmd=/usr/bin/touch;maxprocs=1;argc=1;'
                f'argv0={canary};infokeycount=0;')


def daemon_hello():
    return b'\x89WIREUP\n' + struct.pack('>HHBBH', 2, 2, 1, 0, 0) + bytes(16 + 72)


PAYLOADS = {
    'tool of root': tool_spawn,
    'tool of the second user': lambda c: tool_spawn(c, os.getuid()),
    'named tool': lambda c: hello(0, 0, 4, 'intruder') + pmix_spawn(c),
    'singleton': lambda c: hello(0, 0, 9, 'intruder') + pmix_spawn(c),
    'rank of a job': lambda c: hello(0, 0, 0, 'testjob') + pmix_spawn(c),
    'PMIx without a hello': pmix_spawn,
    'PMI-1 spawn': pmi1_spawn,
    'PMI-1 by an id': lambda c: b'cmd=initack pmiid=0\n' + pmi1_spawn(c),
    'PMI-1 from its start': lambda c: b'cmd=init pmi_version=1 pmi_subversion=1\n' + pmi1_spawn(c),
    'PMI-2': lambda c: b'cmd=init pmi_version=2 pmi_subversion=0\n' + pmi2_spawn(c),
    'words of wireup on': lambda c: f'on n1 /usr/bin/touch {c}\n'.encode(),
    'words of wireup down': lambda c: b'down\n',
    'words of wireup names': lambda c: b'names\n',
    'words of wireup who': lambda c: b'who\n',
    'words of wireup tools': lambda c: b'tools\n',
    'a daemon without the key': lambda c: daemon_hello(),
    'garbage': lambda c: os.urandom(5000),
    'nothing': lambda c: b'',
}


# ---- ways to leave -----------------------------------------------------------------------------

def call(kind, name):
    if kind == 'tcp':
        s = socket.create_connection(('127.0.0.1', int(name)), timeout=NET)
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return s
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(NET)
    s.connect('\0' + name[1:] if name[0] == '@' else name)
    return s


def read_all(s, patience):
    got = b''
    s.settimeout(patience)
    try:
        while piece := s.recv(65536):
            got += piece
    except OSError:
        pass
    return len(got)


def leave_close(s, data):
    s.sendall(data)
    s.close()
    return 0


def leave_stay(s, data):
    s.sendall(data)
    n = read_all(s, 0.3)
    s.close()
    return n


def leave_half(s, data):
    """Says that it will say nothing more, and listens."""
    s.sendall(data)
    s.shutdown(socket.SHUT_WR)
    n = read_all(s, 0.3)
    s.close()
    return n


def leave_half_close(s, data):
    s.sendall(data)
    s.shutdown(socket.SHUT_WR)
    s.close()
    return 0


def leave_reset(s, data):
    s.sendall(data)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
    s.close()
    return 0


def leave_quickly(s, data):
    """No FIN_WAIT2 for this one."""
    if s.family != socket.AF_UNIX:
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_LINGER2, -1)
    s.sendall(data)
    s.close()
    return 0


def leave_bytes(s, data):
    for i in range(len(data)):
        s.sendall(data[i:i + 1])
    s.close()
    return 0


def leave_late(s, data):
    """All but the last byte; it is said, and the connection closed, at one moment."""
    s.sendall(data[:-1])
    time.sleep(0.02)
    s.sendall(data[-1:])
    s.close()
    return 0


def leave_child(s, data):
    """A child says it and ends."""
    pid = os.fork()
    if pid == 0:
        s.sendall(data)
        os._exit(0)
    s.close()
    os.waitpid(pid, 0)
    return 0


def leave_passed(s, data):
    """Another process says it, on the connection that was passed on to it."""
    ours, theirs = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        s.close()
        _, control, _, _ = theirs.recvmsg(1, 64)
        fds = array.array('i')
        fds.frombytes(control[0][2])
        with socket.socket(fileno=fds[0]) as passed:
            passed.sendall(data)
            passed.shutdown(socket.SHUT_WR)
            read_all(passed, 0.2)
        os._exit(0)
    ours.sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [s.fileno()]))])
    s.close()
    os.waitpid(pid, 0)
    return 0


def leave_in_flight(s, data):
    """On its way between two processes: it has no owner, and is open."""
    ours, theirs = socket.socketpair()
    s.sendall(data)
    ours.sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [s.fileno()]))])
    s.close()
    time.sleep(0.1)
    theirs.close()
    return 0


WAYS = {name[6:].replace('_', '-'): way for name, way in globals().items() if name.startswith('leave_')}


def try_once(kind, name, data, how):
    """How many bytes came back."""
    try:
        s = call(kind, name)
    except PermissionError:  # it is behind one that is locked
        return 0
    except OSError as e:
        print(f'{kind} {name}: there is no door: {e}')
        return 0
    try:
        return WAYS[how](s, data)
    except (OSError, IndexError):  # closed while we talk
        s.close()
        return 0


def wait_for_the_end(port, intruder):
    """Until the kernel has forgotten whose the connections were that have been closed: a connection of nobody
    any more, in FIN_WAIT2 or TIME_WAIT, says that it is root's."""
    until = time.monotonic() + 5
    while time.monotonic() < until:
        with open('/proc/net/tcp') as f:
            ends = [line.split() for line in f.readlines()[1:]]
        if not any(w[2].endswith(f':{int(port):04X}') and (w[3] == '04' or w[3] == '01' and w[7] == intruder)
                   for w in ends):
            return
        time.sleep(0.01)


# A daemon of another job is told that it has called the wrong one.
POLITELY, REFUSAL = ('a daemon without the key',), 32


def spawn(port, canary):
    print('answered', try_once('tcp', port, tool_spawn(canary, os.getuid()), 'stay'))


def as_user(uid, what, *words):
    """Runs it as that user, in a process of its own."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.setgroups([])
            os.setresgid(uid, uid, uid)
            os.setresuid(uid, uid, uid)
            what(*words)
            code = 0
        except BaseException as e:
            print(repr(e))
        finally:
            sys.stdout.flush()
            os._exit(code)
    if os.waitpid(pid, 0)[1] != 0:
        print('an intruder failed')


def leave_once(port, path, how, claims, times):
    for claim in claims:
        for _ in range(times):
            for payload in (tool_spawn(f'{path}.{how}.{claim}', claim),
                            hello(claim, claim, 0, 'testjob') + pmix_spawn(f'{path}.{how}.{claim}')):
                if got := try_once('tcp', port, payload, how):
                    print(f'{path}, {how}, as {claim}: answered {got}')


def leave(port, pid, directory, uid, intruder):
    claims = int(uid), int(intruder)
    for how in WAYS:
        if how not in ('stay', 'half', 'passed', 'in-flight'):
            os.kill(int(pid), signal.SIGSTOP)
            as_user(int(intruder), leave_once, port, f'{directory}/stopped', how, claims, 1)
            wait_for_the_end(port, intruder)
            os.kill(int(pid), signal.SIGCONT)
    for how in WAYS:
        waits = how in ('stay', 'half', 'passed', 'in-flight', 'late')
        as_user(int(intruder), leave_once, port, f'{directory}/running', how, claims, 2 if waits else 20)
    print('done')


def every(directory, doors='/dev/stdin'):
    with open(doors) as f:
        doors = [line.split()[:2] for line in f]
    for kind, name in doors:
        for what, payload in PAYLOADS.items():
            for how in 'stay', 'close', 'half', 'reset', 'quickly':
                canary = f'{directory}/{what.replace(" ", "-")}.{how}'
                got = try_once(kind, name, payload(canary), how)
                if got > (REFUSAL if what in POLITELY else 0):
                    print(f'{kind} {name}: {what}, {how}: answered {got}')
    print('done')


# ---- crowds ------------------------------------------------------------------------------------

def more_descriptors():
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard - 50


def knock(kind, name):
    """Without waiting for anything.  None: the queue is full, or the door is closed."""
    s = socket.socket(socket.AF_INET if kind == 'tcp' else socket.AF_UNIX)
    s.setblocking(False)
    try:
        s.connect(('127.0.0.1', int(name)) if kind == 'tcp' else
                  '\0' + name[1:] if name[0] == '@' else name)
    except BlockingIOError:
        if kind == 'unix':
            s.close()
            return None
    except OSError:
        s.close()
        return None
    return s


def door(path):
    import selectors
    watch = selectors.DefaultSelector()
    tcp = socket.create_server(('127.0.0.1', 0), backlog=1024)
    unix = socket.socket(socket.AF_UNIX)
    unix.bind(f'\0own-door-{os.getpid()}')
    unix.listen(64)
    for s in tcp, unix:
        s.setblocking(False)
        watch.register(s, selectors.EVENT_READ)
    with open(path + '.new', 'w') as f:
        f.write(f'tcp {tcp.getsockname()[1]}\nunix @own-door-{os.getpid()}\n')
    os.rename(path + '.new', path)
    while True:
        for key, _ in watch.select():
            try:
                key.fileobj.accept()[0].close()
            except OSError:
                pass


FLOODERS = 4


def flood(kind, name, seconds):
    pids = []
    until = time.monotonic() + float(seconds)
    for _ in range(FLOODERS):
        pids.append(os.fork())
        if pids[-1] == 0:
            while time.monotonic() < until:
                for _ in range(50):
                    if s := knock(kind, name):
                        s.close()
            os._exit(0)
    for pid in pids:
        os.waitpid(pid, 0)


def hold(kind, name, seconds):
    until = time.monotonic() + float(seconds)
    held = [knock(kind, name) for _ in range(min(2000, more_descriptors()))]
    time.sleep(max(0.1, until - time.monotonic()))
    return held


def drip(kind, name, seconds):
    until = time.monotonic() + float(seconds)
    held = [s for s in (knock(kind, name) for _ in range(200)) if s]
    data, i = tool_spawn('/nowhere', 0)[:-1], 0
    while time.monotonic() < until:
        for s in held:
            try:
                s.send(data[i % len(data):i % len(data) + 1])
            except OSError:
                pass
        i += 1


def roots_ports():
    ports = set()
    for table in 'tcp', 'tcp6':
        with open(f'/proc/net/{table}') as f:
            for line in f.readlines()[1:]:
                word = line.split()
                if word[3] == '0A' and word[7] == '0':
                    ports.add(str(int(word[1].rpartition(':')[2], 16)))
    return ports


def besiege(seconds):
    """Some say nothing, some half of a greeting, some come and go."""
    print('ready', flush=True)
    until = time.monotonic() + float(seconds)
    pids = []
    for n in range(FLOODERS):
        pids.append(os.fork())
        if pids[-1]:
            continue
        held = []
        while time.monotonic() < until:
            ports = roots_ports()
            for _ in range(150):
                for port in ports:
                    if not (s := knock('tcp', port)):
                        continue
                    held.append(s)
                    if n % 2:
                        try:
                            s.send(daemon_hello()[:50])
                        except OSError:
                            pass
            for s in held[:-1000]:
                s.close()
            del held[:-1000]
        os._exit(0)
    for pid in pids:
        os.waitpid(pid, 0)
    print('done')


# ---- those who stand where others are expected ---------------------------------------------------

def pid_world():
    return os.stat('/proc/self/ns/pid').st_ino


def answer_all(listeners, words):
    """Says the words to everybody who comes."""
    import selectors
    watch = selectors.DefaultSelector()
    for s in listeners:
        watch.register(s, selectors.EVENT_READ)
    while True:
        for key, _ in watch.select():
            try:
                s, _ = key.fileobj.accept()
                s.settimeout(0.5)
                try:
                    asked = s.recv(4096)
                except OSError:
                    asked = b''
                print('asked', asked, flush=True)
                s.sendall(words)
                s.close()
            except OSError:
                pass


def names(uid, count):
    count = min(int(count), more_descriptors())
    listeners = []
    for pid in range(1, count + 1):
        s = socket.socket(socket.AF_UNIX)
        try:
            s.bind(f'\0wireup/{uid}/{pid_world()}.{pid}.{pid:08x}')
        except OSError:
            continue
        s.listen(1)
        listeners.append(s)
    threading.Thread(target=answer_all, args=(listeners, b'found\nEVIL'), daemon=True).start()
    print('ready', flush=True)
    sys.stdin.read()


def write_port(path, s):
    with open(path + '.new', 'w') as f:
        f.write(str(s.getsockname()[1]))
    os.rename(path + '.new', path)


def singleton(path, canary):
    with socket.create_server(('127.0.0.1', 0)) as door:
        write_port(path, door)
        door.settimeout(NET)
        s, _ = door.accept()
    s.settimeout(NET)
    heard = b''
    try:
        s.sendall(b'cmd=singinit pmi_version=1 pmi_subversion=1 stdio=no authtype=none\n'
                  b'cmd=init pmi_version=1 pmi_subversion=1\n' + pmi1_spawn(canary))
        while b'spawn_result' not in heard:
            piece = s.recv(4096)
            if not piece:
                break
            heard += piece
    except OSError:
        pass
    print('singleton:', 'a program was started' if b'spawn_result rc=0' in heard else 'nothing')


def ask(s, line):
    try:
        s.sendall(line)
        return s.recv(65536).decode(errors='replace').strip().replace('\n', ' ')
    except OSError as e:
        return type(e).__name__


def write_to(fd):
    """Every way in which the store could be written to; those that work."""
    import mmap
    name = f'/proc/self/fd/{fd}'
    return [what for what, fn in {
        'write': lambda: os.write(fd, b'x'),
        'pwrite': lambda: os.pwrite(fd, b'x', 0),
        'truncate': lambda: os.ftruncate(fd, 0),
        'grow': lambda: os.ftruncate(fd, 1 << 30),
        'allocate': lambda: os.posix_fallocate(fd, 0, 1 << 20),
        'map': lambda: mmap.mmap(fd, 4096, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE),
        'open': lambda: os.write(os.open(name, os.O_RDWR), b'x'),
        'open and map': lambda: mmap.mmap(os.open(name, os.O_RDWR), 4096, mmap.MAP_SHARED, mmap.PROT_WRITE),
        'open to truncate': lambda: os.open(name, os.O_WRONLY | os.O_TRUNC),
    }.items() if works(fn)]


def works(fn):
    try:
        fn()
        return True
    except (OSError, ValueError):
        return False


def turncoat(canary, intruder):
    sys.stdout.reconfigure(line_buffering=True)  # it is ended as soon as its connection is
    s = socket.socket(fileno=int(os.environ['PMI_FD']))
    s.settimeout(NET)
    s.sendall(b'cmd=init pmi_version=1 pmi_subversion=1 wireup=1\n')
    answer, control, _, _ = s.recvmsg(65536, socket.CMSG_SPACE(4))
    fds = array.array('i')
    for level, kind, data in control:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            fds.frombytes(data)
    print('init', 'rc=0' in answer.decode(), 'store', len(fds))
    print('as root, the store takes', write_to(fds[0]) if fds else 'nothing')
    if 'rank' in os.environ.get('WU_SPOIL', ''):
        print('root asks:', ask(s, pmi1_spawn(canary)))
        until = time.monotonic() + NET
        while not os.path.exists(canary) and time.monotonic() < until:
            time.sleep(0.01)
        print('and leaves:', ask(s, b'cmd=finalize\n'))
        return
    os.setgroups([])
    os.setresgid(*[int(intruder)] * 3)
    os.setresuid(*[int(intruder)] * 3)
    print('then, the store takes', write_to(fds[0]) if fds else 'nothing')
    print('asks:', ask(s, pmi1_spawn(canary)))
    print('publishes:', ask(s, b'cmd=publish_name service=stolen port=x\n'))


def refuse(path):
    """A daemon's call is answered with: other version, install the same everywhere."""
    door = socket.create_server(('127.0.0.1', 0))
    write_port(path, door)
    no = b'\x89WIREUP\n' + struct.pack('>HHBBH', 9, 9, 3, 2, 0) + b'6.6.6'.ljust(16, b'\0')
    print('ready', flush=True)
    while True:
        s, _ = door.accept()
        s.settimeout(NET)
        try:
            s.recv(4096)
            s.sendall(no)
        except OSError:
            pass
        s.close()
        print('refused one', flush=True)


if __name__ == '__main__':
    commands = {'doors': print_doors, 'spawn': spawn, 'leave': leave, 'every': every, 'door': door, 'flood': flood, 'hold': hold, 'drip': drip, 'besiege': besiege,
                'names': names, 'singleton': singleton, 'turncoat': turncoat, 'refuse': refuse}
    commands[sys.argv[1]](*sys.argv[2:])
