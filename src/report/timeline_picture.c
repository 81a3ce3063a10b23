/* timeline_picture.c - see timeline_picture.h.  Reading order: words; text; SVG; the page; JSON. */
#include "report/timeline_picture.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/svg.h"
#include "report/timeline_rows.h"

static const char *const kind_names[TIMELINE_KINDS] = {
#define KIND(id, name, words, light, dark) [TIMELINE_##id] = name,
#include "report/timeline_kinds.def"
#undef KIND
};

static const struct svg_colour kind_colours[TIMELINE_KINDS] = {
#define KIND(id, name, words, light, dark) [TIMELINE_##id] = { light, dark },
#include "report/timeline_kinds.def"
#undef KIND
};

/* One letter for each kind, in text. */
static const char kind_letters[TIMELINE_KINDS + 1] = "cdxs-IFgpof";

/* ---- words ----------------------------------------------------------------------------------- */

static double seconds_of(const struct timeline *t, uint64_t ns)
{
    return ns > t->begin_ns ? (double)(ns - t->begin_ns) / 1e9 : 0;
}

static double length_of(const struct timeline *t)
{
    return seconds_of(t, t->end_ns);
}

static const char *node_name(const struct timeline *t, uint32_t node)
{
    return node < t->nnodes ? t->nodes[node].name : "?";
}

static const char *plural(uint32_t n)
{
    return n == 1 ? "" : "s";
}

static void put_head(const struct timeline *t, struct buf *out)
{
    buf_printf(out, "%u process%s on %u node%s, %.4f s", t->nprocs, t->nprocs == 1 ? "" : "es",
               t->nnodes, plural(t->nnodes), length_of(t));
}

static void put_label(const struct timeline_rows *r, const struct timeline_row *row,
                      struct buf *out)
{
    if (!row->nnodes)
        buf_printf(out, "%u on %s", r->order[row->first], node_name(r->t, row->node));
    else if (row->nnodes == 1)
        buf_printf(out, "%s: %u rank%s", node_name(r->t, row->node), row->count,
                   plural(row->count));
    else
        buf_printf(out, "%u nodes: %u rank%s", row->nnodes, row->count, plural(row->count));
}

static void put_step(const struct timeline *t, const struct timeline_step *s, struct buf *out)
{
    buf_printf(out, "rank %u on %s, until ", s->rank, node_name(t, t->procs[s->rank].node));
    if (s->fence)
        buf_printf(out, "it enters fence %u", s->fence);
    else
        buf_str(out, "it ends");
}

static void put_clock(const struct timeline_node *n, struct buf *out)
{
    buf_printf(out, "%s: %+.6f s", n->name, (double)n->ahead_ns / 1e9);
    if (n->slack_ns == UINT64_MAX)
        buf_str(out, ", as its system says");
    else
        buf_printf(out, ", within %.6f s", (double)n->slack_ns / 1e9);
}

static void put_loss(const struct timeline *t, const struct timeline_node *n, struct buf *out)
{
    buf_printf(out, "%s is lost at %.4f s%s%s", n->name, seconds_of(t, n->lost_ns),
               n->lost_why ? ": " : "", n->lost_why ? n->lost_why : "");
}

static void put_repair(const struct timeline *t, const struct timeline_repair *r, struct buf *out)
{
    buf_printf(out, "%.4f s: %s", seconds_of(t, r->at_ns), r->text ? r->text : "");
}

/* ---- text ------------------------------------------------------------------------------------ */

enum { TEXT_COLUMNS = 56, TEXT_RANKS = 32, TEXT_NODES = 24, TEXT_STEPS = 16 };

static void text_rows(struct timeline_rows *r, struct buf *out)
{
    for (uint32_t i = 0; i < r->nrows; i++) {
        char line[TEXT_COLUMNS + 1], label[32];
        struct buf b = BUF_NULL(256);
        memset(line, ' ', TEXT_COLUMNS);
        line[TEXT_COLUMNS] = 0;
        timeline_rows_paint(r, &r->rows[i]);
        for (uint32_t k = 0; k < r->nruns; k++)
            memset(line + r->runs[k].begin, kind_letters[r->runs[k].kind],
                   r->runs[k].end - r->runs[k].begin);
        put_label(r, &r->rows[i], &b);
        snprintf(label, sizeof label, "%s", buf_cstr(&b) ? buf_cstr(&b) : "");
        buf_free(&b);
        buf_printf(out, "%-22.22s|%s|\n", label, line);
    }
}

