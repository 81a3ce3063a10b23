"""A PMIx process: every data type there and back, and every wrong value refused.

    python_values.py [TYPE...]          under a launcher; prints lines `ok NAME` and `not ok NAME ...`
                                        TYPE: a library of OpenPMIx puts no values of this one
"""
import logging
import os
import sys
import weakref

import pmix
from pmix import *  # noqa: F401,F403
from pmix import _operation
from pmix import _tables as t

logging.getLogger('pmix').addHandler(logging.NullHandler())
client = PMIxClient()
rc, me = client.init()
info = {'key': 'k', 'flags': 0, 'value': 'v', 'val_type': PMIX_STRING}
coord = {'view': 1, 'coord': [1, 2, 3]}

# By data type: values that arrive as they are, and values that cannot be.
UNSIGNED = {'UINT8': 8, 'UINT16': 16, 'UINT32': 32, 'UINT64': 64, 'UINT': 32, 'SIZE': 64, 'PERSIST': 8, 'SCOPE': 8,
            'DATA_RANGE': 8, 'COMMAND': 8, 'INFO_DIRECTIVES': 32, 'DATA_TYPE': 16, 'PROC_STATE': 8, 'PROC_RANK': 32,
            'ALLOC_DIRECTIVE': 8, 'IOF_CHANNEL': 16, 'JOB_STATE': 8, 'LINK_STATE': 8, 'DEVTYPE': 64, 'LOCTYPE': 16}
SIGNED = {'INT8': 8, 'INT16': 16, 'INT32': 32, 'INT64': 64, 'INT': 32, 'PID': 32, 'STATUS': 32, 'TIME': 64}
GOOD = {
    'BOOL': [True, False], 'BYTE': [b'x', b'\0'], 'STRING': ['', 'text', 'ü€'], 'FLOAT': [1.5], 'DOUBLE': [-2.25, 1e300],
    'TIMEVAL': [{'sec': 3, 'usec': 4}], 'PROC': [me], 'BYTE_OBJECT': [{'bytes': b'a\0b', 'size': 3}, {'bytes': b'', 'size': 0}],
    'PROC_INFO': [{'proc': me, 'hostname': 'h', 'executable': 'e', 'pid': 5, 'exitcode': 0, 'state': 3}],
    'DATA_ARRAY': [{'type': PMIX_UINT32, 'array': [1, 2]}, {'type': PMIX_STRING, 'array': ['a', 'b']},
                   {'type': PMIX_INFO, 'array': [info]}, {'type': PMIX_PROC, 'array': [me, me]},
                   {'type': PMIX_BYTE, 'array': b'abc'}, {'type': PMIX_STRING, 'array': []},
                   {'type': PMIX_INFO, 'array': [{'key': 'in', 'flags': 0, 'val_type': PMIX_DATA_ARRAY,
                                                  'value': {'type': PMIX_INFO, 'array': [info, info]}}]}],
    'ENVAR': [{'envar': 'A', 'value': 'B', 'separator': ':'}], 'COORD': [coord],
    'ENDPOINT': [{'uuid': 'u', 'osname': 'o', 'endpt': {'bytes': b'e', 'size': 1}}],
    'DEVICE_DIST': [{'uuid': 'u', 'osname': 'o', 'type': 4, 'mindist': 1, 'maxdist': 2}],
    'GEOMETRY': [{'fabric': 1, 'uuid': 'u', 'osname': 'o', 'coordinates': [coord]}],
}
BAD = {
    'BOOL': ['maybe', None, []], 'BYTE': [b'', b'xy', 256, 'x'], 'STRING': [5, ['a']], 'FLOAT': ['1.5', None],
    'TIMEVAL': [{'sec': 3}, 5], 'PROC': [{'nspace': 'n'}, {'nspace': 'n' * 256, 'rank': 0}, {'nspace': 'n', 'rank': -1}, 'n'],
    'BYTE_OBJECT': [5, {'bytes': b'a', 'size': 2}, {'size': 1}],
    'DATA_ARRAY': [[], {'array': []}, {'type': 9999, 'array': []}, {'type': PMIX_UINT8, 'array': [256]},
                   {'type': PMIX_INFO, 'array': [{'key': 'k'}]}, {'type': PMIX_UINT8, 'array': 5}],
    'ENVAR': [{}, {'envar': 'A', 'value': 'B', 'separator': '::'}], 'COORD': [{'view': 1}, {'view': 1, 'coord': [-1]}],
}
for name, bits in UNSIGNED.items():
    GOOD[name] = [0, 1, 2**bits - 1]
    BAD[name] = [-1, 2**bits, '1', None, 1.5]
