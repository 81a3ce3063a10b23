/* pmix_client.c - fuzz target: a server that may say anything to our PMIx client.
 *
 * The first byte chooses how the conversation begins, the next eight what the client does; the rest
 * is the server's messages: a byte that says which tag comes (the next call's, an event's, that of
 * output, any), two of length, and so many of payload.  All is there at once, and then nothing
 * more. Whatever it is, every call returns and what it hands out can be released. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz/own_memory.h"
#include "pmix.h"
#include "pmix_tool.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { STEPS = 8, MOST = 30000, FIRST_TAG = 101 };

static const char job_info[] = "\x02\x0etestns\0"
                               "\x02\x1cpmix.job.size\0\x0e\x02"
                               "\x02\x16pmix.pblob\0\x1b\x11\x02\x01\x02\x16pmix.lrank\0\x0d\x01";

static void send_bytes(int fd, const void *bytes, size_t n)
{
    if (n && send(fd, bytes, n, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        return; /* the buffer is full: then that was all */
}

static void send_frame(int fd, uint32_t tag, const void *bytes, size_t n)
{
    uint32_t words[4] = { 0, htonl(tag), htonl((uint32_t)n), 0 };

    send_bytes(fd, words, sizeof words);
    send_bytes(fd, bytes, n);
}

static void send_frames(int fd, bool with_info, const uint8_t *at, size_t left)
{
    uint32_t tag = FIRST_TAG, welcome[2] = { 0, 0 };

    send_bytes(fd, welcome, sizeof welcome);
    if (with_info)
        send_frame(fd, tag++, job_info, sizeof job_info - 1);
    while (left >= 3) {
        size_t n = (size_t)at[1] << 8 | at[2];
        uint8_t which = at[0];
        at += 3;
        left -= 3;
        if (n > left)
            n = left;
        send_frame(fd, which < 200 ? tag++ : which < 220 ? 0 : which < 240 ? 2 : which, at, n);
        at += n;
        left -= n;
    }
    shutdown(fd, SHUT_WR);
}

/* ---- what the client does -------------------------------------------------------------------- */

static void on_event(size_t id, pmix_status_t code, const pmix_proc_t *source, pmix_info_t *info,
                     size_t ninfo, pmix_info_t *results, size_t nresults,
                     pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    (void)id, (void)code, (void)source, (void)info, (void)ninfo, (void)results, (void)nresults;
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
}

static void on_output(size_t id, pmix_iof_channel_t channel, pmix_proc_t *source,
                      pmix_byte_object_t *bytes, pmix_info_t *info, size_t ninfo)
{
    (void)id, (void)channel, (void)source, (void)bytes, (void)info, (void)ninfo;
}

static void on_infos(pmix_status_t status, pmix_info_t *info, size_t ninfo, void *arg,
                     pmix_release_cbfunc_t release, void *release_arg)
{
    (void)status, (void)info, (void)ninfo, (void)arg;
    if (release)
        release(release_arg);
}

static void on_value(pmix_status_t status, pmix_value_t *value, void *arg)
{
    (void)status, (void)value, (void)arg;
}

static void get(uint32_t rank, const char *key)
{
    pmix_proc_t p;
    pmix_value_t *v = NULL;

    PMIx_Load_procid(&p, "testns", rank);
    if (PMIx_Get(&p, key, NULL, 0, &v) == PMIX_SUCCESS)
        PMIx_Value_free(v, 1);
}

static void look_up(void)
{
    pmix_pdata_t data = { .key = "pubkey" };

    PMIx_Lookup(&data, 1, NULL, 0);
    PMIx_Value_destruct(&data.value);
}

static void query(bool nb)
{
    char key[] = "pmix.qry.ns", *keys[] = { key, NULL };
    pmix_query_t q = { .keys = keys };
    pmix_info_t *results = NULL;
    size_t n = 0;

    if (nb) {
        PMIx_Query_info_nb(&q, 1, on_infos, NULL);
    } else {
        PMIx_Query_info(&q, 1, &results, &n);
        PMIx_Info_free(results, n);
    }
}

static void group(void)
{
    pmix_proc_t p;
    pmix_info_t *results = NULL;
    size_t n = 0;

    PMIx_Load_procid(&p, "testns", PMIX_RANK_WILDCARD);
    PMIx_Group_construct("g", &p, 1, NULL, 0, &results, &n);
    PMIx_Info_free(results, n);
}

