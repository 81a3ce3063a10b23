"""The same as mpi_hello.c with mpi4py; its first time is when Python runs this file."""
import os
import time

at = [time.monotonic()]
import mpi4py
mpi4py.rc.initialize = mpi4py.rc.finalize = False
from mpi4py import MPI  # noqa: E402

MPI.Init()
at += [time.monotonic()] * 2
MPI.Finalize()
at += [time.monotonic()]
os.write(1, ('hello ' + ' '.join(f'{t * 1e3:.3f}' for t in at) + '\n').encode())
