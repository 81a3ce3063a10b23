/* rawpmi1.c - a PMI-1 client that speaks the wire by itself: no MPI, no library, none of our code.
 *
 * It stands for every legacy client: it judges servers (ours and others), fills jobs of hundreds of
 * ranks cheaply, and is the legacy client of bench/pmi1.  It sends what MPICH 4.0 sends at
 * start-up.
 *
 *   rawpmi1 exchange [BYTES]   put a value (default 128 bytes), barrier, get everybody's, barrier;
 *                              rank 0 prints `raw SIZE good` and how long that took
 *   rawpmi1 spoil              the same, and the last rank puts a wrong value
 *   rawpmi1 mpich [BYTES]      what MPICH 4.0's MPI_Init asks on one node, with cards of 432 bytes
 *                              as UCX has; rank 0 prints `mpich SIZE good` and how long that took
 *   rawpmi1 phases ROUNDS      rank 0 prints what a barrier costs, without and with data
 *   rawpmi1 say LINE...        init, then each line (\n escapes) with one line of answer, printed
 *   rawpmi1 mute LINE...       sends the lines without init, reads one answer each, prints it
 *   rawpmi1 hold               init, barrier; rank 0 prints `held` and reads its input to the end,
 *                              the others wait for it in a barrier
 *   rawpmi1 leave CODE RANK    init, barrier; that rank exits with CODE without finalize, the
 *                              others wait in a barrier
 *   rawpmi1 kill SIGNAL RANK   init, barrier; that rank kills itself, the others wait in a barrier
 *   rawpmi1 abort CODE RANK TEXT
 *                              init, barrier; that rank says abort, the others wait in a barrier
 *
 * Exit: 0 good, 1 wrong data, 2 wrong use, 3 the server said something unexpected or nothing.
 */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { LINE_ROOM = 1 << 16, VALUE_ROOM = 1 << 15, KVSNAME_ROOM = 256 };

static int pmi_fd = -1, rank, size;
static char kvsname[KVSNAME_ROOM];

static _Noreturn void fail(const char *format, ...)
{
    va_list args;

    fprintf(stderr, "rawpmi1: rank %d: ", rank);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    exit(3);
}

/* ---- lines ------------------------------------------------------------------------------ */

static char in_buf[LINE_ROOM];
static size_t in_len;

static void send_bytes(const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t n = send(pmi_fd, bytes, len, MSG_NOSIGNAL);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            fail("cannot send: %s", strerror(errno));
        bytes += n;
        len -= (size_t)n;
    }
}