static void spawn(void)
{
    char name[] = "a";
    pmix_app_t app = { .cmd = name, .maxprocs = 1 };
    pmix_nspace_t nspace;

    PMIx_Spawn(NULL, 0, &app, 1, nspace);
}

static void resolve(void)
{
    pmix_proc_t p, *procs = NULL;
    size_t n = 0;
    char *nodes = NULL;

    PMIx_Load_procid(&p, "testns", 0);
    PMIx_Resolve_peers(NULL, p.nspace, &procs, &n);
    PMIx_Resolve_nodes(p.nspace, &nodes);
    free(procs);
    free(nodes);
}

static void credential(void)
{
    pmix_byte_object_t c = { NULL, 0 };
    pmix_info_t *results = NULL;
    size_t n = 0;

    if (PMIx_Get_credential(NULL, 0, &c) == PMIX_SUCCESS)
        free(c.bytes);
    c = (pmix_byte_object_t){ (char[]){ "x" }, 1 };
    PMIx_Validate_credential(&c, NULL, 0, &results, &n);
    PMIx_Info_free(results, n);
}

static void step(unsigned what)
{
    pmix_value_t number = { .type = PMIX_UINT32, .data.uint32 = 5 };
    pmix_proc_t p;

    PMIx_Load_procid(&p, "testns", 1);
    switch (what % 15) {
    case 0: get(1, "key"); break;
    case 1: get(PMIX_RANK_WILDCARD, "pmix.job.size"); break;
    case 2: get(1, "pmix.lrank"); break;
    case 3: get(1, NULL); break;
    case 4: PMIx_Fence(NULL, 0, NULL, 0); break;
    case 5: PMIx_Connect(&p, 1, NULL, 0); break;
    case 6: look_up(); break;
    case 7: query(what & 16); break;
    case 8: group(); break;
    case 9: spawn(); break;
    case 10: resolve(); break;
    case 11: credential(); break;
    case 12: PMIx_Register_event_handler(NULL, 0, NULL, 0, on_event, NULL, NULL); break;
    case 13: PMIx_IOF_pull(&p, 1, NULL, 0, PMIX_FWD_STDOUT_CHANNEL, on_output, NULL, NULL); break;
    case 14:
        PMIx_Put(PMIX_GLOBAL, "mine", &number);
        PMIx_Commit();
        PMIx_Get_nb(&p, "other", NULL, 0, on_value, NULL);
        break;
    }
}

/* A sentence for each server that breaks off is one too many here. */
static pmix_status_t init_silently(pmix_info_t *info)
{
    int loud = dup(STDERR_FILENO), silent = open("/dev/null", O_WRONLY | O_CLOEXEC);
    pmix_status_t rc;

    dup2(silent, STDERR_FILENO);
    rc = PMIx_Init(NULL, info, 1);
    dup2(loud, STDERR_FILENO);
    close(loud);
    close(silent);
    return rc;
}

static void set_up(int fd)
{
    char number[16];

    snprintf(number, sizeof number, "%d", fd);
    setenv("WIREUP_FD", number, 1);
    setenv("PMIX_NAMESPACE", "testns", 1);
    setenv("PMIX_RANK", "0", 1);
    setenv("PMIX_SERVER_URI41", "fake.0;tcp4://127.0.0.1:9", 1);
    setenv("PMIX_SECURITY_MODE", "native", 1);
    setenv("PMIX_HOSTNAME", "vm", 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const versions[] = { "4.2.2", "5.0.3", "6.1.0", "3.2.0" };
    pmix_info_t info;
    bool yes = true;
    int ends[2];

    if (size < 1 + STEPS || size > MOST || socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0)
        return 0;
    set_up(ends[0]);
    setenv("PMIX_VERSION", versions[data[0] % 4], 1);
    send_frames(ends[1], data[0] & 4, data + 1 + STEPS, size - 1 - STEPS);
    PMIx_Info_load(&info, PMIX_EXTERNAL_PROGRESS, &yes, PMIX_BOOL);
    if (init_silently(&info) == PMIX_SUCCESS) {
        for (int i = 0; i < STEPS; i++) {
            step(data[1 + i]);
            PMIx_Progress();
        }
        PMIx_Finalize(NULL, 0);
    } else if (data[0] & 4 && !memory_is_refused()) {
        abort(); /* its beginning was that of a good server */
    }
    close(ends[0]);
    close(ends[1]);
    return 0;
}