static void text_legend(struct buf *out)
{
    buf_str(out, "\n");
    for (int k = 0; k < TIMELINE_KINDS; k++)
        buf_printf(out, "%s%c %s", k ? "  " : "", kind_letters[k], kind_names[k]);
    buf_str(out, "\n");
}

static void text_path(const struct timeline *t, struct buf *out)
{
    buf_str(out, "\nThe critical path, who was waited for:\n");
    for (uint32_t i = 0; i < t->npath && i < TEXT_STEPS; i++) {
        const struct timeline_step *s = &t->path[i];
        buf_printf(out, "%10.4f .. %.4f  ", seconds_of(t, s->begin_ns), seconds_of(t, s->end_ns));
        put_step(t, s, out);
        buf_byte(out, '\n');
    }
    if (t->npath > TEXT_STEPS)
        buf_printf(out, "           ... and %u more\n", t->npath - TEXT_STEPS);
}

static void text_clocks(const struct timeline *t, struct buf *out)
{
    bool begun = false;

    for (uint32_t i = 1; i < t->nnodes; i++) {
        if (!t->nodes[i].begin_ns)
            continue;
        if (!begun)
            buf_printf(out, "\nClocks, ahead of that of %s:\n", t->nodes[0].name);
        begun = true;
        buf_str(out, "  ");
        put_clock(&t->nodes[i], out);
        buf_byte(out, '\n');
    }
}

static void text_losses(const struct timeline *t, struct buf *out)
{
    for (uint32_t i = 0; i < t->nnodes; i++) {
        if (!t->nodes[i].lost_ns)
            continue;
        buf_str(out, "\nNode ");
        put_loss(t, &t->nodes[i], out);
        buf_byte(out, '\n');
    }
}

static void text_repairs(const struct timeline *t, struct buf *out)
{
    if (t->nrepairs)
        buf_str(out, "\nRepairs:\n");
    for (uint32_t i = 0; i < t->nrepairs; i++) {
        buf_str(out, "  ");
        put_repair(t, &t->repairs[i], out);
        buf_byte(out, '\n');
    }
}

void timeline_text(const struct timeline *t, struct buf *out)
{
    struct timeline_rows r;

    if (timeline_rows_open(&r, t, TEXT_COLUMNS, TEXT_RANKS, TEXT_NODES) == 0) {
        buf_printf(out, "%s: ", t->title);
        put_head(t, out);
        buf_str(out, "\n\n");
        text_rows(&r, out);
        text_legend(out);
        text_losses(t, out);
        text_repairs(t, out);
        text_path(t, out);
        text_clocks(t, out);
    } else {
        out->error = BUF_NO_MEMORY;
    }
    timeline_rows_close(&r);
}

/* ---- SVG ------------------------------------------------------------------------------------- */

enum { SVG_LEFT = 190, SVG_TOP = 88, SVG_RIGHT = 16, SVG_FENCES = 60 };

#define STYLE                                                                                      \
    "svg.timeline{font:11px system-ui,sans-serif;fill:#222;background:#fff}"                       \
    ".grid{stroke:#0002}.fence{stroke:#0005;stroke-dasharray:2 3}"                                 \
    ".path{stroke:#c4122f;stroke-width:2.5}.bad{fill:#c4122f}"
#define STYLE_DARK                                                                                 \
    "svg.timeline{fill:#ddd;background:#17191c}.grid{stroke:#fff2}.fence{stroke:#fff5}"            \
    ".path{stroke:#ff5d73}.bad{fill:#ff5d73}"

static uint32_t row_height(const struct timeline_rows *r)
{
    return r->nrows <= 16 ? 24 : r->nrows <= 48 ? 17 : 13;
}

