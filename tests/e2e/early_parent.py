"""What a daemon takes for its parent, which takes long to answer; see early-daemons.sh.

    early_parent.py FILE    prints where it listens; with the line `pass` of standard input it passes all connections on to
                            the first address in FILE, and with any other line it ends, which resets them"""
import socket
import sys
import threading


def passes(source, to):
    while data := source.recv(65536):
        to.sendall(data)
    to.shutdown(socket.SHUT_WR)


def main():
    listener = socket.create_server(("127.0.0.1", 0))
    print("127.0.0.1:%d" % listener.getsockname()[1], flush=True)
    if sys.stdin.readline() != "pass\n":
        return
    with open(sys.argv[1]) as f:
        host, port = f.read().split()[0].rsplit(":", 1)
    while True:
        here, _ = listener.accept()
        there = socket.create_connection((host.strip("[]"), int(port)))
        for ends in ((here, there), (there, here)):
            threading.Thread(target=passes, args=ends, daemon=True).start()


if __name__ == "__main__":
    main()
