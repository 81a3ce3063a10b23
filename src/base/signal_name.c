/* signal_name.c - see signal_name.h. */
#include "base/signal_name.h"

#include <signal.h>
#include <string.h>
#include <strings.h>

static bool word_is(struct slice a, const char *b)
{
    return a.len == strlen(b) && strncasecmp(a.ptr, b, a.len) == 0;
}

int signal_number(struct slice word)
{
    int number;

    if (slice_int(word, &number))
        return number > 0 && number <= SIGRTMAX ? number : 0;
    if (word_is(slice_head(word, 3), "SIG"))
        word = slice_skip(word, 3);
    for (int sig = 1; sig < SIGRTMIN; sig++) {
        const char *name = sigabbrev_np(sig);
        if (name && word_is(word, name))
            return sig;
    }
    return 0;
}

bool signal_asks_end(int sig)
{
    return sig == SIGINT || sig == SIGQUIT || sig == SIGTERM || sig == SIGKILL;
}
