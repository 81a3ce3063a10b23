"""What connects to a daemon and has no business there.

    daemons_unauthenticated.py HOST PORT WIREUPD VERSION ADDRESSES

Prints a line for each; the daemon is to refuse them all, and to live on."""
import os
import socket
import sys

from greeting import LINK_VERSION, MAGIC, daemon, head, heard

host, port, wireupd, version, addresses = sys.argv[1:]


def call():
    return socket.create_connection((host, int(port)), timeout=300)


call().close()
print('scan done')
s = call()
s.sendall(os.urandom(4000))
print('garbage', 'answered' if heard(s) else 'unanswered')
s = call()
s.sendall(head(9, 1) + bytes(40))
print('future', 'named' if heard(s)[:8] == MAGIC else 'not named')
s = call()
s.sendall(head(LINK_VERSION - 1, 1) + bytes(72))
print('past', 'named' if heard(s)[:8] == MAGIC else 'not named')
s = call()
s.sendall(head(LINK_VERSION, 1) + bytes(72))
print('forged', 'named' if heard(s)[:8] == MAGIC else 'not named')
record = f'wireup-boot 1 {version}\nposition 1\ncount 2\nwidth 1\nkey {"5a" * 32}\nparent 0\n' \
         f'addresses {addresses}\nwall 0\noption agent fork\noption wireupd wireupd\nend\n'
print('other job: {} status {}'.format(*daemon(wireupd, record)))
print('other launcher: {} status {}'.format(*daemon(wireupd, record.replace(version, '9.9.9', 1))))
