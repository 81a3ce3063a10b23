"""What connects to a launcher with a job and has no business there; see unauthenticated.sh.

    unauthenticated.py PORT-FILE RECORD-FILE WIREUPD

Stands between one daemon and its parent, passes everything on and records what the daemon says; its
port goes to PORT-FILE.  After a line on standard input it plays the strangers, one line for each, and stays until that ends."""
import os
import re
import select
import socket
import sys
import threading
import time

from greeting import MAGIC, daemon, head, heard

port_file, record_file, wireupd = sys.argv[1:4]
HELLO, ANSWER, PROOF = 104, 128, 56
recorded = bytearray()
where = []


def addresses():
    """Of the parent, as its record for the daemon says; it is written before the daemon calls."""
    until = time.monotonic() + 300
    while time.monotonic() < until:
        try:
            with open(record_file) as f:
                found = re.search(r'^addresses (.*)$', f.read(), re.M)
        except OSError:
            found = None
        if found:
            return found.group(1)
        time.sleep(0.02)
    sys.exit('no record')


def pass_on(a, b):
    while True:
        for s in select.select([a, b], [], [])[0]:
            data = s.recv(65536)
            if s is a:
                recorded.extend(data)
            if not data:
                a.close()
                b.close()
                return
            (b if s is a else a).sendall(data)


def listen(listener):
    while True:
        a, _ = listener.accept()
        host, port = addresses().split()[0].rsplit(':', 1)
        where[:] = [host.strip('[]'), int(port)]
        b = socket.create_connection(where)
        threading.Thread(target=pass_on, args=(a, b), daemon=True).start()


def call():
    return socket.create_connection(where, timeout=300)


def first_words(s):
    try:
        return s.recv(4096)
    except ConnectionError:
        return b''


def silent(n, data):
    said = 0
    for _ in range(n):
        s = call()
        if data:
            s.sendall(data())
            said += bool(heard(s))
        s.close()
    return f'{n} heard nothing' if said == 0 else f'{said} of {n} were answered'


def replay(data):
    s = call()
    try:
        s.sendall(data)
    except ConnectionError:
        pass
    got = heard(s)
    if got[:8] != MAGIC:
        return f'not answered: {got[:40]!r}'
    return 'answered, and closed; ' + ('nothing behind it' if len(got) <= ANSWER else
                                       f'{len(got) - ANSWER} bytes behind it')


def other_key():
    with open(record_file) as f:
        record = f.read()
    record = re.sub(r'^key .*$', 'key ' + '5a' * 32, record, flags=re.M)
    last, status = daemon(wireupd, record)
    return ('another job' if 'another job' in last else last) + f', status {status}'


def echo(listener, length):
    """A server that takes everybody in, and so many bytes: the check must see that."""
    s, _ = listener.accept()
    while length > 0 and (data := s.recv(65536)):
        s.sendall(data)
        length -= len(data)
    s.close()


def main():
    listener = socket.create_server(('127.0.0.1', 0))
    threading.Thread(target=listen, args=(listener,), daemon=True).start()
    with open(port_file + '.new', 'w') as f:
        f.write(str(listener.getsockname()[1]))
    os.rename(port_file + '.new', port_file)
    sys.stdin.readline()
    good = bytes(recorded)
    print('scan:', silent(200, None))
    print('garbage:', silent(20, lambda: os.urandom(4000)))
    print('web:', silent(1, lambda: b'GET / HTTP/1.0\r\n\r\n'))
    s = call()
    s.sendall(head(9, 1) + bytes(40))
    got = heard(s)
    print('future:', 'told of the version' if got[:8] == MAGIC and len(got) == 64 else got[:40])
    print('other key:', other_key())
    print('recording:', replay(good) if len(good) > HELLO + PROOF else 'nothing was recorded')
    broken = bytearray(good)
    broken[HELLO + 40] ^= 1
    print('changed:', replay(bytes(broken)))
    idle = [call() for _ in range(200)]
    s = call()
    s.sendall(good[:HELLO])
    answer = first_words(s)
    print('idle:', "a good key's connection is answered" if answer[:8] == MAGIC else 'kept us out')
    for one in idle:
        one.close()
    with socket.create_server(('127.0.0.1', 0)) as other:
        where[:] = other.getsockname()
        threading.Thread(target=echo, args=(other, len(good)), daemon=True).start()
        print('control:', replay(good), flush=True)
    print('done', flush=True)
    sys.stdin.read()            # what goes through us goes on


main()
