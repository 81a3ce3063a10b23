#!/usr/bin/env python3
"""A person at a terminal: runs a command on a pseudo terminal and follows steps.

    terminal.py STEP... -- COMMAND ARGS...

    see TEXT      read what the terminal shows until TEXT has appeared there (not seen before)
    type KEYS     type them; \\x03 is Ctrl-C, \\x1a Ctrl-Z
    kill SIGNAL   send the command's process a signal: USR1, KILL, ...
    stopped       wait until the command's process has been stopped
    size R C      change the size of the window
    sh COMMAND    run a shell command; $PID is the command's process; it has to end with 0
    end           wait until the command has ended, read what is left

Prints what the terminal showed, then `status N` (128+signal) or `stuck at STEP`.  Every step has the
same net of 300 seconds; nothing is decided by time otherwise.
"""
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time

NET = 300


class Stuck(Exception):
    pass


class Terminal:
    def __init__(self, command):
        self.shown = b''
        self.seen = 0
        self.status = None
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            for s in (signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP, signal.SIGPIPE, signal.SIGHUP):
                signal.signal(s, signal.SIG_DFL)
            try:
                # Before the command begins, which may look at the settings.
                attributes = termios.tcgetattr(0)
                attributes[3] &= ~termios.ECHO
                termios.tcsetattr(0, termios.TCSANOW, attributes)
                os.execvp(command[0], command)
            finally:
                os._exit(127)

    def read(self, deadline):
        """Reads once; False at the end of the terminal."""
        ready, _, _ = select.select([self.fd], [], [], max(0, deadline - time.monotonic()))
        if not ready:
            raise Stuck
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            data = b''
        self.shown += data.replace(b'\r\n', b'\n')
        return bool(data)

    def see(self, text):
        deadline = time.monotonic() + NET
        text = text.encode()
        while text not in self.shown[self.seen:]:
            if not self.read(deadline):
                raise Stuck
        self.seen = self.shown.index(text, self.seen) + len(text)

    def wait(self, options):
        deadline = time.monotonic() + NET
        while time.monotonic() < deadline:
            pid, status = os.waitpid(self.pid, options | os.WNOHANG)
            if pid:
                if os.WIFSTOPPED(status):
                    return
                self.status = (os.WEXITSTATUS(status) if os.WIFEXITED(status)
                               else 128 + os.WTERMSIG(status))
                return
            if select.select([self.fd], [], [], 0.02)[0]:
                try:
                    self.read(deadline)
                except Stuck:
                    pass
        raise Stuck

    def end(self):
        if self.status is None:
            self.wait(0)
        while select.select([self.fd], [], [], 0)[0] and self.read(time.monotonic() + 1):
            pass


def follow(terminal, steps):
    steps = list(steps)
    while steps:
        step = steps.pop(0)
        try:
            if step == 'see':
                step += ' ' + steps[0]
                terminal.see(steps.pop(0))
            elif step == 'type':
                os.write(terminal.fd, steps.pop(0).encode().decode('unicode_escape').encode('latin-1'))
            elif step == 'kill':
                os.kill(terminal.pid, getattr(signal, 'SIG' + steps.pop(0)))
            elif step == 'stopped':
                terminal.wait(os.WUNTRACED)
            elif step == 'size':
                size = struct.pack('HHHH', int(steps.pop(0)), int(steps.pop(0)), 0, 0)
                fcntl.ioctl(terminal.fd, termios.TIOCSWINSZ, size)
            elif step == 'sh':
                step += ' ' + steps[0]
                if subprocess.run(['sh', '-c', steps.pop(0)],
                                  env=dict(os.environ, PID=str(terminal.pid))).returncode != 0:
                    raise Stuck
            elif step == 'end':
                terminal.end()
            else:
                sys.exit(f'terminal.py: no step {step}')
        except Stuck:
            return f'stuck at {step}'
    return f'status {terminal.status}'


def main(argv):
    cut = argv.index('--')
    terminal = Terminal(argv[cut + 1:])
    verdict = follow(terminal, argv[:cut])
    if terminal.status is None:
        os.kill(terminal.pid, signal.SIGKILL)
        os.kill(terminal.pid, signal.SIGCONT)
    sys.stdout.buffer.write(terminal.shown)
    sys.stdout.buffer.flush()
    print('\n' * (not terminal.shown.endswith(b'\n')) + verdict)


if __name__ == '__main__':
    main(sys.argv[1:])
