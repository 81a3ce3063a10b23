/* streams_test.c - many writers through one sink, one reader to many; every kind of bad peer: one
 * that never ends a line, one that never reads, one that goes away.  Writers and readers are
 * threads at the other ends of the pipes; the loop runs in main().  The test waits for each event,
 * and a run that hangs is ended by the test's time-out.
 */
#include "io/streams.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/limit.h"
#include "tests/tap.h"

static struct loop loop;
static char scratch[STDIO_CHUNK];

/* ---- the other ends -------------------------------------------------------------------------- */

struct writer {
    pthread_t thread;
    int fd;
    unsigned id, lines;
    bool endless; /* its last line has no end */
    bool failed;  /* nobody read it */
};

static bool write_all(int fd, const char *bytes, size_t n)
{
    while (n) {
        ssize_t w = write(fd, bytes, n);
        if (w < 0 && errno == EINTR)
            continue;
        if (w <= 0)
            return false;
        bytes += w;
        n -= (size_t)w;
    }
    return true;
}

/* Line `n` of writer `id`: its number, and as many letters as the number asks for. */
static size_t make_line(char *out, unsigned id, unsigned n)
{
    size_t len = (size_t)sprintf(out, "%u %u ", id, n), letters = (n * 37 + id * 11) % 3000;

    memset(out + len, 'a' + (int)(id % 26), letters);
    out[len + letters] = '\n';
    return len + letters + 1;
}

/* In pieces that end anywhere but at the end of a line. */
static void *write_lines(void *arg)
{
    struct writer *w = arg;
    char line[4096];

    for (unsigned n = 0; n < w->lines && !w->failed; n++) {
        size_t len = make_line(line, w->id, n), at = 0, piece;
        if (w->endless && n + 1 == w->lines)
            len--;
        for (; at < len && !w->failed; at += piece) {
            piece = 1 + (n * 131 + at * 7 + w->id) % 700;
            piece = piece < len - at ? piece : len - at;
            w->failed = !write_all(w->fd, line + at, piece);
        }
    }
    close(w->fd);
    return NULL;
}

struct reader {
    pthread_t thread;
    int fd;
    size_t most; /* stops reading there and closes; 0: reads all */
    struct buf got;
};

static void *read_all(void *arg)
{
    struct reader *r = arg;
    static _Thread_local char chunk[8192];
    ssize_t n;

    while ((r->most == 0 || buf_len(&r->got) < r->most) &&
           ((n = read(r->fd, chunk, sizeof chunk)) > 0 || (n < 0 && errno == EINTR)))
        buf_put(&r->got, chunk, n > 0 ? (size_t)n : 0);
    close(r->fd);
    return NULL;
}

static void start_reader(struct reader *r, int fd, size_t most)
{
    *r = (struct reader){ .fd = fd, .most = most, .got = BUF_NULL(1u << 30) };
    pthread_create(&r->thread, NULL, read_all, r);
}

static void start_writer(struct writer *w, int fd, unsigned id, unsigned lines, bool endless)
{
    *w = (struct writer){ .fd = fd, .id = id, .lines = lines, .endless = endless };
    pthread_create(&w->thread, NULL, write_lines, w);
}

static void make_pipe(int ends[2])
{
    if (pipe2(ends, O_CLOEXEC) < 0)
        abort();
}

/* ---- the loop until something has happened --------------------------------------------------- */

static unsigned open_sources;
static bool (*enough)(void);

static void look(void)
{
    if (enough())
        loop_stop(&loop);
}

static void ended(void *arg)
{
    (void)arg;
    open_sources--;
    look();
}

static struct timer ticker;

/* Conditions that no callback reports are checked periodically. */
static void tick(void *arg)
{
    (void)arg;
    timer_set(&ticker, 5);
    look();
}

static void run_until(bool (*condition)(void))
{
    enough = condition;
    timer_init(&ticker, &loop, tick, NULL);
    timer_set(&ticker, 5);
    if (!condition())
        loop_run(&loop);
    timer_stop(&ticker);
}

static bool all_ended(void)
{
    return open_sources == 0;
}

