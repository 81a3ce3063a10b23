/* privilege.c - see privilege.h. */
#include "base/privilege.h"

#include <errno.h>
#include <linux/capability.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

bool privilege_is_lent(void)
{
    return getauxval(AT_SECURE) != 0;
}

/* Security modules set AT_SECURE for harmless transitions, too. */
static bool has_capabilities(void)
{
    struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
    struct __user_cap_data_struct data[2] = { { 0 }, { 0 } };

    return geteuid() != 0 && syscall(SYS_capget, &head, data) == 0 &&
           (data[0].permitted || data[1].permitted);
}

int privilege_check(struct errmsg *err)
{
    const char *how = getuid() != geteuid()                       ? "set-uid"
                      : getgid() != getegid()                     ? "set-gid"
                      : privilege_is_lent() && has_capabilities() ? "with capabilities"
                                                                  : NULL;

    if (!how)
        return 0;
    return errmsg_set(err, -EPERM,
                      "this program is installed %s: it would run anybody's programs with those "
                      "rights, so it does nothing; install it without (chmod ug-s, setcap -r)",
                      how);
}
