"""misbehaving.py HOW DONE UNTIL: a rank of a job that has no manners.

It says who it is as it should, misbehaves in one way, makes the file DONE, and waits until the file
UNTIL exists.  Prints
`HOW closed` when the server has closed the connection, `HOW open` when it has not.
"""
import os
import select
import socket
import struct
import sys
import time

how, done, until = sys.argv[1:]
port = int(os.environ["PMIX_SERVER_URI41"].rsplit(":", 1)[1])
nspace = os.environ["PMIX_NAMESPACE"].encode()
body = b"native\0" + struct.pack(">I", 8) + struct.pack("=II", os.geteuid(), os.getegid()) + b"\0"
body += nspace + b"\0" + struct.pack(">I", int(os.environ["PMIX_RANK"])) + b"4.2.2\0v41\0\1hash\0"
s = socket.create_connection(("127.0.0.1", port))
s.sendall(struct.pack("=iIII", -1, 0xFFFFFFFF, len(body), 0) + body)
assert len(s.recv(8, socket.MSG_WAITALL)) == 8


def message(payload, tag=101, length=None):
    return struct.pack(">IIII", 0, tag, len(payload) if length is None else length, 0) + payload


def text(t):
    return bytes([2, 2 * (len(t) + 1)]) + t + b"\0"


QUESTION = message(b"\2\4" + text(nspace) + b"\2\0" + b"\2\0" + text(b"nothing"))
HUGE = b"\xff" * 8 + b"\x7f"

words = {
    "long": message(b"", length=0x7FFFFFFF),
    "count": message(b"\2\3\2" + HUGE),
    "text": message(b"\2\4\2\xfe\xff\xff\xff\x0fabc"),
    "half": message(b"\2\3\2\1", length=100),
    "halfhead": message(b"")[:9],
    "garbage": bytes(range(255, 0, -1)) * 16,
    "nothing": b"",
}
s.setblocking(False)
try:
    if how == "flood":  # asks and asks, and never listens
        end = time.monotonic() + 3
        while time.monotonic() < end and not os.path.exists(until):
            if select.select([], [s], [], 0.1)[1]:
                s.send(QUESTION * 1000)
    else:
        s.send(words[how])
except OSError:
    pass
open(done, "w").close()
while not os.path.exists(until):
    time.sleep(0.02)
if how in ("long", "count", "text", "garbage"):  # the server may be slow, but it will
    select.select([s], [], [], 300)
state = "open"
try:
    while True:
        more = s.recv(1 << 20)
        if not more:
            state = "closed"
            break
except BlockingIOError:
    pass
except OSError:
    state = "closed"
print(how, state, flush=True)
