"""A host of PMIx in Python: each of its functions is called by a process, and its answer arrives there.

    python_host.py          the host; starts itself as its process, with PYTHON_HOST_LIBRARY as LD_LIBRARY_PATH

Both print a line for each thing that they see; the host ends with `functions` and how many were called.
"""
import os
import subprocess
import sys

from pmix import *  # noqa: F401,F403


sys.stdout.reconfigure(line_buffering=True)  # the lines of both processes are in one file
OK = (PMIX_SUCCESS, PMIX_OPERATION_SUCCEEDED)
published, called = {}, {}
value = {'value': 42, 'val_type': PMIX_UINT32}


def text(key, string):
    return {'key': key, 'value': string, 'val_type': PMIX_STRING}


# ---- the host's functions; each notes its name -----------------------------------------------------


def noted(name, answer):
    def function(*given):
        called[name] = given
        return answer(*given)
    return function


def publish(args):
    for info in args['directives']:
        published[info['key']] = (args['proc'], info)
    return PMIX_SUCCESS


def lookup(args):
    found = [{'proc': published[key][0], 'key': key, 'value': published[key][1]['value'],
              'val_type': published[key][1]['val_type']} for key in args['keys'] if key in published]
    return (PMIX_SUCCESS, found) if found else (PMIX_ERR_NOT_FOUND, [])


def unpublish(args):
    return PMIX_SUCCESS if all(published.pop(key, None) for key in args['keys'] or []) else PMIX_ERR_NOT_FOUND


def query(args):
    return PMIX_SUCCESS, [text(key, f'answer to {key}') for one in args['queries'] for key in one['keys']]


def control(args):
    return PMIX_SUCCESS, [text('directive', args['directives'][0]['key'])]


def monitor(args):
    return PMIX_SUCCESS, [text('watched', args['monitor']['key'])]


def credential(args):
    return PMIX_SUCCESS, {'bytes': b'who: %d' % args['source']['rank'], 'size': 6}, []


def validate(args):
    good = args['credential']['bytes'].startswith(b'who')
    return (PMIX_SUCCESS, [text('owner', 'rank 0')]) if good else (PMIX_ERR_INVALID_CRED, [])


FUNCTIONS = {
    'clientconnected': lambda proc: PMIX_SUCCESS,
    'clientfinalized': lambda proc: PMIX_SUCCESS,
    'abort': lambda args: PMIX_ERR_NOT_SUPPORTED,
    'fencenb': lambda args: (PMIX_SUCCESS, args['data']),
    'directmodex': lambda args: (PMIX_ERR_NOT_FOUND, None),
    'publish': publish,
    'lookup': lookup,
    'unpublish': unpublish,
    'spawn': lambda args: (PMIX_SUCCESS, 'job.' + args['apps'][0]['cmd']),
    'connect': lambda args: PMIX_SUCCESS,
    'disconnect': lambda args: PMIX_SUCCESS,
    'registerevents': lambda args: PMIX_SUCCESS,
    'deregisterevents': lambda args: PMIX_SUCCESS,
    'notify_event': lambda args: PMIX_SUCCESS,
    'query': query,
    'log': lambda args: PMIX_SUCCESS,
    'allocate': lambda args: (PMIX_SUCCESS, [text('given', str(args['action']))]),
    'jobcontrol': control,
    'monitor': monitor,
    'getcredential': credential,
    'validatecredential': validate,
    'group': lambda args: (PMIX_SUCCESS, [{'key': PMIX_GROUP_CONTEXT_ID, 'value': 77, 'val_type': PMIX_SIZE}]),
}