/* Where the next word of the legend stands: in a second line when the first one is full. */
struct legend {
    uint32_t x, y;
};

static void legend_room(struct legend *l, uint32_t width)
{
    if (l->x + width > SVG_LEFT + TIMELINE_WIDTH)
        *l = (struct legend){ SVG_LEFT, l->y + 17 };
}

static void svg_legend(struct buf *out)
{
    struct legend l = { SVG_LEFT, 26 };

    for (int k = 0; k < TIMELINE_KINDS; k++) {
        uint32_t width = 34 + 6 * (uint32_t)strlen(kind_names[k]);
        legend_room(&l, width);
        buf_printf(out,
                   "<rect class=\"k%d\" x=\"%u\" y=\"%u\" width=\"11\" height=\"11\"/>"
                   "<text x=\"%u\" y=\"%u\">%s</text>\n",
                   k, l.x, l.y, l.x + 15, l.y + 10, kind_names[k]);
        l.x += width;
    }
    legend_room(&l, 110);
    buf_printf(out,
               "<line class=\"path\" x1=\"%u\" x2=\"%u\" y1=\"%u\" y2=\"%u\"/>"
               "<text x=\"%u\" y=\"%u\">critical path</text>\n",
               l.x, l.x + 14, l.y + 6, l.y + 6, l.x + 19, l.y + 10);
}

/* 1, 2 or 5 times a power of ten, about an eighth of the whole. */
static double tick_step(double whole)
{
    double step = 1e-9;

    while (step * 8 < whole) {
        if (step * 16 >= whole)
            return step * 2;
        if (step * 40 >= whole)
            return step * 5;
        step *= 10;
    }
    return step;
}

static void svg_ticks(const struct timeline *t, uint32_t height, struct buf *out)
{
    double whole = length_of(t), step = tick_step(whole);

    buf_str(out, "<g class=\"ticks\">");
    for (int i = 0; whole > 0 && i * step <= whole; i++) {
        double x = SVG_LEFT + i * step / whole * TIMELINE_WIDTH;
        buf_printf(out,
                   "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%u\"/>"
                   "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%.9g</text>\n",
                   x, x, SVG_TOP - 4, SVG_TOP + height, x, SVG_TOP - 8, i * step);
    }
    buf_printf(out, "</g><text x=\"%d\" y=\"%d\" text-anchor=\"end\">seconds</text>\n",
               SVG_LEFT - 24, SVG_TOP - 8);
}

static void svg_row_title(const struct timeline_rows *r, const struct timeline_row *row,
                          struct buf *out)
{
    double sums[TIMELINE_KINDS];
    struct buf b = BUF_NULL(4096);

    put_label(r, row, &b);
    timeline_rows_sum(r, row, sums);
    for (int k = 0; k < TIMELINE_KINDS; k++) {
        if (sums[k] > 0)
            buf_printf(&b, "\n%s: %.6f s%s", kind_names[k], sums[k] / row->count,
                       row->count > 1 ? " in the mean" : "");
    }
    buf_str(out, "<title>");
    svg_take(out, &b);
    buf_str(out, "</title>");
}

static void svg_row(struct timeline_rows *r, uint32_t i, struct buf *out)
{
    uint32_t h = row_height(r);

    timeline_rows_paint(r, &r->rows[i]);
    buf_str(out, "<g>");
    svg_row_title(r, &r->rows[i], out);
    for (uint32_t k = 0; k < r->nruns; k++) {
        const struct timeline_run *run = &r->runs[k];
        buf_printf(out, "<rect class=\"k%d\" x=\"%g\" y=\"%u\" width=\"%g\" height=\"%u\"/>",
                   run->kind, run->begin / 2.0, i * h + 2, (run->end - run->begin) / 2.0, h - 4);
    }
    buf_str(out, "</g>\n");
}

static double x_of(const struct timeline *t, uint64_t ns)
{
    return length_of(t) > 0 ? seconds_of(t, ns) / length_of(t) * TIMELINE_WIDTH : 0;
}

