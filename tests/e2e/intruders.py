"""intruders.py PORT NSPACE UID: knocks at a job's port in every wrong way.

Prints one line for each, `WHAT closed N` (N: bytes that were answered) or `WHAT open N`, then `done`,
and keeps what is open until standard input ends.  A tool is in its right, where tools are let in: `tool
welcome N`.  The last one comes as another user.
"""
import os
import socket
import struct
import sys

port, nspace, uid = int(sys.argv[1]), sys.argv[2].encode(), int(sys.argv[3])


def hello(space, rank, flag=0, encoding=b"v41", store=b"hash"):
    body = b"native\0" + struct.pack(">I", 8) + struct.pack("=II", os.geteuid(), os.getegid())
    body += bytes([flag])
    if flag:
        body += struct.pack(">II", os.geteuid(), os.getegid())
    else:
        body += space + b"\0" + struct.pack(">I", rank)
    body += b"4.2.2rc2\0" + encoding + b"\0\1" + store + b"\0"
    return struct.pack("=iIII", -1, 0xFFFFFFFF, len(body), 0) + body


def knock(what, words, patience, may_be_welcome=False):
    s = socket.create_connection(("127.0.0.1", port))
    s.settimeout(patience)
    heard = b""
    state = "closed"
    try:
        s.sendall(words)
        while True:
            more = s.recv(4096)
            if not more:
                break
            heard += more
            if may_be_welcome:
                state = "welcome"
                break
    except socket.timeout:
        state = "open"
    except ConnectionError:
        pass
    print(what, state, len(heard), flush=True)
    return s


STALLED = 0.1  # these are meant to stay open
ANSWER = 120  # a net for what hangs
kept = [
    knock("silent", b"", STALLED),
    knock("half-header", b"\xff" * 9, STALLED),
    knock("half-hello", hello(nspace, 0)[:40], STALLED),
    knock("long-hello", struct.pack("=iIII", -1, 0xFFFFFFFF, 0x7FFFFFFF, 0), ANSWER),
    knock("unknown-nspace", hello(b"nobody", 0), ANSWER),
    knock("unknown-rank", hello(nspace, 9999), ANSWER),
    knock("unknown-encoding", hello(nspace, 0, encoding=b"v99"), ANSWER),
    knock("unknown-store", hello(nspace, 0, store=b"shmem2"), ANSWER),
    knock("empty-hello", struct.pack("=iIII", -1, 0xFFFFFFFF, 0, 0), ANSWER),
    knock("twin", hello(nspace, 0), ANSWER),
    knock("tool", hello(nspace, 0, flag=3), ANSWER, may_be_welcome=True),
    knock("web", b"GET / HTTP/1.0\r\n\r\n", ANSWER),
]
for _ in range(200):  # a crowd that says nothing useful
    kept.append(socket.create_connection(("127.0.0.1", port)))
    kept[-1].sendall(hello(nspace, 0)[:20])
if uid:
    os.setgid(uid)
    os.setuid(uid)
    kept.append(knock("stranger", hello(nspace, 0), ANSWER))
print("done", flush=True)
sys.stdin.read()
