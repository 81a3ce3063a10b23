/* token_test.c - a token says what was written into it; any other byte, key, job or time makes it
 * bad. */
#include "io/token.h"

#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

static const unsigned char master[TOKEN_KEY] = "a key of thirty-two bytes, no le";
static const struct token us = {
    .uid = 1000, .gid = 100, .rank = 7, .expires_s = 5000, .nspace = "job.1"
};

static void test_good(const unsigned char *key, struct slice text)
{
    struct token t;

    EQ(token_read(key, "job.1", 4999, text, &t), 0);
    OK(t.uid == 1000 && t.gid == 100 && t.rank == 7 && t.expires_s == 5000);
    OK(!strcmp(t.nspace, "job.1"));
    EQ(token_read(key, "job.1", 5000, text, &t), TOKEN_EXPIRED);
    EQ(token_read(key, "job.2", 4999, text, &t), TOKEN_OTHER_JOB);
    EQ(token_read(key, "job.", 4999, text, &t), TOKEN_OTHER_JOB);
    EQ(token_read(master, "job.1", 4999, text, &t), TOKEN_FORGED);
}

/* Every bit counts, and so does the end. */
static void test_bad(const unsigned char *key, struct slice text)
{
    char *copy = malloc(text.len + 1);
    unsigned accepted = 0;
    struct token t;

    for (size_t i = 0; copy && i < text.len * 8; i++) {
        memcpy(copy, text.ptr, text.len);
        copy[i / 8] = (char)(copy[i / 8] ^ 1 << i % 8);
        accepted += token_read(key, "job.1", 0, slice_mem(copy, text.len), &t) != TOKEN_FORGED;
    }
    for (size_t n = 0; n < text.len; n++)
        accepted += token_read(key, "job.1", 0, slice_head(text, n), &t) != TOKEN_FORGED;
    if (copy)
        copy[text.len] = 'A';
    accepted += token_read(key, "job.1", 0, slice_mem(copy, text.len + 1), &t) != TOKEN_FORGED;
    EQ(accepted, 0);
    EQ(token_read(key, "job.1", 0, SLICE(""), &t), TOKEN_FORGED);
    EQ(token_read(key, "job.1", 0, SLICE("wireup:"), &t), TOKEN_FORGED);
    OK(token_is_one(text) && !token_is_one(SLICE("MUNGE:")) && !token_is_one(SLICE("")));
    free(copy);
}

static void test_long_name(const unsigned char *key)
{
    struct buf text = BUF_NULL(4096);
    struct token t = us, back;

    memset(t.nspace, 'n', TOKEN_NSPACE);
    token_write(key, &t, &text);
    OK(buf_ok(&text));
    EQ(token_read(key, t.nspace, 0, buf_slice(&text), &back), 0);
    OK(!strcmp(back.nspace, t.nspace));
    buf_free(&text);
}

int main(void)
{
    struct buf text = BUF_NULL(4096);
    unsigned char key[TOKEN_KEY];

    token_key(master, key);
    OK(memcmp(master, key, TOKEN_KEY) != 0);
    token_write(key, &us, &text);
    OK(buf_ok(&text));
    test_good(key, buf_slice(&text));
    test_bad(key, buf_slice(&text));
    test_long_name(key);
    buf_free(&text);
    return tap_done();
}
