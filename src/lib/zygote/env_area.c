/* env_area.c - see env_area.h. */
#include "lib/zygote/env_area.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/* <linux/prctl.h> and <sys/prctl.h> do not agree on who declares these. */
enum { SET_MM = 35, SET_MM_MAP = 14 };

/* As in the kernel: struct prctl_mm_map. */
static struct area {
    uint64_t start_code, end_code, start_data, end_data, start_brk, brk, start_stack;
    uint64_t arg_start, arg_end, env_start, env_end;
    uint64_t *auxv;
    uint32_t auxv_size, exe_fd;
} area;

/* Fields of /proc/self/stat, counted from 1, in ascending order. */
static const struct {
    unsigned field;
    uint64_t *to;
} fields[] = {
    { 26, &area.start_code }, { 27, &area.end_code }, { 28, &area.start_stack },
    { 45, &area.start_data }, { 46, &area.end_data }, { 47, &area.start_brk },
    { 48, &area.arg_start },  { 49, &area.arg_end },  { 50, &area.env_start },
    { 51, &area.env_end },
};

void env_area_look(void)
{
    char text[2048], *at;
    unsigned field = 2;
    int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;

    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    at = strrchr(text, ')'); /* the end of the second field, the name */
    for (size_t i = 0; at && i < sizeof fields / sizeof *fields; i++) {
        for (; at && field < fields[i].field; field++)
            at = strchr(at + 1, ' ');
        if (at)
            *fields[i].to = strtoull(at + 1, NULL, 10);
    }
    if (!at)
        area.start_code = 0;
}

void env_area_set(const char *strings, size_t bytes)
{
    if (!area.start_code || bytes == 0)
        return;
    area.brk = (uintptr_t)sbrk(0);
    area.exe_fd = (uint32_t)-1;
    area.env_start = (uintptr_t)strings;
    area.env_end = (uintptr_t)strings + bytes;
    prctl(SET_MM, SET_MM_MAP, &area, sizeof area, 0);
}
