"""A sum over all processes, and a barrier: prints `torch N good` from rank 0."""
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
mine = torch.tensor([dist.get_rank() + 1])
dist.all_reduce(mine)
dist.barrier()
size = dist.get_world_size()
if dist.get_rank() == 0:
    print("torch", size, "good" if int(mine) == size * (size + 1) // 2 else "WRONG")
dist.destroy_process_group()
