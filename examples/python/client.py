#!/usr/bin/env python3
"""client.py - PMIx from Python: each process puts a value of its own, all meet in a fence, and each reads the others'.
The module `pmix` has the interface of the PMIx Standard over any libpmix,
so scripts for python3-pmix run on it as they are.

    wireup -n 3 python3 client.py
"""
from pmix import PMIX_COLLECT_DATA, PMIX_BOOL, PMIX_GLOBAL, PMIX_JOB_SIZE, PMIX_RANK_WILDCARD, PMIX_UINT32, PMIxClient

client = PMIxClient()
rc, me = client.init()
assert rc == 0, rc
rc, size = client.get({'nspace': me['nspace'], 'rank': PMIX_RANK_WILDCARD}, PMIX_JOB_SIZE)
client.put(PMIX_GLOBAL, 'port', {'value': 4000 + me['rank'], 'val_type': PMIX_UINT32})
client.commit()
client.fence([], [{'key': PMIX_COLLECT_DATA, 'value': True, 'val_type': PMIX_BOOL}])
for rank in range(size['value']):
    rc, value = client.get({'nspace': me['nspace'], 'rank': rank}, 'port')
    assert (rc, value['value']) == (0, 4000 + rank), (rank, rc, value)
client.fence([], [])
client.finalize()
if me['rank'] == 0:
    print('client: good')
