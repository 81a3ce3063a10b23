/* option_words_test.c - words of Open MPI, PRRTE and Slurm's users: each command line means the
 * same as one in our own words, or is refused with a sentence that says what to do instead. */
#include <stdarg.h>
#include <string.h>

#include "base/buf.h"
#include "launch/options.h"
#include "launch/options_table.h"
#include "launch/options_doc.h"
#include "tests/tap.h"

static struct launch_options opt;
static struct errmsg err;

/* Words are separated by blanks. */
static int parse(const char *line)
{
    static char text[4096];
    static char *argv[256], *envp[] = { NULL };
    int argc = 0;

    snprintf(text, sizeof text, "%s", line);
    for (char *at = strtok(text, " "); at; at = strtok(NULL, " "))
        argv[argc++] = at;
    argv[argc] = NULL;
    launch_options_free(&opt);
    err.text[0] = '\0';
    return options_parse(&opt, argc, argv, envp, &err);
}

/* With -configfile there is no program yet. */
static const struct launch_block *block(void)
{
    return opt.blocks ? opt.blocks : &opt.common;
}

static void put_row(struct buf *out, const struct option_row *row)
{
    const char *base = row->in_block ? (const char *)block() : (const char *)&opt;
    const void *at = base + row->offset;
    const char *text;

    buf_printf(out, "%s=", row->names);
    switch (row->take) {
    case TAKE_ON:
    case TAKE_OFF: buf_printf(out, "%d\n", *(const bool *)at); break;
    case TAKE_U32:
    case TAKE_WORD: buf_printf(out, "%u\n", *(const uint32_t *)at); break;
    case TAKE_TEXT:
        text = *(const char *const *)at;
        buf_printf(out, "%s\n", text ? text : "-");
        break;
    default: buf_str(out, "\n"); break;
    }
}

static void put_environment(struct buf *out, const struct env_rules *r)
{
    for (const struct env_entry *e = r->sets; e; e = e->next)
        buf_printf(out, "%s\n", e->text ? e->text : "-");
}

/* All that a command line says: every member that a row of the table fills, and the rest by hand.
 */
static void dump(struct buf *out)
{
    for (size_t i = 0; i < option_row_count; i++) {
        struct option_row row = option_row_at(i);
        put_row(out, &row);
    }
    put_environment(out, &opt.env);
    put_environment(out, &block()->env);
    for (uint32_t i = 0; i < opt.hosts.count; i++)
        buf_printf(out, "%s:%u\n", opt.hosts.items[i].name, opt.hosts.items[i].slots);
    for (uint32_t i = 0; i < block()->argc; i++)
        buf_printf(out, "%s\n", block()->argv[i]);
}

static bool read_and_dump(const char *line, struct buf *out)
{
    int rc = parse(line);

    if (rc == LAUNCH_GO)
        dump(out);
    else
        printf("# %s: %d %s\n", line, rc, err.text);
    return rc == LAUNCH_GO && buf_ok(out);
}

static void check_same(const char *theirs, const char *ours)
{
    struct buf a = BUF_NULL(65536), b = BUF_NULL(65536);
    bool good = read_and_dump(theirs, &a) && read_and_dump(ours, &b);

    if (!OK_F(good && slice_eq(buf_slice(&a), buf_slice(&b)), "%s", theirs) && good)
        printf("# not the same as %s\n", ours);
    buf_free(&a);
    buf_free(&b);
}

static void check_refused(const char *line, const char *sentence)
{
    int rc = parse(line);

    if (!OK_F(rc == LAUNCH_USAGE && strstr(err.text, sentence), "%s: %s", line, sentence))
        printf("# got %d: %s\n", rc, err.text);
}

