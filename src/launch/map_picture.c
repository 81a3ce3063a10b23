/* map_picture.c - see map_picture.h.  Reading order: cores and ranks; devices; text;
 * SVG. */
#include "launch/map_picture.h"

#include <stdio.h>
#include <string.h>

#include "base/svg.h"
#include "core/rank_ranges.h"
#include "topo/device.h"

/* Pictures of more nodes show the first ones, and the number of the others. */
enum { TEXT_NODES = 32, SVG_NODES = 64, CELL_TEXT = 64 };

/* ---- cores and ranks ----------------------------------------------------------------------- */

static const struct topo_objects *objects(const struct map_picture *m, enum topo_kind kind)
{
    return &m->machine->view.kinds[kind];
}

/* The picture as it is of that node. */
static struct map_picture at_node(const struct map_picture *m, uint32_t node)
{
    struct map_picture one = *m;

    if (m->machines)
        one.machine = m->machines[node];
    return one;
}

static bool is_like(const struct map_picture *a, const struct map_picture *b)
{
    for (int kind = TOPO_PACKAGE; kind >= TOPO_HWTHREAD; kind--) {
        if (objects(a, (enum topo_kind)kind)->count != objects(b, (enum topo_kind)kind)->count)
            return false;
    }
    return true;
}

static bool is_alike(const struct map_picture *m)
{
    struct map_picture first = at_node(m, 0);

    for (uint32_t n = 1; m->machines && n < m->plan->nnodes; n++) {
        struct map_picture other = at_node(m, n);
        if (!is_like(&first, &other))
            return false;
    }
    return true;
}

/* What is drawn as a box: a core, or a hardware thread where cores are not known. */
static enum topo_kind box_kind(const struct map_picture *m)
{
    return objects(m, TOPO_CORE)->count ? TOPO_CORE : TOPO_HWTHREAD;
}

/* A machine without packages is one. */
static uint32_t package_count(const struct map_picture *m)
{
    uint32_t n = objects(m, TOPO_PACKAGE)->count;

    return n ? n : 1;
}

static bool is_in_package(const struct map_picture *m, struct cpus box, uint32_t package)
{
    const struct topo_objects *p = objects(m, TOPO_PACKAGE);

    return p->count == 0 || cpus_meet(box, p->cpus[package]);
}

static bool is_allowed(const struct map_picture *m, struct cpus box)
{
    return m->machine->allowed.bits == NULL || cpus_meet(box, m->machine->allowed);
}

static bool has_processor(const struct job_map_proc *q, struct cpus box)
{
    struct cpus own = { (unsigned long *)(uintptr_t)q->cpus,
                        q->cpus_bytes / sizeof(unsigned long) };

    for (size_t i = 0; i < own.words && i < box.words; i++) {
        if (own.bits[i] & box.bits[i])
            return true;
    }
    return false;
}

/* The ranks of a node in that box; app: of the first one. */
static uint32_t put_ranks(const struct map_picture *m, uint32_t node, struct cpus box,
                          uint32_t *app_p, struct buf *out)
{
    struct rank_ranges ranges = { .out = out };
    uint32_t n = 0;

    for (uint32_t r = 0; r < m->plan->nprocs; r++) {
        const struct job_map_proc *q = &m->plan->procs[r];
        if (q->node != node || !q->cpus || !has_processor(q, box))
            continue;
        if (n++ == 0)
            *app_p = q->app;
        rank_ranges_add(&ranges, r);
    }
    rank_ranges_end(&ranges);
    return n;
}

/* Ranks of a node that have no processors of their own; the number of them. */
static uint32_t put_unbound(const struct map_picture *m, uint32_t node, struct buf *out)
{
    struct rank_ranges ranges = { .out = out };
    uint32_t n = 0;

    for (uint32_t r = 0; r < m->plan->nprocs; r++) {
        if (m->plan->procs[r].node != node || m->plan->procs[r].cpus)
            continue;
        rank_ranges_add(&ranges, r);
        n++;
    }
    rank_ranges_end(&ranges);
    return n;
}

/* What stands in a box: "3", "0-3", "12 ranks" or "(12)"; ".": none, "x": we may not use it. */
static uint32_t cell(const struct map_picture *m, uint32_t node, struct cpus box, size_t width,
                     char text[CELL_TEXT], uint32_t *app_p)
{
    struct buf b = BUF_NULL(1 << 20);
    uint32_t n = put_ranks(m, node, box, app_p, &b);

    if (n == 0)
        snprintf(text, CELL_TEXT, "%s", is_allowed(m, box) ? "." : "x");
    else if (buf_ok(&b) && buf_len(&b) <= width)
        snprintf(text, CELL_TEXT, "%s", buf_cstr(&b));
    else
        snprintf(text, CELL_TEXT, width < 7 ? "(%u)" : "%u ranks", n);
    buf_free(&b);
    return n;
}

