/* rendezvous_test.c - launchers find each other: in a private directory, by abstract names if there
 * is none, among very many names of another user, and after a launcher was killed.
 */
#include "io/rendezvous.h"

#include <errno.h>
#include <sched.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "io/runtime_dir.h"
#include "tests/tap.h"

static char base[] = "/tmp/wu-rendezvous.XXXXXX";

/* Another launcher: a process that listens until it is killed, identified by its pid. */
struct other {
    pid_t pid;
    int news, stay;
};

/* Its kind: 'd' or 'a' by where its name is, 't' if another one has its alias, 'n': it has no name.
 */
static char kind_of(struct rendezvous *r, const char *alias)
{
    if (rendezvous_open(r) < 0)
        return 'n';
    if (alias && rendezvous_set_alias(r, alias) == -EEXIST)
        return 't';
    return r->dir >= 0 ? 'd' : 'a';
}

static void be_launcher(const char *alias, int news, int stay)
{
    struct rendezvous r;
    char c = kind_of(&r, alias);

    if (write(news, &c, 1) != 1 || read(stay, &c, 1) < 0)
        _exit(1);
    rendezvous_close(&r);
    _exit(0);
}

static struct other start_as(const char *alias, char *kind)
{
    int news[2], stay[2];
    struct other o;

    if (pipe2(news, O_CLOEXEC) < 0 || pipe2(stay, O_CLOEXEC) < 0)
        abort();
    o.pid = fork();
    if (o.pid == 0) {
        close(stay[1]);
        be_launcher(alias, news[1], stay[0]);
    }
    o.news = news[0];
    o.stay = stay[1];
    close(news[1]);
    close(stay[0]);
    if (read(o.news, kind, 1) != 1)
        *kind = '?';
    return o;
}

static struct other start(char *kind)
{
    return start_as(NULL, kind);
}

static void end(struct other *o, bool kill_it)
{
    if (kill_it)
        kill(o->pid, SIGKILL);
    else if (write(o->stay, "e", 1) != 1)
        abort();
    close(o->stay);
    waitpid(o->pid, NULL, 0);
    close(o->news);
}

static unsigned entries_named(const char *pattern)
{
    char command[200];
    unsigned n = 0;
    FILE *p;

    snprintf(command, sizeof command, "find %s -mindepth 1 -name '%s' | wc -l", base, pattern);
    p = popen(command, "r");
    if (!p || fscanf(p, "%u", &n) != 1)
        abort();
    pclose(p);
    return n;
}

static unsigned entries(void)
{
    return entries_named("*");
}