static const struct {
    const char *theirs, *ours;
} same[] = {
    { "mpirun -n4 p", "w -n 4 p" },
    { "mpirun -np16 p", "w -n 16 p" },
    { "mpirun -c2 p", "w -n 2 p" },
    { "mpirun -N2 p", "w -ppn 2 p" },
    { "mpirun --ppn3 p", "w -ppn 3 p" },
    { "mpirun --pernode p", "w -ppn 1 p" },
    { "mpirun --npernode 3 p", "w -ppn 3 p" },
    { "mpirun --npersocket 2 p", "w -map-by ppr:2:socket p" },
    { "mpirun --bycore p", "w -map-by core p" },
    { "mpirun --bysocket p", "w -map-by socket p" },
    { "mpirun --bynode p", "w -map-by node p" },
    { "mpirun --byslot p", "w -map-by slot p" },
    { "mpirun --bind-to-none p", "w -bind-to none p" },
    { "mpirun --bind-to-core p", "w -bind-to core p" },
    { "mpirun --bind-to-socket p", "w -bind-to socket p" },
    { "mpirun --cpus-per-proc 2 p", "w -cpus-per-rank 2 p" },
    { "mpirun --cpus-per-rank 4 --map-by node p", "w -map-by node -cpus-per-rank 4 p" },
    { "mpirun --cpu-set 0-3,8 p", "w -bind-to user:0-3+8 p" },
    { "mpirun --cpu-list 1,2 p", "w -bind-to user:1+2 p" },
    { "mpirun --display-map p", "w -display map p" },
    { "mpirun --display-devel-map p", "w -display-map p" },
    { "mpirun --display map,bind,allocation p",
      "w -display-map -report-bindings -display-allocation p" },
    { "mpirun --display MAP p", "w -display-map p" },
    { "mpirun --display-allocation p", "w -display allocation p" },
    { "mpirun --output tag p", "w -prepend-rank p" },
    { "mpirun --output rank,timestamp p", "w -prepend-rank -prepend-time p" },
    { "mpirun --output tag,merge,dir=/x p", "w -l -merge-output -output-directory /x p" },
    { "mpirun --output directory=/x:y p", "w -output-directory /x:y p" },
    { "mpirun --output file=/x,nocopy p", "w -output-file /x p" },
    { "mpirun --output raw p", "w -raw-output p" },
    { "mpirun --output xml p", "w -xml-output p" },
    { "mpirun --xml p", "w -xml-output p" },
    { "mpirun --output-filename /x p", "w -output-directory /x p" },
    { "mpirun --timestamp-output p", "w -prepend-time p" },
    { "mpirun --tag-output p", "w -prepend-rank p" },
    { "mpirun --merge-stderr-to-stdout p", "w -merge-output p" },
    { "mpirun --with-ft ulfm p", "w -genv OMPI_MCA_mpi_ft_enable true -disable-auto-cleanup p" },
    { "mpirun --with-ft mpi p", "w --with-ft ulfm p" },
    { "mpirun --with-ft none p", "w p" },
    { "mpirun --enable-recovery p", "w -disable-auto-cleanup p" },
    { "mpirun --app f", "w -configfile f" },
    { "mpirun --chdir /tmp p", "w -wdir /tmp p" },
    { "mpirun --wd /tmp p", "w -wdir /tmp p" },
    { "mpirun -q p", "w -quiet p" },
    { "mpirun --use-hwthread-cpus p", "w -report-state-on-timeout p" },
    { "mpirun --mca btl tcp,self p", "w -genv OMPI_MCA_btl tcp,self p" },
    { "mpirun --mca plm_rsh_agent rsh p",
      "w -genv OMPI_MCA_plm_rsh_agent rsh -launcher-exec rsh p" },
    { "mpirun --mca rmaps_base_mapping_policy node p",
      "w -genv OMPI_MCA_rmaps_base_mapping_policy node -map-by node p" },
    { "mpirun --mca hwloc_base_binding_policy core p",
      "w -genv OMPI_MCA_hwloc_base_binding_policy core -bind-to core p" },
    { "mpirun --mca rmaps_base_oversubscribe 1 p",
      "w -genv OMPI_MCA_rmaps_base_oversubscribe 1 -oversubscribe p" },
    { "mpirun --mca rmaps_base_oversubscribe 0 p",
      "w -genv OMPI_MCA_rmaps_base_oversubscribe 0 p" },
    { "mpirun --mca btl_tcp_if_include eth0 p", "w -genv OMPI_MCA_btl_tcp_if_include eth0 p" },
    { "mpirun --gmca btl self p", "w -mca btl self p" },
    { "prterun --prtemca plm_ssh_agent rsh p", "w -launcher-exec rsh p" },
    { "prterun --prtemca rmaps_default_mapping_policy ppr:1:node p", "w -map-by ppr:1:node p" },
    { "prterun --prtemca prte_if_include eth1 p", "w -iface eth1 p" },
    { "prterun --pmixmca gds hash p", "w -genv PMIX_MCA_gds hash p" },
    { "mpirun -x A=b p", "w -env A=b p" },
    { "mpirun -H a:2,b p", "w -hosts a:2,b p" },
    { "mpirun --runtime-options get-stack-traces=false p", "w p" },
    { "mpirun --output dir=a:nocopy:raw,tag p",
      "w -output-directory a -raw-output -prepend-rank p" },
    { "mpirun --output file=a:b p", "w -output-file a:b p" },
    { "mpirun --display map:physical,allocation p", "w -display-map -display-allocation p" },
    { "mpirun --display :physical p", "w p" },
    { "mpirun --runtime-options stop-in-init,stop-in-app=1 p", "w -stop-in-init -stop-in-app p" },
    { "mpirun --allow-run-as-root --timeout 5 p", "w -allow-run-as-root -timeout 5 p" },
};

