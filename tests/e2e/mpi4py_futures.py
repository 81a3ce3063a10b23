"""mpi4py.futures: a pool whose workers are spawned.  Prints `mpi4py futures good`.  WU_PYTHON is the
command that runs their Python, where it is not our own."""
import os

from mpi4py.futures import MPIPoolExecutor


def square(number):
    return number * number


if __name__ == "__main__":
    with MPIPoolExecutor(max_workers=2, python_exe=os.environ.get("WU_PYTHON")) as pool:
        squares = list(pool.map(square, range(20)))
    print("mpi4py futures", "good" if squares == [n * n for n in range(20)] else "WRONG", flush=True)
