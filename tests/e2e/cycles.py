"""cycles.py COUNT: rank 0 comes and goes COUNT times; the others wait for it.

Each time it connects, greets, asks for the job's information, puts, commits and leaves.  Then it looks at
the launcher, its parent: prints `cycles COUNT good` if that has no more descriptors than after the first
tenth, and not much more memory, else what it has.
"""
import os
import socket
import struct
import sys

count = int(sys.argv[1])
port = int(os.environ["PMIX_SERVER_URI41"].rsplit(":", 1)[1])
nspace = os.environ["PMIX_NAMESPACE"].encode()
body = b"native\0" + struct.pack(">I", 8) + struct.pack("=II", os.geteuid(), os.getegid()) + b"\0"
body += nspace + b"\0" + struct.pack(">I", int(os.environ["PMIX_RANK"])) + b"4.2.2\0v41\0\1hash\0"
HELLO = struct.pack("=iIII", -1, 0xFFFFFFFF, len(body), 0) + body


def message(payload, tag=101):
    return struct.pack(">IIII", 0, tag, len(payload), 0) + payload


def take(s, n):
    got = b""
    while len(got) < n:
        more = s.recv(n - len(got))
        if not more:
            sys.exit("the server has closed the connection")
        got += more
    return got


def ask(s, payload):
    s.sendall(message(payload))
    head = struct.unpack(">IIII", take(s, 16))
    return take(s, head[2])


def cycle():
    with socket.create_connection(("127.0.0.1", port)) as s:
        s.sendall(HELLO)
        take(s, 8)
        assert ask(s, b"\2\0")
        assert ask(s, b"\2\2\2\1\2\1\x08\2\4k\0\3\4v\0") in (b"\2\0",), "commit"
        assert ask(s, b"\2\5") == b"\2\0", "finalize"


def launcher():
    pid = os.getppid()
    with open(f"/proc/{pid}/statm") as f:
        pages = int(f.read().split()[1])
    return len(os.listdir(f"/proc/{pid}/fd")), pages * os.sysconf("SC_PAGESIZE")


def keeps_freed_memory():
    """Sanitizers do, on purpose, or keep books of all that was ever touched."""
    with open(f"/proc/{os.getppid()}/exe", "rb") as f:
        program = f.read()
    return b"__asan_init" in program or b"__tsan_init" in program


for i in range(count // 10):
    cycle()
fds, memory = launcher()
for i in range(count - count // 10):
    cycle()
fds_now, memory_now = launcher()
if fds_now <= fds + 2 and (memory_now <= memory + (512 << 10) or keeps_freed_memory()):
    print(f"cycles {count} good")
else:
    print(f"cycles {count}: {fds} descriptors became {fds_now}, {memory} bytes {memory_now}")