static void svg_path(const struct timeline_rows *r, struct buf *out)
{
    const struct timeline *t = r->t;
    uint32_t h = row_height(r);

    for (uint32_t i = 0; i < t->npath; i++) {
        const struct timeline_step *s = &t->path[i];
        uint32_t y = timeline_rows_of(r, s->rank) * h + h - 2;
        double x = x_of(t, s->end_ns);
        buf_printf(out,
                   "<line class=\"path\" vector-effect=\"non-scaling-stroke\" x1=\"%.2f\" "
                   "x2=\"%.2f\" y1=\"%u\" y2=\"%u\"/>",
                   x_of(t, s->begin_ns), x, y, y);
        if (s->fence && t->npath <= SVG_FENCES)
            buf_printf(out,
                       "<line class=\"fence\" vector-effect=\"non-scaling-stroke\" x1=\"%.2f\" "
                       "x2=\"%.2f\" y1=\"0\" y2=\"%u\"/>\n",
                       x, x, r->nrows * h);
    }
}

static void svg_labels(const struct timeline_rows *r, struct buf *out)
{
    uint32_t h = row_height(r);

    for (uint32_t i = 0; i < r->nrows; i++) {
        struct buf b = BUF_NULL(4096);
        put_label(r, &r->rows[i], &b);
        if (buf_len(&b) > 28) { /* the end of the line tells the number of ranks */
            buf_take(&b, buf_len(&b) - 26);
            buf_printf(out, "<text x=\"%d\" y=\"%u\" text-anchor=\"end\">…", SVG_LEFT - 8,
                       SVG_TOP + i * h + h / 2 + 4);
        } else {
            buf_printf(out, "<text x=\"%d\" y=\"%u\" text-anchor=\"end\">", SVG_LEFT - 8,
                       SVG_TOP + i * h + h / 2 + 4);
        }
        svg_take(out, &b);
        buf_str(out, "</text>\n");
    }
}

static void svg_plot(struct timeline_rows *r, uint32_t height, struct buf *out)
{
    buf_printf(out,
               "<svg class=\"plot\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%u\" "
               "viewBox=\"0 0 %d %u\" preserveAspectRatio=\"none\">\n",
               SVG_LEFT, SVG_TOP, TIMELINE_WIDTH, height, TIMELINE_WIDTH, height);
    for (uint32_t i = 0; i < r->nrows; i++)
        svg_row(r, i, out);
    svg_path(r, out);
    buf_str(out, "</svg>\n");
}

static void svg_title(const struct timeline *t, struct buf *out)
{
    struct buf b = BUF_NULL(1 << 16);

    buf_printf(&b, "%.60s%s: ", t->title, strlen(t->title) > 60 ? "..." : "");
    put_head(t, &b);
    buf_str(out, "<text x=\"12\" y=\"16\" font-weight=\"600\" font-size=\"13\">");
    svg_take(out, &b);
    buf_str(out, "</text>\n");
}

void timeline_svg(const struct timeline *t, struct buf *out)
{
    struct timeline_rows r;
    char seconds[64];
    uint32_t height;

    if (timeline_rows_open(&r, t, 2 * TIMELINE_WIDTH, TIMELINE_ROWS_OF_RANKS,
                           TIMELINE_ROWS_OF_NODES) == 0) {
        height = r.nrows * row_height(&r);
        snprintf(seconds, sizeof seconds, " data-seconds=\"%.9f\"", length_of(t));
        svg_begin(out, "timeline", SVG_LEFT + TIMELINE_WIDTH + SVG_RIGHT, SVG_TOP + height + 12,
                  seconds);
        svg_style(out, STYLE, STYLE_DARK, 'k', kind_colours, TIMELINE_KINDS);
        svg_title(t, out);
        svg_legend(out);
        svg_ticks(t, height, out);
        svg_labels(&r, out);
        svg_plot(&r, height, out);
        buf_str(out, "</svg>\n");
    } else {
        out->error = BUF_NO_MEMORY;
    }
    timeline_rows_close(&r);
}

