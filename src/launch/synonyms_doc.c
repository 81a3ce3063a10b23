/* synonyms_doc.c - see synonyms_doc.h. */
#include "launch/synonyms_doc.h"

#include <string.h>

#include "launch/options_doc.h"
#include "launch/options_table.h"

/* ---- a page ---------------------------------------------------------------------------------- */

struct page {
    struct buf *out;
    unsigned whose;
};

/* A cell of a table of Markdown: a '|' ends it. */
static void put_cell(struct buf *out, struct slice text)
{
    for (size_t i = 0; i < text.len; i++)
        buf_printf(out, text.ptr[i] == '|' ? "\\%c" : "%c", text.ptr[i]);
}

/* As the other launcher writes them. */
static const char *dashes(const struct page *p, const struct synonym *s, struct slice name)
{
    bool two = (p->whose == SYNONYM_SRUN || p->whose == SYNONYM_TORCHRUN) && name.len > 1;

    if (s->mode != SYNONYM_OPTION && s->mode != SYNONYM_LINE_srun)
        return "";
    return two ? "--" : "-";
}

/* "`-n`, `-np` N" */
static void put_names(struct page *p, const struct synonym *s, const char *arg)
{
    struct slice rest = slice_str(s->names), name;

    for (const char *between = "| "; option_next_name(&rest, &name); between = ", ") {
        buf_printf(p->out, "%s`%s" SLICE_FMT "`", between, dashes(p, s, name), SLICE_ARG(name));
    }
    if (arg) {
        buf_byte(p->out, ' ');
        put_cell(p->out, slice_str(arg));
    }
    buf_str(p->out, " | ");
}

static void put_whose(struct page *p, const struct synonym *s)
{
    static const struct {
        unsigned bit;
        const char *name;
    } all[] = { { SYNONYM_MPIRUN4, "4" }, { SYNONYM_MPIRUN5, "5" }, { SYNONYM_PRTERUN, "PRRTE" } };
    const char *between = "";

    if (p->whose != SYNONYM_MPIRUN)
        return;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (s->whose & all[i].bit) {
            buf_printf(p->out, "%s%s", between, all[i].name);
            between = ", ";
        }
    }
    buf_str(p->out, " | ");
}

static struct slice first_sentence(const char *text)
{
    const char *end = text;

    while ((end = strstr(end, ". ")) != NULL && !(end[2] >= 'A' && end[2] <= 'Z'))
        end++;
    return end ? slice_mem(text, (size_t)(end + 1 - text)) : slice_str(text);
}

/* The first sentence of our option. */
static void put_option_help(struct page *p, const char *name)
{
    struct option_row row;
    bool known = option_find(slice_str(name), &row);

    put_cell(p->out, first_sentence(known && row.help ? row.help : ""));
}

static void put_meaning(struct page *p, const struct synonym *s)
{
    if (s->means && *s->means && (s->kind == SYNONYM_AS || s->kind == SYNONYM_AS_IF)) {
        buf_str(p->out, "`");
        options_put_as(p->out, s->means, s->arg ? s->arg : "VALUE");
        buf_str(p->out, s->kind == SYNONYM_AS_IF ? "`, if its value is not false" : "`");
    } else if (s->kind == SYNONYM_ALIAS) {
        buf_printf(p->out, "`-%s`: ", s->means ? s->means : "");
        put_option_help(p, s->means ? s->means : "");
    } else if (s->help) {
        put_cell(p->out, slice_str(s->help));
    } else {
        put_cell(p->out, slice_str(s->means && *s->means ? s->means
                                                         : "what it asks for holds in any case"));
    }
}

static void put_row(struct page *p, const struct synonym *s, const char *arg)
{
    put_names(p, s, arg);
    put_whose(p, s);
    put_meaning(p, s);
    buf_str(p->out, " |\n");
}

/* "n|np" of one row are rows of the page: each is an option of ours. */
static void put_own(struct page *p, const struct synonym *s)
{
    struct slice rest = slice_str(s->names), name;

    while (option_next_name(&rest, &name)) {
        struct option_row row;
        bool known = option_find(name, &row);
        buf_printf(p->out, "| `-" SLICE_FMT "`", SLICE_ARG(name));
        if (known && row.arg) {
            buf_byte(p->out, ' ');
            put_cell(p->out, slice_str(row.arg));
        }
        buf_str(p->out, " | ");
        put_whose(p, s);
        put_cell(p->out, first_sentence(known && row.help ? row.help : ""));
        buf_str(p->out, " |\n");
    }
}

