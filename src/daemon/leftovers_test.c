/* leftovers_test.c - what is listed is removed, and nothing else. */
#include "daemon/leftovers.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <unistd.h>

#include "tests/tap.h"

static struct leftovers list;
static char folder[] = "/tmp/leftovers.XXXXXX", path[4][64];

static void make(void)
{
    for (int i = 0; i < 4; i++)
        close(open(path[i], O_WRONLY | O_CREAT, 0600));
}

/* "1010": the first and the third are there. */
static const char *there(void)
{
    static char text[5];

    for (int i = 0; i < 4; i++)
        text[i] = access(path[i], F_OK) == 0 ? '1' : '0';
    return text;
}

static bool add(const char *name, bool segment)
{
    return leftovers_add(
        &list, &(struct cleanup_order){ .path = slice_str(name), .uid = geteuid() }, segment);
}

static void test_files(void)
{
    leftovers_remove(&list);
    OK_F(!strcmp(there(), "1111"), "an empty list removes nothing");
    leftovers_begin(&list);
    OK(add(path[0], false) && add(path[2], false));
    leftovers_remove(&list);
    OK_F(!strcmp(there(), "1111"), "nor does one whose writer was killed");
    leftovers_end(&list);
    leftovers_remove(&list);
    OK_F(!strcmp(there(), "0101"), "what is listed is gone: %s", there());
    make();
    leftovers_remove(&list);
    OK_F(!strcmp(there(), "1111"), "once");
    leftovers_begin(&list);
    OK(add(path[3], false));
    leftovers_end(&list);
    leftovers_begin(&list);
    leftovers_end(&list);
    leftovers_remove(&list);
    OK_F(!strcmp(there(), "1111"), "what is taken back stays");
}

static void test_folder(void)
{
    struct cleanup_order o = { .path = slice_str(folder),
                               .stay = SLICE("b,d"),
                               .uid = geteuid(),
                               .directory = true,
                               .recursive = true };

    leftovers_begin(&list);
    OK(leftovers_add(&list, &o, false));
    leftovers_end(&list);
    leftovers_remove(&list);
    OK_F(!strcmp(there(), "0101"), "of a folder what is to be kept stays: %s", there());
    make();
}

static void test_segment(void)
{
    int id = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
    struct shmid_ds s;
    char number[16];

    snprintf(number, sizeof number, "%d", id);
    leftovers_begin(&list);
    OK(add(number, true));
    leftovers_end(&list);
    leftovers_remove(&list);
    OK_F(shmctl(id, IPC_STAT, &s) < 0, "a segment is gone");
}

static void test_full(void)
{
    char longest[4096];
    int n = 0;

    memset(longest, 'x', sizeof longest - 1);
    longest[0] = '/';
    longest[sizeof longest - 1] = '\0';
    leftovers_begin(&list);
    OK(add(path[0], false));
    while (add(longest, false))
        n++;
    OK_F(n == 15, "what does not fit is refused: %d", n);
    OK_F(add(path[1], false), "a shorter one may fit");
    leftovers_end(&list);
    leftovers_remove(&list);
    OK_F(!strcmp(there(), "0011"), "the others are removed: %s", there());
    make();
}

/* The other process may have been killed because its memory was overwritten. */
static void test_nonsense(void)
{
    leftovers_begin(&list);
    OK(add(path[0], false));
    memset(list.bytes, 0xff, sizeof(struct cleanup_order));
    leftovers_end(&list);
    leftovers_remove(&list);
    memset(list.bytes, 0xff, sizeof list.bytes);
    atomic_store(&list.used, ~0u);
    leftovers_remove(&list);
    OK_F(!strcmp(there(), "1111"), "bytes that are no list remove nothing: %s", there());
}

int main(void)
{
    if (!mkdtemp(folder))
        return 1;
    for (int i = 0; i < 4; i++)
        snprintf(path[i], sizeof path[i], "%s/%c", folder, 'a' + i);
    make();
    test_files();
    test_folder();
    test_segment();
    test_full();
    test_nonsense();
    for (int i = 0; i < 4; i++)
        unlink(path[i]);
    rmdir(folder);
    return tap_done();
}
