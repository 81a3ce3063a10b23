#!/usr/bin/env python3
"""Servers and clients of PMI-1 that are wrong on purpose, one fault each: what `wireup conform` has to find.

    conform_faults.py server FAULT -n N PROGRAM...    a launcher; its server has this fault (`none`: it is good)
    conform_faults.py client FAULT                    a client
"""
import os
import selectors
import socket
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


if __name__ == '__main__':
    if sys.argv[1] == 'server':
        sys.exit(launch(sys.argv[2], sys.argv[3:]))
    sys.exit(Client(sys.argv[2]).run())
