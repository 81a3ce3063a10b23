"""Values of Python as values of C, and back.

Everything that is written for the library stays valid as long as the Keep that it was written with.  What a program
passes is checked first: BadValue says in one sentence what is wrong, and the call returns PMIX_ERR_BAD_PARAM.
"""
import ctypes as c

from . import _tables as t
from . import _types as ct

CODES = {name: code for code, (name, _, _) in t.TYPES.items()}
# What members are called in the dictionaries, where the Standard has another word.
NAMES = {('PROC_INFO', 'executable_name'): 'executable', ('PROC_INFO', 'exit_code'): 'exitcode',
         ('REGATTR', 'string'): 'key'}
# Lists of flags may be given for these.
MASKS = {'INFO_DIRECTIVES', 'IOF_CHANNEL', 'DEVTYPE', 'LOCTYPE'}


class BadValue(Exception):
    """A value that the library cannot be given."""


class Keep(list):
    """Holds what C points to."""

    def array(self, kind, size):
        """An array of C, empty arrays as NULL."""
        if not size:
            return None
        array = (kind * size)()
        self.append(array)
        return array

    def address(self, item):
        """The address of a structure or array, which is kept."""
        if item is None:
            return None
        self.append(item)
        return c.addressof(item)


def text(value, what='a text'):
    """Bytes of a text: strings, bytes and bytearrays are taken."""
    if isinstance(value, str):
        value = str(value).encode('utf-8', 'surrogateescape')
    elif isinstance(value, (bytes, bytearray)):
        value = bytes(value)
    else:
        raise BadValue(f'{what} must be a string, not {type(value).__name__}')
    return value


def plain(value, what, limit=None):
    """A text without NUL, for a place of `limit` bytes."""
    value = text(value, what)
    if b'\0' in value:
        raise BadValue(f'{what} has a NUL byte')
    if limit is not None and len(value) >= limit:
        raise BadValue(f'{what} has {len(value)} bytes, at most {limit - 1} are possible')
    return value


def string(value):
    """A string of Python from bytes of C; None stays None."""
    return None if value is None else value.decode('utf-8', 'surrogateescape')


def integer(value, what):
    """An integer; a list stands for the union of its flags."""
    if isinstance(value, (list, tuple, set)):
        flags = 0
        for one in value:
            flags |= integer(one, what)
        return flags
    if isinstance(value, bool) or isinstance(value, int):
        return int(value)
    raise BadValue(f'{what} must be an integer, not {type(value).__name__}')


def truth(value):
    """A boolean, as programs write it."""
    if isinstance(value, str):
        word = value.strip().lower()
        if word in ('true', 't', 'yes', 'y', '1'):
            return True
        if word in ('false', 'f', 'no', 'n', '0'):
            return False
        raise BadValue(f'{value!r} is neither true nor false')
    if isinstance(value, (bool, int)):
        return bool(value)
    raise BadValue(f'a boolean must be True or False, not {type(value).__name__}')


def number(name, value):
    """A number of the data type `name`, in its range."""
    if name == 'BOOL':
        return truth(value)
    if name in ('FLOAT', 'DOUBLE'):
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise BadValue(f'PMIX_{name} must be a number, not {type(value).__name__}')
        return float(value)
    if name == 'BYTE' and isinstance(value, (bytes, bytearray)):
        if len(value) != 1:
            raise BadValue(f'PMIX_BYTE must be one byte, not {len(value)}')
        return value[0]
    if isinstance(value, (list, tuple, set)) and name not in MASKS:
        raise BadValue(f'PMIX_{name} must be one integer, not {type(value).__name__}')
    value = integer(value, f'PMIX_{name}')
    if ct.NUMBERS[name](value).value != value:
        raise BadValue(f'{value} is out of the range of PMIX_{name}')
    return value


# ---- to C ------------------------------------------------------------------------------------------


def member(values, name, what):
    """An entry of a dictionary that must be there."""
    if not isinstance(values, dict):
        raise BadValue(f'{what} must be a dictionary, not {type(values).__name__}')
    if name not in values:
        raise BadValue(f'{what} has no {name!r}')
    return values[name]