/* ---- the page -------------------------------------------------------------------------------- */

static const char page_style[] =
    "body{margin:1.2rem;font:14px/1.5 system-ui,sans-serif;background:#fff;color:#222}"
    "table{border-collapse:collapse}td,th{padding:.1rem .8rem .1rem 0;text-align:left}"
    "td.n{font-variant-numeric:tabular-nums;text-align:right}h2{font-size:1rem;margin:1.2rem 0 "
    ".4rem}"
    "kbd{border:1px solid #8888;border-radius:3px;padding:0 "
    ".3em}svg.timeline{width:100%;height:auto}"
    "@media(prefers-color-scheme:dark){body{background:#17191c;color:#ddd}}";

/* Moves and enlarges the plot; the ticks are drawn anew. */
static const char page_script[] =
    "(()=>{const s=document.querySelector('svg.timeline'),p=s.querySelector('svg.plot'),\n"
    "g=s.querySelector('g.ticks'),T=+s.dataset.seconds,W=p.viewBox.baseVal.width,\n"
    "H=p.viewBox.baseVal.height,L=p.x.baseVal.value,Y=p.y.baseVal.value,N=s.namespaceURI;\n"
    "let x=0,w=W;const nice=d=>{const e=10**Math.floor(Math.log10(d)),m=d/e;\n"
    "return(m<=1?1:m<=2?2:m<=5?5:10)*e};\n"
    "const add=(n,a,t)=>{const e=document.createElementNS(N,n);for(const k in "
    "a)e.setAttribute(k,a[k]);\n"
    "if(t)e.textContent=t;g.append(e)};\n"
    "const draw=()=>{w=Math.min(W,Math.max(W/1e5,w));x=Math.min(W-w,Math.max(0,x));\n"
    "p.setAttribute('viewBox',x+' 0 '+w+' '+H);g.replaceChildren();if(!T)return;\n"
    "const a=x/W*T,b=(x+w)/W*T,d=nice((b-a)/8);\n"
    "for(let i=Math.ceil(a/d);i*d<=b;i++){const X=L+(i*d-a)/(b-a)*W;\n"
    "add('line',{class:'grid',x1:X,x2:X,y1:Y-4,y2:Y+H});\n"
    "add('text',{x:X,y:Y-8,'text-anchor':'middle'},String(+(i*d).toPrecision(9)))}};\n"
    "const zoom=(f,c)=>{x+=w*c*(1-f);w*=f;draw()};\n"
    "addEventListener('keydown',e=>{if(e.ctrlKey||e.metaKey||e.altKey)return;const k=e.key;\n"
    "if(k=='+'||k=='=')zoom(.5,.5);else if(k=='-')zoom(2,.5);\n"
    "else if(k=='ArrowLeft'){x-=w/5;draw()}else if(k=='ArrowRight'){x+=w/5;draw()}\n"
    "else if(k=='0'){x=0;w=W;draw()}else return;e.preventDefault()});\n"
    "p.addEventListener('wheel',e=>{if(!e.ctrlKey)return;e.preventDefault();\n"
    "const r=p.getBoundingClientRect();zoom(e.deltaY>0?1.25:.8,(e.clientX-r.left)/r.width)},\n"
    "{passive:false});})();\n";

enum { PAGE_STEPS = 40 };

static void page_path(const struct timeline *t, struct buf *out)
{
    buf_str(out, "<h2>The critical path: who was waited for</h2>\n<table><tr><th>from<th>to<th>"
                 "seconds<th>whose</tr>\n");
    for (uint32_t i = 0; i < t->npath && i < PAGE_STEPS; i++) {
        const struct timeline_step *s = &t->path[i];
        struct buf b = BUF_NULL(1 << 12);
        buf_printf(out, "<tr><td class=n>%.6f<td class=n>%.6f<td class=n>%.6f<td>",
                   seconds_of(t, s->begin_ns), seconds_of(t, s->end_ns),
                   (double)(s->end_ns - s->begin_ns) / 1e9);
        put_step(t, s, &b);
        svg_take(out, &b);
        buf_str(out, "</tr>\n");
    }
    buf_str(out, "</table>\n");
    if (t->npath > PAGE_STEPS)
        buf_printf(out, "<p>and %u more</p>\n", t->npath - PAGE_STEPS);
}

