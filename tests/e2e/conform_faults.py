#!/usr/bin/env python3
"""Servers and clients that are wrong on purpose, one fault each: what `wireup conform` has to find.

    conform_faults.py server FAULT -n N PROGRAM...         a launcher; its server of PMI-1 has this fault (`none`: it is good)
    conform_faults.py client FAULT                         a client of PMI-1
    conform_faults.py pmix FAULT WIREUP -n N PROGRAM...    a launcher whose server of PMIx has this fault: WIREUP, whose messages
                                                           are changed on their way to the clients
"""
import ctypes
import os
import selectors
import signal
import socket
import struct
import subprocess
import sys

SERVER_FAULTS = {
    'value': ('get_result rc=0 value=', 'get_result rc=0 value=x'),
    'absent': ('get_result rc=-1', 'get_result rc=0 value=x'),
    'limit': ('vallen_max=1024', 'vallen_max=100'),
    'name': ('my_kvsname kvsname=kvs', 'my_kvsname name=kvs'),
    'version': ('pmi_version=1', 'pmi_version=2'),
    'other': ('put_result', 'get_result'),
    'words': ('appnum appnum=0', 'appnum appnum'),
    'spawn': ('spawn_result rc=0', 'spawn_result rc=-1'),
}


class Server:
    """A process manager for one job on this machine."""

    def __init__(self, fault, ranks):
        self.fault, self.ranks, self.kvs, self.waiting = fault, ranks, {}, []
        self.spawn = None

    def reply(self, conn, text):
        old, new = SERVER_FAULTS.get(self.fault, ('', ''))
        conn.sendall(('cmd=' + (text.replace(old, new) if old else text) + '\n').encode())

    def barrier(self, conn):
        self.waiting.append(conn)
        if len(self.waiting) == self.ranks or self.fault == 'early':
            for one in self.waiting:
                self.reply(one, 'barrier_out')
            self.waiting = []

    def spawned(self, conn, line):
        """A line of a request of several lines, whose last block tells that it is the last."""
        if line == 'endcmd':
            if self.spawn['totspawns'] == self.spawn['spawnssofar']:
                self.reply(conn, 'spawn_result rc=0')
            self.spawn = None
        else:
            self.spawn.update([line.split('=', 1)])

    def answer(self, conn, line):
        if line == 'mcmd=spawn':
            self.spawn = {}
            return
        if self.spawn is not None:
            self.spawned(conn, line)
            return
        words = dict(word.split('=', 1) for word in line.split(' '))
        cmd = words['cmd']
        if cmd == 'barrier_in':
            self.barrier(conn)
        elif cmd == 'put':
            self.kvs[words['key']] = words['value']
            self.reply(conn, 'put_result rc=0')
        elif cmd == 'get':
            value = self.kvs.get(words['key'])
            self.reply(conn, 'get_result rc=-1' if value is None else 'get_result rc=0 value=' + value)
        elif self.fault == 'silent' and cmd == 'get_universe_size':
            pass
        else:
            self.reply(conn, {
                'init': 'response_to_init rc=0 pmi_version=1 pmi_subversion=1',
                'get_maxes': 'maxes kvsname_max=256 keylen_max=64 vallen_max=1024',
                'get_universe_size': f'universe_size size={self.ranks}',
                'get_appnum': 'appnum appnum=0',
                'get_my_kvsname': 'my_kvsname kvsname=kvs_of_this_job',
                'finalize': 'finalize_ack',
            }.get(cmd, cmd + '_result rc=-1'))


def serve(server, conns):
    pending = {conn: b'' for conn in conns}
    select = selectors.DefaultSelector()
    for conn in conns:
        select.register(conn, selectors.EVENT_READ)
    while pending:
        for key, _ in select.select():
            data = key.fileobj.recv(65536)
            if not data:
                select.unregister(key.fileobj)
                del pending[key.fileobj]
                continue
            *lines, pending[key.fileobj] = (pending[key.fileobj] + data).split(b'\n')
            for line in lines:
                server.answer(key.fileobj, line.decode())


def launch(fault, words):
    assert words[0] == '-n'
    ranks, program = int(words[1]), words[2:]
    conns, children = [], []
    for rank in range(ranks):
        ours, theirs = socket.socketpair()
        env = dict(os.environ, PMI_FD=str(theirs.fileno()), PMI_RANK=str(rank), PMI_SIZE=str(ranks))
        children.append(subprocess.Popen(program, env=env, pass_fds=[theirs.fileno()]))
        theirs.close()
        conns.append(ours)
    serve(Server(fault, ranks), conns)
    return max(child.wait() for child in children) or (fault == 'status')


