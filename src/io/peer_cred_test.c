/* peer_cred_test.c - the user at the other end of a connection: also if it is another user, if the
 * peer is gone, is half gone, has not come yet, or cannot be expressed here.  No peer may ever pass
 * for another user.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd_pass.h"
#include "io/socket_owner.h"
#include "io/peer_cred.h"
#include "tests/tap.h"

/* The other process's action on its connection. */
enum act { STAY, CLOSE, RESET, HALF_CLOSE };

struct place {
    int fd;
    struct sockaddr_storage at;
    socklen_t len;
};

static bool listen_on(int family, struct place *p)
{
    p->at = (struct sockaddr_storage){ .ss_family = (sa_family_t)family };
    p->fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (family == AF_INET)
        ((struct sockaddr_in *)(void *)&p->at)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    else
        ((struct sockaddr_in6 *)(void *)&p->at)->sin6_addr = in6addr_loopback;
    p->len = family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
    if (bind(p->fd, (struct sockaddr *)&p->at, p->len) < 0 || listen(p->fd, 64) < 0) {
        close(p->fd);
        return false;
    }
    getsockname(p->fd, (struct sockaddr *)&p->at, &p->len);
    return true;
}

/* The same address, as an IPv6 socket names it. */
static struct place map(const struct place *p)
{
    const struct sockaddr_in *in = (const void *)&p->at;
    struct place m = { .at.ss_family = AF_INET6, .len = sizeof(struct sockaddr_in6) };
    struct sockaddr_in6 *in6 = (void *)&m.at;

    in6->sin6_port = in->sin_port;
    in6->sin6_addr.s6_addr[10] = in6->sin6_addr.s6_addr[11] = 0xff;
    memcpy(&in6->sin6_addr.s6_addr[12], &in->sin_addr, 4);
    return m;
}

static uid_t other_user(void)
{
    return getuid() == 0 ? 65534 : getuid(); /* only root can become another user */
}

static void leave(int fd, enum act act)
{
    const struct linger now = { .l_onoff = 1 };

    if (act == RESET)
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    if (act == HALF_CLOSE)
        shutdown(fd, SHUT_WR);
    else
        close(fd);
}

/* Connects as uid and sends a word; does its act when a byte comes on `go`; ends when `go` does. */
static pid_t connect_as(uid_t uid, const struct place *to, enum act act, const int *ends)
{
    pid_t pid = fork();
    int fd, go = ends[1];
    char c;

    if (pid)
        return pid;
    close(ends[0]);
    if (uid != getuid() && setuid(uid) < 0)
        _exit(2);
    fd = socket(to->at.ss_family, SOCK_STREAM, 0);
    if (connect(fd, (const struct sockaddr *)&to->at, to->len) < 0 || write(fd, "hello", 5) != 5)
        _exit(3);
    if (read(go, &c, 1) == 1) {
        leave(fd, act);
        if (write(go, "!", 1) == 1 && read(go, &c, 1) == 0)
            _exit(0);
    }
    _exit(0);
}

struct visit {
    int fd, go;
    pid_t pid;
};

static struct visit visit_as(uid_t uid, const struct place *here, const struct place *to,
                             enum act act)
{
    struct visit v;
    int go[2];

    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, go);
    v.pid = connect_as(uid, to, act, go);
    close(go[1]);
    v.go = go[0];
    v.fd = accept4(here->fd, NULL, NULL, SOCK_CLOEXEC);
    return v;
}

/* It has done its act, and the kernel knows. */
static void act_now(const struct visit *v, bool ends)
{
    struct pollfd p = { v->fd, POLLRDHUP, 0 };
    char c;

    if (write(v->go, "!", 1) != 1 || read(v->go, &c, 1) != 1)
        OK_F(false, "the other process acts");
    if (ends)
        poll(&p, 1, 10000);
}

static void end_visit(struct visit *v)
{
    int status = -1;

    close(v->go);
    close(v->fd);
    waitpid(v->pid, &status, 0);
    EQ(status, 0);
}

struct wanted {
    ino_t socket;
    pid_t holder, not_entered;
    int fd;
};

static bool is_wanted(void *arg, pid_t pid, int fd, ino_t socket)
{
    struct wanted *w = arg;

    w->holder = socket == w->socket ? pid : 0;
    w->fd = fd;
    return socket == w->socket;
}