def host():
    server = PMIxServer()
    print('init', server.init([], {name: noted(name, function) for name, function in FUNCTIONS.items()}))
    print('no such function', PMIxServer().init([], {'nothing': print}) == PMIX_ERR_BAD_PARAM,
          PMIxServer().init([], {'query': 5}) == PMIX_ERR_BAD_PARAM)
    rc, nodes = server.generate_regex(['n0', 'n1'])
    rc2, ranks = server.generate_ppn(['0', '1'])
    print('patterns', rc, rc2, isinstance(nodes, bytearray))
    job = [{'key': PMIX_NODE_MAP, 'value': nodes, 'val_type': PMIX_REGEX},
           {'key': PMIX_PROC_MAP, 'value': ranks, 'val_type': PMIX_REGEX},
           {'key': PMIX_UNIV_SIZE, 'value': 2, 'val_type': PMIX_UINT32},
           {'key': PMIX_JOB_SIZE, 'value': 2, 'val_type': PMIX_UINT32}]
    me = {'nspace': 'a.job', 'rank': 0}
    print('registered', server.register_nspace('a.job', 1, job) in OK, server.register_client(me, os.geteuid(), os.getegid()) in OK)
    env = dict(os.environ)
    print('fork', server.setup_fork(me, env), 'PMIX_RANK' in env)
    env['LD_LIBRARY_PATH'] = os.environ.get('PYTHON_HOST_LIBRARY', '')
    print('process', subprocess.run([sys.executable, __file__, 'process'], env=env, check=False, timeout=300).returncode)
    args = called['publish'][0]['directives'][0]
    print('saw', args['key'], args['value'], called['log'][0]['data'][0]['value'], called['spawn'][0]['apps'][0]['argv'],
          called['group'][0]['group'], called['abort'][0]['status'], called['connect'][0]['procs'][0]['rank'])
    server.deregister_client(me)
    server.deregister_nspace('a.job')
    print('not called', sorted(set(FUNCTIONS) - set(called)), flush=True)
    print('finalize', server.finalize(), flush=True)
    os._exit(0)


# ---- the process -----------------------------------------------------------------------------------


def process():
    client = PMIxClient()
    rc, me = client.init()
    everybody = [{'nspace': me['nspace'], 'rank': PMIX_RANK_WILDCARD}]
    print('client init', rc, me['rank'])
    print('publish', client.publish([text('name', 'a value')]))
    rc, found = client.lookup(['name', 'other'])
    print('lookup', rc in (PMIX_SUCCESS, PMIX_ERR_PARTIAL_SUCCESS), [(one['key'], one['value'], one['proc']['rank']) for one in found])
    print('unpublish', client.unpublish(['name']))
    print('lookup', client.lookup(['name'])[0] == PMIX_ERR_NOT_FOUND)
    print('commit', client.put(PMIX_GLOBAL, 'key', value), client.commit())
    print('fence', client.fence([], [{'key': PMIX_COLLECT_DATA, 'value': True, 'val_type': PMIX_BOOL}]))
    print('modex', client.get({'nspace': me['nspace'], 'rank': 1}, 'key')[0] != PMIX_SUCCESS)
    print('spawn', client.spawn([], [{'cmd': 'prog', 'argv': ['prog', 'x'], 'env': [], 'maxprocs': 2, 'info': []}]))
    print('connect', client.connect(everybody), client.disconnect(everybody))
    print('query', [one['value'] for one in client.query([{'keys': ['my.key'], 'qualifiers': []}])[1]])
    print('log', client.log([text(PMIX_LOG_STDOUT, 'a line')]))
    print('allocate', client.allocation_request(PMIX_ALLOC_NEW, [{'key': PMIX_ALLOC_NUM_NODES, 'value': 1, 'val_type': PMIX_UINT64}])[1][0]['value'])
    print('control', client.job_control(everybody, [{'key': PMIX_JOB_CTRL_PAUSE, 'value': True, 'val_type': PMIX_BOOL}])[1][0]['value'])
    print('monitor', client.monitor({'key': PMIX_MONITOR_FILE, 'value': '/tmp', 'val_type': PMIX_STRING}, -7000,
                                    [{'key': PMIX_MONITOR_FILE_SIZE, 'value': True, 'val_type': PMIX_BOOL}])[1][0]['value'])
    rc, cred = client.get_credential()
    print('credential', rc, cred)
    print('validated', client.validate_credential(cred)[1][0]['value'], client.validate_credential({'bytes': b'x', 'size': 1})[0] != PMIX_SUCCESS)
    print('group', [one['value'] for one in client.group_construct('g', everybody, [
        {'key': PMIX_GROUP_ASSIGN_CONTEXT_ID, 'value': True, 'val_type': PMIX_BOOL}])[1] if one['key'] == PMIX_GROUP_CONTEXT_ID])
    print('group end', client.group_destruct('g'))
    rc, reference = client.register_event_handler([-7001], [], lambda *given: (PMIX_EVENT_ACTION_COMPLETE, []))
    print('events', rc, client.notify_event(-7001, me, PMIX_RANGE_GLOBAL), client.deregister_event_handler(reference))
    print('abort', client.abort(7, 'reason', everybody))  # OpenPMIx does not tell what the host said
    print('client finalize', client.finalize(), flush=True)
    os._exit(0)


process() if sys.argv[1:] else host()
