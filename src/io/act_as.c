/* act_as.c - see act_as.h.  By raw system calls: the functions of the C library change all threads.
 */
#include "io/act_as.h"

#include <errno.h>
#include <linux/capability.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Machines on which the plain calls take ids of 16 bits. */
#ifdef SYS_setfsuid32
enum { SET_USER = SYS_setfsuid32, SET_GROUP = SYS_setfsgid32, SET_GROUPS = SYS_setgroups32 };
#else
enum { SET_USER = SYS_setfsuid, SET_GROUP = SYS_setfsgid, SET_GROUPS = SYS_setgroups };
#endif

enum { CAP_WORDS = _LINUX_CAPABILITY_U32S_3 };

static struct __user_cap_header_struct cap_header(void)
{
    return (struct __user_cap_header_struct){ .version = _LINUX_CAPABILITY_VERSION_3 };
}

/* A host that has switched its effective user may still have the capabilities in its permitted set.
 */
static void raise_what_it_takes(void)
{
    const uint32_t wanted = 1U << CAP_SETUID | 1U << CAP_SETGID;
    struct __user_cap_header_struct head = cap_header();
    struct __user_cap_data_struct caps[CAP_WORDS];

    if (syscall(SYS_capget, &head, caps) < 0)
        return;
    caps[0].effective |= caps[0].permitted & wanted;
    syscall(SYS_capset, &head, caps);
}

static bool has_no_capability(void)
{
    struct __user_cap_header_struct head = cap_header();
    struct __user_cap_data_struct caps[CAP_WORDS];

    if (syscall(SYS_capget, &head, caps) < 0)
        return false;
    for (int i = 0; i < CAP_WORDS; i++) {
        if (caps[i].effective || caps[i].permitted || caps[i].inheritable)
            return false;
    }
    return true;
}

bool act_as_is_self(uid_t uid, gid_t gid)
{
    return uid == geteuid() && gid == getegid();
}

int act_as(uid_t uid, gid_t gid)
{
    const struct __user_cap_data_struct none[CAP_WORDS] = { { .effective = 0 } };
    struct __user_cap_header_struct head = cap_header();
    int dumpable = prctl(PR_GET_DUMPABLE);

    if (uid == (uid_t)-1 || gid == (gid_t)-1)
        return -EPERM;
    raise_what_it_takes();
    syscall(SET_GROUPS, (size_t)0, NULL);
    syscall(SET_GROUP, gid);
    syscall(SET_USER, uid);
    syscall(SYS_capset, &head, none);
    if (dumpable == 1) /* the kernel has cleared it for the whole process */
        prctl(PR_SET_DUMPABLE, 1);
    if ((uid_t)syscall(SET_USER, (uid_t)-1) != uid || (gid_t)syscall(SET_GROUP, (gid_t)-1) != gid ||
        getgroups(0, NULL) != 0 || !has_no_capability())
        return -EPERM;
    return 0;
}

struct trial {
    uid_t uid;
    gid_t gid;
    int rc;
};

static void *run_trial(void *arg)
{
    struct trial *t = arg;

    t->rc = act_as(t->uid, t->gid);
    return NULL;
}

int act_as_try(uid_t uid, gid_t gid)
{
    struct trial t = { uid, gid, -EPERM };
    sigset_t all, before;
    pthread_t thread;
    int rc;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are left to the other threads */
    rc = pthread_create(&thread, NULL, run_trial, &t);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (rc)
        return -rc;
    pthread_join(thread, NULL);
    return t.rc;
}
