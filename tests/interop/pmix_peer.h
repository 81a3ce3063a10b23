/* pmix_peer.h - another libpmix in our process, for tests that compare.
 *
 * It is opened by path and privately: its calls stay its own, ours stay ours.  Include once.
 */
#ifndef WIREUP_TESTS_PMIX_PEER_H
#define WIREUP_TESTS_PMIX_PEER_H

#include <dlfcn.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pmix.h"
#include "pmix_server.h"

struct peer {
    void *handle;
    __typeof__(PMIx_server_init) *init;
    __typeof__(PMIx_server_finalize) *finalize;
    __typeof__(PMIx_Data_pack) *pack;
    __typeof__(PMIx_Data_unpack) *unpack;
    __typeof__(PMIx_Data_copy) *copy;
    __typeof__(PMIx_generate_regex) *generate_regex;
    __typeof__(PMIx_generate_ppn) *generate_ppn;
    int (*parse_nodes)(const char *regex, char ***names);
    int (*parse_procs)(const char *regex, char ***procs);
    char tmp[64];
};

/* Under a leak checker: what the other library never releases is not ours to mend. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libpmix.so.2";
}

/* Where distributions put it; the first that is there. */
static const char *const peer_places[] = {
    "/usr/lib/*/pmix2/lib/libpmix.so.2",
    "/usr/lib64/libpmix.so.2",
    "/usr/lib/*/libpmix.so.2",
};

static void *peer_dlopen(void)
{
    void *handle = NULL;

    for (size_t i = 0; i < sizeof peer_places / sizeof peer_places[0] && !handle; i++) {
        glob_t found;
        if (glob(peer_places[i], 0, NULL, &found) == 0 && found.gl_pathc > 0)
            handle = dlopen(found.gl_pathv[0], RTLD_NOW | RTLD_LOCAL);
        globfree(&found);
    }
    return handle;
}

/* Starts it as a server that uses one encoding ("v41") and form (1 plain, 2 described) for itself.
 * false: there is none. */
static bool peer_open(struct peer *p, const char *encoding, const char *form)
{
    static pmix_server_module_t module;
    pmix_info_t infos[2];
    pmix_status_t rc;

    memset(p, 0, sizeof *p);
    setenv("PMIX_MCA_gds", "hash", 1); /* the others leave directories behind */
    setenv("PMIX_MCA_bfrops", encoding, 1);
    setenv("PMIX_MCA_bfrops_base_default_type", form, 1);
    p->handle = peer_dlopen();
    if (!p->handle)
        return false;
#define PEER_CALL(member, name) *(void **)&p->member = dlsym(p->handle, name)
    PEER_CALL(init, "PMIx_server_init");
    PEER_CALL(finalize, "PMIx_server_finalize");
    PEER_CALL(pack, "PMIx_Data_pack");
    PEER_CALL(unpack, "PMIx_Data_unpack");
    PEER_CALL(copy, "PMIx_Data_copy");
    PEER_CALL(generate_regex, "PMIx_generate_regex");
    PEER_CALL(generate_ppn, "PMIx_generate_ppn");
    PEER_CALL(parse_nodes, "pmix_preg_base_parse_nodes");
    PEER_CALL(parse_procs, "pmix_preg_base_parse_procs");
#undef PEER_CALL
    snprintf(p->tmp, sizeof p->tmp, "/tmp/wireup-e2e.peer-XXXXXX");
    if (!p->init || !p->pack || !p->unpack || !mkdtemp(p->tmp))
        return false;
    PMIx_Info_load(&infos[0], PMIX_SERVER_TMPDIR, p->tmp, PMIX_STRING);
    PMIx_Info_load(&infos[1], PMIX_SYSTEM_TMPDIR, p->tmp, PMIX_STRING);
    rc = p->init(&module, infos, 2);
    PMIx_Info_destruct(&infos[0]);
    PMIx_Info_destruct(&infos[1]);
    return rc == PMIX_SUCCESS;
}

static void peer_close(struct peer *p)
{
    char command[128];

    if (p->finalize)
        p->finalize();
    snprintf(command, sizeof command, "rm -rf '%s'", p->tmp);
    if (p->tmp[0] && system(command) != 0)
        fprintf(stderr, "cannot remove %s\n", p->tmp);
}

#endif
