"""What connects to a daemon and has no business there.

    rise_strangers.py HOST PORT WIREUPD VERSION ADDRESSES

Prints a line for each; the daemon is to refuse them all, and to live on."""
import os
import socket
import struct
import subprocess
import sys

host, port, wireupd, version, addresses = sys.argv[1:]
MAGIC = b'\x89WIREUP\n'


def call():
    s = socket.create_connection((host, int(port)), timeout=20)
    return s


def gone(s):
    """Does the other end close, and what has it said before?"""
    got = b''
    try:
        while True:
            piece = s.recv(4096)
            if not piece:
                return got
            got += piece
    except ConnectionError:
        return got


def head(version, kind):
    return MAGIC + struct.pack('>HHBBH', version, version, kind, 0, 0) + b'9.9.9'.ljust(16, b'\0')


call().close()
print('scan done')
s = call()
s.sendall(os.urandom(4000))
print('garbage', 'answered' if gone(s) else 'unanswered')
s = call()
s.sendall(head(9, 1))
print('future', 'named' if gone(s)[:8] == MAGIC else 'not named')
s = call()
s.sendall(head(1, 1) + bytes(72))
print('forged', 'named' if gone(s)[:8] == MAGIC else 'not named')
record = f'wireup-boot 1 {version}\nposition 1\ncount 2\nwidth 1\nkey {"5a" * 32}\nparent 0\n' \
         f'addresses {addresses}\nwall 0\noption agent fork\noption wireupd wireupd\nend\n'
p = subprocess.run([wireupd], input=record.encode(), stdout=subprocess.PIPE, timeout=60)
print('other job:', p.stdout.decode().splitlines()[-1], 'status', p.returncode)
record = record.replace(version, '9.9.9', 1)
p = subprocess.run([wireupd], input=record.encode(), stdout=subprocess.PIPE, timeout=60)
print('other launcher:', p.stdout.decode().splitlines()[-1], 'status', p.returncode)