static const char *plural(uint32_t n)
{
    return n == 1 ? "" : "s";
}

static void put_hardware(const struct map_picture *m, struct buf *out)
{
    uint32_t cores = objects(m, TOPO_CORE)->count, threads = objects(m, TOPO_HWTHREAD)->count;
    uint32_t packages = package_count(m);

    buf_printf(out, "%u package%s, %u core%s, %u hwthread%s", packages, plural(packages), cores,
               plural(cores), threads, plural(threads));
}

static void put_node(const struct map_picture *m, uint32_t node, struct buf *out)
{
    const struct job_map_node *d = &m->plan->nodes[node];

    buf_printf(out, "%s: %u rank%s", d->name, d->nprocs, plural(d->nprocs));
    if (is_alike(m))
        return;
    buf_str(out, "; ");
    put_hardware(m, out);
}

static void put_head(const struct map_picture *m, struct buf *out)
{
    struct map_picture first = at_node(m, 0);

    buf_printf(out, "%u rank%s on %u node%s", m->plan->nprocs, plural(m->plan->nprocs),
               m->plan->nnodes, plural(m->plan->nnodes));
    if (!is_alike(m))
        return;
    buf_str(out, ", each with ");
    put_hardware(&first, out);
    if (m->assumed)
        buf_str(out, " (as this machine; others are assumed to be like it)");
}

/* ---- devices ------------------------------------------------------------------------------- */

/* "GPU-4,GPU-7" has "GPU-7". */
static bool has_word(const char *list, const char *word)
{
    struct slice rest = slice_str(list ? list : "");

    while (word && rest.len) {
        if (slice_is(slice_cut(&rest, ','), word))
            return true;
    }
    return false;
}

/* The ranks of a node that use the device; app: of the first one. */
static uint32_t put_users(const struct map_picture *m, uint32_t node, const struct topo_device *d,
                          uint32_t *app_p, struct buf *out)
{
    struct rank_ranges ranges = { .out = out };
    uint32_t n = 0;

    for (uint32_t r = 0; r < m->plan->nprocs; r++) {
        const struct job_map_proc *q = &m->plan->procs[r];
        if (q->node != node || !(has_word(q->devices, d->uuid) || has_word(q->devices, d->name)))
            continue;
        if (n++ == 0)
            *app_p = q->app;
        rank_ranges_add(&ranges, r);
    }
    rank_ranges_end(&ranges);
    return n;
}

/* The devices of that kind are drawn when a rank of the node uses one; else NULL. */
static const struct topo_objects *devices_drawn(const struct map_picture *m, uint32_t node,
                                                enum topo_kind kind)
{
    const struct topo_objects *all = objects(m, kind);
    struct buf ranks = BUF_NULL(1 << 20);
    uint32_t app, n = 0;

    for (uint32_t i = 0; all->devices && i < all->count; i++)
        n += put_users(m, node, &all->devices[i], &app, &ranks);
    buf_free(&ranks);
    return n ? all : NULL;
}

/* "nvml0: 3" */
static uint32_t device_text(const struct map_picture *m, uint32_t node, const struct topo_device *d,
                            char text[CELL_TEXT], uint32_t *app_p)
{
    struct buf b = BUF_NULL(1 << 20);
    uint32_t n = put_users(m, node, d, app_p, &b);

    if (n && buf_len(&b) > 12)
        snprintf(text, CELL_TEXT, "%.40s: (%u)", d->name, n);
    else
        snprintf(text, CELL_TEXT, "%.40s: %s", d->name, n && buf_cstr(&b) ? buf_cstr(&b) : ".");
    buf_free(&b);
    return n;
}

/* ---- text ------------------------------------------------------------------------------------ */

enum { TEXT_LEFT = 14, TEXT_CELL = 8 };

/* Ranks in text: as wide as the longest number, and some more for ranges. */
static int cell_width(const struct map_picture *m)
{
    int width = 3;

    for (uint32_t n = m->plan->nprocs; n >= 100; n /= 10)
        width++;
    return width < TEXT_CELL ? width : TEXT_CELL;
}

struct text_row {
    int width;
    uint32_t each, at; /* boxes in a line; how many are in this one */
};

