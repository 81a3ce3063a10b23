#!/usr/bin/env python3
"""mpi4py_ring.py - mpi4py as it is: a message goes around a ring of processes, and each adds its rank.
Nothing in it knows of Wireup; mpi4py is built on some MPI,
and that MPI's own client speaks to the launcher.

    wireup -n 3 python3 mpi4py_ring.py
"""
from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
if rank == 0:
    world.send(0, dest=1 % size)
    total = world.recv(source=size - 1)
    assert total == size * (size - 1) // 2, total
    print('mpi4py_ring: good')
else:
    world.send(world.recv(source=rank - 1) + rank, dest=(rank + 1) % size)
