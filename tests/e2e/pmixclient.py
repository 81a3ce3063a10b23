"""A PMIx process in Python (python3-pmix): what it has put, it can get."""
import os
import warnings

warnings.filterwarnings("ignore")
from pmix import *  # noqa: E402,F403

client = PMIxClient()
rc, me = client.init([])[0:2]
everybody = {"nspace": me["nspace"], "rank": PMIX_RANK_WILDCARD}
print("client init", rc, me["rank"])
print("put", client.put(PMIX_GLOBAL, "mykey", {"value": 4711, "val_type": PMIX_INT32}))
print("commit", client.commit())
collect = {"key": PMIX_COLLECT_DATA, "value": True, "val_type": PMIX_BOOL}
print("fence", client.fence([], [collect]))
print("get", client.get(me, "mykey", [])[1]["value"])
print("size", client.get(everybody, PMIX_JOB_SIZE, [])[1]["value"])
print("nothing", client.get(me, "nobody.has.put.it", [{"key": PMIX_IMMEDIATE, "value": True, "val_type": PMIX_BOOL}])[0] == 0)
print("client finalize", client.finalize([]), flush=True)
os._exit(0)