/* Whether that launcher is listed, and can be reached. */
static bool finds(pid_t pid)
{
    struct launcher_name *all;
    int n = rendezvous_list(&all), fd = -1;

    for (int i = 0; i < n; i++) {
        if (all[i].pid == pid)
            fd = rendezvous_connect(&all[i]);
    }
    free(all);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static bool is_readable(int fd)
{
    struct pollfd p = { fd, POLLIN, 0 };

    return poll(&p, 1, 0) == 1;
}

/* The kernel gives each user a number of them. */
static bool can_watch(struct rendezvous *r)
{
    int rc = rendezvous_watch(r);

    if (rc == -EMFILE)
        printf("# this user has no inotify instance left: nothing is watched\n");
    else
        OK_F(rc == 0 && r->watch >= 0, "it is watched: %s", err_text(rc));
    return rc == 0;
}

static void test_directory(void)
{
    struct launcher_name *all;
    struct other a, b;
    struct rendezvous r;
    struct stat st;
    char kind, path[200];
    bool watched;

    a = start(&kind);
    OK_F(kind == 'd', "a launcher listens in the directory: %c", kind);
    snprintf(path, sizeof path, "%s/wireup", base);
    OK(stat(path, &st) == 0 && (st.st_mode & 0777) == 0700);
    b = start(&kind);
    OK(finds(a.pid) && finds(b.pid));
    OK(rendezvous_open(&r) == 0 && !finds(getpid()));
    OK(r.watch < 0);
    watched = can_watch(&r);
    OK_F(!rendezvous_is_lost(&r), "our own name is there");
    end(&a, false);
    OK(!finds(a.pid) && finds(b.pid));
    OK_F(!watched || !is_readable(r.watch), "another one's end wakes nobody");
    EQ(rendezvous_list_in_dirs(&all), 1);
    OK_F(all[0].pid == b.pid && all[0].where >= 0, "the directories alone list it, too");
    free(all);
    EQ(rendezvous_list(&all), 1);
    end(&b, true);
    OK_F(entries() == 3, "who was killed has left its name");
    EQ(rendezvous_connect(&all[0]), -ECONNREFUSED);
    OK_F(entries() == 2, "and who looks for it removes it");
    free(all);
    unlinkat(r.dir, r.name, 0);
    OK_F((!watched || is_readable(r.watch)) && rendezvous_is_lost(&r),
         "a name that has gone is noticed");
    rendezvous_close(&r);
    rendezvous_close(&r);
    EQ(entries(), 0);
    b = start(&kind);
    end(&b, true);
    OK_F(rendezvous_list_in_dirs(&all) == 1 && entries() == 2,
         "the directories alone are no more than read");
    free(all);
    OK_F(entries() == 2 && rendezvous_list(&all) == 0 && entries() == 0, "a listing tidies up");
    free(all);
    OK(rendezvous_open(&r) == 0);
    rendezvous_close(&r);
    OK_F(entries() == 0, "nothing is left");
}

static bool connects(pid_t pid)
{
    int fd = rendezvous_connect_pid(pid);

    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static unsigned long long own_world(void)
{
    struct stat st;

    if (stat("/proc/self/ns/pid", &st) < 0)
        abort();
    return st.st_ino;
}

/* The socket of a killed launcher; early: it was killed before it listened. */
static void leave_name(bool early, unsigned long long world, pid_t pid)
{
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        abort();
    snprintf(at.sun_path, sizeof at.sun_path, "%s/wireup/%s%llu.%d.00000000", base,
             early ? "." : "", world, (int)pid);
    if (bind(fd, (struct sockaddr *)&at, sizeof at) < 0)
        abort();
    close(fd);
}

/* One launcher is found without a listing of all, which would remove the name of the killed one. */
static void test_one_pid(void)
{
    struct other a, b;
    char kind, killed[40];

    a = start(&kind);
    b = start(&kind);
    end(&b, true);
    leave_name(false, own_world(), a.pid); /* its pid, too */
    EQ(entries(), 4);
    snprintf(killed, sizeof killed, "*.%d.*", (int)b.pid);
    OK_F(connects(a.pid),
         "a launcher is found by its pid, and its predecessor's name is passed over");
    OK_F(entries_named(killed) == 1, "names of other pids are not looked at");
    EQ(rendezvous_connect_pid(b.pid), -ESRCH);
    EQ(rendezvous_connect_pid(getpid()), -ESRCH);
    end(&a, false);
    EQ(rendezvous_connect_pid(a.pid), -ESRCH);
    rendezvous_tidy();
    EQ(entries(), 0);
}

/* A socket has another name until it can be connected to: then its process is all that tells. */
static void test_killed_early(void)
{
    struct other a;
    char kind, path[200];
    pid_t ended;

    a = start(&kind);
    end(&a, false);
    ended = a.pid;
    a = start(&kind);
    leave_name(true, own_world(), ended);
    leave_name(true, own_world(), a.pid);
    leave_name(true, own_world() + 1, ended);
    EQ(entries(), 5);
    rendezvous_tidy();
    snprintf(path, sizeof path, ".*.%d.*", (int)ended);
    OK_F(entries() == 4 && entries_named(path) == 1, "that of a process that has ended goes, but "
                                                     "not that of another pid namespace");
    snprintf(path, sizeof path, ".*.%d.*", (int)a.pid);
    OK_F(entries_named(path) == 1, "who lives may still get its name");
    end(&a, true);
    rendezvous_tidy();
    OK_F(entries() == 2 && entries_named(path) == 0, "or is killed before");
    snprintf(path, sizeof path, "%s/wireup/.%llu.%d.00000000", base, own_world() + 1, (int)ended);
    OK(unlink(path) == 0);
    rendezvous_tidy();
    EQ(entries(), 0);
}

/* Whether that launcher has the alias, and can be reached. */
static bool has_alias(pid_t pid, const char *alias)
{
    struct launcher_name l;
    int fd = rendezvous_find_alias(alias, &l) == 0 && l.pid == pid ? rendezvous_connect(&l) : -1;

    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static bool nobody_has(const char *alias)
{
    struct launcher_name l;

    return rendezvous_find_alias(alias, &l) == -ENOENT;
}

/* An alias is a launcher's as long as it lives, and is no launcher in a listing. */
static void test_alias(void)
{
    struct launcher_name *all;
    struct other a, b, c;
    struct rendezvous r;
    char kind;

    OK(nobody_has("one"));
    a = start_as("one", &kind);
    b = start_as("other.1", &kind);
    OK_F(has_alias(a.pid, "one") && has_alias(b.pid, "other.1"), "launchers have aliases");
    OK_F(nobody_has("on") && nobody_has("other") && nobody_has("One"), "no others");
    EQ(rendezvous_list(&all), 2);
    free(all);
    c = start_as("one", &kind);
    OK_F(kind == 't' && has_alias(a.pid, "one"), "an alias is not taken from who lives");
    end(&c, false);
    OK_F(has_alias(a.pid, "one"), "who has not got it does not remove it");
    OK(rendezvous_open(&r) == 0 && rendezvous_set_alias(&r, "own") == 0);
    OK_F(nobody_has("own"), "we do not look for ourselves");
    rendezvous_close(&r);
    EQ(entries_named("*.own"), 0);
    end(&b, false);
    OK_F(nobody_has("other.1") && entries_named("*.other.1") == 0, "it goes with its launcher");
    end(&a, true);
    OK_F(entries_named("*.one") == 1 && !has_alias(a.pid, "one"), "who was killed has left it");
    b = start_as("one", &kind);
    OK_F(kind == 'd' && has_alias(b.pid, "one"), "and the next one takes it");
    end(&b, true);
    OK(entries_named("*.one") == 1);
    rendezvous_tidy();
    EQ(entries(), 0);
}

/* The socket of a launcher in another pid namespace tells whether it lives. */
static void test_foreign_alias(void)
{
    char target[RENDEZVOUS_NAME], path[200];
    struct rendezvous r;

    OK(rendezvous_open(&r) == 0);
    snprintf(path, sizeof path, "%s/wireup/%llu.far", base, own_world() + 1);
    OK(symlink(r.name, path) == 0);
    rendezvous_tidy();
    EQ(entries_named("*.far"), 1);
    unlink(path);
    snprintf(target, sizeof target, "%llu.1.00000000", own_world() + 1);
    OK(symlink(target, path) == 0);
    rendezvous_tidy();
    EQ(entries_named("*.far"), 0);
    OK_F(symlink("elsewhere", path) == 0, "a link of others");
    rendezvous_tidy();
    EQ(entries_named("*.far"), 1);
    unlink(path);
    rendezvous_close(&r);
    EQ(entries(), 0);
}

/* A name that has gone before it is watched, and one that was moved. */
static void test_loss(void)
{
    struct rendezvous r;
    bool watched;

    OK(rendezvous_open(&r) == 0 && r.dir >= 0);
    unlinkat(r.dir, r.name, 0);
    can_watch(&r);
    OK_F(rendezvous_is_lost(&r), "a loss before the watch is seen");
    rendezvous_close(&r);
    OK(rendezvous_open(&r) == 0);
    watched = can_watch(&r);
    OK_F(!watched || !is_readable(r.watch), "nothing has happened");
    OK(renameat(r.dir, r.name, r.dir, "elsewhere") == 0);
    OK_F((!watched || is_readable(r.watch)) && rendezvous_is_lost(&r),
         "a name that was moved is lost");
    unlinkat(r.dir, "elsewhere", 0);
    rendezvous_close(&r);
    EQ(entries(), 0);
}

/* A directory that others may enter or that is a link is none. */
static void test_not_private(void)
{
    char path[200], to[200];
    struct rendezvous r;
    struct stat st;
    bool other_dir = stat("/run/user/0", &st) == 0;

    chmod(base, 0755);
    OK(runtime_dir_open(0, true) == -EACCES);
    OK(rendezvous_open(&r) == 0 && (r.dir < 0 || other_dir));
    rendezvous_close(&r);
    chmod(base, 0700);
    snprintf(path, sizeof path, "%s/wireup", base);
    snprintf(to, sizeof to, "%s/elsewhere", base);
    OK(mkdir(to, 0700) == 0 && symlink(to, path) == 0);
    OK_F(runtime_dir_open(0, true) < 0, "a link is not followed");
    unlink(path);
    rmdir(to);
    OK(mkdir(path, 0777) == 0 && chmod(path, 0777) == 0 && runtime_dir_open(0, true) == -EACCES);
    rmdir(path);
    setenv("XDG_RUNTIME_DIR", "relative", 1);
    OK(runtime_dir_open(0, true) == -ENOENT);
    setenv("XDG_RUNTIME_DIR", base, 1);
}

/* Names of another user, as many as it likes; without root: as many of our own, of which none is a
 * launcher's. */
static pid_t take_names(unsigned count)
{
    int ready[2];
    char c;
    pid_t pid;

    if (pipe2(ready, O_CLOEXEC) < 0)
        abort();
    pid = fork();
    if (pid == 0) {
        struct stat st;
        unsigned uid = geteuid();
        if (stat("/proc/self/ns/pid", &st) < 0 || setgid(65534) < 0 || setuid(65534) < 0)
            _exit(1);
        for (unsigned i = 0; i < count; i++) {
            struct sockaddr_un at = { .sun_family = AF_UNIX };
            int fd = socket(AF_UNIX, SOCK_STREAM, 0);
            int n = snprintf(at.sun_path + 1, sizeof at.sun_path - 1, "wireup/%u/%llu.%u.%08x", uid,
                             (unsigned long long)st.st_ino, i % 30000 + 1, i);
            if (bind(fd, (struct sockaddr *)&at,
                     (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n)) < 0 ||
                listen(fd, 1) < 0)
                _exit(2);
        }
        if (write(ready[1], "r", 1) != 1)
            _exit(3);
        pause();
        _exit(0);
    }
    close(ready[1]);
    if (read(ready[0], &c, 1) != 1)
        pid = -1;
    close(ready[0]);
    return pid;
}

/* Whether a search in pieces finds it, and their number. */
static bool finds_in_pieces(pid_t pid, unsigned *pieces_p)
{
    struct rendezvous_search *s = rendezvous_search_begin();
    struct launcher_name *all;
    bool found = false;
    int n;

    for (*pieces_p = 1; rendezvous_search_more(s); ++*pieces_p)
        continue;
    n = rendezvous_search_end(s, &all);
    for (int i = 0; i < n; i++)
        found = found || all[i].pid == pid;
    free(all);
    return found;
}

static void test_abstract(void)
{
    struct launcher_name *all;
    struct other a, b;
    pid_t other_user = -1;
    unsigned pieces;
    char kind;
    int n;

    unsetenv("XDG_RUNTIME_DIR");
    if (runtime_dir_open(1, true) >= 0)
        return; /* this user has a directory, and no launcher of ours an abstract name */
    a = start(&kind);
    OK_F(kind == 'a', "without a directory the name is abstract: %c", kind);
    if (geteuid() == 0)
        other_user = take_names(900);
    b = start(&kind);
    OK(finds(a.pid) && finds(b.pid));
    OK_F(connects(a.pid) && connects(b.pid), "an abstract name is found by its pid");
    OK(finds_in_pieces(a.pid, &pieces));
    OK_F(other_user < 0 || pieces > 1, "among many names a search has several pieces: %u", pieces);
    EQ(rendezvous_list_in_dirs(&all), 0);
    free(all);
    n = rendezvous_list(&all);
    OK_F(n >= 2 && n < 100, "%d launchers are listed, and not the names of another user", n);
    for (int i = 0; i < n; i++)
        OK(other_user < 0 || all[i].pid != other_user);
    free(all);
    end(&a, true);
    OK_F(!finds(a.pid) && finds(b.pid), "an abstract name goes with its launcher");
    end(&b, false);
    if (other_user > 0) {
        kill(other_user, SIGKILL);
        waitpid(other_user, NULL, 0);
    }
}

int main(void)
{
    /* Names of our own, if this machine lets us. */
    if (unshare(CLONE_NEWNET) < 0)
        printf("# others may be listed as well\n");
    if (!mkdtemp(base) || setenv("XDG_RUNTIME_DIR", base, 1) < 0)
        return 1;
    test_directory();
    test_one_pid();
    test_killed_early();
    test_alias();
    test_foreign_alias();
    test_loss();
    test_not_private();
    test_abstract();
    rmdir(base);
    return tap_done();
}
