/* help_topics.h - help messages that many processes send are shown once, and counted.
 *
 * A job of a thousand processes that fail alike sends the same page a thousand times.  A message is
 * identified by its topic ("FILE / TOPIC"); the first one of a topic is shown, the processes that
 * send it later are counted, each once.
 *
 * Pure; memory is bounded: beyond LIMIT_HELP_TOPICS every message is shown.
 */
#ifndef WIREUP_CORE_HELP_TOPICS_H
#define WIREUP_CORE_HELP_TOPICS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "base/slice.h"

struct help_topics {
    struct list all;
    uint32_t count;
};

void help_topics_init(struct help_topics *t);
void help_topics_free(struct help_topics *t); /* harmless twice, and on zeroed memory */

/* proc sends a message of this topic.  True: show it; false: it is only counted. */
bool help_topics_note(struct help_topics *t, struct slice topic, uint32_t proc);

/* Calls fn for each topic that processes have sent since the last report (or since it was shown),
 * with the number of processes.  True: there was one. */
bool help_topics_report(struct help_topics *t,
                        void (*fn)(void *arg, struct slice topic, uint32_t more), void *arg);

#endif