static int open_source(struct source *s, struct sink *k, label_fn *label)
{
    int ends[2];

    make_pipe(ends);
    if (source_open(s, k, ends[0], label, ended, s) < 0)
        abort();
    open_sources++;
    return ends[1];
}

/* ---- output ---------------------------------------------------------------------------------- */

/* Every line is whole, and each writer's lines are in order. */
static bool check_lines(struct slice all, unsigned writers, unsigned lines)
{
    unsigned next[64] = { 0 }, sum = 0;
    char want[4096];

    while (all.len) {
        struct slice line = slice_cut(&all, '\n'), rest = line;
        uint32_t id;
        size_t len;
        if (!slice_u32(slice_cut(&rest, ' '), &id) || id >= writers)
            return false;
        len = make_line(want, id, next[id]++);
        if (!slice_eq(line, slice_mem(want, len - 1)))
            return false;
    }
    for (unsigned i = 0; i < writers; i++)
        sum += next[i];
    return sum == writers * lines;
}

static void test_lines(void)
{
    enum { WRITERS = 64, LINES = 60 };
    static struct source sources[WRITERS];
    static struct writer writers[WRITERS];
    struct reader r;
    struct sink k;
    int out[2];

    make_pipe(out);
    sink_open(&k, &loop, out[1], scratch);
    start_reader(&r, out[0], 0);
    for (unsigned i = 0; i < WRITERS; i++) {
        int fd = open_source(&sources[i], &k, NULL);
        start_writer(&writers[i], fd, i, LINES, i == 7); /* the line of 7 is ended for it */
    }
    run_until(all_ended);
    sink_close(&k);
    close(out[1]);
    for (unsigned i = 0; i < WRITERS; i++)
        pthread_join(writers[i].thread, NULL);
    pthread_join(r.thread, NULL);
    OK_F(check_lines(buf_slice(&r.got), WRITERS, LINES),
         "%d writers, %d long lines each: none is cut, none is lost (%zu bytes)", WRITERS, LINES,
         buf_len(&r.got));
    buf_free(&r.got);
}

/* One source: byte for byte, whatever the bytes are. */
static void test_alone(void)
{
    struct source s;
    struct reader r;
    struct writer w;
    struct sink k;
    int out[2], fd;

    make_pipe(out);
    sink_open(&k, &loop, out[1], scratch);
    start_reader(&r, out[0], 0);
    fd = open_source(&s, &k, NULL);
    start_writer(&w, fd, 0, 500, true);
    run_until(all_ended);
    sink_close(&k);
    close(out[1]);
    pthread_join(w.thread, NULL);
    pthread_join(r.thread, NULL);
    OK_F(buf_len(&r.got) && buf_slice(&r.got).ptr[buf_len(&r.got) - 1] != '\n',
         "output without a last newline gets none");
    buf_put(&r.got, "\n", 1);
    OK(check_lines(buf_slice(&r.got), 1, 500));
    buf_free(&r.got);
}

/* ---- output, step by step: the pipe after the sink is read by main() ------------------------- */

struct stage {
    struct sink sink;
    struct source a, b;
    int a_fd, b_fd; /* where the two sources are written */
    int out;        /* where the sink is read */
    struct buf got;
};

static struct stage stage;
static struct slice awaited;

static const char *label_of(void *arg)
{
    return arg == &stage.a ? "[a] " : "[b] ";
}

static void open_stage(label_fn *label)
{
    int out[2];

    make_pipe(out);
    fcntl(out[0], F_SETFL, O_NONBLOCK);
    memset(&stage, 0, sizeof stage);
    stage.got = BUF_NULL(1u << 30);
    stage.out = out[0];
    sink_open(&stage.sink, &loop, out[1], scratch);
    close(out[1]);
    stage.sink.patience_ms = stage.sink.moment_ms = 3600 * 1000;
    stage.a_fd = open_source(&stage.a, &stage.sink, label);
    stage.b_fd = open_source(&stage.b, &stage.sink, label);
}

static void close_stage(void)
{
    close(stage.a_fd);
    close(stage.b_fd);
    run_until(all_ended);
    sink_close(&stage.sink);
    close(stage.out);
    buf_free(&stage.got);
}