static void text_box(struct text_row *row, const char *name, const char *text, struct buf *out)
{
    if (row->at == row->each) {
        buf_printf(out, "|\n  %-*s", TEXT_LEFT - 2, "");
        row->at = 0;
    } else if (row->at == 0) {
        buf_printf(out, "  %-*s", TEXT_LEFT - 2, name);
    }
    buf_printf(out, "|%-*s", row->width, text);
    row->at++;
}

static void text_package(const struct map_picture *m, uint32_t node, uint32_t package,
                         uint32_t columns, struct buf *out)
{
    const struct topo_objects *boxes = objects(m, box_kind(m));
    struct text_row row = { .width = cell_width(m) };
    char name[32], text[CELL_TEXT];
    uint32_t app = 0;

    row.each = (columns > TEXT_LEFT + 20 ? columns - TEXT_LEFT - 1 : 80 - TEXT_LEFT) /
               ((uint32_t)row.width + 1);
    snprintf(name, sizeof name, "package %u", package);
    for (uint32_t i = 0; i < boxes->count; i++) {
        if (!is_in_package(m, boxes->cpus[i], package))
            continue;
        cell(m, node, boxes->cpus[i], (size_t)row.width, text, &app);
        text_box(&row, name, text, out);
    }
    if (row.at)
        buf_str(out, "|\n");
}

static void text_devices(const struct map_picture *m, uint32_t node, enum topo_kind kind,
                         uint32_t columns, struct buf *out)
{
    const struct topo_objects *all = devices_drawn(m, node, kind);
    struct text_row row = { .width = 0 };
    char text[CELL_TEXT];
    uint32_t app = 0;

    for (uint32_t i = 0; all && i < all->count; i++) {
        device_text(m, node, &all->devices[i], text, &app);
        row.width = (int)strlen(text) > row.width ? (int)strlen(text) : row.width;
    }
    row.each = (columns > TEXT_LEFT + 20 ? columns - TEXT_LEFT - 1 : 80 - TEXT_LEFT) /
               ((uint32_t)row.width + 1);
    row.each = row.each ? row.each : 1;
    for (uint32_t i = 0; all && i < all->count; i++) {
        device_text(m, node, &all->devices[i], text, &app);
        text_box(&row, topo_kind_name(kind), text, out);
    }
    if (row.at)
        buf_str(out, "|\n");
}

static void text_node(const struct map_picture *m, uint32_t node, uint32_t columns, struct buf *out)
{
    struct buf ranks = BUF_NULL(1 << 20);
    uint32_t unbound = put_unbound(m, node, &ranks);

    put_node(m, node, out);
    buf_byte(out, '\n');
    if (unbound < m->plan->nodes[node].nprocs || unbound == 0) {
        for (uint32_t p = 0; p < package_count(m); p++)
            text_package(m, node, p, columns, out);
    }
    text_devices(m, node, TOPO_GPU, columns, out);
    text_devices(m, node, TOPO_NIC, columns, out);
    if (unbound && buf_cstr(&ranks))
        buf_printf(out, "  rank%s %s: not bound\n", plural(unbound), buf_cstr(&ranks));
    buf_free(&ranks);
}

void map_picture_text(const struct map_picture *m, uint32_t columns, struct buf *out)
{
    put_head(m, out);
    buf_str(out, "\n\n");
    for (uint32_t n = 0; n < m->plan->nnodes && n < TEXT_NODES; n++) {
        struct map_picture one = at_node(m, n);
        text_node(&one, n, columns, out);
    }
    if (m->plan->nnodes > TEXT_NODES)
        buf_printf(out, "and %u more nodes\n", m->plan->nnodes - TEXT_NODES);
    buf_printf(out, "\nin each %s: its ranks; (9) so many; . none; x not allowed to us\n",
               topo_kind_name(box_kind(m)));
}

/* ---- SVG ------------------------------------------------------------------------------------- */

#define STYLE                                                                                      \
    "svg.map{font:12px system-ui,sans-serif;fill:#222;background:#fff}"                            \
    ".node{fill:none;stroke:#8889}.package{fill:#8881;stroke:#8886}"                               \
    ".free{fill:none;stroke:#888a}.shut{fill:#8883;stroke:#8884}"
#define STYLE_DARK "svg.map{fill:#ddd;background:#17191c}"

enum {
    BOX_W = 58,
    BOX_H = 26,
    BOX_GAP = 4,
    SVG_WIDTH = 1040,
    SVG_PAD = 12,
    LINE_H = 20,
    SVG_BOXES = (SVG_WIDTH - 4 * SVG_PAD) / (BOX_W + BOX_GAP),
    DEVICE_W = 2 * BOX_W + BOX_GAP,
    SVG_DEVICES = (SVG_WIDTH - 4 * SVG_PAD) / (DEVICE_W + BOX_GAP),
    APP_COLOURS = 6
};

