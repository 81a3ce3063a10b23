/* program_check_test.c - which lines are the loader's, and one sentence for a thousand of them;
 * programs for other machines. */
#include "daemon/program_check.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/tap.h"

#define LINE(prog, what) SLICE(prog ": error while loading shared libraries: " what "\n")
#define GONE             ": cannot open shared object file: No such file or directory"

static void test_lines(void)
{
    OK(program_is_unloaded(LINE("./prog", "libfoo.so" GONE)));
    OK(!program_is_unloaded(SLICE("./prog: error\n")));
    OK(!program_is_unloaded(SLICE("")));
    OK_F(!program_is_unloaded(SLICE(": error while loading shared libraries: x\n")), "nobody's");
    OK_F(!program_is_unloaded(SLICE("a: error while loading shared libraries: x")), "not whole");
    OK_F(!program_is_unloaded(SLICE("a: error while loading shared libraries: x\ny\n")),
         "more than that");
    OK_F(!program_is_unloaded(SLICE("y\na: error while loading shared libraries: x\n")),
         "something before it");
}

/* Writes the report to a file and reads it. */
static void reported(struct unloaded *u, char *text, size_t room)
{
    FILE *f = tmpfile();
    struct log log = { fileno(f), LOG_WARN, "w" };
    ssize_t n;

    unloaded_report(u, &log);
    n = pread(fileno(f), text, room - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    fclose(f);
}

static void test_ranks(void)
{
    struct unloaded u;
    char text[4096];

    list_init(&u.all);
    for (uint32_t r = 0; r < 1000; r++)
        unloaded_add(&u, 999 - r, LINE("./prog", "libfoo.so" GONE));
    OK(unloaded_has(&u, 0) && unloaded_has(&u, 999) && !unloaded_has(&u, 1000));
    reported(&u, text, sizeof text);
    OK_F(!strcmp(text, "w: ranks 0-999 could not start ./prog: libfoo.so is not found\n"), "%s",
         text);
    unloaded_free(&u);
    unloaded_add(&u, 7, LINE("./prog", "libfoo.so" GONE));
    unloaded_add(&u, 3, LINE("./a", "libb.so: wrong ELF class: ELFCLASS32"));
    unloaded_add(&u, 8, LINE("./prog", "libfoo.so" GONE));
    unloaded_add(&u, 1, LINE("./prog", "libfoo.so" GONE));
    reported(&u, text, sizeof text);
    OK_F(!strcmp(text, "w: ranks 1,7-8 could not start ./prog: libfoo.so is not found\n"
                       "w: rank 3 could not start ./a: libb.so: wrong ELF class: ELFCLASS32\n"),
         "%s", text);
    unloaded_free(&u);
    unloaded_free(&u);
    OK(!unloaded_has(&u, 3));
}

static void test_foreign(void)
{
    char path[] = "/tmp/wu-program-XXXXXX";
    unsigned char head[64] = { 0x7f, 'E', 'L', 'F', 2, 1, 1, [16] = 2, [18] = 0, [19] = 9 };
    struct errmsg why;
    int fd = mkstemp(path);

    OK(fd >= 0 && write(fd, head, sizeof head) == (ssize_t)sizeof head);
    OK(program_is_foreign(path, &why) && strstr(why.text, "is for another machine"));
    head[5] = 2; /* s390x has the other byte order */
    head[18] = 0;
    head[19] = 22;
    OK(pwrite(fd, head, sizeof head, 0) == (ssize_t)sizeof head);
    OK_F(program_is_foreign(path, &why) && strstr(why.text, " is for s390x; this machine is "),
         "%s", why.text);
    OK(pwrite(fd, "#!/bin/sh\n", 10, 0) == 10 && !program_is_foreign(path, &why));
    OK(!program_is_foreign("/no/such/program", &why));
    close(fd);
    unlink(path);
}

int main(void)
{
    test_lines();
    test_ranks();
    test_foreign();
    return tap_done();
}
