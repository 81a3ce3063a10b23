/* log_sink_test.c - writing never waits for the reader of the log: lines that do not fit are
 * counted and reported.
 */
#include "io/log_sink.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limit.h"
#include "tests/tap.h"

static struct loop loop;
static char scratch[STDIO_CHUNK];
static int ends[2];
static char *text;
static size_t have;

static void idle(void *arg)
{
    (void)arg;
    loop_stop(&loop);
}

static void readable(void *arg)
{
    ssize_t n = read(ends[0], text + have, (8u << 20) - have);

    (void)arg;
    have += n > 0 ? (size_t)n : 0;
}

static unsigned lines(void)
{
    unsigned n = 0;

    for (size_t i = 0; i < have; i++)
        n += text[i] == '\n';
    return n;
}

int main(void)
{
    struct log log = { -1, LOG_WARN, "test", NULL }, copy;
    struct sink sink;
    struct log_sink s;
    struct watch reader;
    unsigned bytes = 200000, got;
    unsigned long long suppressed = 0;
    char *word;

    text = calloc(1, (8u << 20) + 1);
    if (!text || loop_init(&loop) < 0 || pipe2(ends, O_CLOEXEC) < 0)
        return 1;
    log.fd = ends[1];
    OK(sink_open(&sink, &loop, ends[1], scratch) == 0);
    log_sink_open(&s, &sink, &log);
    copy = log;
    /* The pipe is in blocking mode, and nobody reads: a direct write would block for ever. */
    for (unsigned i = 0; i < bytes; i++)
        log_warn(&copy, "a line that nobody reads, number %u", i);
    OK_F(s.bytes <= LIMIT_LOG_QUEUE && s.suppressed > 0, "%llu lines are counted", s.suppressed);
    OK_F(!(fcntl(ends[1], F_GETFL) & O_NONBLOCK), "who shares the pipe sees it as it was");

    sink.on_idle = idle;
    watch_open(&reader, &loop, ends[0], readable, NULL, NULL);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    watch_want(&reader, LOOP_READ);
    loop_run(&loop);
    readable(NULL);
    readable(NULL);
    log_warn(&log, "the last line");
    readable(NULL);
    readable(NULL);
    got = lines();
    word = strstr(text, "test: the last line\n");
    OK(word && word[20] == '\0');
    word = strstr(text, " further lines were not written");
    OK_F(word != NULL, "omitted lines are reported");
    while (word && word > text && word[-1] != ' ')
        word--;
    if (word)
        suppressed = strtoull(word, NULL, 10);
    EQ(got - 2 + suppressed, bytes);
    OK_F(!strncmp(text, "test: a line that nobody reads, number 0\n", 41), "lines are whole");
    log_sink_close(&s, &log);
    OK(log.out == NULL);
    log_sink_close(&s, &log);
    watch_close(&reader);
    sink_close(&sink);
    loop_free(&loop);
    close(ends[0]);
    close(ends[1]);
    free(text);
    return tap_done();
}
