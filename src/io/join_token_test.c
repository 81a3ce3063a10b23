/* join_token_test.c - the token by which nodes join: made, read from a file and from the
 * environment; files and texts that are refused. */
#include "io/join_token.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/tap.h"

static char dir[] = "/tmp/wireup-join-token.XXXXXX";

static const char *path(const char *name)
{
    static char text[100];

    snprintf(text, sizeof text, "%s/%s", dir, name);
    return text;
}

static void put(const char *name, const char *text, mode_t mode)
{
    FILE *f = fopen(path(name), "w");

    if (!f || fputs(text, f) < 0 || fclose(f) != 0 || chmod(path(name), mode) < 0)
        abort();
}

static void test_made(void)
{
    unsigned char one[JOIN_TOKEN_KEY], two[JOIN_TOKEN_KEY];
    struct errmsg err = { "" };
    char text[100] = "";
    struct stat st;
    FILE *f;

    OK(join_token_make(path("a"), &err) == 0 && join_token_read(path("a"), one, &err) == 0);
    OK(stat(path("a"), &st) == 0 && (st.st_mode & 0777) == 0600 && st.st_size > 40);
    OK_F(join_token_make(path("a"), &err) == 0 && join_token_read(path("a"), two, &err) == 0 &&
             memcmp(one, two, sizeof one) == 0,
         "one that is there stays");
    f = fopen(path("a"), "r");
    if (!f || !fgets(text, sizeof text, f))
        abort();
    fclose(f);
    text[strcspn(text, "\n")] = '\0';
    setenv(JOIN_TOKEN_VARIABLE, text, 1);
    OK_F(join_token_read(NULL, two, &err) == 0 && memcmp(one, two, sizeof one) == 0,
         "the same text in the environment is the same token");
    OK(!getenv(JOIN_TOKEN_VARIABLE));
    OK(join_token_make(path("b"), &err) == 0 && join_token_read(path("b"), two, &err) == 0 &&
       memcmp(one, two, sizeof one) != 0);
    OK_F(join_token_make(path("no/b"), &err) == -ENOENT, "%s", err.text);
}

/* A launcher that has only the key of the user's token hands it on. */
static void test_of_key(void)
{
    unsigned char one[JOIN_TOKEN_KEY], two[JOIN_TOKEN_KEY] = { 0 };
    char text[JOIN_TOKEN_TEXT];
    struct errmsg err = { "" };

    put("k", "0123456789abcdef\n", 0600);
    OK(join_token_read(path("k"), one, &err) == 0);
    join_token_of_key(one, text);
    setenv(JOIN_TOKEN_VARIABLE, text, 1);
    OK_F(join_token_read(NULL, two, &err) == 0 && memcmp(one, two, sizeof one) == 0, "%s", text);
    text[strlen(text) - 1] = '\0';
    setenv(JOIN_TOKEN_VARIABLE, text, 1);
    OK_F(join_token_read(NULL, two, &err) == 0 && memcmp(one, two, sizeof one) != 0,
         "no key: a token as others are");
}

static void test_refused(void)
{
    unsigned char key[JOIN_TOKEN_KEY];
    struct errmsg err = { "" };

    OK(join_token_read(NULL, key, &err) == -ENOENT && strstr(err.text, JOIN_TOKEN_VARIABLE));
    OK(join_token_read(path("none"), key, &err) == -ENOENT);
    put("c", "", 0600);
    OK_F(join_token_read(path("c"), key, &err) == -ENOENT, "%s", err.text);
    put("c", "0123456789abcdef\n", 0600);
    OK(join_token_read(path("c"), key, &err) == 0);
    put("c", "0123456789abcde\n", 0600);
    OK_F(join_token_read(path("c"), key, &err) == -EINVAL, "%s", err.text);
    put("d", "0123456789abcdef\n", 0640);
    OK_F(join_token_read(path("d"), key, &err) == -EPERM && strstr(err.text, "0600"), "%s",
         err.text);
    OK_F(mkfifo(path("e"), 0600) == 0 && join_token_read(path("e"), key, &err) == -EPERM,
         "no file, and nobody waits for it");
    OK(symlink("a", path("f")) == 0 && join_token_read(path("f"), key, &err) == 0);
}

int main(void)
{
    static const char *const names[] = { "a", "b", "c", "d", "e", "f", "k" };

    if (!mkdtemp(dir))
        abort();
    test_made();
    test_of_key();
    test_refused();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(path(names[i]));
    OK_F(rmdir(dir) == 0, "nothing is left");
    return tap_done();
}