static const struct {
    const char *line, *sentence;
} refused[] = {
    { "mpirun --display p,q p", "-display: 'p' is not known; known are map|map-devel" },
    { "mpirun --display topo p", "-display: topo is not supported: run lstopo" },
    { "mpirun --display map:parseable p",
      "-display: parseable is not supported: use -dry-run --json" },
    { "mpirun --output dir=a:copy p",
      "-output: copy is not supported: output is shown or written" },
    { "mpirun --runtime-options report-child-jobs-separately p",
      "the exit code is that of the whole job" },
    { "mpirun --display-topo p", "run lstopo" },
    { "mpirun --display= p", "-display: at least one word is needed" },
    { "mpirun --output dir p", "-output: dir needs a value: dir=PATH" },
    { "mpirun --output tag-fullname p", "use -prepend-pattern '[%n,%r] '" },
    { "mpirun --output file=a,dir=b p", "use one of -output-file, -output-directory and" },
    { "mpirun --output-file a --outfile-pattern b p", "use one of -output-file" },
    { "mpirun --npersocket", "-npersocket needs a value: N" },
    { "mpirun --with-ft maybe p", "-with-ft: must be ulfm, mpi or none, not 'maybe'" },
    { "mpirun --mca a=b c p", "'a=b' is not the name of a variable" },
    { "prterun --prtemca foo 1 p", "-prtemca: the parameter 'foo' has no meaning here" },
    { "mpirun --xterm 1 p", "start the terminal as the program" },
    { "mpirun --am", "-am needs a value: FILE,..." },
    { "mpirun -n0 p", "-n0 must be a number from 1" },
    { "mpirun -x4 p", "unknown option '-x4'" },
};

/* ---- every row of synonyms.def --------------------------------------------------------------- */

/* Is the word in another row of the same place, too? */
static bool is_twice(const struct synonym *s, struct slice name)
{
    unsigned found = 0;

    for (size_t i = 0; i < synonym_count; i++) {
        struct synonym other = synonym_at(i);
        struct slice rest = slice_str(other.names), one;
        if (other.mode != s->mode || (other.kind == SYNONYM_CALLED) != (s->kind == SYNONYM_CALLED))
            continue;
        while (option_next_name(&rest, &one))
            found += slice_eq(one, name);
    }
    return found != 1;
}

static const char *line_of(const char *format, ...) __attribute__((format(printf, 1, 2)));

static const char *line_of(const char *format, ...)
{
    static char lines[2][1024];
    static unsigned turn;
    char *line = lines[turn++ % 2];
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof lines[0], format, args);
    va_end(args);
    return line;
}

/* "-map-by ppr:2:socket": what the row says that the word means, with the value 2. */
static const char *meant(const struct synonym *s)
{
    static struct buf out;

    buf_free(&out);
    buf_init(&out, 4096);
    options_put_as(&out, s->means, "2");
    return buf_cstr(&out) ? buf_cstr(&out) : "";
}