/* One line without its newline; the next call overwrites it. */
static char *receive_line(void)
{
    static char line[LINE_ROOM];
    char *end;

    while (!(end = memchr(in_buf, '\n', in_len))) {
        ssize_t n;

        if (in_len == sizeof(in_buf))
            fail("the server's line does not end");
        n = read(pmi_fd, in_buf + in_len, sizeof(in_buf) - in_len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            fail("the server closed the connection");
        in_len += (size_t)n;
    }
    *end = '\0';
    memcpy(line, in_buf, (size_t)(end - in_buf) + 1);
    in_len -= (size_t)(end + 1 - in_buf);
    memmove(in_buf, end + 1, in_len);
    return line;
}

/* Sends one line and returns the answer, which has to begin with the wanted command. */
__attribute__((format(printf, 2, 3))) static char *ask(const char *want, const char *format, ...)
{
    static char line[LINE_ROOM];
    va_list args;
    char *reply;
    size_t len;
    int n;

    va_start(args, format);
    n = vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    if (n < 0 || (size_t)n >= sizeof(line))
        fail("a request is too long");
    send_bytes(line, (size_t)n);
    reply = receive_line();
    len = strlen(want);
    if (strncmp(reply, "cmd=", 4) != 0 || strncmp(reply + 4, want, len) != 0 ||
        (reply[4 + len] != ' ' && reply[4 + len] != '\0'))
        fail("asked for %s, got: %s", want, reply);
    return reply;
}

/* The value of one tuple of a line, or NULL; cuts the line behind it. */
static char *tuple(char *line, const char *key)
{
    size_t len = strlen(key);

    for (char *at = strchr(line, ' '); at; at = strchr(at, ' ')) {
        at += strspn(at, " ");
        if (strncmp(at, key, len) == 0 && at[len] == '=') {
            at += len + 1;
            at[strcspn(at, " ")] = '\0';
            return at;
        }
    }
    return NULL;
}

/* ---- a life ----------------------------------------------------------------------------- */

static int env_number(const char *name, int otherwise)
{
    const char *text = getenv(name);

    return text ? atoi(text) : otherwise;
}

static void connect_port(const char *port)
{
    struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM }, *list;
    char host[256];
    const char *colon = strrchr(port, ':');
    int one = 1;

    if (!colon || (size_t)(colon - port) >= sizeof(host))
        fail("PMI_PORT=%s is not host:port", port);
    memcpy(host, port, (size_t)(colon - port));
    host[colon - port] = '\0';
    if (getaddrinfo(host, colon + 1, &hints, &list) != 0)
        fail("unknown host %s", host);
    pmi_fd = socket(list->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (pmi_fd < 0 || connect(pmi_fd, list->ai_addr, list->ai_addrlen) < 0)
        fail("cannot connect to %s: %s", port, strerror(errno));
    setsockopt(pmi_fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    freeaddrinfo(list);

    ask("initack", "cmd=initack pmiid=%s\n", getenv("PMI_ID") ? getenv("PMI_ID") : "0");
    for (int i = 0; i < 3; i++) {
        char *line = receive_line(), *value;

        if ((value = tuple(line, "size")))
            size = atoi(value);
        else if ((value = tuple(line, "rank")))
            rank = atoi(value);
    }
}

static void attach(void)
{
    const char *port = getenv("PMI_PORT");

    rank = env_number("PMI_RANK", 0);
    size = env_number("PMI_SIZE", 1);
    if (getenv("PMI_FD"))
        pmi_fd = atoi(getenv("PMI_FD"));
    else if (port)
        connect_port(port);
    else
        fail("neither PMI_FD nor PMI_PORT: not started by a process manager");
}

static void init(void)
{
    char *reply, *value;

    attach();
    reply = ask("response_to_init", "cmd=init pmi_version=1 pmi_subversion=1\n");
    value = tuple(reply, "rc");
    if (!value || strcmp(value, "0") != 0)
        fail("init was refused");
    ask("maxes", "cmd=get_maxes\n");
    ask("appnum", "cmd=get_appnum\n");
    reply = ask("my_kvsname", "cmd=get_my_kvsname\n");
    value = tuple(reply, "kvsname");
    if (!value || strlen(value) >= sizeof(kvsname))
        fail("no name of the key-value space");
    strcpy(kvsname, value);
}

static void barrier(void)
{
    ask("barrier_out", "cmd=barrier_in\n");
}

static void finalize(void)
{
    ask("finalize_ack", "cmd=finalize\n");
}

static void put(const char *key, const char *value)
{
    char *rc =
        tuple(ask("put_result", "cmd=put kvsname=%s key=%s value=%s\n", kvsname, key, value), "rc");

    if (rc && strcmp(rc, "0") != 0)
        fail("put of %s was refused with %s", key, rc);
}

static const char *get(const char *key)
{
    char *reply = ask("get_result", "cmd=get kvsname=%s key=%s\n", kvsname, key);
    char *value = tuple(reply, "value");

    return value ? value : "";
}

/* ---- what it can be asked to do ---------------------------------------------------------- */

/* The value that a rank puts: of the given length, different everywhere. */
static const char *card(int of, size_t len)
{
    static char text[VALUE_ROOM];
    uint32_t x = (uint32_t)of * 2654435761u + 1;

    for (size_t i = 0; i < len; i++) {
        x = x * 1664525u + 1013904223u;
        text[i] = "0123456789ABCDEF"[x >> 28];
    }
    text[len] = '\0';
    return text;
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int exchange(size_t bytes, bool spoil)
{
    char key[64];
    double start, end;
    int wrong = 0;

    if (bytes < 1 || bytes >= VALUE_ROOM)
        return 2;
    init();
    barrier(); /* late starters are not part of the exchange */

    start = now();
    snprintf(key, sizeof(key), "card-%d", rank);
    put(key, card(spoil && rank == size - 1 ? size : rank, bytes));
    barrier();
    for (int r = 0; r < size; r++) {
        snprintf(key, sizeof(key), "card-%d", r);
        wrong += strcmp(get(key), card(r, bytes)) != 0;
    }
    barrier();
    end = now();

    /* Rank 0 speaks for all. */
    snprintf(key, sizeof(key), "wrong-%d", rank);
    put(key, wrong == 0 ? "0" : "1");
    barrier();
    if (rank == 0) {
        int bad = 0;

        for (int r = 0; r < size; r++) {
            snprintf(key, sizeof(key), "wrong-%d", r);
            bad += strcmp(get(key), "0") != 0;
        }
        if (bad == 0)
            printf("raw %d good\n", size);
        else
            printf("raw %d WRONG ranks=%d\n", size, bad);
        printf("exchange_us %.1f\n", (end - start) * 1e6);
        fflush(stdout);
    }
    finalize();
    return wrong ? 1 : 0;
}

/* The shared-memory file of the first rank goes to all by one key; the cards go into that memory,
 * for which each rank of a node gets an equal part of them: on one node, one. */
static int start_as_mpich(size_t bytes)
{
    static const char file[] = "-bcast-1-0";
    char key[64];
    double begun;
    int wrong = 0;

    if (bytes < 1 || bytes >= VALUE_ROOM)
        return 2;
    init();
    wrong += *get("PMI_process_mapping") == '\0';
    barrier(); /* late starters are not part of the exchange */

    begun = now();
    if (rank == 0)
        put(file, card(size, 56));
    barrier();
    if (rank != 0)
        wrong += strcmp(get(file), card(size, 56)) != 0;
    snprintf(key, sizeof(key), "-allgather-shm-1-%d", rank);
    put(key, card(rank, bytes));
    barrier();
    wrong += strcmp(get(key), card(rank, bytes)) != 0;
    barrier();
    if (rank == 0 && wrong == 0) {
        printf("mpich %d good\nexchange_us %.1f\n", size, (now() - begun) * 1e6);
        fflush(stdout);
    }
    finalize();
    return wrong ? 1 : 0;
}

/* Means over many in a row: one alone is mostly the luck of the scheduler. */
static int phases(int rounds)
{
    double start, barriers, fences;
    char key[64];

    if (rounds < 1)
        return 2;
    init();
    barrier();
    start = now();
    for (int i = 0; i < rounds; i++)
        barrier();
    barriers = now() - start;
    start = now();
    for (int i = 0; i < rounds; i++) {
        snprintf(key, sizeof(key), "fence-%d-%d", rank, i);
        put(key, card(rank, 128));
        barrier();
    }
    fences = now() - start;
    if (rank == 0) {
        printf("barrier_us %.1f\nfence_us %.1f\n", barriers * 1e6 / rounds, fences * 1e6 / rounds);
        fflush(stdout);
    }
    finalize();
    return 0;
}

/* Turns \n, \r, \t, \0, \\ into bytes, in place; returns the length. */
static size_t unescape(char *text)
{
    char *to = text;

    for (const char *at = text; *at; at++) {
        if (*at != '\\' || !at[1]) {
            *to++ = *at;
            continue;
        }
        at++;
        *to++ = *at == 'n' ? '\n' : *at == 'r' ? '\r' : *at == 't' ? '\t' : *at == '0' ? '\0' : *at;
    }
    return (size_t)(to - text);
}

static int send_lines(char **lines, bool greet)
{
    if (greet)
        init();
    else
        attach();
    for (; *lines; lines++) {
        size_t len = unescape(*lines);

        send_bytes(*lines, len);
        if (len == 0 || (*lines)[len - 1] != '\n')
            send_bytes("\n", 1);
        printf("%s\n", receive_line());
        fflush(stdout);
    }
    if (greet)
        finalize();
    return 0;
}

/* Rank 0 waits for the end of its input, the others for rank 0: no other rank's input matters. */
static int hold(void)
{
    char c;

    init();
    barrier();
    if (rank == 0) {
        printf("held\n");
        fflush(stdout);
        while (read(0, &c, 1) > 0)
            ;
    }
    barrier();
    finalize();
    return 0;
}

/* One rank goes its own way; the others wait for it where only the server can free them. */
static int stray(const char *how, int number, int who, const char *text)
{
    init();
    barrier();
    if (rank == who) {
        char line[1024];

        if (strcmp(how, "leave") == 0)
            _exit(number);
        if (strcmp(how, "kill") == 0) {
            signal(number, SIG_DFL);
            raise(number);
        }
        snprintf(line, sizeof(line), "cmd=abort exitcode=%d%s%s\n", number,
                 *text ? " message=" : "", text);
        send_bytes(line, strlen(line));
        for (;;)
            pause();
    }
    barrier();
    finalize();
    return 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";

    if (strcmp(what, "exchange") == 0 && argc <= 3)
        return exchange(argc == 3 ? (size_t)atol(argv[2]) : 128, false);
    if (strcmp(what, "spoil") == 0 && argc == 2)
        return exchange(128, true);
    if (strcmp(what, "mpich") == 0 && argc <= 3)
        return start_as_mpich(argc == 3 ? (size_t)atol(argv[2]) : 432);
    if (strcmp(what, "phases") == 0 && argc == 3)
        return phases(atoi(argv[2]));
    if (strcmp(what, "say") == 0)
        return send_lines(argv + 2, true);
    if (strcmp(what, "mute") == 0)
        return send_lines(argv + 2, false);
    if (strcmp(what, "hold") == 0)
        return hold();
    if ((strcmp(what, "leave") == 0 || strcmp(what, "kill") == 0) && argc == 4)
        return stray(what, atoi(argv[2]), atoi(argv[3]), "");
    if (strcmp(what, "abort") == 0 && argc == 5)
        return stray(what, atoi(argv[2]), atoi(argv[3]), argv[4]);
    fprintf(stderr, "rawpmi1: see the top of rawpmi1.c\n");
    return 2;
}
