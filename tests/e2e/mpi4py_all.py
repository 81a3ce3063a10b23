"""What mpi4py programs ask of a process manager: mpi4py_all.py WHAT

  allgather       everybody hears of everybody
  spawn           two children are started, and answer over the intercommunicator
  names           publish, lookup, accept and connect inside one job
  sessions        a communicator of everybody without MPI_COMM_WORLD (mpi4py 4)
  spoil           an allgather that expects what nobody said: the control

Prints `mpi4py WHAT N good` from rank 0.  WU_PYTHON is the command that runs the children's Python,
where it is not our own.
"""
import os
import sys

from mpi4py import MPI

what = sys.argv[1]
world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()


def check_allgather():
    said = "nothing" if what == "spoil" else "word"
    return world.allgather(("word", rank)) == [(said, r) for r in range(size)]


def check_spawn():
    children = world.Spawn(os.environ.get("WU_PYTHON", sys.executable), [__file__, "child"], maxprocs=2)
    if rank == 0:
        children.bcast("hello", root=MPI.ROOT)
    else:
        children.bcast(None, root=MPI.PROC_NULL)
    answers = children.gather(None, root=MPI.ROOT if rank == 0 else MPI.PROC_NULL)
    good = children.Get_remote_size() == 2 and (rank != 0 or answers == [("hello", 0), ("hello", 1)])
    children.Disconnect()
    return good


def child():
    parent = MPI.Comm.Get_parent()
    word = parent.bcast(None, root=0)
    parent.gather((word, rank), root=0)
    parent.Disconnect()


def check_names():
    """The even half accepts, the odd half connects to what it looks up."""
    half = world.Split(rank % 2)
    info = MPI.Info.Create()
    info.Set("ompi_global_scope", "true")
    good = True
    port = None
    if rank % 2 == 0:
        if half.Get_rank() == 0:
            port = MPI.Open_port()
            MPI.Publish_name("mpi4py names", port, info)
        world.Barrier()
        other = half.Accept(port, MPI.INFO_NULL, 0)
    else:
        world.Barrier()
        if half.Get_rank() == 0:
            port = MPI.Lookup_name("mpi4py names", info)
        other = half.Connect(port, MPI.INFO_NULL, 0)
    good = other.allgather(rank) == list(range(1 - rank % 2, size, 2))
    other.Disconnect()
    if rank == 0:
        MPI.Unpublish_name("mpi4py names", port, info)
        MPI.Close_port(port)
    return good


def check_sessions():
    session = MPI.Session.Init()
    group = session.Create_group("mpi://WORLD")
    everybody = MPI.Intracomm.Create_from_group(group, "mpi4py sessions")
    good = everybody.Get_size() == size and everybody.allgather(rank) == list(range(size))
    everybody.Free()
    group.Free()
    session.Finalize()
    return good


if what == "child":
    child()
else:
    check = {"allgather": check_allgather, "spoil": check_allgather, "spawn": check_spawn,
             "names": check_names, "sessions": check_sessions}[what]
    if world.allreduce(check(), MPI.LAND):
        if rank == 0:
            print("mpi4py", what, size, "good", flush=True)
    elif rank == 0:
        print("mpi4py", what, size, "WRONG", flush=True)