static bool received(void)
{
    static char chunk[8192];
    ssize_t n;

    while ((n = read(stage.out, chunk, sizeof chunk)) > 0)
        buf_put(&stage.got, chunk, (size_t)n);
    return buf_len(&stage.got) >= awaited.len;
}

/* Runs until that many bytes have been read, compares them, and drops them. */
static void expect(struct slice text)
{
    awaited = text;
    run_until(received);
    if (!OK_F(slice_eq(buf_slice(&stage.got), text), "the sink says: %.40s", text.ptr))
        printf("# it says: " SLICE_FMT "\n", SLICE_ARG(slice_head(buf_slice(&stage.got), 200)));
    buf_take(&stage.got, buf_len(&stage.got));
}

static void test_labels(void)
{
    open_stage(label_of);
    write_all(stage.a_fd, "one\n\ntwo", 8);
    expect(SLICE("[a] one\n[a] \n"));
    write_all(stage.b_fd, "x\n", 2);
    expect(SLICE("[b] x\n"));
    write_all(stage.a_fd, "three\n", 6);
    expect(SLICE("[a] twothree\n"));
    write_all(stage.a_fd, "end", 3);
    close(stage.a_fd);
    expect(SLICE("[a] end"));
    write_all(stage.b_fd, "y\n", 2);
    expect(SLICE("\n[b] y\n"));
    stage.a_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    close_stage();
}

/* While another source is expected, an unfinished line does not own the sink yet. */
static void test_expected(void)
{
    int out[2];

    make_pipe(out);
    memset(&stage, 0, sizeof stage);
    stage.got = BUF_NULL(1u << 30);
    stage.out = out[0];
    fcntl(out[0], F_SETFL, O_NONBLOCK);
    fcntl(out[1], F_SETFL, O_NONBLOCK);
    sink_open_own(&stage.sink, &loop, out[1], scratch);
    OK_F(stage.sink.fd == out[1] && stage.sink.own, "a descriptor of our own is taken as it is");
    stage.sink.patience_ms = stage.sink.moment_ms = 3600 * 1000;
    stage.a_fd = open_source(&stage.a, &stage.sink, NULL);
    sink_expect(&stage.sink, 1);
    write_all(stage.a_fd, "line\nbegun", 10);
    expect(SLICE("line\n"));
    stage.b_fd = open_source(&stage.b, &stage.sink, NULL);
    sink_expect(&stage.sink, -1);
    write_all(stage.b_fd, "other\n", 6);
    expect(SLICE("other\n"));
    write_all(stage.a_fd, " and ended\n", 11);
    expect(SLICE("begun and ended\n"));
    close_stage();
    close(out[1]);
}

static bool is_owned(void)
{
    received();
    return stage.sink.owner == &stage.a;
}

static struct slice long_line(void)
{
    static char text[LIMIT_STDIO_TAIL + 50000];

    memset(text, 'x', sizeof text);
    return slice_mem(text, sizeof text);
}

static void *write_long_line(void *arg)
{
    struct slice s = long_line();

    write_all(*(int *)arg, s.ptr, s.len);
    return NULL;
}

static bool b_is_stopped(void)
{
    received();
    return !stage.b.watch.what;
}

/* A line over the limit owns the sink until it ends. */
static void test_owner(void)
{
    struct slice line = long_line();
    pthread_t thread;

    open_stage(NULL);
    pthread_create(&thread, NULL, write_long_line, &stage.a_fd);
    run_until(is_owned);
    run_until(b_is_stopped);
    write_all(stage.b_fd, "b\n", 2);
    expect(line);
    pthread_join(thread, NULL);
    write_all(stage.a_fd, "end\nnext", 8);
    expect(SLICE("end\nnext"));
    write_all(stage.a_fd, "\n", 1);
    expect(SLICE("\nb\n"));
    OK(!stage.sink.owner);
    close_stage();
}

