#!/usr/bin/python3
# A client of PyTorch's TCPStore, written from its messages (proto/tcpstore.def): what a process of PyTorch does
# at its start, and more.  tcpstore.py old|new; every rank prints one line when all went well.
import os, socket, struct, sys

# Numbers of the queries in PyTorch 1.13 and 2.0, and in 2.2 and later.
NAMES = ["set", "compare_set", "get", "add", "check", "wait", "num_keys", None, "delete_key", "append", "multi_get",
         "multi_set", "cancel_wait"]
OLD = {name: number for number, name in enumerate(NAMES) if name}
NEW = {name: number + (number < 8) for name, number in OLD.items()}
NEW.update(ping=13, queue_push=14, queue_pop=15, queue_len=16)


class Store:
    def __init__(self, numbers):
        self.numbers = numbers
        self.socket = socket.create_connection((os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])))
        self.socket.settimeout(300)
        if numbers is NEW:
            self.socket.sendall(b"\0" + struct.pack("=I", 0x3C85F7CE))
            self.send("ping", struct.pack("=I", 4711))
            assert self.take(4) == struct.pack("=I", 4711)

    def send(self, name, *arguments):
        self.socket.sendall(bytes([self.numbers[name]]) + b"".join(arguments))

    def take(self, count):
        data = b""
        while len(data) < count:
            more = self.socket.recv(count - len(data))
            if not more:
                raise EOFError
            data += more
        return data

    def number(self):
        return struct.unpack("=q", self.take(8))[0]

    def value(self):
        return self.take(self.number())

    def set(self, key, value):
        self.send("set", text(key), text(value))

    def get(self, key):
        self.wait(key)
        self.send("get", text(key))
        return self.value()

    def add(self, key, more):
        self.send("add", text(key), struct.pack("=q", more))
        return self.number()

    def wait(self, *keys):
        self.send("wait", count(keys))
        assert self.take(1) == b"\0"

    def check(self, *keys):
        self.send("check", count(keys))
        return self.take(1) == b"\0"


def text(value):
    value = value.encode() if isinstance(value, str) else value
    return struct.pack("=Q", len(value)) + value


def count(keys):
    return struct.pack("=Q", len(keys)) + b"".join(map(text, keys))


rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
assert os.environ["TORCHELASTIC_USE_AGENT_STORE"] == "True" and os.environ["TORCHELASTIC_RESTART_COUNT"] == "0"
numbers = NEW if sys.argv[1] == "new" else OLD
store, silent = Store(numbers), Store(OLD)  # PyTorch 1.13 has a second connection, on which it says nothing


def barrier(name):
    if store.add(name, 1) == size:
        store.set(name + "/last", "1")
    store.wait(name + "/last")


barrier("init")
store.set(f"address/{rank}", f"{rank}:" + "x" * (4 << 20 if rank == 0 else 100 + rank))
for other in range(size):
    got = store.get(f"address/{other}")
    assert got.startswith(b"%d:x" % other) and len(got) > 100, (other, got[:20])
assert store.add("sum", rank) <= size * (size - 1) // 2
barrier("summed")
assert store.add("sum", 0) == size * (size - 1) // 2
store.send("compare_set", text("leader"), text(""), text(str(rank)))
leader = int(store.value())
assert int(store.get("leader")) == leader
store.send("append", text("log"), text(f"[{rank}]"))
barrier("logged")
assert sorted(store.get("log").decode()) == sorted("".join(f"[{r}]" for r in range(size)))
assert store.check("log", "leader") and not store.check("log", "nothing")
store.send("multi_set", struct.pack("=Q", 2), text(f"m{rank}"), text("1"), text(f"n{rank}"), text("2"))
barrier("multi")
store.send("multi_get", count([f"m{size - 1}", f"n{size - 1}"]))
assert store.value() + store.value() == b"12"
store.send("num_keys")
assert store.number() >= 3 * size + 2
barrier("counted")
store.send("delete_key", text(f"m{rank}"))
assert store.number() == 1
assert not store.check(f"m{rank}") and store.check(f"n{rank}")
store.send("wait", count(["never"]))
store.send("cancel_wait")
assert store.take(1) == b"\1"
if numbers is NEW:
    for item in range(2):
        store.send("queue_push", text("queue"), text(f"{rank}.{item}"))
    barrier("pushed")
    for item in range(2):
        store.wait("queue")
        store.send("queue_pop", text("queue"))
        assert store.number() > 0 and store.value()
    barrier("popped")
    store.send("queue_len", text("queue"))
    assert store.number() == 0
broken = Store(numbers)
broken.socket.sendall(b"GET / HTTP/1.0\r\n\r\n")
try:
    broken.take(1)
    raise SystemExit("a wrong query is answered")
except (EOFError, ConnectionError):
    pass
# A process that this one has started is one of the job, too.
child = os.fork()
if not child:
    assert Store(numbers).add(f"child/{rank}", 1) == 1  # the reply: it has been here until then
    os._exit(0)
os.waitpid(child, 0)
assert store.get(f"child/{rank}") == b"1"
barrier("end")
print("store good", flush=True)
