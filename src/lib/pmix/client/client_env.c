/* client_env.c - see client_env.h. */
#include "lib/pmix/client/client_env.h"

#include <errno.h>
#include <stdlib.h>

/* One variable for each encoding that the server speaks; the first one that is set counts.  v41
 * is spoken by every server since 4.1; the newer two only know more types. */
static const struct {
    const char *name, *encoding, *version;
} uris[] = {
    { "PMIX_SERVER_URI41", "v41", "4.1.0" }, { "PMIX_SERVER_URI61", "v61", "6.1.0" },
    { "PMIX_SERVER_URI51", "v51", "6.0.0" }, { "PMIX_SERVER_URI4", "v4", "4.0.0" },
    { "PMIX_SERVER_URI3", "v3", "3.2.0" },   { "PMIX_SERVER_URI21", "v21", "2.1.0" },
};

static const char *text_of(const char *name)
{
    const char *text = getenv(name);

    return text && *text ? text : NULL;
}

/* A directory for files: a setuid program must not take it from its user's environment. */
static const char *place_of(const char *name)
{
    const char *text = secure_getenv(name);

    return text && *text ? text : NULL;
}

static void choose_uri(struct pmix_env *e)
{
    for (size_t i = 0; i < sizeof uris / sizeof *uris; i++) {
        e->uri = text_of(uris[i].name);
        if (!e->uri)
            continue;
        e->uri_name = uris[i].name;
        e->as = ptype_flavour(slice_str(uris[i].encoding));
        e->version = uris[i].version;
        return;
    }
    e->as = ptype_flavour(SLICE("v41"));
    e->version = "0.0.0";
}

int pmix_env_read(struct pmix_env *e_p, struct errmsg *err)
{
    struct pmix_env *e = e_p;
    const char *text;

    *e = (struct pmix_env){ .wireup_fd = -1 };
    choose_uri(e);
    e->nspace = text_of("PMIX_NAMESPACE");
    e->security = text_of("PMIX_SECURITY_MODE");
    e->hostname = text_of("PMIX_HOSTNAME");
    e->tmpdir = place_of("PMIX_SERVER_TMPDIR");
    e->system_tmpdir = place_of("PMIX_SYSTEM_TMPDIR");
    text = text_of("PMIX_VERSION");
    if (text)
        e->version = text;
    text = text_of("WIREUP_FD");
    if (text && !slice_int(slice_str(text), &e->wireup_fd))
        e->wireup_fd = -1; /* not worth a failure: there is TCP */
    if (!e->nspace)
        return 0;
    if (strlen(e->nspace) > PMIX_MAX_NSLEN)
        return errmsg_set(err, -EINVAL, "PMIX_NAMESPACE is longer than %d characters",
                          PMIX_MAX_NSLEN);
    text = text_of("PMIX_RANK");
    if (!text)
        return errmsg_set(err, -EINVAL, "PMIX_NAMESPACE=%s is set, but PMIX_RANK is not",
                          e->nspace);
    if (!slice_u32(slice_str(text), &e->rank) || !PMIX_RANK_IS_VALID(e->rank))
        return errmsg_set(err, -EINVAL, "PMIX_RANK=%s is not a rank", text);
    return 0;
}
