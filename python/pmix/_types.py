"""The C types of PMIx for ctypes, built from the tables."""
import ctypes as c

from . import _tables as t

# C types of data types that are plain numbers.
NUMBERS = {
    'BOOL': c.c_bool, 'BYTE': c.c_uint8, 'SIZE': c.c_size_t, 'PID': c.c_int, 'INT': c.c_int,
    'INT8': c.c_int8, 'INT16': c.c_int16, 'INT32': c.c_int32, 'INT64': c.c_int64, 'UINT': c.c_uint,
    'UINT8': c.c_uint8, 'UINT16': c.c_uint16, 'UINT32': c.c_uint32, 'UINT64': c.c_uint64,
    'FLOAT': c.c_float, 'DOUBLE': c.c_double, 'TIME': c.c_long, 'STATUS': c.c_int,
    'PERSIST': c.c_uint8, 'SCOPE': c.c_uint8, 'DATA_RANGE': c.c_uint8, 'COMMAND': c.c_uint8,
    'INFO_DIRECTIVES': c.c_uint32, 'DATA_TYPE': c.c_uint16, 'PROC_STATE': c.c_uint8,
    'PROC_RANK': c.c_uint32, 'ALLOC_DIRECTIVE': c.c_uint8, 'IOF_CHANNEL': c.c_uint16,
    'JOB_STATE': c.c_uint8, 'LINK_STATE': c.c_uint8, 'DEVTYPE': c.c_uint64, 'LOCTYPE': c.c_uint16,
    'STOR_MEDIUM': c.c_uint64, 'STOR_ACCESS': c.c_uint64, 'STOR_PERSIST': c.c_uint64,
    'STOR_ACCESS_TYPE': c.c_uint16, 'RESBLOCK_DIRECTIVE': c.c_uint8,
}
KEY_SIZE = t.PMIX_MAX_KEYLEN + 1
NSPACE_SIZE = t.PMIX_MAX_NSLEN + 1


class Timeval(c.Structure):
    """struct timeval"""
    _fields_ = [('sec', c.c_long), ('usec', c.c_long)]


class DataArray(c.Structure):
    """pmix_data_array_t"""
    _fields_ = [('type', c.c_uint16), ('size', c.c_size_t), ('array', c.c_void_p)]


class Envar(c.Structure):
    """pmix_envar_t"""
    _fields_ = [('envar', c.c_char_p), ('value', c.c_char_p), ('separator', c.c_char)]


class ByteObject(c.Structure):
    """pmix_byte_object_t"""
    _fields_ = [('bytes', c.c_void_p), ('size', c.c_size_t)]


class Data(c.Union):
    """The union of pmix_value_t: its members by the names of their types."""
    _fields_ = [(name, kind) for name, kind in NUMBERS.items()] + [
        ('STRING', c.c_char_p), ('TIMEVAL', Timeval), ('BYTES', ByteObject), ('ENVAR', Envar), ('HEAP', c.c_void_p)]


class Value(c.Structure):
    """pmix_value_t"""
    _fields_ = [('type', c.c_uint16), ('data', Data)]


Nspace = c.c_char * NSPACE_SIZE
Key = c.c_char * KEY_SIZE

# C type of each kind of a member, and of each type of an array's element.
KINDS = {**NUMBERS, 'TEXT': c.c_char_p, 'STRING': c.c_char_p, 'REGEX': c.c_char_p, 'ARGV': c.POINTER(c.c_char_p),
         'ARGS': c.POINTER(c.c_char_p), 'KEY': Key, 'NSPACE': Nspace, 'PROC_NSPACE': Nspace, 'CHAR': c.c_char,
         'OPAQUE': c.c_void_p, 'POINTER': c.c_void_p, 'TIMEVAL': Timeval, 'VALUE': Value,
         'BYTE_OBJECT': ByteObject, 'COMPRESSED_STRING': ByteObject, 'COMPRESSED_BYTE_OBJECT': ByteObject,
         'ENVAR': Envar, 'DATA_ARRAY': DataArray}


def _structure(name, rows):
    fields = []
    for kind, member, count in rows:
        if count is None:
            fields.append((member, KINDS[kind]))
        else:
            fields += [(member, c.c_void_p), (count, c.c_size_t)]
    return type(name, (c.Structure,), {'_fields_': fields, '__doc__': f'PMIX_{name}'})


for _name, _rows in t.STRUCTS.items():
    if _name not in KINDS:
        KINDS[_name] = _structure(_name, _rows)

Proc = KINDS['PROC']
Info = KINDS['INFO']
Pdata = KINDS['PDATA']
App = KINDS['APP']
Query = KINDS['QUERY']
Cpuset = KINDS['PROC_CPUSET']
DeviceDistance = KINDS['DEVICE_DIST']


class Fabric(c.Structure):
    """pmix_fabric_t"""
    _fields_ = [('name', c.c_char_p), ('index', c.c_size_t), ('info', c.POINTER(Info)), ('ninfo', c.c_size_t),
                ('module', c.c_void_p)]


# ---- functions that the library calls --------------------------------------------------------------
_P = c.c_void_p
_N = c.c_size_t
ReleaseFn = c.CFUNCTYPE(None, _P)
OpFn = c.CFUNCTYPE(None, c.c_int, _P)
ValueFn = c.CFUNCTYPE(None, c.c_int, c.POINTER(Value), _P)
InfoFn = c.CFUNCTYPE(None, c.c_int, c.POINTER(Info), _N, _P, ReleaseFn, _P)
LookupFn = c.CFUNCTYPE(None, c.c_int, c.POINTER(Pdata), _N, _P)
SpawnFn = c.CFUNCTYPE(None, c.c_int, c.c_char_p, _P)
CredentialFn = c.CFUNCTYPE(None, c.c_int, c.POINTER(ByteObject), c.POINTER(Info), _N, _P)
ValidationFn = c.CFUNCTYPE(None, c.c_int, c.POINTER(Info), _N, _P)
RegisteredFn = c.CFUNCTYPE(None, c.c_int, _N, _P)
DistancesFn = c.CFUNCTYPE(None, c.c_int, c.POINTER(DeviceDistance), _N, _P, ReleaseFn, _P)
ModexFn = c.CFUNCTYPE(None, c.c_int, _P, _N, _P, ReleaseFn, _P)
ToolFn = c.CFUNCTYPE(None, c.c_int, c.POINTER(Proc), _P)
DmodexFn = c.CFUNCTYPE(None, c.c_int, _P, _N, _P)
SetupFn = c.CFUNCTYPE(None, c.c_int, c.POINTER(Info), _N, _P, OpFn, _P)
EventDoneFn = c.CFUNCTYPE(None, c.c_int, c.POINTER(Info), _N, OpFn, _P, _P)
EventFn = c.CFUNCTYPE(None, _N, c.c_int, c.POINTER(Proc), c.POINTER(Info), _N, c.POINTER(Info), _N, EventDoneFn, _P)
OutputFn = c.CFUNCTYPE(None, _N, c.c_uint16, c.POINTER(Proc), c.POINTER(ByteObject), c.POINTER(Info), _N)
