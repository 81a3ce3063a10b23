/* screen.c - see screen.h. */
#include "launch/screen.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "io/write_all.h"

enum { SCREEN_TEXT_MAX = 1 << 20, SCREEN_ROWS = 24, SCREEN_COLUMNS = 80 };

/* Another screen; the cursor is hidden; long lines are cut. */
#define SCREEN_BEGIN "\033[?1049h\033[?25l\033[?7l"
#define SCREEN_END   "\033[?7h\033[?25h\033[?1049l"

bool screen_is_possible(void)
{
    const char *term = getenv("TERM");

    return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && term && *term &&
           strcmp(term, "dumb") != 0;
}

void screen_measure(struct screen *s)
{
    struct winsize w;
    bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_row && w.ws_col;

    s->rows = known ? w.ws_row : SCREEN_ROWS;
    s->columns = known ? w.ws_col : SCREEN_COLUMNS;
}

int screen_open(struct screen *s)
{
    struct termios raw;

    if (tcgetattr(STDIN_FILENO, &s->before) < 0)
        return -errno;
    raw = s->before;
    raw.c_lflag &= (tcflag_t) ~(ICANON | ECHO);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    if (tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) < 0)
        return -errno;
    s->open = true;
    screen_measure(s);
    return write_all_slice(STDOUT_FILENO, SLICE(SCREEN_BEGIN));
}

void screen_close(struct screen *s)
{
    if (!s->open)
        return;
    s->open = false;
    write_all_slice(STDOUT_FILENO, SLICE(SCREEN_END));
    tcsetattr(STDIN_FILENO, TCSADRAIN, &s->before);
}

/* The bytes of one key come together: an escape alone is the key of that name. */
static int sequence(void)
{
    char c = '\033';
    int more = 0;

    if (ioctl(STDIN_FILENO, FIONREAD, &more) < 0 || more < 2)
        return more ? SCREEN_KEY_NONE : c;
    if (read(STDIN_FILENO, &c, 1) != 1 || (c != '[' && c != 'O'))
        return SCREEN_KEY_NONE;
    do {
        if (read(STDIN_FILENO, &c, 1) != 1)
            return SCREEN_KEY_END;
    } while (--more > 1 && (c < '@' || c > '~')); /* numbers before the last byte */
    return c == 'A' ? SCREEN_KEY_UP : c == 'B' ? SCREEN_KEY_DOWN : SCREEN_KEY_NONE;
}

int screen_key(void)
{
    char c;
    ssize_t n = read(STDIN_FILENO, &c, 1);

    if (n <= 0)
        return n < 0 && errno == EINTR ? SCREEN_KEY_NONE : SCREEN_KEY_END;
    return c == '\033' ? sequence() : (unsigned char)c;
}

int screen_show(const struct screen *s, struct slice text, uint32_t mark)
{
    struct buf out = BUF_NULL(SCREEN_TEXT_MAX);
    int rc;

    buf_str(&out, "\033[H");
    for (uint32_t row = 0; row < s->rows; row++) {
        struct slice line = slice_head(slice_cut(&text, '\n'), s->columns);
        buf_str(&out, row ? "\r\n" : "");
        buf_str(&out, row == mark ? "\033[7m" : "");
        buf_slice_put(&out, line);
        buf_str(&out, row == mark ? "\033[K\033[m" : "\033[K");
    }
    rc = buf_ok(&out) ? write_all_slice(STDOUT_FILENO, buf_slice(&out)) : -ENOMEM;
    buf_free(&out);
    return rc;
}