static void page_clocks(const struct timeline *t, struct buf *out)
{
    bool begun = false;

    for (uint32_t i = 1; i < t->nnodes; i++) {
        struct buf b = BUF_NULL(1 << 12);
        if (!t->nodes[i].begin_ns)
            continue;
        if (!begun)
            buf_str(out, "<details><summary>Clocks of the nodes, ahead of that of the "
                         "first</summary><ul>\n");
        begun = true;
        buf_str(out, "<li>");
        put_clock(&t->nodes[i], &b);
        svg_take(out, &b);
        buf_byte(out, '\n');
    }
    if (begun)
        buf_str(out, "</ul></details>\n");
}

static void page_losses(const struct timeline *t, struct buf *out)
{
    for (uint32_t i = 0; i < t->nnodes; i++) {
        struct buf b = BUF_NULL(1 << 12);
        if (!t->nodes[i].lost_ns)
            continue;
        buf_str(out, "<p>Node ");
        put_loss(t, &t->nodes[i], &b);
        svg_take(out, &b);
        buf_str(out, "</p>\n");
    }
}

static void page_repairs(const struct timeline *t, struct buf *out)
{
    for (uint32_t i = 0; i < t->nrepairs; i++) {
        struct buf b = BUF_NULL(1 << 12);
        buf_str(out, "<p>");
        put_repair(t, &t->repairs[i], &b);
        svg_take(out, &b);
        buf_str(out, "</p>\n");
    }
}

