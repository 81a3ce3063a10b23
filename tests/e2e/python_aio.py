"""PMIx processes in asyncio: calls side by side, and events as an iterator.

    python_aio.py          under a launcher, 3 processes
"""
import asyncio
import os

from pmix import *  # noqa: F401,F403

client = PMIxClient()
rc, me = client.init()
size = int(os.environ['PMI_SIZE'])


async def listen(ready):
    found = []
    events = client.aio.events([-7000])
    ready.set()
    async for status, source, infos in events:
        found.append((source['rank'], infos[0]['value']))
        if len(found) == 2 * size:
            break
    await events.aclose()
    return sorted(found)


async def main():
    ready = asyncio.Event()
    listener = asyncio.ensure_future(listen(ready))
    await ready.wait()
    await asyncio.sleep(0)
    ticks = 0

    async def tick():
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0)

    ticking = asyncio.ensure_future(tick())
    rcs = await asyncio.gather(*(client.aio.publish([{'key': f'n{me["rank"]}.{i}', 'value': i, 'val_type': PMIX_INT}])
                                 for i in range(5)))
    found = await asyncio.gather(*(client.aio.lookup([f'n{r}.{i}'], [{'key': PMIX_WAIT, 'value': 1, 'val_type': PMIX_INT}])
                                   for r in range(size) for i in range(5)))
    values = [one[1][0]['value'] for one in found]
    print('published', rcs, 'found', values == list(range(5)) * size, 'others ran', ticks > 0)
    ticking.cancel()
    print('fence', await client.aio.fence())
    for i in range(2):
        rc = await client.aio.notify_event(-7000, me, PMIX_RANGE_NAMESPACE, [{'key': 'i', 'value': i, 'val_type': PMIX_INT}])
        assert rc == PMIX_SUCCESS
    print('events', await listener == [(r, i) for r in range(size) for i in range(2)])
    print('refused', await client.aio.fence(peers='all'), (await client.aio.get(me, 'nobody', [
        {'key': PMIX_OPTIONAL, 'value': True, 'val_type': PMIX_BOOL}]))[0])
    try:
        client.aio.commit()
    except AttributeError as error:
        print(error)


asyncio.run(main())
print('finalize', client.finalize(), flush=True)
