#!/usr/bin/env python3
"""torch_sum.py - PyTorch without torchrun: the launcher sets the variables that torch.distributed reads,
and serves the store in which its processes meet, on each node.
The script is that which torchrun would start.

    wireup -n 2 python3 torch_sum.py
"""
import torch
import torch.distributed as dist

dist.init_process_group('gloo')
number = torch.tensor([float(dist.get_rank())])
dist.all_reduce(number)
size = dist.get_world_size()
assert number.item() == size * (size - 1) / 2, number
if dist.get_rank() == 0:
    print('torch_sum: good')
dist.destroy_process_group()