def type_name(code):
    """The name of a data type."""
    if isinstance(code, bool) or not isinstance(code, int) or code not in t.TYPES:
        raise BadValue(f'{code!r} is no data type')
    return t.TYPES[code][0]


def words(values, keep, what):
    """A NULL-ended array of texts."""
    if values is None:
        return None
    if not isinstance(values, (list, tuple)):
        raise BadValue(f'{what} must be a list of strings, not {type(values).__name__}')
    array = keep.array(c.c_char_p, len(values) + 1)
    for i, value in enumerate(values):
        array[i] = plain(value, what)
    return array


def put_bytes(place, value, keep):
    """A byte object: a dictionary with 'bytes', or bytes."""
    data = text(value['bytes'] if isinstance(value, dict) and 'bytes' in value else value, 'a byte object')
    if isinstance(value, dict) and 'size' in value:
        size = integer(value['size'], "'size'")
        if not 0 <= size <= len(data):
            raise BadValue(f'a byte object of {len(data)} bytes has the size {size}')
        data = data[:size]
    place.size = len(data)
    place.bytes = keep.address(c.create_string_buffer(data, len(data))) if data else None


def put_array(place, value, keep):
    """A data array: {'type': ..., 'array': [...]}."""
    code = member(value, 'type', 'an array')
    items = member(value, 'array', 'an array')
    name = type_name(code)
    if name not in ct.KINDS:
        raise BadValue(f'no array can have items of PMIX_{name}')
    if name == 'BYTE' and isinstance(items, (bytes, bytearray)):
        items = list(items)
    if not isinstance(items, (list, tuple)):
        raise BadValue(f"the 'array' of an array must be a list, not {type(items).__name__}")
    place.type, place.size = code, len(items)
    place.array = keep.address(put_items(name, items, keep))


def put_items(name, items, keep):
    """An array of C of the data type `name`."""
    array = keep.array(ct.KINDS[name], len(items))
    for i, item in enumerate(items):
        if name in ct.NUMBERS:
            array[i] = number(name, item)
        elif name in ('STRING', 'REGEX'):
            array[i] = text(item)
        elif name == 'PROC_NSPACE':
            array[i].value = plain(item, 'a namespace', ct.NSPACE_SIZE)
        elif name == 'POINTER':
            array[i] = item
        else:
            put_struct(name, array[i], item, keep)
    return array


def put_cpuset(place, value, keep):
    """The processors of a cpuset, by the library that the process has."""
    from ._library import library
    cpus = member(value, 'cpus', 'a cpuset')
    source = string(plain(value.get('source', 'hwloc'), "'source'"))
    ranges = cpus if isinstance(cpus, (str, bytes)) else ','.join(str(one) for one in cpus)
    words_ = plain(ranges, "'cpus'")
    rc = library().PMIx_Parse_cpuset_string(f'{source}:'.encode() + words_, c.byref(place))
    if rc != t.PMIX_SUCCESS:
        raise BadValue(f'{string(words_)} are no processors')
    keep.append(Cleanup(library().PMIx_Cpuset_destruct, place))


class Cleanup:
    """Calls a function of the library when nobody holds it."""

    def __init__(self, function, place):
        self.function, self.place = function, place

    def __del__(self):
        self.function(c.byref(self.place))


def put_member(kind, place, name, value, keep):
    """One member of a structure."""
    if kind in ct.NUMBERS:
        setattr(place, name, number(kind, value))
    elif kind == 'TEXT':
        setattr(place, name, None if value is None else plain(value, f'{name!r}'))
    elif kind in ('ARGV', 'ARGS'):
        array = words(value, keep, f'{name!r}')
        setattr(place, name, array if array is None else c.cast(array, c.POINTER(c.c_char_p)))
    elif kind == 'KEY':
        setattr(place, name, plain(value, 'a key', ct.KEY_SIZE))
    elif kind == 'NSPACE':
        setattr(place, name, plain(value, 'a namespace', ct.NSPACE_SIZE))
    elif kind == 'CHAR':
        setattr(place, name, bytes([value]) if isinstance(value, int) else plain(value, f'{name!r}', 2) or b'\0')
    else:
        put_struct(kind, getattr(place, name), value, keep)


SPECIAL = {'BYTE_OBJECT': put_bytes, 'COMPRESSED_STRING': put_bytes, 'COMPRESSED_BYTE_OBJECT': put_bytes,
           'DATA_ARRAY': put_array, 'PROC_CPUSET': put_cpuset}
