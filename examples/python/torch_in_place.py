#!/usr/bin/env python3
"""torch_in_place.py - PyTorch's processes of which one fails, and is started again in its place: the others keep
their memory, meet it in a new process group, and go on.  (With torchrun, and with -restart-job, all start again.)

    wireup -n 3 -on-failure restart python3 torch_in_place.py

In step 5 rank 1 ends itself.  What a step adds to the sum is known, so that the last one can be checked.
"""
import datetime
import os
import signal

import torch
import torch.distributed as dist

STEPS = 10
LIMIT = datetime.timedelta(seconds=60)  # also for a process that fails while the others meet


def next_attempt():
    """After a failure: waits until the process has been started again.  init_process_group then meets in the store
    under the number of this attempt, with all processes that know of the same starts.  A RuntimeError: there will be none,
    as a process has ended for good."""
    known = int(os.environ['TORCHELASTIC_RESTART_COUNT'])
    store = dist.TCPStore(os.environ['MASTER_ADDR'], int(os.environ['MASTER_PORT']), int(os.environ['WORLD_SIZE']),
                          False, LIMIT)
    os.environ['TORCHELASTIC_RESTART_COUNT'] = store.get(f'wireup/attempt/{known + 1}').decode()


def share(state):
    """The state of a process that is furthest: one that was started again has none, and of the others some may have
    finished a step that failed elsewhere."""
    steps = [torch.zeros(1) for _ in range(dist.get_world_size())]
    dist.all_gather(steps, state[:1].clone())
    dist.broadcast(state, max(range(len(steps)), key=lambda rank: steps[rank].item()))


def fail_once(step):
    if step == 5 and dist.get_rank() == 1 and 'WIREUP_RESTARTS' not in os.environ:
        os.kill(os.getpid(), signal.SIGKILL)


def work(state):
    """state: how many steps are done, and their sum."""
    dist.init_process_group('gloo', timeout=LIMIT)
    share(state)
    while state[0] < STEPS:
        fail_once(state[0])
        part = (dist.get_rank() + 1) * (state[0] + 1).clone().reshape(1)
        dist.all_reduce(part)
        state += torch.tensor([1.0, part.item()])


def has_worked(state):
    try:
        work(state)
        return True
    except RuntimeError:  # behind this line nothing refers to the group any more
        return False


def main():
    state = torch.zeros(2)
    while not has_worked(state):
        if dist.is_initialized():
            dist.destroy_process_group()  # closes its connections, by which the others learn of the failure
        next_attempt()
    size = dist.get_world_size()
    assert state[1] == size * (size + 1) / 2 * STEPS * (STEPS + 1) / 2, state
    if dist.get_rank() == 0:
        print('torch_in_place: good')
    dist.destroy_process_group()


main()
