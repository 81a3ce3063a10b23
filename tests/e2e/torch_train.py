"""A program of PyTorch as users have it: what it needs it finds in its environment.  For the test torch.

    torch_train.py [NODE]

In the job's first start the daemon of NODE ends, behind the program's first steps."""
import datetime
import os
import signal
import socket
import sys
import time

import torch
import torch.distributed as dist


def parent(pid):
    with open(f'/proc/{pid}/stat', encoding='utf-8') as f:
        return int(f.read().rsplit(') ', 1)[1].split()[1])


def end_daemon():
    worker = os.getppid()
    os.kill(parent(worker), signal.SIGKILL)
    os.kill(worker, signal.SIGKILL)


def main():
    rank, size = int(os.environ['RANK']), int(os.environ['WORLD_SIZE'])
    dist.init_process_group('gloo', timeout=datetime.timedelta(seconds=100))
    total = torch.ones(3) * rank
    dist.all_reduce(total)
    dist.barrier()
    even = dist.new_group(list(range(0, size, 2)))
    count = torch.ones(1)
    if rank % 2 == 0:
        dist.all_reduce(count, group=even)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 2))
    model(torch.ones(1, 4) * rank).sum().backward()
    grads = {float(g) for g in model.module.weight.grad.flatten()}
    good = (total.tolist() == [size * (size - 1) / 2] * 3 and count.item() == ((size + 1) // 2 if rank % 2 == 0 else 1) and
            grads == {(size - 1) / 2})
    dist.barrier()
    first = os.environ['TORCHELASTIC_RESTART_COUNT'] == '0'
    if len(sys.argv) > 1 and first:
        if socket.gethostname() == sys.argv[1] and os.environ['LOCAL_RANK'] == '0':
            end_daemon()
        time.sleep(1000)
    print(f'{rank} of {size} on {socket.gethostname()}: {"good" if good else "WRONG"}', flush=True)
    dist.destroy_process_group()


main()
