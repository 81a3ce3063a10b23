#!/usr/bin/env python3
"""The trace of several nodes as files of each node, as a killed launcher leaves them: trace_split.py SOURCE FILE

FILE has the launcher's records, FILE.NODE those of the others.  SOURCE/proto/record.def names the kinds.
"""
import os
import re
import sys


def number(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7f) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def written(value):
    out = b''
    while value >= 0x80:
        out += bytes([value & 0x7f | 0x80])
        value >>= 7
    return out + bytes([value])


def text(data, at):
    length, at = number(data, at)
    return data[at:at + length], at + length


def split(data, section):
    """The launcher's own trace, and those of the others by name."""
    kept, others, skipped, at = data[:16], {}, 0, 16
    while at + 4 <= len(data):
        length = int.from_bytes(data[at:at + 4], 'little')
        body = data[at + 4:at + 4 + length]
        since, rest = number(body, 1)
        if body[0] == section:
            host, rest = text(body, rest)
            _, rest = number(body, rest)
            _, rest = text(body, rest)
            piece, _ = text(body, rest)
            others[host.decode()] = others.get(host.decode(), b'') + piece
            skipped += since
        else:
            body = body[:1] + written(since + skipped) + body[rest:]
            kept += len(body).to_bytes(4, 'little') + body
            skipped = 0
        at += 4 + length
    return kept, others


def main():
    source, name = sys.argv[1:]
    with open(os.path.join(source, 'proto/record.def'), encoding='utf-8') as f:
        kinds = re.findall(r'^RECORD\((\w+)', f.read(), re.M)
    with open(name, 'rb') as f:
        kept, others = split(f.read(), kinds.index('section'))
    for node, data in [('', kept)] + [('.' + n, d) for n, d in others.items()]:
        with open(name + node, 'wb') as f:
            f.write(data)
        os.chmod(name + node, 0o600)


main()