static bool is_entered(void *arg, pid_t pid)
{
    const struct wanted *w = arg;

    return pid != w->not_entered;
}

static void test_visit(pid_t holder, ino_t socket)
{
    struct wanted w = { .socket = socket };
    const struct socket_visitor v = { is_wanted, is_entered, &w, 0 };

    OK(socket_owner_visit(holder, false, &v) && w.holder == holder);
    OK(socket_owner_has_at(holder, w.fd, socket) && !socket_owner_has_at(holder, w.fd, socket + 1));
    OK(!socket_owner_has_at(holder, w.fd + 1, socket) &&
       !socket_owner_has_at(getpid(), 1 << 20, socket));
    OK(!socket_owner_visit(holder, true, &v) && !socket_owner_visit(getpid(), false, &v));
    OK(socket_owner_visit(getpid(), true, &v) && w.holder == holder);
    w.not_entered = holder;
    OK(!socket_owner_visit(getpid(), true, &v));
}

static void test_there(const char *what, const struct place *here, const struct place *to)
{
    struct visit v = visit_as(other_user(), here, to, STAY);
    struct peer_cred c;

    OK_F(peer_cred_read(v.fd, &c) == 0 && c.uid == other_user(), "%s: the peer is user %u, seen %u",
         what, (unsigned)other_user(), (unsigned)c.uid);
    OK_F(c.socket != 0 && c.pid == 0 && !c.has_gid, "%s: no process or group is guessed", what);
    OK_F(peer_cred_check(v.fd, &c) == 0, "%s: it still is", what);
    OK(socket_owner_is_below(v.pid, c.socket) && socket_owner_is_below(getpid(), c.socket));
    OK(!socket_owner_is_below(v.pid, (ino_t)-1) && !socket_owner_is_below(getpid(), (ino_t)-1));
    test_visit(v.pid, c.socket);
    peer_cred_find_process(&c, getpid());
    OK_F(c.pid == v.pid && c.has_gid && c.gid == getgid(), "%s: its process and group are found",
         what);
    c.uid++;
    OK_F(peer_cred_check(v.fd, &c) == -EPERM, "%s: it is no other user", what);
    c.uid--;
    c.socket++;
    OK_F(peer_cred_check(v.fd, &c) == -EPERM, "%s: it is no other socket", what);
    end_visit(&v);
}

static void test_gone(const char *what, const struct place *here, enum act act)
{
    struct visit v = visit_as(other_user(), here, here, act);
    struct peer_cred before, c;

    OK(peer_cred_read(v.fd, &before) == 0 && before.uid == other_user());
    act_now(&v, true);
    OK_F(peer_cred_read(v.fd, &c) == -ENOENT && c.uid == (uid_t)-1,
         "a peer that has %s is nobody (seen: user %u)", what, (unsigned)c.uid);
    OK_F(peer_cred_check(v.fd, &before) == -ENOENT, "nor who it was before it has %s", what);
    end_visit(&v);
}

/* TIME_WAIT: we have closed our sending side too, and the peer has noticed. */
static void test_time_wait(const struct place *here)
{
    struct visit v = visit_as(other_user(), here, here, CLOSE);
    struct peer_cred c;
    char word[5];

    EQ(read(v.fd, word, sizeof word), 5);
    act_now(&v, true);
    shutdown(v.fd, SHUT_WR);
    OK(peer_cred_read(v.fd, &c) == -ENOENT);
    end_visit(&v);
}

/* Not accepted: the kernel knows the connection, but nobody owns its other end yet. */
static void test_not_accepted(const struct place *here)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), there;
    struct peer_cred c;

    EQ(connect(fd, (const struct sockaddr *)&here->at, here->len), 0);
    OK_F(peer_cred_read(fd, &c) == -ENOENT, "who has not accepted yet is nobody");
    there = accept4(here->fd, NULL, NULL, SOCK_CLOEXEC);
    OK(peer_cred_read(fd, &c) == 0 && c.uid == getuid());
    close(there);
    close(fd);
}

