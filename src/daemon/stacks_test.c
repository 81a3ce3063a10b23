/* stacks_test.c - what eu-stack and gdb print, as lines of a stack. */
#include "daemon/stacks.h"

#include <stdio.h>
#include <string.h>

#include "tests/tap.h"

static void is(const char *text, const char *want)
{
    struct buf out = BUF_NULL(1 << 14);
    const char *got;

    stacks_parse(slice_str(text), &out);
    got = buf_cstr(&out);
    if (!OK_F(got && !strcmp(got, want), "%.60s", text))
        printf("# got: %s\n", got ? got : "");
    buf_free(&out);
}

int main(void)
{
    is("PID 7 - process\nTID 7:\n"
       "#0  0x00007f5ad614e5da - /usr/lib/x86_64-linux-gnu/libuct.so.0.0.0\n"
       "#1  0x00007f5ad66b31c6 PMPI_Barrier - /usr/lib/libmpich.so.12.2.2\n"
       "#2  0x0000560ba9c621b3 main - /tmp/h\n"
       "#10 0x00007f5ad6445305 __libc_start_main@@GLIBC_2.34 - /usr/lib/libc.so.6\n",
       "@libuct.so\nPMPI_Barrier@libmpich.so\nmain\n__libc_start_main@libc.so\n");
    is("#0  0x1 clock_gettime - [vdso: 7]\n#1  0x2 - /tmp/h\n", "clock_gettime@vdso\n?\n");
    is("[Thread debugging using libthread_db enabled]\n"
       "0x00007f5a in pause () from /lib/libc.so.6\n"
       "#0  0x00007f5a in pause () from /lib/libc.so.6\n"
       "#1  0x00007f5b in ?? () from /lib/libmpich.so.12\n"
       "#2  0x00005ba1 in work (n=3, from=0x5) at a from b.c:12\n"
       "#3  main () at h.c:5\n"
       "[Inferior 1 (process 7) detached]\n",
       "pause@libc.so\n@libmpich.so\nwork\nmain\n");
    is("#0  0x1 a - /tmp/h\n#1  0x2 main - /tmp/h\nTID 8:\n#0  0x3 b - /tmp/h\n", "a\nmain\n");
    is("eu-stack: dwfl_linux_proc_attach pid 7: Operation not permitted\n", "");
    is("#0\n#\n#1 \n#2  0x\n#3  ", "?\n?\n?\n?\n");
    return tap_done();
}
