/* leftovers_test.c - what is listed is removed, and nothing else. */
#include "daemon/leftovers.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/wait.h>
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
    leftovers_begin(&list);
    OK(add(path[0], false) && add(path[2], false));
    leftovers_end(&list);
    leftovers_begin(&list);
    OK(add(path[1], false));
    leftovers_remove(&list);
    OK_F(!strcmp(there(), "0101"), "what was listed before is gone: %s", there());
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
    struct leftovers_bytes *b;

    leftovers_begin(&list);
    OK(add(path[0], false));
    leftovers_end(&list);
    b = &list.lists[atomic_load(&list.current)];
    memset(b->bytes, 0xff, 13);
    leftovers_remove(&list);
    b = &list.lists[atomic_load(&list.current)];
    memset(b->bytes, 0xff, sizeof b->bytes);
    b->used = ~0u;
    leftovers_remove(&list);
    OK_F(!strcmp(there(), "1111"), "bytes that are no list remove nothing: %s", there());
}

/* Any number of bytes that is not the whole list: no more than the whole entries are read. */
static void test_cut(void)
{
    struct cleanup_order o;
    const struct leftovers_bytes *b;
    unsigned wrong = 0;
    bool segment;

    leftovers_begin(&list);
    OK(add(path[0], false) && add("17", true) && add(path[1], false));
    leftovers_end(&list);
    b = &list.lists[atomic_load(&list.current)];
    for (unsigned n = 0; n <= b->used; n++) {
        struct slice rest = slice_mem((const char *)b->bytes, n);
        unsigned one = 13 + (unsigned)strlen(path[0]), want = n < one ? 0 : n < one + 15 ? 1 : 2;
        unsigned got = 0;
        while (leftovers_read(&rest, &o, &segment))
            got += segment == (got == 1) ? 1 : 100;
        wrong += got != want + (n == b->used);
    }
    OK_F(wrong == 0, "a list that is cut anywhere: %u wrong", wrong);
    leftovers_begin(&list);
    leftovers_end(&list);
}

/* ---- both processes are killed --------------------------------------------------------------- */

static unsigned files(void)
{
    struct leftovers_file f = { .lock = -1 };
    char own[LEFTOVERS_FILE_NAME];
    const struct dirent *e;
    unsigned n = 0;
    DIR *d;

    leftovers_file_write(&f, SLICE("x"));
    strcpy(own, f.name);
    if (strrchr(own, '.'))
        *strrchr(own, '.') = '\0';
    leftovers_file_write(&f, SLICE(""));
    d = opendir("/dev/shm");
    while (d && (e = readdir(d)))
        n += !strncmp(e->d_name, own, strlen(own));
    if (d)
        closedir(d);
    return n;
}

/* A writer with that many lists, each longer than the one before, that is killed. */
static void killed_writer(unsigned lists)
{
    pid_t pid = fork();

    for (unsigned i = 1; pid == 0 && i <= lists; i++) {
        leftovers_begin(&list);
        for (unsigned k = 0; k < i; k++)
            add(path[k], false);
        leftovers_end(&list);
    }
    if (pid == 0)
        raise(SIGKILL);
    waitpid(pid, NULL, 0);
}

static void test_orphans(void)
{
    unsigned before = files();

    killed_writer(3);
    OK_F(!strcmp(there(), "1111") && files() == before + 1, "a killed writer leaves one file");
    leftovers_tidy();
    OK_F(!strcmp(there(), "0001"), "who comes next removes what it lists: %s", there());
    OK_F(files() == before, "and the file");
    make();
    leftovers_tidy();
    OK_F(!strcmp(there(), "1111"), "once");
    leftovers_begin(&list);
    OK(add(path[0], false));
    leftovers_end(&list);
    leftovers_tidy();
    OK_F(!strcmp(there(), "1111") && files() == before + 1, "the list of one who lives stays");
    leftovers_begin(&list);
    leftovers_end(&list);
    OK_F(files() == before, "an empty list is no file");
}

/* Makes /dev/shm/<a name of ours> that is not our writer's: it is left as it is. */
static void strange(const char *what, void (*made)(const char *path))
{
    struct leftovers_file f = { .lock = -1 };
    char at[200];

    leftovers_file_write(&f, SLICE("x"));
    snprintf(at, sizeof at, "/dev/shm/%s0", f.name);
    leftovers_file_write(&f, SLICE(""));
    made(at);
    leftovers_tidy();
    OK_F(!strcmp(there(), "1111"), "%s removes nothing", what);
    remove(at);
}

static void as_link(const char *at)
{
    OK(symlink(path[0], at) == 0);
}

static void as_second_name(const char *at)
{
    OK(link("/dev/shm/wireup-test-leftovers", at) == 0);
}

static void as_fifo(const char *at)
{
    OK(mkfifo(at, 0600) == 0);
}

static void as_nonsense(const char *at)
{
    int fd = open(at, O_WRONLY | O_CREAT | O_EXCL, 0600);

    OK(write(fd, path, sizeof path) == (ssize_t)sizeof path);
    close(fd);
}

/* A list of a file that has another name elsewhere, as somebody else could make it. */
static void test_strange(void)
{
    int fd = open("/dev/shm/wireup-test-leftovers", O_WRONLY | O_CREAT, 0600);
    const struct leftovers_bytes *b;

    leftovers_begin(&list);
    OK(add(path[0], false));
    leftovers_end(&list);
    b = &list.lists[atomic_load(&list.current)];
    OK(write(fd, b->bytes, b->used) == (ssize_t)b->used);
    close(fd);
    strange("a symbolic link", as_link);
    strange("a second name of a file", as_second_name);
    strange("a pipe", as_fifo);
    strange("a file that is no list", as_nonsense);
    unlink("/dev/shm/wireup-test-leftovers");
    leftovers_begin(&list);
    leftovers_end(&list);
}

/* Other launchers of our user, which tidy up as well, look only for what is of their own space. */
static void leave_others(void)
{
    char map[64];
    uid_t uid = geteuid();
    int fd;

    if (unshare(CLONE_NEWNS) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
        return;
    snprintf(map, sizeof map, "%u %u 1", (unsigned)uid, (unsigned)uid);
    fd = open("/proc/self/uid_map", O_WRONLY);
    OK(write(fd, map, strlen(map)) > 0);
    close(fd);
}

int main(void)
{
    leave_others();
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
    test_cut();
    test_orphans();
    test_strange();
    for (int i = 0; i < 4; i++)
        unlink(path[i]);
    rmdir(folder);
    return tap_done();
}
