"""The first words between daemons, as strangers know them; for unauthenticated.py and daemons_unauthenticated.py."""
import struct
import subprocess

MAGIC = b'\x89WIREUP\n'
LINK_VERSION = 2         # src/io/daemon_link_crypto.h


def head(version, kind):
    return MAGIC + struct.pack('>HHBBH', version, version, kind, 0, 0) + b'9.9.9'.ljust(16, b'\0')


def heard(s):
    """All that the other end says before it closes."""
    got = b''
    try:
        while True:
            piece = s.recv(4096)
            if not piece:
                return got
            got += piece
    except ConnectionError:
        return got


def daemon(wireupd, record):
    """Runs a daemon on a launcher's record; its last line and its status."""
    p = subprocess.run([wireupd], input=record.encode(), stdout=subprocess.PIPE, timeout=300)
    return p.stdout.decode().splitlines()[-1], p.returncode