class Client:
    def __init__(self, fault):
        self.fault, self.pending = fault, b''
        self.conn = socket.socket(fileno=int(os.environ['PMI_FD']))

    def line(self):
        while b'\n' not in self.pending:
            data = self.conn.recv(65536)
            if not data:
                sys.exit(3)
            self.pending += data
            if self.fault == 'pieces' and b'\n' not in self.pending:
                sys.exit(4)
        line, self.pending = self.pending.split(b'\n', 1)
        return line.decode()

    def ask(self, text):
        self.conn.sendall((text + '\n').encode())
        return self.line()

    def run(self):
        if self.fault != 'no-init':
            reply = self.ask('cmd=init pmi_version=1 pmi_subversion=1')
            if self.fault == 'order' and ' rc=0 pmi_version=1' not in reply:
                return 5
            if self.fault == 'unknown' and ' conform=' in reply:
                return 6
        self.ask('cmd=get_maxes')
        name = self.ask('cmd=get_my_kvsname').split('kvsname=')[1].split()[0]
        key = 'k' * 64 if self.fault == 'long-key' else 'k' + os.environ['PMI_RANK']
        self.ask(f'cmd=put kvsname={name} key={key} value=v')
        if self.fault == 'word':
            self.ask('cmd=get_everything')
        if self.fault == 'malformed':
            self.ask(f'cmd=get kvsname={name}')
        if self.fault != 'no-end':
            self.ask('cmd=finalize')
        if self.fault == 'goes-on':
            self.conn.sendall(b'cmd=get_maxes\n')
        return 0


# The tag of a message of tests/golden/pmix/v41-events.txt, and what becomes of its bytes.
PMIX_FAULTS = {
    'none': (0, lambda body: body),
    'event-status': (0, lambda body: body.replace(b'\x02\x8f\x4e', b'\x02\x8f\x4f', 1)),
    'event-command': (0, lambda body: b'\x02\x02' + body[2:]),
    'event-refused': (0x6c, lambda body: b'\x02\x01'),
    'group-refused': (0x6e, lambda body: b'\x02\x01'),
    'group-stays': (0x6f, lambda body: b'\x02\x01'),
    'group-unknown': (0x6e, lambda body: b'\x02\x5d'),  # PMIX_ERR_NOT_SUPPORTED
}
HEADER = struct.Struct('>III4x')
WELCOME = 8  # a status and a number, before the first header


def changed(fault, pending):
    """The whole messages of pending as the client gets them, and what is left of it."""
    tag, change = PMIX_FAULTS[fault]
    out = b''
    while len(pending) >= HEADER.size:
        index, number, size = HEADER.unpack_from(pending)
        if len(pending) < HEADER.size + size:
            break
        body, pending = pending[HEADER.size:HEADER.size + size], pending[HEADER.size + size:]
        body = change(body) if number == tag else body
        out += HEADER.pack(index, number, len(body)) + body
    return out, pending


def stand_between(fault, listener, server):
    client = listener.accept()[0]
    others, pending, welcome = {client: server, server: client}, b'', WELCOME
    select = selectors.DefaultSelector()
    for conn in others:
        select.register(conn, selectors.EVENT_READ)
    while True:
        for key, _ in select.select():
            data = key.fileobj.recv(65536)
            if not data:
                return
            if key.fileobj is server:
                first, pending = data[:welcome], pending + data[welcome:]
                welcome -= len(first)
                data, pending = changed(fault, pending)
                data = first + data
            others[key.fileobj].sendall(data)


def rank_of_pmix(fault, program):
    """A process of WIREUP: its server's address is that of another process, which ends with it."""
    names = [name for name in os.environ if name.startswith('PMIX_SERVER_URI')]
    host, port = os.environ[names[0]].split('tcp4://')[1].split(':')
    listener = socket.create_server(('127.0.0.1', 0))
    if os.fork() == 0:
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
        stand_between(fault, listener, socket.create_connection((host, int(port))))
        os._exit(0)
    for name in names:
        os.environ[name] = os.environ[name].replace(':' + port, f':{listener.getsockname()[1]}')
    os.execvp(program[0], program)


if __name__ == '__main__':
    if sys.argv[1] == 'pmix':
        os.execvp(sys.argv[3], [*sys.argv[3:6], sys.executable, __file__, 'rank', sys.argv[2], *sys.argv[6:]])
    if sys.argv[1] == 'rank':
        rank_of_pmix(sys.argv[2], sys.argv[3:])
    if sys.argv[1] == 'server':
        sys.exit(launch(sys.argv[2], sys.argv[3:]))
    sys.exit(Client(sys.argv[2]).run())