static void put_head(struct page *p, const char *title, const char *last)
{
    bool mpirun = p->whose == SYNONYM_MPIRUN;

    buf_printf(p->out, "\n## %s\n\n| word | %s%s |\n|---|%s---|\n", title,
               mpirun ? "Open MPI | " : "", last, mpirun ? "---|" : "");
}

/* One table of a page: the rows of a mode and of a kind. */
static const struct section {
    const char *title, *last;
    enum synonym_mode mode;
    unsigned kinds;
} sections[] = {
#define KIND(kind) (1U << SYNONYM_##kind)
    { "The same name here", "what it does", SYNONYM_OPTION, KIND(OWN) },
    { "Another name here", "here", SYNONYM_OPTION, KIND(ALIAS) | KIND(AS) },
    { "Options", "here", SYNONYM_LINE_srun, KIND(AS) | KIND(READ) },
    { "Only for a scheduler, or not done: a remark says so, and the job runs", "why",
      SYNONYM_LINE_srun, KIND(NOTED) },
    { "Without effect", "why", SYNONYM_OPTION, KIND(NOTHING) },
    { "Words of `-display`", "here", SYNONYM_display, ~0U },
    { "Words of `-output`", "here", SYNONYM_output, ~0U },
    { "Words of `-runtime-options`", "here", SYNONYM_runtime, ~0U },
    { "Modifiers of `-map-by`", "here", SYNONYM_map, ~0U },
    { "Modifiers of `-bind-to`", "here", SYNONYM_bind, ~0U },
    { "Parameters of `-mca` and `-prtemca`", "here", SYNONYM_mca, ~0U },
    { "Refused", "what to do instead", SYNONYM_OPTION, KIND(REFUSED) },
    { "Refused when called as `mpirun` or `prterun`", "what to do instead", SYNONYM_OPTION,
      KIND(CALLED) },
    { "Refused", "what to do instead", SYNONYM_LINE_srun, KIND(REFUSED) },
#undef KIND
};

static void put_section(struct page *p, const struct section *all)
{
    bool begun = false;

    for (size_t i = 0; i < synonym_count; i++) {
        const struct synonym here = synonym_at(i), *s = &here;
        if (s->mode != all->mode || !(s->whose & p->whose) || !(all->kinds >> s->kind & 1))
            continue;
        if (!begun)
            put_head(p, all->title, all->last);
        begun = true;
        if (s->kind == SYNONYM_OWN)
            put_own(p, s);
        else
            put_row(p, s, s->arg);
    }
}

/* Variables that set options, by their beginning. */
static void put_variables(struct page *p, const char *begin)
{
    for (size_t i = 0; i < option_row_count; i++) {
        const struct option_row here = option_row_at(i), *row = &here;
        struct slice rest = slice_str(row->env ? row->env : ""), name;
        while (option_next_name(&rest, &name)) {
            if (slice_starts(name, slice_str(begin)))
                buf_printf(p->out, "| `" SLICE_FMT "` | `-" SLICE_FMT "` |\n", SLICE_ARG(name),
                           SLICE_ARG(option_name(row)));
        }
    }
}

static unsigned names_of(const struct synonym *s)
{
    struct slice rest = slice_str(s->names), name;
    unsigned n = 0;

    while (option_next_name(&rest, &name))
        n++;
    return n;
}

/* "164 words: 120 have a meaning, 24 no effect, 20 are refused." */
static void put_count(struct page *p)
{
    unsigned meant = 0, idle = 0, refused = 0;

    for (size_t i = 0; i < synonym_count; i++) {
        const struct synonym here = synonym_at(i), *s = &here;
        bool empty = s->kind == SYNONYM_AS && !*s->means;
        unsigned *n = s->kind == SYNONYM_REFUSED || s->kind == SYNONYM_CALLED           ? &refused
                      : s->kind == SYNONYM_NOTHING || s->kind == SYNONYM_NOTED || empty ? &idle
                                                                                        : &meant;
        if (s->whose & p->whose)
            *n += names_of(s);
    }
    buf_printf(p->out,
               "\nOf %u words, %u have a meaning here, %u have no effect, and %u are refused with "
               "what to do "
               "instead.\n",
               meant + idle + refused, meant, idle, refused);
}

