"""A PMIx tool that starts a launcher and is called back, byte by byte:

    callback_tool.py SOURCE HOW COMMAND...

The launcher is given the address in PMIX_LAUNCHER_RNDZ_URI.  HOW: `named`, it also has a name; `own`, it takes its own;
`itself`, it is to stop itself, too; `required`, it must do what no launcher can; `silent`, there is no server;
`closed`, the server closes the connection; `refuses`, it refuses it; `leaves`, the tool stops nothing and is gone when the
launcher is ready.  On the connection that the launcher has opened the tool then asks, waits
and releases, as at any server.
"""
import os
import re
import socket
import struct
import subprocess
import sys

source, how, command = sys.argv[1], sys.argv[2], sys.argv[3:]
with open(os.path.join(source, 'include/pmix_common.h'), encoding='utf-8') as header:
    words = dict(re.findall(r'^#define\s+(PMIX_\w+)\s+"?([^\s"]+)', header.read(), re.M))
REQ, QUERY, NOTIFY, REGEVENTS = 0, 15, 12, 13
CUSTOM = 6
BOOL, STRING, PROC, INFO, ARRAY = 1, 3, 22, 24, 39


def say(*what):
    print(*what, flush=True)


def flat(n):
    out = b''
    while n >= 0x80:
        out, n = out + bytes([n & 0x7f | 0x80]), n >> 7
    return out + bytes([n])


def number(n):
    return flat(n * 2 if n >= 0 else -n * 2 - 1)


def text(s):
    return number(len(s) + 1) + s.encode() + b'\0'


one = number(1)


def info(key, kind, value, flags=0):
    return text(words[key]) + flat(flags) + flat(kind) + value


def proc(name, rank):
    return text(name) + flat(rank)


def infos(*all_of_them):
    return one + flat(len(all_of_them)) + (number(len(all_of_them)) + b''.join(all_of_them) if all_of_them else b'')


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def flat(self):
        value = shift = 0
        while True:
            b = self.byte()
            value |= (b & 0x7f) << shift
            shift += 7
            if b < 0x80:
                return value

    def number(self):
        n = self.flat()
        return -(n // 2) - 1 if n & 1 else n // 2

    def text(self):
        n = self.number()
        self.at += n
        return self.data[self.at - n:self.at - 1].decode()


def receive(n):
    data = b''
    while len(data) < n:
        more = line.recv(n - len(data))
        if not more:
            sys.exit('the launcher has closed the connection')
        data += more
    return data


def message():
    _, tag, size, _ = struct.unpack('>4I', receive(16))
    return tag, receive(size)


def send(tag, body):
    line.sendall(struct.pack('>4I', 0, tag, len(body), 0) + body)


events = []


def answer(tag):
    """The body of the message with this tag; events that come before it are kept."""
    while True:
        got, body = message()
        if got == tag:
            return body
        if got == 0:
            events.append(body)


def code(name):
    return int(words[name].strip('()'))


def event():
    r = Reader(events.pop(0) if events else answer(0))
    assert r.number() == 1 and r.byte() == NOTIFY and r.number() == 1
    status = r.number()
    assert r.number() == 1
    return status, (r.text(), r.flat())


def await_event(name):
    while True:
        status, where = event()
        if status == code(name):
            return where


def welcome():
    size = struct.unpack('=I', receive(16)[8:12])[0]
    body = receive(size)
    assert body.startswith(b'native\0')
    rest = body[7 + 4 + struct.unpack('>I', body[7:11])[0]:]
    name, rest = rest[9:].split(b'\0', 1)
    own = name.decode() if how != 'own' else re.sub(r'^wireup-\d+$', 'wireup-PID', name.decode())
    say('called by', own, struct.unpack('>I', rest[:4])[0], 'kind', body[7 + 4 + 8])
    line.sendall(struct.pack('>i', -1 if how == 'refuses' else 0) + b'thetool'.ljust(256, b'\0') + struct.pack('>Ii', 0, 0))
    return name.decode()


def job_info(name):
    tag, body = message()
    assert body == one + bytes([REQ])
    flags = 1 if how == 'required' else 0
    stop = [info('PMIX_DEBUG_STOP_IN_INIT', BOOL, b'\0' if how == 'leaves' else b'\1'), info('PMIX_NOTIFY_JOB_EVENTS', BOOL, b'\1'),
            info('PMIX_FWD_STDDIAG', BOOL, b'\1', flags)]
    array = flat(INFO) + flat(len(stop)) + b''.join(stop)
    values = one + text(words['PMIX_LAUNCH_DIRECTIVES']) + flat(ARRAY) + array
    if how == 'itself':
        values += one + text(words['PMIX_DEBUG_STOP_IN_INIT']) + flat(BOOL) + b'\1'
    send(tag, one + text(name) + values)


def release_launcher():
    tag, body = message()
    assert body[:2] == one + bytes([REGEVENTS])
    send(tag, one + number(0))
    say('before it is released, nothing runs:', not os.path.exists(os.environ['MARK']))
    send(0, one + bytes([NOTIFY]) + one + number(code('PMIX_DEBUGGER_RELEASE')) + one + proc('thetool', 0) + infos())


def ready():
    tag, body = message()
    r = Reader(body)
    assert r.number() == 1 and r.byte() == NOTIFY and r.number() == 1
    assert r.number() == code('PMIX_LAUNCHER_READY')
    assert r.number() == 1 and r.byte() == CUSTOM
    say('launcher ready, with its address:', b';tcp4://127.0.0.1:' in body)
    send(tag, one + number(0))


def session():
    send(101, one + bytes([REGEVENTS]) + one + flat(1) + one + number(code('PMIX_READY_FOR_DEBUG')) + infos())
    say('registered', Reader(answer(101)).data == one + number(0))
    job, _ = await_event('PMIX_READY_FOR_DEBUG')
    send(102, one + bytes([QUERY]) + one + flat(1) + one + number(1) + text(words['PMIX_QUERY_NAMESPACES']) + flat(0))
    say('the query names the job:', job.encode() in answer(102))
    say('stopped before it has begun:', not os.path.exists(os.environ['MARK']))
    whom = info('PMIX_EVENT_CUSTOM_RANGE', PROC, proc(job, 0xfffffffe))
    send(103, one + bytes([NOTIFY]) + one + number(code('PMIX_DEBUGGER_RELEASE')) + one + bytes([CUSTOM]) + infos(whom))
    say('released', answer(103) == one + number(0))


listener = socket.create_server(('127.0.0.1', 0))
env = dict(os.environ, PMIX_LAUNCHER_RNDZ_URI=f'thetool.0;tcp4://127.0.0.1:{listener.getsockname()[1]}', PMIX_VERSION='4.2.2')
if how != 'own':
    env.update(PMIX_NAMESPACE='launcher', PMIX_RANK='0')
listener.settimeout(300)
if how == 'silent':
    listener.close()
launcher = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL)
if how != 'silent':
    line, _ = listener.accept()
    line.settimeout(300)
    if how == 'closed':
        line.close()
    else:
        name = welcome()
        if how != 'refuses':
            job_info(name)
        if how == 'itself':
            release_launcher()
        if how not in ('required', 'refuses'):
            ready()
        if how == 'leaves':
            line.close()
        elif how not in ('required', 'refuses'):
            session()
say('exit', launcher.wait(60))