/* Peers connect and close as fast as possible: each has its own user, or none. */
static void test_hasty(const struct place *here)
{
    enum { VISITS = 300 };
    pid_t pid = fork();
    unsigned wrong = 0;
    int status;

    if (pid == 0) {
        if (other_user() != getuid() && setuid(other_user()) < 0)
            _exit(2);
        for (int i = 0; i < VISITS; i++) {
            int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
            if (connect(fd, (const struct sockaddr *)&here->at, here->len) < 0 ||
                write(fd, "hello", 5) != 5)
                _exit(3);
            leave(fd, i % 2 ? CLOSE : RESET);
        }
        _exit(0);
    }
    for (int i = 0; i < VISITS; i++) {
        int fd = accept4(here->fd, NULL, NULL, SOCK_CLOEXEC);
        struct peer_cred c;
        wrong += peer_cred_read(fd, &c) == 0 && c.uid != other_user();
        close(fd);
    }
    waitpid(pid, &status, 0);
    OK_F(status == 0 && wrong == 0, "%u of %d hasty visitors pass for somebody else", wrong,
         VISITS);
}

/* A socket that is passed on stays its creator's. */
static void test_groups(const struct place *here)
{
    struct visit v = visit_as(getuid(), here, here, STAY);
    struct peer_cred c;
    int status, ready[2];
    pid_t pid;
    char b;

    if (getuid() != 0) { /* only root can be in another group */
        end_visit(&v);
        return;
    }
    end_visit(&v);
    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ready);
    pid = fork();
    if (pid == 0) {
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        close(ready[0]);
        connect(fd, (const struct sockaddr *)&here->at, here->len);
        if (fork() == 0 && setgid(65534) < 0)
            _exit(2);
        if (write(ready[1], "!", 1) != 1)
            _exit(3);
        _exit(read(ready[1], &b, 1) == 0 ? 0 : 4);
    }
    v.fd = accept4(here->fd, NULL, NULL, SOCK_CLOEXEC);
    close(ready[1]);
    OK(read(ready[0], &b, 1) == 1 && read(ready[0], &b, 1) == 1);
    OK(peer_cred_read(v.fd, &c) == 0);
    peer_cred_find_process(&c, pid);
    OK_F(!c.has_gid && c.pid == 0, "two that differ in their groups hold it: none is proven");
    close(ready[0]);
    close(v.fd);
    waitpid(pid, &status, 0);
}

/* ---- unusual environments -------------------------------------------------------------------- */

/* Runs the check in a process of its own; returns 0 if all is well. */
static int apart(int (*check)(const struct place *here), const struct place *here)
{
    int status = -1;
    pid_t pid = fork();

    if (pid == 0)
        _exit(check(here));
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

static int without_diagnostics(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_NETLINK, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAFNOSUPPORT),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { sizeof code / sizeof *code, code };

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return -1;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int check_tables(const struct place *here)
{
    struct visit v = visit_as(other_user(), here, here, CLOSE);
    struct peer_cred c;
    char word[8];

    if (without_diagnostics() < 0)
        return 77;
    if (socket(AF_NETLINK, SOCK_DGRAM, 4) >= 0)
        return 2;
    if (peer_cred_read(v.fd, &c) < 0 || c.uid != other_user() || !c.socket)
        return 3;
    if (read(v.fd, word, sizeof word) != 5)
        return 4;
    act_now(&v, true);
    if (peer_cred_read(v.fd, &c) != -ENOENT)
        return 5;
    shutdown(v.fd, SHUT_WR);
    return peer_cred_read(v.fd, &c) == -ENOENT ? 0 : 6;
}

static int check_tables_mapped(const struct place *here)
{
    struct place to = map(here);
    struct visit v = visit_as(other_user(), here, &to, STAY);
    struct peer_cred c;

    if (without_diagnostics() < 0)
        return 77;
    return peer_cred_read(v.fd, &c) == 0 && c.uid == other_user() ? 0 : 3;
}

/* A user namespace that maps no ids: all users look alike. */
static int check_no_numbers(const struct place *here)
{
    struct visit v = visit_as(getuid(), here, here, STAY);
    struct peer_cred c;
    int pair[2];

    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    if (unshare(CLONE_NEWUSER) < 0)
        return 77;
    if (getuid() != 65534 || !peer_cred_is_overflow(getuid()))
        return 2;
    if (peer_cred_read(v.fd, &c) != -ENOTUNIQ || c.uid != (uid_t)-1)
        return 3;
    return peer_cred_read(pair[0], &c) == -ENOTUNIQ && c.uid == (uid_t)-1 ? 0 : 4;
}

static void run_apart(const char *what, int (*check)(const struct place *here),
                      const struct place *here)
{
    int rc = apart(check, here);

    OK_F(rc == 0 || rc == 77, "%s%s (%d)", what, rc == 77 ? ": forbidden on this machine" : "", rc);
}

/* ---- unix sockets ---------------------------------------------------------------------------- */

static void test_unix(void)
{
    struct peer_cred c;
    int pair[2];

    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair);
    OK(peer_cred_read(pair[0], &c) == 0 && c.uid == getuid() && c.pid == getpid() && c.has_gid &&
       c.gid == getgid() && c.socket == 0);
    OK(peer_cred_check(pair[0], &c) == 0);
    close(pair[0]);
    close(pair[1]);
}

