/* act_as_test.c - a thread with the rights of another user: it has these and no others, and the
 * rest of the process keeps its own.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/act_as.h"
#include "tests/tap.h"

enum { USER = 65533, GROUP = 65532 };

static char top[64];

struct tried {
    int rc, read_errno, made_errno;
    uid_t real;
    struct stat made;
};

static const char *path_of(char *path, const char *name)
{
    snprintf(path, 128, "%s/%s", top, name);
    return path;
}

static void *try_files(void *arg)
{
    struct tried *t = arg;
    char path[128];
    int fd;

    t->rc = act_as(USER, GROUP);
    fd = open(path_of(path, "secret"), O_RDONLY | O_CLOEXEC);
    t->read_errno = fd < 0 ? errno : 0;
    fd = open(path_of(path, "open/made"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    t->made_errno = fd < 0 ? errno : 0;
    if (fd >= 0) {
        fstat(fd, &t->made);
        close(fd);
    }
    t->real = getuid();
    return NULL;
}

static void test_root(void)
{
    struct tried t = { .rc = -1 };
    char path[128];
    pthread_t thread;

    close(open(path_of(path, "secret"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    mkdir(path_of(path, "open"), 0700);
    chmod(path, 0777);
    pthread_create(&thread, NULL, try_files, &t);
    pthread_join(thread, NULL);
    EQ(t.rc, 0);
    OK_F(t.read_errno == EACCES, "our own file is closed to it");
    OK_F(t.made_errno == 0 && t.made.st_uid == USER && t.made.st_gid == GROUP,
         "its files belong to the user");
    OK_F(t.real == getuid(), "nobody else may trace it or end it");
    OK_F(access(path_of(path, "secret"), R_OK) == 0 && open(path, O_RDONLY | O_CLOEXEC) >= 0,
         "the rest of the process has its rights");
    OK_F(prctl(PR_GET_DUMPABLE) == 1, "and can be examined as before");
    remove(path_of(path, "open/made"));
    remove(path_of(path, "open"));
    remove(path_of(path, "secret"));
}

int main(void)
{
    strcpy(top, "/tmp/wireup-act-as.XXXXXX");
    OK(mkdtemp(top) && chmod(top, 0755) == 0);
    OK(act_as_is_self(geteuid(), getegid()) && !act_as_is_self(USER, getegid()));
    OK(act_as_try((uid_t)-1, 0) == -EPERM && act_as_try(0, (gid_t)-1) == -EPERM);
    if (act_as_try(USER, GROUP) == 0)
        test_root();
    else
        OK_F(true, "the rights of others are not to be had here");
    OK(rmdir(top) == 0);
    if (geteuid() != 0 || setuid(65534) == 0)
        OK_F(act_as_try(USER, GROUP) == -EPERM, "not everybody can have another's rights");
    return tap_done();
}