static void put_page(struct page *p, const char *intro)
{
    buf_str(p->out, intro);
    put_count(p);
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        put_section(p, &sections[i]);
}

#define MADE                                                                                       \
    "\nThese tables are made from `src/launch/synonyms.def`, which the parser reads, too.  "       \
    "`tests/check-docs` renews them.\n"

void synonyms_page_hydra(struct buf *out)
{
    struct page p = { out, SYNONYM_HYDRA };

    put_page(&p, "# Coming from Hydra\n\n"
                 "Words of `mpiexec` and `mpiexec.hydra` of MPICH and its kin.  They are "
                 "understood by `wireup`, "
                 "and\nby `wireup` under the name `mpiexec`.  An option may begin with one dash or "
                 "with more, and its "
                 "value may\nfollow a `=`.\n\n"
                 "    mpiexec -n 4 -hosts a,b -ppn 2 ./solver\n"
                 "    wireup  -n 4 -hosts a,b -ppn 2 ./solver\n" MADE);
    put_head(&p, "Variables, of Intel MPI's launcher, too", "sets");
    put_variables(&p, "HYDRA_");
    put_variables(&p, "MPIEXEC_");
    put_variables(&p, "I_MPI_");
}

void synonyms_page_mpirun(struct buf *out)
{
    struct page p = { out, SYNONYM_MPIRUN };

    put_page(
        &p,
        "# Coming from mpirun\n\n"
        "Words of Open MPI's `mpirun`, releases 4 and 5, and of PRRTE's `prterun`.  They are "
        "understood by\n"
        "`wireup`, and by `wireup` under these names.  The second column says which launcher has "
        "the word.\n\n"
        "    mpirun -np 4 --map-by ppr:2:node --bind-to core --tag-output -x DEBUG=1 ./solver\n"
        "    wireup -np 4 --map-by ppr:2:node --bind-to core --tag-output -x DEBUG=1 ./solver\n\n"
        "Other parameters of `-mca` are passed to the programs, as variables "
        "`OMPI_MCA_...`.\n" MADE);
}

void synonyms_page_srun(struct buf *out)
{
    struct page p = { out, SYNONYM_SRUN };

    put_page(&p, "# Coming from srun\n\n"
                 "Words of Slurm's `srun`.  They are understood behind `wireup srun`, and by "
                 "`wireup` under the name "
                 "`srun`;\nsome of them have another meaning as options of `wireup`.\n\n"
                 "    srun        -N 2 -n 8 -c 4 --cpu-bind=cores -l ./solver\n"
                 "    wireup srun -N 2 -n 8 -c 4 --cpu-bind=cores -l ./solver\n" MADE);
}

void synonyms_page_torchrun(struct buf *out)
{
    struct page p = { out, SYNONYM_TORCHRUN };

    put_page(&p, "# Coming from torchrun\n\n"
                 "Words of PyTorch's `torchrun`.  They are understood by `wireup`, which starts "
                 "the processes of all "
                 "nodes:\nit is called once, not once on each node, and the program is named with "
                 "its interpreter.\n\n"
                 "    torchrun --standalone --nproc-per-node 4 train.py --epochs 3\n"
                 "    wireup -n 4 python3 train.py --epochs 3\n\n"
                 "    torchrun --nnodes 2 --nproc-per-node 4 --rdzv-endpoint a:29400 train.py   # "
                 "on each of a and b\n"
                 "    wireup -hosts a,b -ppn 4 -n 8 python3 train.py\n\n"
                 "`--max-restarts` of torchrun starts all processes again, and is `-restart-job` "
                 "here; `-max-restarts` is for\nsingle ones.  With `-on-failure restart` one is "
                 "started again "
                 "in place, and the others go on with it\n([torch.md]"
                 "(design/torch.md#processes-that-are-started-again-in-place)).\n" MADE);
}
