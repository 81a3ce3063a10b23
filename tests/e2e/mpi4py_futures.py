"""mpi4py.futures: a pool whose workers are spawned.  Prints `mpi4py futures good`."""
from mpi4py.futures import MPIPoolExecutor


def square(number):
    return number * number


if __name__ == "__main__":
    with MPIPoolExecutor(max_workers=2) as pool:
        squares = list(pool.map(square, range(20)))
    print("mpi4py futures", "good" if squares == [n * n for n in range(20)] else "WRONG", flush=True)
