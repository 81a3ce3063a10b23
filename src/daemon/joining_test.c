/* joining_test.c - a node that waits for a launcher's file and token learns at once that they have
 * been written: no try of its own would come within the time. */
#include "daemon/joining.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/daemon_link_address.h"
#include "io/join_token.h"
#include "tests/tap.h"

enum { HOUR_MS = 3600000, BOUND_S = 60, BRIEF_S = 3 };

static char dir[] = "/tmp/wireup-joining.XXXXXX";
static char address[100], token[100];

static void put(const char *file, const char *text)
{
    FILE *f = fopen(file, "w");

    if (!f || fputs(text, f) < 0 || fclose(f) != 0)
        abort();
}

/* The node says that it tries again: what it waits for comes now. */
struct launcher {
    struct log_out out;
    const char *file, *text;
    int lines;
    uint32_t pause_ms; /* between tries; 0: an hour */
};

static void on_line(struct log_out *out, const char *text, size_t len)
{
    struct launcher *l = (struct launcher *)out;

    (void)text;
    (void)len;
    l->lines++;
    if (l->text)
        put(l->file, l->text);
    else if (join_token_make(l->file, NULL) < 0)
        abort();
}

static int ask(struct launcher *l, uint32_t timeout_s, struct errmsg *err)
{
    static const struct join_request request = { .name = "n1", .slots = 1 };
    const struct log log = { STDERR_FILENO, LOG_WARN, "test", &l->out };
    const struct joining_config config = { .log = &log,
                                           .where = address,
                                           .token_file = token,
                                           .request = &request,
                                           .timeout_s = timeout_s,
                                           .pause_ms = l->pause_ms ? l->pause_ms : HOUR_MS };
    char reached[DAEMON_LINK_ADDRESS_TEXT] = "";
    struct buf record = BUF_NULL(4096);
    int rc = joining_ask(&config, &record, reached, err);

    buf_free(&record);
    return rc;
}

static void test_address(void)
{
    struct launcher l = { .out = { on_line }, .file = address, .text = "nonsense\n" };
    struct errmsg err = { "" };

    if (join_token_make(token, &err) < 0)
        abort();
    EQ(ask(&l, BOUND_S, &err), -EINVAL);
    OK_F(strstr(err.text, "'nonsense' is not the address"), "%s", err.text);
    EQ(l.lines, 1);
    unlink(address);
    unlink(token);
}

static void test_token(void)
{
    struct launcher l = { .out = { on_line }, .file = token };
    struct errmsg err = { "" };

    put(address, "nonsense\n");
    put(token, ""); /* being made */
    unlink(token);
    EQ(ask(&l, BOUND_S, &err), -EINVAL);
    OK_F(strstr(err.text, "'nonsense' is not the address"), "%s", err.text);
    unlink(address);
    unlink(token);
}

/* Nobody listens there, and then the file has another address. */
static void test_again(void)
{
    struct launcher l = { .out = { on_line }, .file = address, .text = "nonsense\n" };
    struct errmsg err = { "" };

    if (join_token_make(token, &err) < 0)
        abort();
    put(address, "127.0.0.1:1\n");
    EQ(ask(&l, BOUND_S, &err), -EINVAL);
    OK_F(strstr(err.text, "'nonsense' is not the address"), "%s", err.text);
    unlink(address);
    unlink(token);
}

/* Another text takes its place while nobody listens: it is read, and whoever writes it may not be
 * done yet. */
static void test_token_again(void)
{
    struct launcher l = { .out = { on_line }, .file = token, .text = "short\n", .pause_ms = 10 };
    struct errmsg err = { "" };

    if (join_token_make(token, &err) < 0)
        abort();
    put(address, "127.0.0.1:1\n");
    EQ(ask(&l, BRIEF_S, &err), JOINING_LATE);
    OK_F(strstr(err.text, "must have 16 to 1024 characters"), "%s", err.text);
    unlink(address);
    unlink(token);
}

/* The bound works: what is above would not pass without being told. */
static void test_untold(void)
{
    struct launcher l = { .out = { on_line }, .file = "/dev/null", .text = "x" };
    struct errmsg err = { "" };

    if (join_token_make(token, &err) < 0)
        abort();
    EQ(ask(&l, 1, &err), JOINING_LATE);
    unlink(token);
}

int main(void)
{
    if (!mkdtemp(dir))
        abort();
    snprintf(address, sizeof address, "%s/address", dir);
    snprintf(token, sizeof token, "%s/token", dir);
    test_address();
    test_token();
    test_again();
    test_token_again();
    test_untold();
    rmdir(dir);
    return tap_done();
}