# Members that may be missing, and what they are then.
MISSING = {('INFO', 'flags'): 0, ('APP', 'argv'): None, ('APP', 'env'): None, ('APP', 'cwd'): None,
           ('APP', 'info'): (), ('APP', 'maxprocs'): 1, ('QUERY', 'qualifiers'): (), ('REGATTR', 'description'): None,
           ('DEVICE_DIST', 'type'): 0, ('ENVAR', 'value'): None, ('ENVAR', 'separator'): 0, ('PDATA', 'proc'): None}


def put_struct(name, place, value, keep):
    """A structure from its dictionary."""
    if name == 'VALUE':
        put_value(place, value, keep)
    elif name == 'TIMEVAL':
        place.sec = integer(member(value, 'sec', 'a time'), "'sec'")
        place.usec = integer(member(value, 'usec', 'a time'), "'usec'")
    elif name in SPECIAL:
        SPECIAL[name](place, value, keep)
    elif name not in t.STRUCTS:
        raise BadValue(f'PMIX_{name} cannot be given from Python')
    else:
        put_members(name, place, value, keep)


def put_members(name, place, value, keep):
    """The members of a structure, one by one."""
    for kind, field, count in t.STRUCTS[name]:
        word = NAMES.get((name, field), field)
        if kind == 'OPAQUE':
            raise BadValue(f'PMIX_{name} cannot be given from Python')
        if kind == 'VALUE' and name in ('INFO', 'PDATA'):
            put_value(place.value, value, keep)
            continue
        if (name, field) in MISSING and isinstance(value, dict) and word not in value:
            item = MISSING[name, field]
        else:
            item = member(value, word, f'PMIX_{name}')
        if count is not None:
            items = [] if item is None else item
            if not isinstance(items, (list, tuple)):
                raise BadValue(f'{word!r} must be a list, not {type(items).__name__}')
            setattr(place, count, len(items))
            setattr(place, field, keep.address(put_items(kind, items, keep)))
        elif item is not None or kind in ('TEXT', 'ARGV', 'ARGS'):
            put_member(kind, place, field, item, keep)


def put_value(place, value, keep):
    """A value: {'value': ..., 'val_type': ...}."""
    code = member(value, 'val_type', 'a value')
    item = member(value, 'value', 'a value')
    name = type_name(code)
    shape = t.TYPES[code][2]
    place.type = code
    if name == 'UNDEF':
        return
    if name in ct.NUMBERS:
        setattr(place.data, name, number(name, item))
    elif shape == 'STRING':
        place.data.STRING = None if item is None else text(item)
    elif name == 'TIMEVAL':
        put_struct(name, place.data.TIMEVAL, item, keep)
    elif shape in ('BYTES', 'REGEX'):
        put_bytes(place.data.BYTES, item, keep)
    elif shape == 'ENVAR':
        put_struct(name, place.data.ENVAR, item, keep)
    elif shape == 'HEAP':
        put_heap(name, place, item, keep)
    elif shape == 'POINTER':
        place.data.HEAP = item
    else:
        raise BadValue(f'a value cannot be a PMIX_{name}')


def put_heap(name, place, item, keep):
    """What a value points to."""
    if name not in ct.KINDS:
        raise BadValue(f'PMIX_{name} cannot be given from Python')
    target = ct.KINDS[name]()
    if name == 'PROC_NSPACE':
        target.value = plain(item, 'a namespace', ct.NSPACE_SIZE)
    else:
        put_struct(name, target, item, keep)
    place.data.HEAP = keep.address(target)


def listed(name, items, keep, what):
    """(array of C or NULL, number) of a list that a call is given."""
    items = [] if items is None else items
    if not isinstance(items, (list, tuple)):
        raise BadValue(f'{what} must be a list, not {type(items).__name__}')
    return put_items(name, items, keep), len(items)


# ---- from C ----------------------------------------------------------------------------------------


def get_bytes(place):
    """A byte object."""
    data = c.string_at(place.bytes, place.size) if place.bytes and place.size else b''
    return {'bytes': data, 'size': len(data)}


