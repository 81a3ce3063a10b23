"""mpi4py.futures: a pool whose two workers are spawned, or (universe) as many as the universe has room
for.  Prints `mpi4py futures good`.  WU_PYTHON is the command that runs their Python, where it is not our
own."""
import os
import sys

from mpi4py.futures import MPIPoolExecutor


def square(number):
    return number * number


if __name__ == "__main__":
    workers = None if "universe" in sys.argv else 2
    with MPIPoolExecutor(max_workers=workers, python_exe=os.environ.get("WU_PYTHON")) as pool:
        squares = list(pool.map(square, range(20)))
    print("mpi4py futures", "good" if squares == [n * n for n in range(20)] else "WRONG", flush=True)