/* The writer, on a socket that another user has made. */
static void test_writers(void)
{
    char bytes[64];
    int pair[2], status;
    uid_t uid;
    pid_t pid;

    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair);
    EQ(write(pair[1], "early", 5), 5);
    OK(!peer_cred_is_marked(pair[0]));
    EQ(peer_cred_mark(pair[0]), 0);
    OK(peer_cred_is_marked(pair[0]) && !peer_cred_is_marked(pair[1]));
    EQ(peer_cred_recv(pair[0], bytes, sizeof bytes, &uid), 5);
    OK_F(uid == (uid_t)-1 || peer_cred_is_overflow(uid) || uid == 65534,
         "bytes before the mark are nobody's");
    EQ(write(pair[1], "mine", 4), 4);
    pid = fork();
    if (pid == 0)
        _exit((other_user() == getuid() || setuid(other_user()) == 0) &&
                      write(pair[1], "theirs", 6) == 6
                  ? 0
                  : 1);
    waitpid(pid, &status, 0);
    EQ(status, 0);
    OK(peer_cred_recv(pair[0], bytes, sizeof bytes, &uid) == 4 && uid == getuid());
    OK_F(peer_cred_recv(pair[0], bytes, sizeof bytes, &uid) == 6 && uid == other_user(),
         "another user's bytes are its own, seen %u", (unsigned)uid);
    OK(peer_cred_recv(pair[0], bytes, sizeof bytes, &uid) < 0 && errno == EAGAIN);
    close(pair[1]);
    EQ(peer_cred_recv(pair[0], bytes, sizeof bytes, &uid), 0);
    close(pair[0]);
}

/* Descriptors that come with the bytes are closed, on a socket with the mark and on one without. */
static void test_attached(void)
{
    char bytes[64];
    int pair[2], next;
    uid_t uid;

    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair);
    next = dup(0);
    close(next);
    for (int marked = 0; marked < 2; marked++) {
        if (marked)
            peer_cred_mark(pair[0]);
        EQ(fd_pass_send(pair[1], SLICE("with"), pair[1]), 4);
        EQ(peer_cred_recv(pair[0], bytes, sizeof bytes, &uid), 4);
        EQ(fcntl(next, F_GETFD), -1);
    }
    close(pair[0]);
    close(pair[1]);
}

int main(void)
{
    struct place v4, v6, v4_mapped;
    struct peer_cred c;

    alarm(600);
    test_unix();
    test_writers();
    test_attached();
    listen_on(AF_INET, &v4);
    test_there("IPv4", &v4, &v4);
    if (listen_on(AF_INET6, &v6)) {
        v4_mapped = map(&v4);
        test_there("IPv6", &v6, &v6);
        test_there("IPv4 by a socket of IPv6", &v4, &v4_mapped);
        test_gone("closed (IPv6)", &v6, CLOSE);
        run_apart("tables: IPv6", check_tables, &v6);
        run_apart("tables: IPv4 by a socket of IPv6", check_tables_mapped, &v4);
        close(v6.fd);
    }
    test_gone("closed", &v4, CLOSE);
    test_gone("reset", &v4, RESET);
    test_gone("closed half", &v4, HALF_CLOSE);
    test_time_wait(&v4);
    test_not_accepted(&v4);
    test_hasty(&v4);
    test_groups(&v4);
    run_apart("tables: IPv4", check_tables, &v4);
    run_apart("a namespace without numbers", check_no_numbers, &v4);
    OK(peer_cred_read(-1, &c) == -EBADF);
    close(v4.fd);
    return tap_done();
}
