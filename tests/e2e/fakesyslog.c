/* fakesyslog.c - preloaded, it is the syslog of a test: lines "PROGRAM PRIORITY TEXT" in the file
 * that WU_SYSLOG names. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <syslog.h>
#include <unistd.h>

static void write_line(int priority, const char *format, va_list args)
{
    int fd = open(getenv("WU_SYSLOG"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    char text[512];

    vsnprintf(text, sizeof text, format, args);
    if (fd < 0)
        return;
    dprintf(fd, "%s %d %s\n", program_invocation_short_name, priority, text);
    close(fd);
}

void syslog(int priority, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    write_line(priority, format, args);
    va_end(args);
}

void __syslog_chk(int priority, int flag, const char *format, ...);
void __syslog_chk(int priority, int flag, const char *format, ...)
{
    va_list args;

    (void)flag;
    va_start(args, format);
    write_line(priority, format, args);
    va_end(args);
}
