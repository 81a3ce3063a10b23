/* iof_queue.h - the output of one subscription (PMIx_IOF_pull) on its way to the client: gathered,
 * formatted, and limited as the subscription asks for.
 *
 * Output of one process and channel is a stream.  What may be passed on is a piece; pieces keep the
 * order in which their bytes came.  While the client does not read (blocked), pieces are cached, up
 * to a number of bytes for each channel; beyond it the oldest bytes are dropped, or the newest.
 * The end of a stream is never dropped.
 */
#ifndef WIREUP_SERVER_IOF_QUEUE_H
#define WIREUP_SERVER_IOF_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/list.h"
#include "pmix_common.h"

struct spoken;

enum { IOF_TAGGED = 1, IOF_TIMED = 2, IOF_XML = 4, IOF_RANKED = 8 };
enum { IOF_CHANNELS = 16 };

struct iof_options {
    uint32_t cache;     /* bytes of each channel */
    bool drop_newest;   /* instead of the oldest */
    bool redirects;     /* the launcher does not show the output */
    uint32_t gather;    /* a piece has at least so many bytes; 0: output is passed on as it comes */
    uint64_t gather_ns; /* … unless they have waited so long; 0: that does not matter */
    uint8_t format;     /* IOF_TAGGED ...: pieces are whole lines */
};

/* The attributes of a subscription.  PMIX_ERR_OUT_OF_RESOURCE: it asks for more than the limits. */
pmix_status_t iof_options_read(struct iof_options *o, const pmix_info_t *infos, size_t n);

struct iof_piece {
    struct list link;
    uint32_t rank;
    uint16_t channel;
    bool ends; /* of the stream: after the bytes */
    struct buf bytes;
    char nspace[PMIX_MAX_NSLEN + 1];
};

struct iof_queue {
    struct iof_options options;
    struct list streams;         /* struct iof_stream: what is gathered */
    struct list pieces;          /* the oldest first */
    size_t cached[IOF_CHANNELS]; /* bytes of the pieces, by the bit of their channel */
    uint64_t wall_ns;            /* of the last tick */
    size_t *held;                /* bytes of all queues of the client */
};

void iof_queue_init(struct iof_queue *q, const struct iof_options *o, size_t *held);
void iof_queue_free(struct iof_queue *q);

/* Whether output need not pass through the queue. */
static inline bool iof_queue_is_idle(const struct iof_queue *q)
{
    return !q->options.gather && !q->options.format && list_empty(&q->pieces);
}

/* Output, or (no bytes) the end of it.  True: iof_queue_tick() is due at once.  Without memory the
 * bytes are lost. */
bool iof_queue_put(struct iof_queue *q, const struct spoken *o, bool blocked);

/* The first piece; NULL: there is none.  Done with it: iof_queue_drop(). */
struct iof_piece *iof_queue_first(const struct iof_queue *q);
void iof_queue_drop(struct iof_queue *q, struct iof_piece *p);

/* Time has passed: makes pieces of streams that have waited long enough, wall_ns being the time of
 * day.  Returns when it is due again (UINT64_MAX: it is not). */
uint64_t iof_queue_tick(struct iof_queue *q, uint64_t now_ns, uint64_t wall_ns, bool blocked);

/* Makes pieces of all that is gathered. */
void iof_queue_flush(struct iof_queue *q);

#endif
