/* dvm_request.c - see dvm_request.h. */
#include "daemon/dvm_request.h"

#include <ctype.h>

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