/* ... or until it is silent for too long. */
static void test_patience(void)
{
    pthread_t thread;

    open_stage(NULL);
    pthread_create(&thread, NULL, write_long_line, &stage.a_fd);
    run_until(is_owned);
    expect(long_line());
    pthread_join(thread, NULL);
    write_all(stage.b_fd, "b\n", 2);
    timer_set(&stage.sink.patience, 1);
    expect(SLICE("\nb\n"));
    write_all(stage.a_fd, "rest\n", 5);
    expect(SLICE("rest\n"));
    close_stage();
}

/* An owner that ends hands the sink back. */
static void test_owner_ends(void)
{
    pthread_t thread;

    open_stage(NULL);
    pthread_create(&thread, NULL, write_long_line, &stage.a_fd);
    run_until(is_owned);
    expect(long_line());
    pthread_join(thread, NULL);
    write_all(stage.b_fd, "b\n", 2);
    close(stage.a_fd);
    expect(SLICE("\nb\n"));
    stage.a_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    close_stage();
}

/* An unfinished line of a source that may be prompting is shown; no other is. */
static void test_prompts(void)
{
    open_stage(NULL);
    stage.a.prompts = true;
    stage.sink.moment_ms = 1;
    write_all(stage.b_fd, "not yet", 7);
    write_all(stage.a_fd, "name? ", 6);
    expect(SLICE("name? "));
    write_all(stage.a_fd, "so\n", 3);
    expect(SLICE("so\n"));
    write_all(stage.b_fd, ".\n", 2);
    expect(SLICE("not yet.\n"));
    close_stage();
}

/* A raw source cuts into the line of another one; what another node sends is raw where its sink
 * says so. */
static void test_raw(void)
{
    open_stage(NULL);
    stage.a.raw = true;
    write_all(stage.b_fd, "kept", 4);
    write_all(stage.a_fd, "one", 3);
    expect(SLICE("one"));
    write_all(stage.a_fd, "two", 3);
    expect(SLICE("two"));
    stage.b.relays = stage.sink.raw = true;
    write_all(stage.b_fd, "three", 5);
    expect(SLICE("keptthree"));
    close_stage();
}

/* The content of the pipe is shown, even if its other end is held; nothing more is waited for. */
static void test_source_close(void)
{
    open_stage(NULL);
    write_all(stage.a_fd, "last words", 10);
    source_close(&stage.a);
    expect(SLICE("last words"));
    source_close(&stage.a);
    OK(write(stage.a_fd, "x", 1) < 0 && errno == EPIPE);
    close_stage();
}

static bool a_has_ended(void)
{
    return stage.a.fd < 0;
}

static bool is_broken(void)
{
    return stage.sink.broken;
}

/* Our reader is gone: the writers get EPIPE, as with `| head`. */
static void test_broken(void)
{
    open_stage(NULL);
    close(stage.out);
    write_all(stage.a_fd, "a\n", 2);
    run_until(is_broken);
    OK(stage.a.fd >= 0 && stage.b.fd >= 0);
    write_all(stage.a_fd, "a\n", 2);
    run_until(a_has_ended);
    OK(write(stage.a_fd, "x", 1) < 0 && errno == EPIPE);
    OK_F(stage.b.fd >= 0, "who does not write is not told");
    stage.out = open("/dev/null", O_RDONLY | O_CLOEXEC);
    close_stage();
}

/* ... unless another subscriber takes their output, for as long as that lasts. */
static bool listens;
static size_t bytes_read;

static bool listen_in(struct source *s, struct slice bytes)
{
    (void)s;
    bytes_read += bytes.len;
    return listens;
}

static bool b_was_read(void)
{
    return bytes_read == 4;
}

static bool b_has_ended(void)
{
    return stage.b.fd < 0;
}

static void test_read(void)
{
    open_stage(NULL);
    bytes_read = 0;
    stage.b.tap = listen_in;
    listens = true;
    close(stage.out);
    write_all(stage.b_fd, "b\n", 2);
    run_until(is_broken);
    write_all(stage.b_fd, "b\n", 2);
    run_until(b_was_read);
    OK_F(stage.b.fd >= 0, "who is heard by another goes on when the sink has no reader");
    listens = false;
    write_all(stage.b_fd, "b\n", 2);
    run_until(b_has_ended);
    OK(write(stage.b_fd, "x", 1) < 0 && errno == EPIPE);
    stage.out = open("/dev/null", O_RDONLY | O_CLOEXEC);
    close_stage();
}