static void try_option(const struct synonym *s, struct slice name)
{
    const char *values = s->count == 0 ? "" : s->count == 1 ? " 2" : " 2 3";
    const char *line = line_of("w -" SLICE_FMT "%s p", SLICE_ARG(name), values);
    struct option_row row, meant_row;
    bool known = option_find(name, &row);

    switch (s->kind) {
    case SYNONYM_OWN: OK_F(known && row.take != TAKE_REFUSED, "%s", line); break;
    case SYNONYM_ALIAS:
        OK_F(known && option_find(slice_str(s->means), &meant_row) && row.at == meant_row.at, "%s",
             line);
        break;
    case SYNONYM_AS:
        if (strstr(meant(s), "-configfile"))
            line = line_of("w -" SLICE_FMT "%s", SLICE_ARG(name), values);
        check_same(line, line_of("w %s%s", meant(s), strstr(meant(s), "-configfile") ? "" : " p"));
        break;
    case SYNONYM_NOTHING: check_same(line, "w p"); break;
    case SYNONYM_REFUSED: check_refused(line, s->means); break;
    case SYNONYM_CALLED:
        check_refused(line_of("/usr/bin/mpirun -" SLICE_FMT " p", SLICE_ARG(name)), s->means);
        OK_F(known && row.take != TAKE_REFUSED, "%s: ours is another", line);
        break;
    default: OK_F(false, "%s", line); break;
    }
}

/* "-display map", "-map-by slot:display", "-prtemca plm_rsh_agent 2" */
static void try_word(const struct synonym *s, struct slice name, const char *option,
                     const char *value)
{
    const char *theirs = line_of("w %s" SLICE_FMT "%s p", option, SLICE_ARG(name), value);
    bool modifier = option[strlen(option) - 1] == ':'; /* the rest of the value remains */

    if (s->kind == SYNONYM_REFUSED)
        check_refused(theirs, s->means);
    else
        check_same(theirs, line_of("w %.*s %s p", modifier ? (int)strlen(option) - 1 : 0, option,
                                   meant(s)));
    if (s->kind == SYNONYM_AS_IF)
        check_same(line_of("w %s" SLICE_FMT "%c0 p", option, SLICE_ARG(name), value[0]), "w p");
}

static void try_row(const struct synonym *s, struct slice name)
{
    OK_F(!is_twice(s, name), "one row has " SLICE_FMT, SLICE_ARG(name));
    switch (s->mode) {
    case SYNONYM_OPTION: try_option(s, name); break;
    case SYNONYM_display: try_word(s, name, "-display ", "=2"); break;
    case SYNONYM_output: try_word(s, name, "-output ", "=2"); break;
    case SYNONYM_runtime: try_word(s, name, "-runtime-options ", "=2"); break;
    case SYNONYM_map: try_word(s, name, "-map-by slot:", ""); break;
    case SYNONYM_bind: try_word(s, name, "-bind-to core:", ""); break;
    case SYNONYM_mca: try_word(s, name, "-prtemca ", " 2"); break;
    case SYNONYM_LINE_srun: break; /* srun_words_test.c */
    }
}

static void try_all(void)
{
    for (size_t i = 0; i < synonym_count; i++) {
        struct synonym s = synonym_at(i);
        struct slice rest = slice_str(s.names), name;
        OK_F(s.whose != 0, "%s is somebody's", s.names);
        while (option_next_name(&rest, &name))
            try_row(&s, name);
    }
    OK(synonym_count > 200);
}

int main(void)
{
    launch_options_init(&opt);
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        check_same(same[i].theirs, same[i].ours);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        check_refused(refused[i].line, refused[i].sentence);
    OK(parse("w -output dir=/a%b -prepend-rank -prepend-time p") == 0 &&
       !strcmp(opt.prepend_pattern, "[%t] [%r] ") && !strcmp(opt.output_directory, "/a%b"));
    OK(parse("w -cpus-per-rank 2 -map-by core p") == 0 && !strcmp(opt.map_by, "core:pe=2"));
    try_all();
    launch_options_free(&opt);
    return tap_done();
}
