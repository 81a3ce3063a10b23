"""A PMIx server in Python (python3-pmix), and one process of it.

    pmixserver.py LIBRARY COMMAND...     LIBRARY: the LD_LIBRARY_PATH of the process
"""
import os
import subprocess
import sys
import warnings

warnings.filterwarnings("ignore")
from pmix import *  # noqa: E402,F403


def connected(proc):
    return PMIX_SUCCESS


def finalized(proc):
    print("upcall finalized", proc["nspace"], proc["rank"], flush=True)
    return PMIX_SUCCESS


server = PMIxServer()
yes = {"key": PMIX_SERVER_TOOL_SUPPORT, "value": "True", "val_type": PMIX_BOOL}
print("init", server.init([yes], {"clientconnected": connected, "clientfinalized": finalized}))
rc, nodes = server.generate_regex(["test000", "test001", "test002"])
rc, ranks = server.generate_ppn(["0", "1,2", "3"])
job = [
    {"key": PMIX_NODE_MAP, "value": nodes, "val_type": PMIX_STRING},
    {"key": PMIX_PROC_MAP, "value": ranks, "val_type": PMIX_STRING},
    {"key": PMIX_UNIV_SIZE, "value": 1, "val_type": PMIX_UINT32},
    {"key": PMIX_JOB_SIZE, "value": 1, "val_type": PMIX_UINT32},
]
me = {"nspace": "testnspace", "rank": 0}
good = (PMIX_SUCCESS, PMIX_OPERATION_SUCCEEDED)
print("register", server.register_nspace("testnspace", 1, job) in good)
print("expect", server.register_client(me, os.geteuid(), os.getegid()) in good)
env = os.environ.copy()
print("fork", server.setup_fork(me, env))
env.pop("LD_LIBRARY_PATH", None)
if sys.argv[1]:
    env["LD_LIBRARY_PATH"] = sys.argv[1]
print("process", subprocess.run(sys.argv[2:], env=env, timeout=300).returncode)
print("finalize", server.finalize(), flush=True)
os._exit(0)  # its own thread does not end
