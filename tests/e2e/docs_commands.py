"""The commands that the documents print: lists them, runs them.

    docs_commands.py SOURCE-DIRECTORY TABLE      runs each one in the current directory; prints for each one
                                                 `good COMMAND`, `bad COMMAND` with what it said, or `not COMMAND: WHY`

A command is a line of a code block that begins with a program, or a text between backquotes that begins with one of
ours; in manuals a line of .Dl, in help a line of its examples.  Words in capitals stand for something (FILE, JOB) that
the test has.  What only names a command and its options is compared with its help; of what builds, measures or renews
the tree, the target or script must be there.  The table has rows PATTERN, HOW and WHY, separated by tabs; the first row
whose pattern is found in `PAGE: COMMAND` holds.  HOW: `not`; `with NAME=VALUE`; `until TEXT`, for one that goes on: it
is ended when it has printed that.  A row that no command needs is an error.
"""
import glob
import os
import re
import shlex
import signal
import subprocess
import sys

PATIENCE = 300
OURS = r'(?:wireup|mpirun|mpiexec|make|\./[\w-]+|(?:scripts|tests|bench|fuzz)/[\w-]+)'
OTHERS = r'|'.join((OURS, r'srun|sh|tar|~/\S+|module|systemctl|update-alternatives|ldconfig|salloc|apt|pip|meson|docker|kubectl'))
IN_TEXT = re.compile(OURS + r' [\w./-]')
IN_BLOCK = re.compile('(?:' + OTHERS + r')( [\w./~-]|$)')
DRAWN = re.compile(r'.*(  |--\+--)')
NAMED = re.compile(r'wireup( [a-z][a-z-]+)?(( --?[a-z][\w-]*)*)$')
TREE = re.compile(r'(make|scripts/[\w-]+|tests/[\w-]+|bench/[\w-]+) ')
STANDS = {'FILE': 'job.trace', 'TRACE': 'job.trace', 'JOB': 'stands', 'HOSTS': 'a,b', 'NODE': 'a', 'N': '2', 'HOW': 'ring',
          'WORDS...': 'true'}


def pages(root):
    names = ['README.md', 'CONTRIBUTING.md'] + [os.path.relpath(f, root) for pattern in
                                                ('docs/*.md', 'docs/site/*.md', 'docs/design/*.md', 'docs/protocol/*.md')
                                                for f in sorted(glob.glob(os.path.join(root, pattern)))]
    for name in names:
        with open(os.path.join(root, name), encoding='utf-8') as f:
            yield name, f.read()


def blocks(text):
    """Code blocks, as lists of lines, and the text without them."""
    found, rest, fence = [], [], None
    for line in text.split('\n'):
        if line.lstrip().startswith('```'):
            fence = None if fence is not None else found.append([]) or True
        elif fence:
            found[-1].append(line)
        elif line.startswith('    '):
            if not rest or rest[-1] is not None:
                found.append([])
            rest.append(None)
            found[-1].append(line[4:])
        else:
            rest.append(line)
    return found, '\n'.join(line or '' for line in rest)


def printed(root):
    """(page, command or block of Python) in the order of the pages."""
    for page, text in pages(root):
        code, prose = blocks(text)
        for lines in code:
            if re.match(r'\s*(import|from) ', lines[0]):
                yield page, '\n'.join(lines)
                continue
            for line in lines:
                line = re.sub(r'\s{2,}# .*$', '', line.strip())
                if IN_BLOCK.match(line) and not DRAWN.match(line):
                    yield page, line
        for span in re.findall(r'`([^`\n]+)`', prose.replace('\n', ' ')):
            if IN_TEXT.match(span):
                yield page, span
    with open(os.path.join(root, 'docs/man/wireup.1'), encoding='utf-8') as f:
        for line in re.findall(r'^\.Dl (.*)$', f.read(), re.M):
            yield 'docs/man/wireup.1', line
    told = subprocess.run([os.environ['WIREUP'], '--help'], stdout=subprocess.PIPE, check=True).stdout.decode()
    for line in re.findall(r'^  (wireup \S.*)$', told.split('Examples:\n')[1].split('\n\n')[0], re.M):
        yield 'wireup --help', re.sub(r'\s{2,}.*', '', line)


