"""enter_mpi4py.py - workers that run already become an MPI world: a pool starts them, as Dask does, and they know
nothing of MPI.  When they are to compute together, `wireup serve` makes a job for them, and each one enters it before
it initializes MPI.  With Dask, `client.run(become_rank, job)` is what call_all() does here.

    python3 enter_mpi4py.py

Afterwards they are ranks 0 to 2 of MPI.COMM_WORLD, and the same processes as before.
"""
import multiprocessing
import os
import subprocess
import sys

import wireup

WORKERS = 3


def work(tasks, results):
    """A worker: it calls what it is sent."""
    for function, arguments in iter(tasks.get, None):
        try:
            results.put(function(*arguments))
        except Exception as error:  # pylint: disable=broad-except
            results.put(error)


def process_id():
    return os.getpid()


def become_rank(job):
    """Its rank in the world that the workers have now, the sum of all ranks plus 1, and its process."""
    wireup.enter(job)
    from mpi4py import MPI  # pylint: disable=import-outside-toplevel
    world = MPI.COMM_WORLD
    return world.rank, world.size, world.allreduce(world.rank + 1), os.getpid()


def leave():
    """To end without this is to fail."""
    from mpi4py import MPI  # pylint: disable=import-outside-toplevel
    MPI.Finalize()


class Pool:
    def __init__(self, count):
        start = multiprocessing.get_context('spawn')
        self.results = start.Queue()
        self.tasks = [start.Queue() for _ in range(count)]
        self.workers = [start.Process(target=work, args=(tasks, self.results), daemon=True) for tasks in self.tasks]
        for worker in self.workers:
            worker.start()

    def call_all(self, function, *arguments):
        """In each worker; their results, in any order."""
        for tasks in self.tasks:
            tasks.put((function, arguments))
        return [self.result() for _ in self.tasks]

    def result(self):
        result = self.results.get()
        if isinstance(result, Exception):
            raise result
        return result

    def end(self):
        for tasks in self.tasks:
            tasks.put(None)
        for worker in self.workers:
            worker.join()


def main():
    pool = Pool(WORKERS)
    before = sorted(pool.call_all(process_id))
    words = [wireup.command(), 'serve', '-n', str(WORKERS), '--json', '--timeout', '60']
    with subprocess.Popen(words, stdout=subprocess.PIPE) as server:
        server.stdout.readline()    # it listens
        world = sorted(pool.call_all(become_rank, server.pid))
        for rank, size, total, process in world:
            print(f'enter_mpi4py: process {process} is rank {rank} of {size}, the sum is {total}')
        pool.call_all(leave)
    pool.end()
    want = [(rank, WORKERS, WORKERS * (WORKERS + 1) // 2) for rank in range(WORKERS)]
    good = [row[:3] for row in world] == want and sorted(row[3] for row in world) == before and server.returncode == 0
    print('enter_mpi4py: good' if good else 'enter_mpi4py: WRONG')
    return 0 if good else 1


if __name__ == '__main__':
    sys.exit(main())
