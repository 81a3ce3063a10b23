/* join_token.c - see join_token.h. */
#include "io/join_token.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/slice.h"
#include "io/create.h"
#include "io/write_all.h"

enum { RANDOM = 32, BASE64 = sodium_base64_VARIANT_URLSAFE_NO_PADDING };

static bool has_key(struct slice text, unsigned char *key)
{
    size_t n = 0;

    if (!slice_starts(text, SLICE(JOIN_TOKEN_OF_KEY)))
        return false;
    text = slice_skip(text, strlen(JOIN_TOKEN_OF_KEY));
    return sodium_base642bin(key, JOIN_TOKEN_KEY, text.ptr, text.len, NULL, &n, NULL, BASE64) ==
               0 &&
           n == JOIN_TOKEN_KEY;
}

static int derive(struct slice text, const char *from, unsigned char *key, struct errmsg *err)
{
    static const unsigned char use[] = "wireup: a node joins, version 1";

    /* An editor adds the end of a line. */
    while (text.len && strchr(" \t\r\n", text.ptr[text.len - 1]))
        text.len--;
    if (text.len < JOIN_TOKEN_LEAST || text.len > JOIN_TOKEN_MOST)
        return errmsg_set(err, -EINVAL, "the token in %.300s must have %d to %d characters", from,
                          JOIN_TOKEN_LEAST, JOIN_TOKEN_MOST);
    if (sodium_init() < 0)
        return errmsg_set(err, -EIO, "the library sodium cannot be loaded");
    if (has_key(text, key))
        return 0;
    crypto_generichash(key, JOIN_TOKEN_KEY, (const unsigned char *)text.ptr, text.len, use,
                       sizeof use);
    return 0;
}

static int read_variable(unsigned char *key, struct errmsg *err)
{
    const char *text = getenv(JOIN_TOKEN_VARIABLE);
    int rc;

    if (!text)
        return errmsg_set(err, -ENOENT, "there is no token: name its file, or set %s",
                          JOIN_TOKEN_VARIABLE);
    rc = derive(slice_str(text), JOIN_TOKEN_VARIABLE, key, err);
    unsetenv(JOIN_TOKEN_VARIABLE);
    return rc;
}

/* Links are followed: a secret of Kubernetes is one.  What counts is the file itself. */
static int open_file(const char *file, struct errmsg *err)
{
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0)
        return errmsg_set(err, -errno, "cannot read the token %.300s: %s", file, err_text(errno));
    if (S_ISREG(st.st_mode) && (st.st_uid == geteuid() || st.st_uid == 0) &&
        (st.st_mode & 077) == 0)
        return fd;
    close(fd);
    return errmsg_set(err, -EPERM,
                      "the token %.300s must be a file of yours that nobody else may read (mode "
                      "0600)",
                      file);
}

static int read_file(const char *file, unsigned char *key, struct errmsg *err)
{
    char text[JOIN_TOKEN_MOST + 2];
    int fd = open_file(file, err), rc;
    ssize_t n;

    if (fd < 0)
        return fd;
    n = read(fd, text, sizeof text);
    if (n == 0) /* whoever makes it has yet to write it */
        rc = errmsg_set(err, -ENOENT, "there is no token in %.300s yet", file);
    else if (n < 0)
        rc = errmsg_set(err, -errno, "cannot read the token %.300s: %s", file, err_text(errno));
    else
        rc = derive(slice_mem(text, (size_t)n), file, key, err);
    close(fd);
    sodium_memzero(text, sizeof text);
    return rc;
}

int join_token_read(const char *file, unsigned char key[JOIN_TOKEN_KEY], struct errmsg *err)
{
    return file ? read_file(file, key, err) : read_variable(key, err);
}

int join_token_make(const char *file, struct errmsg *err)
{
    char text[sodium_base64_ENCODED_LEN(RANDOM, BASE64) + 1];
    unsigned char bytes[RANDOM];
    int fd = create_new(file), rc;
    size_t n;

    if (fd == -EEXIST)
        return 0;
    if (fd < 0 || sodium_init() < 0)
        return errmsg_set(err, fd < 0 ? fd : -EIO, "cannot make the token %.300s: %s", file,
                          err_text(fd < 0 ? fd : -EIO));
    randombytes_buf(bytes, sizeof bytes);
    sodium_bin2base64(text, sizeof text, bytes, sizeof bytes, BASE64);
    n = strlen(text);
    text[n++] = '\n';
    rc = write_all_slice(fd, slice_mem(text, n));
    close(fd);
    sodium_memzero(text, sizeof text);
    sodium_memzero(bytes, sizeof bytes);
    return rc < 0 ? errmsg_set(err, rc, "cannot write the token %.300s: %s", file, err_text(rc))
                  : 0;
}

void join_token_of_key(const unsigned char key[JOIN_TOKEN_KEY], char text_p[JOIN_TOKEN_TEXT])
{
    size_t n = strlen(JOIN_TOKEN_OF_KEY);

    memcpy(text_p, JOIN_TOKEN_OF_KEY, n);
    sodium_bin2base64(text_p + n, JOIN_TOKEN_TEXT - n, key, JOIN_TOKEN_KEY, BASE64);
}