static const struct svg_colour app_colours[APP_COLOURS] = {
    { "#9cc4ea", "#3f72a5" }, { "#f2c27a", "#a4722a" }, { "#a8d8a0", "#4d8a44" },
    { "#d7b3e6", "#7d5396" }, { "#f0aeb4", "#a8525b" }, { "#9fdcd6", "#36817a" },
};

static void svg_box(const struct map_picture *m, uint32_t node, uint32_t box, uint32_t x,
                    uint32_t y, struct buf *out)
{
    const struct topo_objects *boxes = objects(m, box_kind(m));
    struct buf b = BUF_NULL(1 << 20), title = BUF_NULL(1 << 20);
    char text[CELL_TEXT], class[16];
    uint32_t app = 0, n = cell(m, node, boxes->cpus[box], 7, text, &app);

    snprintf(class, sizeof class, "a%u", app % APP_COLOURS);
    buf_printf(&title, "%s %u, processors ", topo_kind_name(box_kind(m)), box);
    cpus_list(boxes->cpus[box], &title);
    buf_str(&title, n ? ": rank " : "");
    put_ranks(m, node, boxes->cpus[box], &app, &title);
    buf_printf(out, "<g><title>");
    svg_take(out, &title);
    buf_printf(out,
               "</title><rect class=\"%s\" x=\"%u\" y=\"%u\" width=\"%d\" height=\"%d\" rx=\"3\"/>",
               n                                 ? class
               : is_allowed(m, boxes->cpus[box]) ? "free"
                                                 : "shut",
               x, y, BOX_W, BOX_H);
    buf_str(&b, n ? text : "");
    svg_text(out, x + BOX_W / 2, y + 17, " text-anchor=\"middle\"", &b);
    buf_str(out, "</g>");
}

static uint32_t boxes_in(const struct map_picture *m, uint32_t package)
{
    const struct topo_objects *boxes = objects(m, box_kind(m));
    uint32_t n = 0;

    for (uint32_t i = 0; i < boxes->count; i++)
        n += is_in_package(m, boxes->cpus[i], package);
    return n;
}

static uint32_t package_height(const struct map_picture *m, uint32_t package)
{
    uint32_t lines = (boxes_in(m, package) + SVG_BOXES - 1) / SVG_BOXES;

    return LINE_H + lines * (BOX_H + BOX_GAP) + BOX_GAP;
}

static void svg_package(const struct map_picture *m, uint32_t node, uint32_t package, uint32_t y,
                        struct buf *out)
{
    const struct topo_objects *boxes = objects(m, box_kind(m));
    struct buf name = BUF_NULL(64);
    uint32_t at = 0;

    buf_printf(out,
               "<rect class=\"package\" x=\"%d\" y=\"%u\" width=\"%d\" height=\"%u\" rx=\"4\"/>\n",
               2 * SVG_PAD, y, SVG_WIDTH - 4 * SVG_PAD, package_height(m, package));
    buf_printf(&name, "package %u", package);
    svg_text(out, 2 * SVG_PAD + 6, y + 15, "", &name);
    for (uint32_t i = 0; i < boxes->count; i++) {
        if (!is_in_package(m, boxes->cpus[i], package))
            continue;
        svg_box(m, node, i, 2 * SVG_PAD + BOX_GAP + at % SVG_BOXES * (BOX_W + BOX_GAP),
                y + LINE_H + at / SVG_BOXES * (BOX_H + BOX_GAP), out);
        at++;
    }
    buf_byte(out, '\n');
}

static void svg_device(const struct map_picture *m, uint32_t node, enum topo_kind kind, uint32_t at,
                       uint32_t x, uint32_t y, struct buf *out)
{
    const struct topo_objects *all = objects(m, kind);
    struct buf b = BUF_NULL(1 << 16), title = BUF_NULL(1 << 20);
    char text[CELL_TEXT], class[16];
    uint32_t app = 0, n = device_text(m, node, &all->devices[at], text, &app);

    snprintf(class, sizeof class, "a%u", app % APP_COLOURS);
    buf_printf(&title, "%s %s, near processors ", topo_kind_name(kind), all->devices[at].name);
    cpus_list(all->cpus[at], &title);
    buf_str(&title, n ? ": rank " : "");
    put_users(m, node, &all->devices[at], &app, &title);
    buf_str(out, "<g><title>");
    svg_take(out, &title);
    buf_printf(
        out, "</title><rect class=\"%s\" x=\"%u\" y=\"%u\" width=\"%d\" height=\"%d\" rx=\"12\"/>",
        n ? class : "free", x, y, DEVICE_W, BOX_H);
    buf_str(&b, text);
    svg_text(out, x + DEVICE_W / 2, y + 17, " text-anchor=\"middle\"", &b);
    buf_str(out, "</g>\n");
}

