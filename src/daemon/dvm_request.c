/* dvm_request.c - see dvm_request.h. */
#include "daemon/dvm_request.h"

#include <ctype.h>
#include <sys/wait.h>

/* What stands for itself in a word. */
static bool is_plain(unsigned char c)
{
    return c > ' ' && c < 0x7f && c != '%';
}

void dvm_request_write(char *const *words, struct buf *out)
{
    buf_str(out, "on");
    for (; *words; words++) {
        buf_byte(out, ' ');
        buf_percent(out, *words, is_plain);
    }
    buf_byte(out, '\n');
}

static bool unescape(struct slice s, struct arena *a, struct slice *out)
{
    char *to = arena_alloc(a, s.len + 1);
    size_t n = 0;

    if (!to)
        return false;
    for (size_t i = 0; i < s.len; i++) {
        if (is_plain((unsigned char)s.ptr[i])) {
            to[n++] = s.ptr[i];
            continue;
        }
        if (s.ptr[i] != '%' || i + 2 >= s.len)
            return false;
        if (!isxdigit((unsigned char)s.ptr[i + 1]) || !isxdigit((unsigned char)s.ptr[i + 2]))
            return false;
        to[n] = (char)slice_hex_byte(s.ptr[i + 1], s.ptr[i + 2]);
        if (to[n++] == '\0')
            return false;
        i += 2;
    }
    *out = slice_mem(to, n);
    return true;
}

bool dvm_request_read(struct slice text, struct arena *a, struct slice *words, uint32_t *n_p)
{
    uint32_t n = 0;

    while (text.len) {
        struct slice word = slice_cut(&text, ' ');
        if (word.len && !unescape(word, a, &words[n++]))
            return false;
    }
    *n_p = n;
    return n > 1;
}

/* ---- its end --------------------------------------------------------------------------------- */

void dvm_request_end_write(int status, struct slice why_not, struct buf *out)
{
    if (why_not.len)
        buf_printf(out, "error " SLICE_FMT "\n", SLICE_ARG(why_not));
    else if (WIFSIGNALED(status))
        buf_printf(out, "signal %d\n", WTERMSIG(status));
    else
        buf_printf(out, "exit %d\n", WEXITSTATUS(status));
}

int dvm_request_end_read(struct slice line, int *code_p, struct errmsg *err)
{
    struct slice word = slice_cut(&line, ' ');
    uint32_t number;

    if (slice_is(word, "error") && line.len) {
        errmsg_set(err, 0, SLICE_FMT, SLICE_ARG(slice_head(line, ERRMSG_MAX / 2)));
        return DVM_REQUEST_NOT_STARTED;
    }
    if (!slice_u32(line, &number) || number > 255)
        return DVM_REQUEST_BAD;
    if (slice_is(word, "exit"))
        *code_p = (int)number;
    else if (slice_is(word, "signal") && number > 0 && number < 128)
        *code_p = 128 + (int)number;
    else
        return DVM_REQUEST_BAD;
    return 0;
}