GOOD['INFO_DIRECTIVES'] = [0, 1, 3]  # the library has flags of its own
for name, bits in SIGNED.items():
    GOOD[name] = [0, -1, 2**(bits - 1) - 1, -2**(bits - 1)]
    BAD[name] = [2**(bits - 1), '1', None, 1.5, [1]]
for name in sys.argv[1:]:
    del GOOD[name]
CODES = {row[0]: code for code, row in t.TYPES.items()}


def line(good, name, *said):
    print('ok' if good else 'not ok', name, *([] if good else said))


def value(name, item):
    return {'value': item, 'val_type': CODES[name]}


def kept():
    """A library reads its arguments, keys too, until it calls back."""
    class Argument:
        """Something that can be watched."""

    argument = Argument()
    seen = weakref.ref(argument)
    one = _operation.Operation().start(lambda *_: PMIX_SUCCESS, argument)
    del argument
    alive = seen() is not None
    one.finish(PMIX_SUCCESS)
    line(alive and seen() is None, 'arguments live until the call has ended', alive, seen())


def main():
    kept()
    count = 0
    for name, items in sorted(GOOD.items()):
        for i, item in enumerate(items):
            rc = client.put(PMIX_GLOBAL, f'{name}.{i}', value(name, item))
            line(rc == PMIX_SUCCESS, f'put {name} {i}', client.error_string(rc))
            count += 1
    client.commit()
    client.fence([], [{'key': PMIX_COLLECT_DATA, 'value': True, 'val_type': PMIX_BOOL}])
    peer = {'nspace': me['nspace'], 'rank': int(os.environ['PMI_SIZE']) - 1 - me['rank']}
    for name, items in sorted(GOOD.items()):
        for i, item in enumerate(items):
            if any(isinstance(one, dict) and one.get('nspace') for one in (item, item.get('proc') if isinstance(item, dict) else None)):
                item = {**item, 'proc': peer} if 'proc' in item else peer
            rc, got = client.get(peer, f'{name}.{i}')
            want = value(name, item)
            if name == 'DATA_ARRAY' and item['type'] == PMIX_PROC:
                want['value'] = {'type': PMIX_PROC, 'array': [peer, peer]}
            line(rc == PMIX_SUCCESS and got == want, f'get {name} {i}', rc, got, want)
    for name, items in sorted(BAD.items()):
        for i, item in enumerate(items):
            rc = client.put(PMIX_GLOBAL, 'bad', value(name, item))
            line(rc == PMIX_ERR_BAD_PARAM, f'refused {name} {i}', rc, item)
    for i, wrong in enumerate([None, 5, {}, {'value': 1}, {'val_type': PMIX_INT}, value('INT', 1) | {'val_type': 12345},
                               value('VALUE', 1), value('TOPO', {}), value('DATA_BUFFER', {})]):
        rc = client.put(PMIX_GLOBAL, 'bad', wrong)
        line(rc == PMIX_ERR_BAD_PARAM, f'refused form {i}', rc, wrong)
    for i, key in enumerate([None, 5, 'k' * 512, 'a\0b']):
        line(client.put(PMIX_GLOBAL, key, value('INT', 1)) == PMIX_ERR_BAD_PARAM, f'refused key {i}')
    line(client.get(me, 'bad', [{'key': PMIX_OPTIONAL, 'value': True, 'val_type': PMIX_BOOL}])[1] is None, 'nothing wrong was put')
    line(pmix.PMIX_JOB_SIZE == b'pmix.job.size' and b'pmix.job.size' == pmix.PMIX_JOB_SIZE and
         pmix.PMIX_JOB_SIZE == 'pmix.job.size' and pmix.PMIX_JOB_SIZE != b'other', 'keys are strings and bytes')
    print('values', count, flush=True)
    client.finalize()


main()
