/* dvm_asked.c - see dvm_asked.h. */
#include "daemon/dvm_asked.h"

#include <string.h>
#include <unistd.h>

#include "daemon/remote_command.h"

void dvm_asked_add(struct dvm_asked *q, const struct launcher_name *dvm, const char *node,
                   char *const *words)
{
    int fd = q->count < LIMIT_AGENT_AT_ONCE ? rendezvous_connect(dvm) : -1;

    if (fd >= 0 && remote_command_ask(fd, words) < 0) {
        close(fd);
        fd = -1;
    }
    if (fd < 0)
        return;
    q->all[q->count].node = node;
    q->all[q->count++].fd = fd;
}

int dvm_asked_take(struct dvm_asked *q, const char *node)
{
    for (uint32_t i = 0; i < q->count; i++) {
        int fd = q->all[i].fd;
        if (strcmp(q->all[i].node, node) != 0)
            continue;
        q->all[i] = q->all[--q->count];
        return fd;
    }
    return -1;
}

void dvm_asked_close(struct dvm_asked *q)
{
    while (q->count)
        close(q->all[--q->count].fd);
}