def get_array(place):
    """A data array."""
    name = t.TYPES[place.type][0] if place.type in t.TYPES else None
    if name is None or (place.size and name not in ct.KINDS):
        return {'type': place.type, 'array': None}
    return {'type': place.type, 'array': get_items(name, place.array, place.size)}


def get_items(name, address, size):
    """The items of an array of C."""
    if name == 'BYTE':
        return c.string_at(address, size) if address and size else b''
    if not address or not size:
        return []
    return [get_item(name, one) for one in (ct.KINDS[name] * size).from_address(address)]


def get_item(name, item):
    """One item: numbers and texts have been converted by ctypes already."""
    if name in ct.NUMBERS or name == 'POINTER':
        return item
    if name in ('STRING', 'REGEX'):
        return string(item)
    if name == 'PROC_NSPACE':
        return string(item.value)
    return get_struct(name, item)


def get_words(array):
    """The texts of a NULL-ended array."""
    found = []
    if array:
        i = 0
        while array[i] is not None:
            found.append(string(array[i]))
            i += 1
    return found


def get_cpuset(place):
    """A cpuset, its processors as a list of ranges."""
    from ._library import library
    said = c.c_char_p()
    cpus = []
    if place.bitmap and library().PMIx_server_generate_cpuset_string(c.byref(place), c.byref(said)) == t.PMIX_SUCCESS:
        cpus = string(said.value).partition(':')[2].split(',')
        library().free(said)
    return {'source': string(place.source), 'cpus': cpus}


def get_member(kind, item):
    """One member of a structure."""
    if kind in ct.NUMBERS or kind == 'OPAQUE':
        return item
    if kind in ('ARGV', 'ARGS'):
        return get_words(item)
    if kind == 'CHAR':
        return string(item.rstrip(b'\0'))
    if kind in ('TEXT', 'KEY', 'NSPACE'):
        return string(item)
    return get_struct(kind, item)


def get_struct(name, place):
    """The dictionary of a structure."""
    if name == 'VALUE':
        return get_value(place)
    if name == 'TIMEVAL':
        return {'sec': place.sec, 'usec': place.usec}
    if name in ('BYTE_OBJECT', 'COMPRESSED_STRING', 'COMPRESSED_BYTE_OBJECT'):
        return get_bytes(place)
    if name == 'DATA_ARRAY':
        return get_array(place)
    if name == 'PROC_CPUSET':
        return get_cpuset(place)
    found = {}
    for kind, field, count in t.STRUCTS[name]:
        if kind == 'VALUE' and name in ('INFO', 'PDATA'):
            found.update(get_value(place.value))
        elif count is not None:
            found[NAMES.get((name, field), field)] = get_items(kind, getattr(place, field), getattr(place, count))
        else:
            found[NAMES.get((name, field), field)] = get_member(kind, getattr(place, field))
    return found


def get_value(place):
    """{'value': ..., 'val_type': ...} of a value."""
    name, _, shape = t.TYPES.get(place.type, ('UNDEF', None, 'NONE'))
    data = place.data
    if name == 'BYTE':
        item = bytes([data.BYTE])
    elif name in ct.NUMBERS:
        item = getattr(data, name)
    elif shape == 'STRING':
        item = string(data.STRING)
    elif name == 'TIMEVAL':
        item = get_struct(name, data.TIMEVAL)
    elif shape in ('BYTES', 'REGEX'):
        item = get_bytes(data.BYTES)
    elif shape == 'ENVAR':
        item = get_struct(name, data.ENVAR)
    elif shape == 'HEAP':
        item = get_heap(name, data.HEAP)
    else:
        item = data.HEAP if shape == 'POINTER' else None
    return {'value': item, 'val_type': place.type}


def get_heap(name, address):
    """What a value points to; None where it is empty or of a type that Python has no form of."""
    if not address or name not in ct.KINDS:
        return None
    target = ct.KINDS[name].from_address(address)
    return string(target.value) if name == 'PROC_NSPACE' else get_struct(name, target)


def get_list(name, array, size):
    """The dictionaries of an array that the library passes."""
    return [get_struct(name, array[i]) for i in range(size)] if array else []


def get_proc(pointer):
    """The process that a pointer names, or None."""
    return get_struct('PROC', pointer.contents) if pointer else None
