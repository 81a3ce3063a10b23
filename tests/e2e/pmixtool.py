"""A PMIx tool in Python (python3-pmix).

    pmixtool.py uri|pid WHICH [QUESTION]     asks for the names of jobs, or that question
"""
import os
import sys
import warnings

warnings.filterwarnings("ignore")
from pmix import *  # noqa: E402,F403

tool = PMIxTool()
if sys.argv[1] == "uri":
    where = {"key": PMIX_SERVER_URI, "value": sys.argv[2], "val_type": PMIX_STRING}
else:
    where = {"key": PMIX_SERVER_PIDINFO, "value": int(sys.argv[2]), "val_type": PMIX_PID}
rc, me = tool.init([where])[0:2]
print("tool init", rc, flush=True)
if rc == PMIX_SUCCESS:
    key = sys.argv[3] if len(sys.argv) > 3 else PMIX_QUERY_NAMESPACES
    rc, results = tool.query([{"keys": [key], "qualifiers": []}])
    print("query", rc, results[0]["value"] if results else None)
    rc, servers = tool.get_servers()
    print("servers", rc, len(servers))
    print("tool finalize", tool.finalize(), flush=True)
os._exit(0)