void timeline_html(const struct timeline *t, struct buf *out)
{
    buf_str(out, "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\">"
                 "<meta name=\"viewport\" content=\"width=device-width\">"
                 "<meta name=\"color-scheme\" content=\"light dark\"><title>Timeline: ");
    svg_escaped(out, t->title);
    buf_printf(out, "</title>\n<style>%s</style>\n", page_style);
    timeline_svg(t, out);
    buf_str(out,
            "<p><kbd>+</kbd> <kbd>-</kbd> enlarge, reduce &nbsp; <kbd>&larr;</kbd> "
            "<kbd>&rarr;</kbd> move &nbsp; <kbd>0</kbd> all &nbsp; the pointer on a row tells its "
            "times</p>\n");
    page_losses(t, out);
    page_repairs(t, out);
    page_path(t, out);
    page_clocks(t, out);
    buf_printf(out, "<script>\n%s</script>\n</html>\n", page_script);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void json_name(struct json *j, const char *what, uint32_t pid, const uint32_t *tid,
                      const char *name)
{
    json_object(j, NULL);
    json_str(j, "ph", "M");
    json_str(j, "name", what);
    json_u64(j, "pid", pid);
    if (tid)
        json_u64(j, "tid", *tid);
    json_object(j, "args");
    json_str(j, "name", name);
    json_object_end(j);
    json_object_end(j);
}

/* Perfetto's processes are our nodes, its threads our ranks. */
struct perfetto_thread {
    uint32_t node, rank;
};

static void json_span(struct json *j, const struct timeline *t, struct perfetto_thread at,
                      const char *name, const struct timeline_span *s)
{
    uint64_t begin = s->begin_ns, end = s->end_ns;

    json_object(j, NULL);
    json_str(j, "ph", "X");
    json_str(j, "name", name);
    json_u64(j, "pid", at.node);
    json_u64(j, "tid", at.rank);
    json_decimal(j, "ts", seconds_of(t, begin) * 1e6, 3);
    json_decimal(j, "dur", end > begin ? (double)(end - begin) / 1e3 : 0, 3);
    if (s->number || s->count > 1) {
        json_object(j, "args");
        if (s->number)
            json_u64(j, "fence", s->number);
        if (s->count > 1)
            json_u64(j, "requests", s->count);
        json_object_end(j);
    }
    json_object_end(j);
}

static void json_proc(struct json *j, const struct timeline *t, uint32_t rank)
{
    const struct timeline_proc *p = &t->procs[rank];
    struct timeline_span life = { .begin_ns = p->started_ns, .end_ns = p->ended_ns };
    struct timeline_span start = { .begin_ns = p->started_ns, .end_ns = p->first_ns };
    const struct timeline_node *n = p->node < t->nnodes ? &t->nodes[p->node] : NULL;
    struct timeline_span spawn = { .begin_ns = n ? n->job_ns : 0, .end_ns = p->started_ns };
    struct perfetto_thread at = { n ? p->node : 0, rank };
    char name[32];

    snprintf(name, sizeof name, "rank %u", rank);
    json_name(j, "thread_name", at.node, &rank, name);
    if (n && n->job_ns && p->started_ns)
        json_span(j, t, at, kind_names[TIMELINE_SPAWN], &spawn);
    if (p->started_ns && p->ended_ns)
        json_span(j, t, at, p->badly ? "process (failed)" : "process", &life);
    if (p->started_ns && p->first_ns)
        json_span(j, t, at, kind_names[TIMELINE_START], &start);
    for (uint32_t i = 0; i < p->nspans; i++)
        json_span(j, t, at, kind_names[p->spans[i].kind], &p->spans[i]);
}

static void json_loss(struct json *j, const struct timeline *t, uint32_t node)
{
    const struct timeline_node *n = &t->nodes[node];

    if (!n->lost_ns)
        return;
    json_object(j, NULL);
    json_str(j, "ph", "i");
    json_str(j, "name", "node lost");
    json_u64(j, "pid", node);
    json_u64(j, "tid", t->nprocs);
    json_decimal(j, "ts", seconds_of(t, n->lost_ns) * 1e6, 3);
    json_object(j, "args");
    json_str(j, "why", n->lost_why ? n->lost_why : "");
    json_object_end(j);
    json_object_end(j);
}

/* The daemon of a node is the thread after those of the ranks. */
static void json_daemon(struct json *j, const struct timeline *t, uint32_t node)
{
    const struct timeline_node *n = &t->nodes[node];
    struct timeline_span contact = { .begin_ns = n->asked_ns, .end_ns = n->runs_ns };
    struct timeline_span daemon = { .begin_ns = n->runs_ns, .end_ns = n->up_ns };

    json_name(j, "process_name", node, NULL, n->name);
    json_loss(j, t, node);
    if (!n->up_ns)
        return;
    json_name(j, "thread_name", node, &t->nprocs, "daemon");
    json_span(j, t, (struct perfetto_thread){ node, t->nprocs }, kind_names[TIMELINE_CONTACT],
              &contact);
    json_span(j, t, (struct perfetto_thread){ node, t->nprocs }, kind_names[TIMELINE_DAEMON],
              &daemon);
}

static void json_repair(struct json *j, const struct timeline *t, const struct timeline_repair *r)
{
    json_object(j, NULL);
    json_str(j, "ph", "i");
    json_str(j, "s", "g");
    json_str(j, "name", r->text ? r->text : "");
    json_u64(j, "pid", 0);
    json_u64(j, "tid", t->nprocs);
    json_decimal(j, "ts", seconds_of(t, r->at_ns) * 1e6, 3);
    json_object_end(j);
}

void timeline_json(const struct timeline *t, struct buf *out)
{
    struct json j;

    json_init(&j, out);
    json_object(&j, NULL);
    json_str(&j, "schema", "wireup-timeline-1");
    json_str(&j, "displayTimeUnit", "ms");
    json_array(&j, "traceEvents");
    for (uint32_t i = 0; i < t->nnodes; i++)
        json_daemon(&j, t, i);
    for (uint32_t i = 0; i < t->nrepairs; i++)
        json_repair(&j, t, &t->repairs[i]);
    for (uint32_t i = 0; i < t->nprocs; i++) {
        json_break(&j);
        json_proc(&j, t, i);
    }
    json_array_end(&j);
    json_object_end(&j);
    json_done(&j);
    buf_byte(out, '\n');
}