/* Draws the devices that are used, unless out is NULL; where they end. */
static uint32_t svg_devices(const struct map_picture *m, uint32_t node, uint32_t y, struct buf *out)
{
    for (enum topo_kind kind = TOPO_GPU; kind <= TOPO_NIC; kind++) {
        const struct topo_objects *all = devices_drawn(m, node, kind);
        for (uint32_t i = 0; all && out && i < all->count; i++)
            svg_device(m, node, kind, i, 2 * SVG_PAD + i % SVG_DEVICES * (DEVICE_W + BOX_GAP),
                       y + i / SVG_DEVICES * (BOX_H + BOX_GAP), out);
        if (all)
            y += (all->count + SVG_DEVICES - 1) / SVG_DEVICES * (BOX_H + BOX_GAP);
    }
    return y;
}

static uint32_t node_height(const struct map_picture *m, uint32_t node)
{
    uint32_t h = LINE_H + 8;

    for (uint32_t p = 0; p < package_count(m); p++)
        h += package_height(m, p) + BOX_GAP;
    return svg_devices(m, node, h, NULL);
}

static void svg_node(const struct map_picture *m, uint32_t node, uint32_t y, struct buf *out)
{
    struct buf title = BUF_NULL(1 << 16), ranks = BUF_NULL(1 << 20);
    uint32_t unbound = put_unbound(m, node, &ranks), below = y + LINE_H + 2;

    buf_printf(out,
               "<rect class=\"node\" x=\"%d\" y=\"%u\" width=\"%d\" height=\"%u\" rx=\"6\"/>\n",
               SVG_PAD, y, SVG_WIDTH - 2 * SVG_PAD, node_height(m, node));
    put_node(m, node, &title);
    if (unbound && buf_cstr(&ranks))
        buf_printf(&title, "; not bound: %.80s%s", buf_cstr(&ranks),
                   buf_len(&ranks) > 80 ? "..." : "");
    buf_free(&ranks);
    svg_text(out, 2 * SVG_PAD, y + 16, " font-weight=\"600\"", &title);
    for (uint32_t p = 0; p < package_count(m); p++) {
        svg_package(m, node, p, below, out);
        below += package_height(m, p) + BOX_GAP;
    }
    svg_devices(m, node, below, out);
}

static void svg_apps(const struct map_picture *m, uint32_t y, struct buf *out)
{
    for (uint32_t i = 0; i < m->plan->napps && i < APP_COLOURS; i++) {
        struct buf b = BUF_NULL(1 << 16);
        uint32_t x = 2 * SVG_PAD + i * 160;
        buf_printf(out, "<rect class=\"a%u\" x=\"%u\" y=\"%u\" width=\"12\" height=\"12\"/>", i, x,
                   y - 10);
        buf_printf(&b, "%.18s",
                   strrchr(m->plan->apps[i].path, '/') ? strrchr(m->plan->apps[i].path, '/') + 1
                                                       : m->plan->apps[i].path);
        svg_text(out, x + 17, y, "", &b);
    }
}

/* The nodes that are drawn, and where the picture ends; out NULL: only that. */
static uint32_t svg_nodes(const struct map_picture *m, uint32_t top, struct buf *out)
{
    for (uint32_t n = 0; n < m->plan->nnodes && n < SVG_NODES; n++) {
        struct map_picture one = at_node(m, n);
        if (out)
            svg_node(&one, n, top, out);
        top += node_height(&one, n) + 8;
    }
    return top;
}

void map_picture_svg(const struct map_picture *m, struct buf *out)
{
    uint32_t top = 60, y = svg_nodes(m, top, NULL);
    struct buf head = BUF_NULL(1 << 16);

    svg_begin(out, "map", SVG_WIDTH, y + 28, "");
    svg_style(out, STYLE, STYLE_DARK, 'a', app_colours, APP_COLOURS);
    put_head(m, &head);
    svg_text(out, SVG_PAD, 22, " font-size=\"14\" font-weight=\"600\"", &head);
    svg_apps(m, 46, out);
    svg_nodes(m, top, out);
    if (m->plan->nnodes > SVG_NODES) {
        struct buf more = BUF_NULL(64);
        buf_printf(&more, "and %u more nodes", m->plan->nnodes - SVG_NODES);
        svg_text(out, SVG_PAD, y + 14, "", &more);
    }
    buf_str(out, "</svg>\n");
}
