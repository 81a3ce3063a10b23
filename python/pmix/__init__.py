"""PMIx for Python: the interface of the PMIx Standard's appendix B, over any PMIx library.

    from pmix import PMIxClient, PMIX_GLOBAL, PMIX_INT32

    client = PMIxClient()
    rc, me = client.init()
    client.put(PMIX_GLOBAL, 'key', {'value': 4711, 'val_type': PMIX_INT32})
    client.commit()
    client.fence()
    rc, value = client.get({'nspace': me['nspace'], 'rank': 0}, 'key')
    client.finalize()

Scripts for python3-pmix run unchanged.  `client.aio` has the same calls for asyncio.  The library is the
libpmix.so.2 that the loader finds, or the one that the variable PMIX_LIBRARY names.
"""
from ._attribute import Attribute
from ._client import Aio, PMIxClient
from ._server import PMIxServer
from ._tables import *  # noqa: F401,F403
from ._tool import PMIxScheduler, PMIxTool

__all__ = ['Aio', 'Attribute', 'PMIxClient', 'PMIxServer', 'PMIxScheduler', 'PMIxTool']
__all__ += [name for name in globals() if name.startswith('PMIX_')]