static struct sink err_sink;

static bool out_is_full(void)
{
    return stage.sink.full && open_sources == 2;
}

/* A reader that does not read stops the writers of its sink, and no others; and little is queued.
 */
static void test_stuck(void)
{
    struct writer w, other_w;
    struct reader r, other_r;
    struct source other;
    int err[2];

    open_stage(NULL);
    make_pipe(err);
    sink_open(&err_sink, &loop, err[1], scratch);
    start_reader(&other_r, err[0], 0);
    start_writer(&w, dup(stage.a_fd), 0, 4000, false); /* some 6 MB */
    start_writer(&other_w, open_source(&other, &err_sink, NULL), 1, 200, false);
    run_until(out_is_full); /* two of three sources are left, and both belong to the stuck one */
    OK(other.fd < 0);
    OK_F(buf_len(&stage.sink.queue) <= LIMIT_STDIO_QUEUE + STDIO_CHUNK,
         "%zu bytes are kept for a reader that does not read", buf_len(&stage.sink.queue));
    sink_close(&err_sink);
    close(err[1]);
    pthread_join(other_w.thread, NULL);
    pthread_join(other_r.thread, NULL);
    buf_put(&other_r.got, "", 0);
    OK(buf_len(&other_r.got) > 100000);
    buf_free(&other_r.got);
    fcntl(stage.out, F_SETFL, 0);
    start_reader(&r, dup(stage.out), 0);
    close_stage();
    pthread_join(w.thread, NULL);
    pthread_join(r.thread, NULL);
    OK_F(check_lines(buf_slice(&r.got), 1, 4000), "once it reads everything comes");
    buf_free(&r.got);
}

/* Kinds of sinks: a file and a socket besides pipes. */
static void test_kinds(void)
{
    char text[64];
    struct source s;
    struct sink k;
    int pair[2], fd;
    FILE *file = tmpfile();

    sink_open(&k, &loop, fileno(file), scratch);
    fd = open_source(&s, &k, NULL);
    write_all(fd, "to a file\n", 10);
    close(fd);
    run_until(all_ended);
    sink_close(&k);
    OK(pread(fileno(file), text, sizeof text, 0) == 10 && !memcmp(text, "to a file\n", 10));
    fclose(file);

    OK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
    sink_open(&k, &loop, pair[1], scratch);
    fd = open_source(&s, &k, NULL);
    write_all(fd, "to a socket\n", 12);
    close(fd);
    run_until(all_ended);
    sink_close(&k);
    OK(read(pair[0], text, sizeof text) == 12 && fcntl(pair[1], F_GETFD) >= 0);
    close(pair[0]);
    close(pair[1]);
}

/* ---- input ----------------------------------------------------------------------------------- */

static struct pump pump;

static bool pump_is_done(void)
{
    return pump.eof;
}

static bool pump_is_idle(void)
{
    bool any = pump.eof;

    for (uint32_t i = 0; i < pump.nends; i++)
        any = any || pump.ends[i].fd >= 0;
    return !any || pump.eof;
}

/* n pipes, read by threads; the pump's ends do not block. */
static void open_ends(struct reader *readers, int *ends, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        int p[2];
        make_pipe(p);
        fcntl(p[1], F_SETFL, O_NONBLOCK);
        ends[i] = p[1];
        start_reader(&readers[i], p[0], readers[i].most);
    }
}

static bool got_all(struct reader *r, unsigned lines)
{
    bool good;

    pthread_join(r->thread, NULL);
    good = check_lines(buf_slice(&r->got), 1, lines);
    buf_free(&r->got);
    return good;
}

