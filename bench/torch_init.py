#!/usr/bin/env python3
"""The program of bench/torch: N processes of unmodified PyTorch that meet through one store.

    torch_init.py N own|agent|given

It imports PyTorch once and starts its processes by fork, so that a machine of any size has room for 256.  own: the
first process serves PyTorch's own store, as without an agent.  agent: this process serves it, as torchrun's agent does.
given: the store of MASTER_ADDR and MASTER_PORT.  All processes begin a phase together; it ends with the last of them.
Printed is one line of JSON: the milliseconds of each phase.

connect: a client of the store.  barrier: one counts, and the last one tells the others.  exchange: each process sets
an address and gets those of all others, as gloo does before it connects them.  init: all of
dist.init_process_group("gloo"), which waits for all by the store, exchanges addresses and connects each two processes.
"""
import json
import os
import resource
import socket
import sys
import time
from datetime import timedelta

import torch.distributed as dist

LIMIT = timedelta(seconds=500)
PHASES = ('connect', 'barrier', 'exchange', 'init')


def connect(_, rank, size):
    store, _, _ = next(dist.rendezvous('env://', timeout=LIMIT))
    return store


def barrier(store, rank, size):
    if store.add('barrier', 1) == size:
        store.set('barrier/last', '1')
    store.wait(['barrier/last'], LIMIT)
    return store


def exchange(store, rank, size):
    store.set(f'address/{rank}', b'a' * 120)
    for other in range(size):
        if len(store.get(f'address/{other}')) != 120:
            sys.exit('a wrong address')
    return store


def init(store, rank, size):
    dist.init_process_group('gloo', store=dist.PrefixStore('init', store), rank=rank, world_size=size, timeout=LIMIT)
    return store


def process(rank, size, go, done):
    os.environ.update(RANK=str(rank), WORLD_SIZE=str(size), LOCAL_RANK=str(rank))
    store = None
    for phase in PHASES:
        if os.read(go, 1) != b'g':
            os._exit(1)
        store = globals()[phase](store, rank, size)
        os.write(done, b'd')
    os.read(go, 1)  # until all are through: a server ends with its process
    os._exit(0)


def start(rank, size, done):
    """The end of a pipe that lets the process go."""
    read, write = os.pipe()
    if os.fork() == 0:
        os.close(write)
        try:
            process(rank, size, read, done)
        finally:
            os._exit(1)
    os.close(read)
    return write


def phase_ms(gates, done):
    begin = time.monotonic()
    for gate in gates:
        os.write(gate, b'g')
    missing = len(gates)
    while missing:
        came = len(os.read(done, missing))
        if not came:
            sys.exit('a process has ended')
        missing -= came
    return (time.monotonic() - begin) * 1e3


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


def main():
    size, whose = int(sys.argv[1]), sys.argv[2]
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    server = None
    if whose != 'given':
        os.environ.update(MASTER_ADDR='127.0.0.1', MASTER_PORT=str(free_port()), TORCHELASTIC_RESTART_COUNT='0',
                          TORCHELASTIC_USE_AGENT_STORE=str(whose == 'agent'))
    read, write = os.pipe()
    gates = [start(rank, size, write) for rank in range(size)]
    os.close(write)
    if whose == 'agent':  # behind the forks: it has threads
        server = dist.TCPStore('127.0.0.1', int(os.environ['MASTER_PORT']), None, True, LIMIT, False)
    print(json.dumps({f'{phase}_ms': phase_ms(gates, read) for phase in PHASES}))
    for gate in gates:
        os.close(gate)
    bad = sum(os.wait()[1] != 0 for _ in gates)
    del server
    sys.exit(bad != 0)


main()