def rows(table):
    with open(table, encoding='utf-8') as f:
        for line in f:
            if line.strip() and not line.startswith('#'):
                pattern, how, why = line.rstrip('\n').split('\t')
                yield [re.compile(pattern), how, why, 0]


def command_of(text):
    """The command with what the test has in the places of words in capitals."""
    if re.match(r'\s*(import|from) ', text):
        with open('block.py', 'w', encoding='utf-8') as f:
            f.write(text + '\n')
        return 'wireup -n 2 python3 block.py' if 'PMIxClient' in text else 'python3 block.py'
    return ' '.join(STANDS.get(word, word) for word in text.split(' '))


def is_there(root, command):
    """Of a command that builds, measures or renews the tree: its target, or its script."""
    words = shlex.split(command)
    if words[0] != 'make':
        return os.access(os.path.join(root, words[0]), os.X_OK), 'no such script'
    with open(os.path.join(root, 'Makefile'), encoding='utf-8') as f:
        targets = re.findall(r'^([a-z-]+):', f.read(), re.M)
    missing = [w for w in words[1:] if '=' not in w and w not in targets + ['&&', 'make']]
    return not missing, 'no target ' + ' '.join(missing)


def is_known(named):
    """Of the name of a command, with options: whether its help has them."""
    topics = [named.group(1).strip()] if named.group(1) else [w.lstrip('-') for w in named.group(2).split()]
    said = ''
    for topic in topics:
        help_of = subprocess.run([os.environ['WIREUP'], 'help', topic], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                 check=False)
        said += help_of.stdout.decode()
        if help_of.returncode and topic not in ('run', 'help'):
            return False, said
    return all(w.lstrip('-') in said for w in named.group(2).split()), said


def until(command, what):
    """It goes on until it is ended, and says what it should before."""
    with subprocess.Popen(['bash', '-c', 'exec ' + command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT) as program:
        said = ''
        for line in program.stdout:
            said += line.decode(errors='replace')
            if what in said:
                break
        program.send_signal(signal.SIGTERM)
        program.communicate()
    return what in said, said


def run(command, how):
    if how.startswith('until '):
        return until(command, how[6:])
    if how.startswith('with '):
        command = 'export %s; %s' % (how[5:], command)
    try:
        done = subprocess.run(['bash', '-c', command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=PATIENCE, check=False)
    except subprocess.TimeoutExpired:
        return False, 'it does not come to an end'
    return done.returncode == 0, 'status %d: %s' % (done.returncode, done.stdout.decode(errors='replace'))


def order(text):
    """A DVM is up before it is used, and its end comes last."""
    for place, start in enumerate(('wireup up', 'wireup run', 'wireup on', 'wireup down', 'wireup kill'), 1):
        if text.startswith(start):
            return place
    return 0


def report(good, name, said):
    print('%s %s' % ('good' if good else 'bad', name))
    if not good:
        print('\n'.join('# ' + line for line in said.split('\n')[:8]))
    sys.stdout.flush()


def main(root, table):
    known, seen = list(rows(table)), {}
    for page, text in printed(root):
        row = next((r for r in known if r[0].search('%s: %s' % (page, text))), None)
        if row:
            row[3] += 1
        seen.setdefault(text, (page, row[1] if row else '', row[2] if row else ''))
    for text in sorted(seen, key=order):
        page, how, why = seen[text]
        name = '%s: %s' % (page, text.split('\n')[0])
        named, tree = NAMED.match(text), TREE.match(text)
        if how == 'not':
            print('not %s: %s' % (name, why))
        elif named or tree:
            good, said = is_known(named) if named else is_there(root, text)
            report(good, name, said)
        elif re.search(r'\.\.\. |\.\.\.$|…|\[[A-Z]', text.replace('WORDS...', '')):
            print('not %s: a form, not a command' % name)
        else:
            if text.startswith('wireup up'):
                subprocess.run([os.environ['WIREUP'], 'down'], stderr=subprocess.DEVNULL, check=False)
            good, said = run(command_of(text), how)
            report(good, name, said)
    for pattern, _, _, used in known:
        if not used:
            print('bad no command is as this row of the table: %s' % pattern.pattern)


main(*sys.argv[1:])
