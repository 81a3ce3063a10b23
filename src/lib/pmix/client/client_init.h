/* client_init.h - how a process becomes a client: by PMIx_Init, as the host of a server, as a tool.
 */
#ifndef WIREUP_LIB_PMIX_CLIENT_CLIENT_INIT_H
#define WIREUP_LIB_PMIX_CLIENT_CLIENT_INIT_H

#include "lib/pmix/client/client.h"

/* A host as a client of its own server. */
struct client_seat {
    int fd; /* a socket to the server */
    const char *uri, *hostname;
    pmix_proc_t proc;
    /* Delivers its events (client.h). */
    pmix_status_t (*notify_others)(pmix_status_t status, const pmix_proc_t *source,
                                   pmix_data_range_t range, const pmix_info_t *infos,
                                   size_t ninfos);
    /* Extra work of PMIx_Progress and of threads that wait for a reply. */
    void (*turn)(void *arg, bool wait); /* wait: for another thread that turns the loop */
    int (*turn_fd)(void *arg);
    void (*hand_over)(void *arg, bool flush); /* extra work of PMIx_Progress_thread_stop */
    /* Around the sending of a blocking call's request (client.h). */
    void (*call_begin)(void *arg);
    void (*call_end)(void *arg);
    void *arg;
};

/* PMIx_Init with infos that have been checked. */
pmix_status_t init_client(pmix_proc_t *proc, const pmix_info_t *info, size_t ninfo);

/* PMIX_ERR_EXISTS: the process is a client already. */
pmix_status_t init_host(const struct client_seat *seat, const pmix_info_t *info, size_t ninfo);
void init_host_end(void);

/* A tool; way NULL: without a server.  *proc_p (may be NULL) gets its name. */
pmix_status_t init_tool(const struct client_way *way, const pmix_proc_t *name,
                        const pmix_info_t *info, size_t ninfo, pmix_proc_t *proc_p);

#endif