/* To all; one of them goes away early. */
static void test_pump_all(void)
{
    struct reader readers[3] = { { .most = 0 }, { .most = 1000 }, { .most = 0 } };
    struct writer w;
    int in[2], ends[3];

    make_pipe(in);
    open_ends(readers, ends, 3);
    OK(pump_open(&pump, &loop, in[0], ends, 3) == 0);
    start_writer(&w, in[1], 0, 2000, false);
    run_until(pump_is_done);
    OK_F(pump.ends[0].fd < 0 && pump.ends[2].fd < 0, "the end of the input is passed on");
    pump_close(&pump);
    pump_close(&pump);
    pthread_join(w.thread, NULL);
    OK(got_all(&readers[0], 2000));
    OK(got_all(&readers[2], 2000));
    pthread_join(readers[1].thread, NULL);
    OK_F(buf_len(&readers[1].got) >= 1000, "a reader that closes has got its bytes");
    buf_free(&readers[1].got);
    close(in[0]);
}

/* A file cannot be watched: it is always ready. */
static void test_pump_file(void)
{
    struct reader readers[2] = { { .most = 0 }, { .most = 0 } };
    FILE *file = tmpfile();
    char line[4096];
    int ends[2];

    for (unsigned n = 0; n < 1000; n++)
        fwrite(line, 1, make_line(line, 0, n), file);
    fflush(file);
    lseek(fileno(file), 0, SEEK_SET);
    open_ends(readers, ends, 2);
    OK(pump_open(&pump, &loop, fileno(file), ends, 2) == 0 && pump.regular);
    run_until(pump_is_done);
    pump_close(&pump);
    OK(got_all(&readers[0], 1000) && got_all(&readers[1], 1000));
    fclose(file);
}

/* No process reads input: the input is left alone. */
static void test_pump_nobody(void)
{
    int in[2], out[2];
    char c;

    make_pipe(in);
    make_pipe(out);
    fcntl(out[1], F_SETFL, O_NONBLOCK);
    close(out[0]);
    OK(pump_open(&pump, &loop, in[0], &out[1], 1) == 0);
    write_all(in[1], "ab", 2);
    run_until(pump_is_idle);
    OK(!pump.watch.what);
    write_all(in[1], "c", 1);
    OK_F(read(in[0], &c, 1) == 1 && c == 'c', "later input is for others");
    pump_close(&pump);
    close(in[0]);
    close(in[1]);
}

static void test_pump_pause(void)
{
    struct reader r = { .most = 0 };
    int in[2], end;

    make_pipe(in);
    open_ends(&r, &end, 1);
    OK(pump_open(&pump, &loop, in[0], &end, 1) == 0);
    pump_pause(&pump, true);
    write_all(in[1], "0 0 \n", 5);
    close(in[1]);
    OK_F(!pump.watch.what, "while we are stopped, our input is nobody's");
    pump_pause(&pump, false);
    run_until(pump_is_done);
    pump_close(&pump);
    pump_pause(&pump, true);
    pthread_join(r.thread, NULL);
    EQ(buf_len(&r.got), 5);
    buf_free(&r.got);
    close(in[0]);
}

/* A file cannot be watched: then nothing of the source stays. */
static void test_source_fails(void)
{
    char path[] = "streams-test.XXXXXX";
    int file = mkstemp(path), out[2];
    struct source s;
    struct sink k;

    if (file < 0 || unlink(path) < 0)
        abort();
    make_pipe(out);
    sink_open(&k, &loop, out[1], scratch);
    EQ(source_open(&s, &k, file, NULL, NULL, NULL), -EPERM);
    OK_F(s.fd == -1 && list_empty(&k.sources) && k.nsources == 0, "the sink does not know it");
    EQ(close(file), 0); /* it is ours still */
    source_close(&s);
    sink_close(&k);
    close(out[0]);
    close(out[1]);
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    if (loop_init(&loop) < 0)
        return 1;
    test_lines();
    test_alone();
    test_labels();
    test_expected();
    test_owner();
    test_patience();
    test_owner_ends();
    test_prompts();
    test_raw();
    test_source_close();
    test_source_fails();
    test_broken();
    test_read();
    test_stuck();
    test_kinds();
    test_pump_all();
    test_pump_file();
    test_pump_nobody();
    test_pump_pause();
    loop_free(&loop);
    return tap_done();
}
