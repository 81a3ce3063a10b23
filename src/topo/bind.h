/* bind.h - which processors each process of a node gets.
 *
 * `-bind-to WHAT[:N]` gives each process N objects of a kind.  They are dealt out in the order of
 * the machine, or in that of `-map-by OBJECT[:N]`: one to each OBJECT in turn.  Only processors
 * that the launcher itself may use are given; objects without any are skipped.  When all are given
 * out, dealing starts again.
 *
 * The result is a list of *seats*; process i of a node gets seat i modulo their number.
 *
 * Pure: the machine is a struct topo_view, the allowed processors are an argument.
 */
#ifndef WIREUP_TOPO_BIND_H
#define WIREUP_TOPO_BIND_H

#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "topo/cpus.h"
#include "topo/device.h"
#include "topo/kind.h"
#include "topo/view.h"

enum bind_how {
    BIND_NONE = 0,
    BIND_RR,     /* single processors, in the order of their numbers */
    BIND_USER,   /* as listed */
    BIND_OBJECT, /* width objects of a kind */
    BIND_SLOTS,  /* from a rank file (topo/slots.h), one list for each process */
};

struct bind_spec {
    enum bind_how how;
    enum topo_kind kind;
    uint32_t width;
    const char *list; /* BIND_USER: "0+1,2-3", points into the text that was parsed; BIND_SLOTS */
};

/* The order of dealing. */
struct bind_order {
    bool given;
    enum topo_kind kind; /* one seat of each group of `width` such objects in turn... */
    uint32_t width;
    uint32_t block; /* ...or, if not 0, this many seats of each group at once (ppr) */
};

struct bind_seat {
    struct cpus cpus;                        /* bits NULL (BIND_SLOTS only): not bound */
    const char *text;                        /* "core 3, hwthreads 3,7" */
    const struct topo_device_words *devices; /* dealt out with it; or NULL */
};

struct bind_seats {
    struct bind_seat *items;
    uint32_t count; /* 0: not bound */
};

enum { BIND_BAD = 1 };

/* NULL text: no binding.  0, or BIND_BAD with the sentence. */
int bind_parse(const char *text, struct bind_spec *spec_p, struct errmsg *err);

/* Whether they are dealt out, or are the order of dealing. */
static inline bool bind_needs_devices(const struct bind_spec *spec, const struct bind_order *order)
{
    return (spec->how == BIND_OBJECT && topo_kind_is_device(spec->kind)) ||
           (order->given && topo_kind_is_device(order->kind));
}

/* Whether the seats depend on the machine's topology (else view may be NULL). */
static inline bool bind_needs_view(const struct bind_spec *spec)
{
    return spec->how == BIND_OBJECT || spec->how == BIND_SLOTS;
}

/* 0; BIND_BAD with the sentence (no such object here, a processor that we may not use); -ENOMEM. */
int bind_seats(struct arena *a, const struct bind_spec *spec, const struct bind_order *order,
               const struct topo_view *view, struct cpus allowed, struct bind_seats *seats_p,
               struct errmsg *err);

/* The number of objects of a kind that have an allowed processor. */
uint32_t bind_objects(const struct topo_view *view, enum topo_kind kind, struct cpus allowed);

#endif
