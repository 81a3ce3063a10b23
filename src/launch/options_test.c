/* options_test.c - the command line: the meaning of each spelling, and one sentence for each
 * mistake. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "tests/tap.h"
#include "launch/options.h"
#include "launch/options_doc.h"
#include "launch/options_table.h"

/* The n-th allocation from now fails (0: none); see options_alloc in meson.build. */
static unsigned fail_at;

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);

static bool fails(void)
{
    return fail_at > 0 && --fail_at == 0;
}

void *__wrap_malloc(size_t n)
{
    return fails() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails() ? NULL : __real_calloc(n, size);
}

static struct launch_options opt;
static struct errmsg err;

static struct settings_file *given_files;

/* Words separated by '|'; environment likewise. */
static int parse_with(const char *line, const char *environment)
{
    static char text[2][65536];
    static char *words[2][1024];
    const char *from[2] = { line, environment };
    int count[2];

    for (int k = 0; k < 2; k++) {
        int n = 0;
        snprintf(text[k], sizeof text[k], "%s", from[k]);
        for (char *at = text[k]; at && (*from[k] || k == 0); n++) {
            char *bar = strchr(at, '|');
            words[k][n] = at;
            if (bar)
                *bar++ = '\0';
            at = bar;
        }
        words[k][n] = NULL;
        count[k] = n;
    }
    launch_options_free(&opt);
    opt.files = given_files;
    err.text[0] = '\0';
    return options_parse(&opt, count[0], words[0], words[1], &err);
}

static int parse(const char *line)
{
    return parse_with(line, "");
}

static void check_bad(const char *line, const char *sentence)
{
    int rc = parse(line);

    if (!OK_F(rc == LAUNCH_USAGE && strcmp(err.text, sentence) == 0, "%s: %s", line, sentence))
        printf("# got %d: %s\n", rc, err.text);
}

static const char *argv_text(const struct launch_block *b)
{
    static char text[1024];
    size_t n = 0;

    text[0] = '\0';
    for (uint32_t i = 0; b && i < b->argc; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", i ? " " : "", b->argv[i]);
    return b && b->argv[b->argc] ? "(no NULL at the end)" : text;
}

static void test_spellings(void)
{
    EQ(parse("wireup|-n|4|prog|-n|7|x"), LAUNCH_GO);
    EQ(opt.nblocks, 1);
    EQ(opt.blocks->nprocs, 4);
    OK(strcmp(argv_text(opt.blocks), "prog -n 7 x") == 0);
    OK(parse("wireup|run|--np=3|prog") == 0 && opt.blocks->nprocs == 3);
    OK(parse("/usr/bin/mpiexec|run|-x") == 0 && strcmp(argv_text(opt.blocks), "run -x") == 0);
    OK(parse("mpirun|---n|5|--|-prog") == 0 && strcmp(argv_text(opt.blocks), "-prog") == 0);
    OK(parse("w|-l|prog") == 0 && opt.prepend_rank);
    OK(parse("w|--tag-output|prog") == 0 && opt.prepend_rank);
    OK(parse("w|-prepend-pattern=%r=|prog") == 0 && strcmp(opt.prepend_pattern, "%r=") == 0);
    OK(parse("w|-ppn|1|-ppn|2|prog") == 0 && opt.ppn == 2);
    OK(parse("w|-timeout|7|prog") == 0 && opt.timeout_s == 7);
    OK(parse("w|-wd|/tmp|prog") == 0 && strcmp(opt.blocks->wdir, "/tmp") == 0);
    OK(parse("w|-order-nodes|DOWN|prog") == 0 && opt.order_nodes == ORDER_DOWN);
    OK(parse("w|-launcher|fork|prog") == 0 && opt.launcher == LAUNCHER_FORK);
    OK(parse("w|-ssh-user|me|-launcher-port|2222|prog") == 0 && !strcmp(opt.launcher_user, "me") &&
       opt.launcher_port == 2222);
    OK(parse("w|--nnodes=2:4|prog") == 0 && opt.nnodes.min == 2 && opt.nnodes.max == 4);
    OK(parse("w|-nnodes|3|prog") == 0 && opt.nnodes.min == 3 && opt.nnodes.max == 3);
    check_bad("w|-nnodes|4:2|prog", "-nnodes must be a number of nodes, N or MIN:MAX, not '4:2'");
    OK(parse("w|-port-range|7000-7100|prog") == 0 && opt.port_low == 7000 && opt.port_high == 7100);
    OK(parse_with("w|prog", "MPIEXEC_PORT_RANGE=10:10") == 0 && opt.port_low == 10 &&
       opt.port_high == 10);
    check_bad("w|-port-range|7000|prog", "-port-range must be two ports, LOW-HIGH, not '7000'");
    check_bad("w|-port-range|2-1|prog", "-port-range must be two ports, LOW-HIGH, not '2-1'");
    check_bad("w|-port-range|0-1|prog", "-port-range must be two ports, LOW-HIGH, not '0-1'");
    check_bad("w|-port-range|1-65536|prog",
              "-port-range must be two ports, LOW-HIGH, not '1-65536'");
    OK(parse("w|-bynode|prog") == 0 && strcmp(opt.map_by, "node") == 0);
    OK(parse("w|-v|-dry-run|--json|--report-bindings|prog") == 0 && opt.verbose && opt.dry_run &&
       opt.json && opt.report_bindings);
    OK(parse("w|-memory-alloc-kinds|cuda|prog") == 0 && !strcmp(opt.memory_alloc_kinds, "cuda"));
    OK(parse("w|-job-attr|a=b=c|--job-attr=e=|prog") == 0 && opt.njob_attrs == 2 &&
       slice_is(opt.job_attrs[0].key, "a") && slice_is(opt.job_attrs[0].value, "b=c") &&
       slice_is(opt.job_attrs[1].key, "e") && opt.job_attrs[1].value.len == 0);
    OK(parse("w|-job-attr|a|prog") == LAUNCH_USAGE && parse("w|-job-attr|=b|prog") == LAUNCH_USAGE);
}

static void test_defaults(void)
{
    EQ(parse("w|prog"), LAUNCH_GO);
    EQ(opt.blocks->nprocs, 0);
    OK(opt.auto_cleanup && opt.hostname_propagation && !opt.prepend_rank && !opt.dry_run);
    OK(opt.stdin_to == LAUNCH_STDIN_RANK && opt.stdin_rank == 0 && !opt.output_from_given);
    OK(!opt.bind_to && !opt.map_by && !opt.usize && opt.timeout_s == 0);
    OK(parse("w|-disable-auto-cleanup|prog") == 0 && !opt.auto_cleanup);
    OK(parse("w|-disable-auto-cleanup|-enable-auto-cleanup|prog") == 0 && opt.auto_cleanup);
    OK(parse("w|-disable-hostname-propagation|prog") == 0 && !opt.hostname_propagation);
    OK(parse("w|-stdin|all|prog") == 0 && opt.stdin_to == LAUNCH_STDIN_ALL);
    OK(parse("w|-stdin|none|prog") == 0 && opt.stdin_to == LAUNCH_STDIN_NONE);
    OK(parse("w|-s|3|prog") == 0 && opt.stdin_to == LAUNCH_STDIN_RANK && opt.stdin_rank == 3);
    OK(parse("w|-output-from|2|prog") == 0 && opt.output_from_given && opt.output_from == 2);
}

static const char *sets_text(const struct env_rules *r)
{
    static char text[1024];
    size_t n = 0;

    text[0] = '\0';
    for (const struct env_entry *e = r->sets; e; e = e->next)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%.*s", n ? " " : "",
                              e->text ? (int)strlen(e->text) : (int)e->name.len,
                              e->text ? e->text : e->name.ptr);
    return text;
}

static void test_environment(void)
{
    OK(parse("w|-env|A|1|-env|B=2=3|-env=C=|-x|D=4|-x|E|prog") == 0);
    OK(strcmp(sets_text(&opt.blocks->env), "A=1 B=2=3 C= D=4 E") == 0);
    OK(parse("w|-genv|A|-1|--mca|btl|tcp,self|-env|A|x|prog|:|q") == 0);
    OK(strcmp(sets_text(&opt.env), "A=-1 OMPI_MCA_btl=tcp,self") == 0);
    OK(strcmp(sets_text(&opt.blocks->env), "A=x") == 0 && !opt.blocks->next->env.sets);
    OK(parse("w|-genvall|-envnone|prog|:|-envlist|A,B|q") == 0);
    OK(opt.env.forward == ENV_ALL && opt.blocks->env.forward == ENV_NONE &&
       opt.blocks->next->env.forward == ENV_LIST && opt.blocks->next->env.list->next);
    OK(parse_with("w|prog", "HYDRA_ENV=none") == 0 && opt.env_default == ENV_NONE);
    check_bad("w|-envall|-envnone|prog",
              "-envnone: another option has already selected which variables are forwarded");
    check_bad("w|-genvlist|A|-genvlist|B|prog",
              "-genvlist: another option has already selected which variables are forwarded");
    check_bad("w|-env|A", "-env needs a value: NAME VALUE");
    check_bad("w|-env", "-env needs a value: NAME VALUE");
    check_bad("w|-genv|=1|prog", "-genv: '=1' is not the name of a variable");
    check_bad("w|-x||prog", "-x: '' is not the name of a variable");
    check_bad("w|-envlist||prog", "-envlist: '' is not the name of a variable");
    check_bad("w|-mca|key", "-mca needs a value: KEY VALUE");
    check_bad("w|-exit-timeout|warn:0|prog",
              "-exit-timeout: 'warn:0' is not a number of seconds, as in 30 or warn:30");
    check_bad("w|-exit-timeout|soon|prog",
              "-exit-timeout: 'soon' is not a number of seconds, as in 30 or warn:30");
}

static void test_variables(void)
{
    EQ(parse_with("w|prog", "MPIEXEC_TIMEOUT=9|HYDRA_DEBUG=1|HYDRA_TOPO_DEBUG=0|HYDRA_BINDING=core|"
                            "HYDRA_MAPPING=socket|HYDRA_HOST_FILE=/h|HYDRA_LAUNCHER=ssh"),
       LAUNCH_GO);
    OK(opt.timeout_s == 9 && opt.verbose && !opt.report_bindings && !strcmp(opt.bind_to, "core") &&
       !strcmp(opt.map_by, "socket") && !strcmp(opt.default_hostfile, "/h") && !opt.hostfile);
    OK(parse_with("w|-timeout|3|prog", "MPIEXEC_TIMEOUT=9") == 0 && opt.timeout_s == 3);
    OK(parse_with("w|prog", "MPIEXEC_TIMEOUT=") == 0 && opt.timeout_s == 0);
    EQ(parse_with("w|prog", "MPIEXEC_TIMEOUT=soon"), LAUNCH_USAGE);
    OK(parse_with("w|-exit-timeout|3|prog", "") == 0 && opt.exit_wait_s == 3 && !opt.exit_warns);
    OK(parse_with("w|-exit-timeout|warn:60|prog", "") == 0 && opt.exit_wait_s == 60 &&
       opt.exit_warns);
    OK(parse_with("w|-exit-timeout|warn:60|-exit-timeout|0|prog", "") == 0 &&
       opt.exit_wait_s == 0 && !opt.exit_warns);
    EQ(parse_with("w|prog", "MPIEXEC_TIMEOUT=soon"), LAUNCH_USAGE);
    OK(strcmp(err.text, "the variable MPIEXEC_TIMEOUT must be a number from 0 to 1000000000, not "
                        "'soon'") == 0);
    EQ(parse_with("w|prog", "HYDRA_ENV=some"), LAUNCH_USAGE);
    /* What the operators of Kubernetes set for Open MPI, Intel MPI and MPICH, and users on
     * Fujitsu's. */
    EQ(parse_with("w|prog",
                  "OMPI_MCA_orte_default_hostfile=/etc/mpi/hostfile|OMPI_MCA_plm_rsh_args=-o x=10|"
                  "OMPI_MCA_orte_keep_fqdn_hostnames=true"),
       LAUNCH_GO);
    OK(!strcmp(opt.default_hostfile, "/etc/mpi/hostfile") && !strcmp(opt.launcher_args, "-o x=10"));
    EQ(parse_with("w|prog",
                  "OMPI_MCA_orte_default_hostfile=none|PRTE_MCA_prte_default_hostfile=none"),
       LAUNCH_GO);
    OK(!opt.default_hostfile);
    EQ(parse_with("w|--default-hostfile|none|prog", "OMPI_MCA_orte_default_hostfile=/f"),
       LAUNCH_GO);
    OK(!opt.default_hostfile);
    EQ(parse_with("w|prog", "HYDRA_HOST_FILE=none"), LAUNCH_GO);
    OK(!strcmp(opt.default_hostfile, "none"));
    EQ(parse_with(
           "w|prog",
           "I_MPI_HYDRA_HOST_FILE=/i|I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS=-i|I_MPI_PERHOST=4|"
           "I_MPI_HYDRA_BOOTSTRAP=rsh|I_MPI_HYDRA_BOOTSTRAP_EXEC=pjrsh"),
       LAUNCH_GO);
    OK(!strcmp(opt.default_hostfile, "/i") && !strcmp(opt.launcher_args, "-i") && opt.ppn == 4 &&
       opt.launcher == LAUNCHER_RSH && !strcmp(opt.launcher_exec, "pjrsh"));
    EQ(parse_with("w|prog",
                  "HYDRA_HOST_FILE=/h|I_MPI_HYDRA_HOST_FILE=/i|HYDRA_LAUNCH_EXTRA_ARGS=-h"),
       LAUNCH_GO);
    OK(!strcmp(opt.default_hostfile, "/h") && !strcmp(opt.launcher_args, "-h"));
    EQ(parse_with("w|prog",
                  "PRTE_MCA_plm_ssh_agent=ssh : rsh|OMPI_MCA_orte_tag_output=0|OMPI_MCA_btl=tcp"),
       LAUNCH_GO);
    OK(!strcmp(opt.launcher_exec, "ssh") && !opt.prepend_rank && !opt.env.sets);
    EQ(parse_with("w|-launcher-exec|x|prog", "OMPI_MCA_plm_rsh_agent=y"), LAUNCH_GO);
    OK(!strcmp(opt.launcher_exec, "x"));
    EQ(parse_with("w|prog", "OMPI_MCA_rmaps_ppr_n_pernode=many"), LAUNCH_USAGE);
    OK(strstr(err.text, "the variable OMPI_MCA_rmaps_ppr_n_pernode must be a number") != NULL);
}

static void test_warning(void)
{
    EQ(parse("w|-timeout|90|-timeout-signal|USR1|prog"), LAUNCH_GO);
    OK(opt.warning == SIGUSR1 && opt.warning_s == 60);
    EQ(parse("w|-timeout-signal|sigusr2@5|-timeout|6|prog"), LAUNCH_GO);
    OK(opt.warning == SIGUSR2 && opt.warning_s == 5);
    check_bad("w|-timeout-signal|USR1|prog",
              "-timeout-signal needs a -timeout of more than its 60 s");
    check_bad("w|-timeout|60|-timeout-signal|USR1|prog",
              "-timeout-signal needs a -timeout of more than its 60 s");
    check_bad("w|-timeout-signal|USR9|prog",
              "-timeout-signal: 'USR9' is not a signal, as in USR1 or USR1@120");
    check_bad("w|-timeout-signal|USR1@x|prog",
              "-timeout-signal: 'USR1@x' is not a signal, as in USR1 or USR1@120");
}

static void test_blocks(void)
{
    EQ(parse("w|-n|1|-l|a|x|:|-n|2|-wdir|/|b|:|c"), LAUNCH_GO);
    EQ(opt.nblocks, 3);
    OK(opt.prepend_rank && !strcmp(argv_text(opt.blocks), "a x") && opt.blocks->nprocs == 1);
    OK(opt.blocks->next->nprocs == 2 && !strcmp(opt.blocks->next->wdir, "/"));
    OK(!strcmp(argv_text(opt.blocks->next->next), "c") && !opt.blocks->next->next->wdir);
    EQ(parse("w|a|:|-v|b"), LAUNCH_GO);
    OK(opt.verbose);
    EQ(parse("w|-host|n1:2|a|:|-host|n2|b|:|c"), LAUNCH_GO);
    OK(opt.hosts.count == 1 && opt.blocks->hosts.count == 0);
    OK(opt.blocks->next->hosts.count == 1 && opt.blocks->next->next->hosts.count == 0);
    EQ(parse("w|-f|one|a|:|-f|two|b"), LAUNCH_GO);
    OK(!strcmp(opt.hostfile, "one") && !strcmp(opt.blocks->next->hostfile, "two"));
    check_bad("w", "no program to run; see --help");
    check_bad("w|-n|2", "no program to run; see --help");
    check_bad("w|a|:", "no program to run after the last ':'");
    check_bad("w|:|a", "no program to run; see --help");
    check_bad("w|a|:|-n|2", "no program to run after the last ':'");
    check_bad("w||x", "the name of the program is empty");
}

static void test_mistakes(void)
{
    check_bad("w|-n|0|prog", "-n must be a number from 1 to 16777216, not '0'");
    check_bad("w|-n|-1|prog", "-n must be a number from 1 to 16777216, not '-1'");
    check_bad("w|-np|4x|prog", "-np must be a number from 1 to 16777216, not '4x'");
    check_bad("w|-n||prog", "-n must be a number from 1 to 16777216, not ''");
    check_bad("w|-n=|prog", "-n must be a number from 1 to 16777216, not ''");
    check_bad("w|-n|99999999999999999999|prog",
              "-n must be a number from 1 to 16777216, not '99999999999999999999'");
    check_bad("w|-n", "-n needs a value: N");
    check_bad("w|-l=1|prog", "-l takes no value");
    check_bad("w|-hotsfile|x|prog", "unknown option '-hotsfile'; did you mean -hostfile?");
    check_bad("w|--report-binding|prog",
              "unknown option '-report-binding'; did you mean -report-bindings?");
    check_bad("w|-quux|prog", "unknown option '-quux'; --help lists all");
    check_bad("w|-|prog", "unknown option '-'; --help lists all");
    check_bad("w|-=3|prog", "unknown option '-'; --help lists all");
    check_bad(
        "w|-launcher|fax|prog",
        "-launcher must be one of auto|fork|ssh|rsh|slurm|lsf|sge|pbs|flux|manual, not 'fax'");
    check_bad("w|-hosts|a,,b|prog", "-hosts: node list: '' is not a node name");
    check_bad("w|-stdin|x|prog", "-stdin must be a rank, all or none, not 'x'");
    check_bad("w|-output-from|-2|prog", "-output-from must be a rank, not '-2'");
    check_bad("w|-hybrid-hosts|prog",
              "-hybrid-hosts is not supported: give the path of the daemon on the other nodes by "
              "-wireupd PATH");
    check_bad("w|-pmi_args|0|i|k|1", "-pmi_args: '0' is not a port");
    check_bad("w|-pmi_args|70000|i|k|1", "-pmi_args: '70000' is not a port");
    check_bad("w|-pmi_args|7000|i|k|x", "-pmi_args: 'x' is not a process id");
    check_bad("w|-pmi_args|7000|i|k", "-pmi_args needs a value: PORT INTERFACE KEY PID");
}

/* Old names of options work for one release. */
static void test_old_names(void)
{
    EQ(parse("w|-tool-files|system|prog"), LAUNCH_GO);
    EQ(opt.tools, 2);
    EQ(parse("w|-tools|system|prog"), LAUNCH_GO);
    EQ(opt.tools, 2);
    check_bad("w|-tool-files|both|prog", "-tool-files must be one of off|on|system, not 'both'");
}

static void test_shown(void)
{
    OK(parse("w|--help") == LAUNCH_SHOW && strstr(buf_cstr(&opt.answer), "Examples:"));
    OK(parse("w|-n|4|-h") == LAUNCH_SHOW && strstr(buf_cstr(&opt.answer), "-map-by HOW"));
    OK(parse("w|--version") == LAUNCH_SHOW && strstr(buf_cstr(&opt.answer), WIREUP_VERSION));
    OK(parse("w|-map-by|--help") == LAUNCH_SHOW && !strstr(buf_cstr(&opt.answer), "-bind-to W") &&
       strstr(buf_cstr(&opt.answer), "HYDRA_MAPPING"));
    OK(parse("w|prog|--help") == LAUNCH_GO);
    EQ(parse("w|-pmi_args|7000|default_interface|default_key|42"), LAUNCH_GO);
    OK(opt.singleton.port == 7000 && opt.singleton.pid == 42 && opt.nblocks == 0);
}

/* ---- configuration files ---- */

static int config(const char *line, const char *text)
{
    int rc = parse(line);

    return rc ? rc : options_parse_config(&opt, "jobs", slice_str(text), &err);
}

static void check_bad_config(const char *text, const char *sentence)
{
    int rc = config("w|-configfile|jobs", text);

    if (!OK_F(rc == LAUNCH_USAGE && strcmp(err.text, sentence) == 0, "%s", sentence))
        printf("# got %d: %s\n", rc, err.text);
}

static void test_config(void)
{
    EQ(config("w|-l|-configfile|jobs", "# two\n-n 2 a 'b c'\n\n-n 3 -env X 1 d \\\n e\n"), 0);
    EQ(opt.nblocks, 2);
    OK(opt.prepend_rank && opt.blocks->nprocs == 2 && !strcmp(argv_text(opt.blocks), "a b c"));
    OK(opt.blocks->argc == 2 && !strcmp(opt.blocks->where, "jobs:2"));
    OK(!strcmp(argv_text(opt.blocks->next), "d e") && !strcmp(opt.blocks->next->where, "jobs:4"));
    EQ(config("w|-n|5|-wdir|/|-hosts|n1|-configfile|jobs", "a\n-n 1 -hosts n2 b\n"), 0);
    OK(opt.blocks->nprocs == 5 && !strcmp(opt.blocks->wdir, "/") && opt.hosts.count == 1);
    OK(opt.blocks->next->nprocs == 1 && opt.blocks->next->hosts.count == 1);
    EQ(config("w|-configfile|jobs", "-hosts n1 a\nb\n"), 0);
    OK(opt.hosts.count == 1 && opt.blocks->hosts.count == 0);
    check_bad_config("", "the configuration file jobs has no program");
    check_bad_config("a\n-n 1\n", "jobs:2: no program to run after the last ':'");
    check_bad_config("a\n-n 0 b\n", "jobs:2: -n must be a number from 1 to 16777216, not '0'");
    check_bad_config("a\n\n'b\n", "jobs:3: a quote is not closed");
    check_bad_config("-configfile other a\n",
                     "jobs:1: -configfile is not allowed within a configuration file");
    check_bad("w|-configfile|jobs|prog", "use either -configfile or a program on the command line");
    check_bad("w|-configfile|jobs|:|prog",
              "use either -configfile or a program on the command line");
    check_bad("w|prog|:|-configfile|jobs|q",
              "use either -configfile or a program on the command line");
    check_bad("w|-env|A|1|-configfile|jobs",
              "with -configfile, only the -genv options may be on the command line, not -env");
}

static void test_many_blocks(void)
{
    struct buf text = BUF_NULL(1 << 20);

    for (int i = 0; i < LIMIT_SPAWN_COMMANDS; i++)
        buf_str(&text, "a\n");
    EQ(config("w|-configfile|jobs", buf_cstr(&text)), 0);
    EQ(opt.nblocks, LIMIT_SPAWN_COMMANDS);
    buf_str(&text, "a\n");
    EQ(config("w|-configfile|jobs", buf_cstr(&text)), LAUNCH_USAGE);
    OK(strcmp(err.text, "jobs:4097: a job can have at most 4096 programs") == 0);
    buf_free(&text);
}

/* ---- the table itself ---- */

static void test_table(void)
{
    bool unique = true, sane = true;

    for (size_t i = 0; i < option_row_count; i++) {
        const struct option_row here = option_row_at(i), *row = &here;
        struct slice rest = slice_str(row->names), name;
        struct option_row found;
        if (row->take == TAKE_GROUP || row->take == TAKE_ALIAS || row->called)
            continue; /* option_words_test.c tries these */
        while (option_next_name(&rest, &name)) {
            if (!option_find(name, &found) || found.at != i) {
                printf("# -" SLICE_FMT " is there twice\n", SLICE_ARG(name));
                unique = false;
            }
        }
        if ((!row->help && row->take != TAKE_AS) || (row->take == TAKE_AS && !row->as) ||
            (option_values(row) && row->take != TAKE_REFUSED && !row->arg) ||
            option_is_setting(i) != (row->fallback || row->env) ||
            (row->take == TAKE_WORD && !row->words) || (row->take == TAKE_CALL && !row->call)) {
            printf("# -%s lacks something\n", row->names);
            sane = false;
        }
    }
    OK_F(unique, "every name is there once");
    OK_F(sane, "every row has the members that its kind needs");
}

/* Every option of Hydra 5.0.1 is known here, if only to be refused. */
static void test_hydra(void)
{
    static const char names[] =
        "n np ppn f hostfile machinefile hosts host hostlist machine machines machinelist rankmap "
        "wdir configfile genv env genvlist envlist genvnone envnone genvall envall launcher "
        "bootstrap launcher-exec bootstrap-exec enable-x disable-x rmk topolib bind-to binding "
        "map-by membind report-bindings demux prepend-rank l prepend-pattern output-from "
        "outfile-pattern outfile errfile-pattern errfile print-all-exitcodes disable-auto-cleanup "
        "enable-auto-cleanup disable-hostname-propagation enable-hostname-propagation iface "
        "localhost nameserver order-nodes skip-launch-node usize pmi-port pmi_args hybrid-hosts g "
        "gpus-per-proc gpu-subdevs-per-proc memory-alloc-kinds profile v verbose debug info "
        "version h help soft arch path file";
    struct slice rest = slice_str(names);
    struct option_row row;

    while (rest.len) {
        struct slice name = slice_cut(&rest, ' ');
        OK_F(option_find(name, &row), "-" SLICE_FMT " is known", SLICE_ARG(name));
    }
}

/* ---- files of settings ---- */

/* With the texts of the files of system, user and project (NULL: none); the last was only found. */
static int parse_files(const char *system, const char *user, const char *project, const char *line,
                       const char *environment)
{
    static struct settings_file files[3];
    const char *texts[3] = { system, user, project }, *names[3] = { "sys", "user", "found" };
    int rc;

    for (int i = 2; i >= 0; i--) {
        if (!texts[i])
            continue;
        files[i] = (struct settings_file){ given_files, OPTION_SYSTEM + (enum option_source)i,
                                           i == 2,      false,
                                           names[i],    slice_str(texts[i]) };
        given_files = &files[i];
    }
    rc = parse_with(line, environment);
    given_files = NULL;
    return rc;
}

/* Of a file of -tune. */
static int parse_parameters(const char *text, const char *line)
{
    struct settings_file file = {
        NULL, OPTION_PROJECT, false, true, "tune", slice_str(text),
    };
    int rc;

    given_files = &file;
    rc = parse_with(line, "");
    given_files = NULL;
    return rc;
}

static void check_parameters(const char *text, const char *sets)
{
    char got[500] = "";
    size_t n = 0;

    EQ(parse_parameters(text, "w|prog"), LAUNCH_GO);
    for (const struct env_entry *e = opt.env.sets; e; e = e->next)
        n += (size_t)snprintf(got + n, sizeof got - n, "%s;", e->text ? e->text : "inherited");
    OK_F(!strcmp(got, sets), "%s: %s", text, got);
}

static void check_bad_parameters(const char *text, const char *sentence)
{
    OK_F(parse_parameters(text, "w|prog") == LAUNCH_USAGE && !strcmp(err.text, sentence), "%s: %s",
         text, err.text);
}

static void test_parameters(void)
{
    static const char is_none[] =
        "is no parameter: write KEY = VALUE, -mca KEY VALUE or -x NAME=VALUE";
    char want[200];

    check_parameters("btl = self,tcp\n# none\nmpi_x=1 2  3\nempty =\n",
                     "OMPI_MCA_btl=self,tcp;OMPI_MCA_mpi_x=1 2 3;OMPI_MCA_empty=;");
    check_parameters("-mca btl self -x A=b=c --x D\n-pmixmca k v\n-gmca \"a\" 'b c'",
                     "OMPI_MCA_btl=self;A=b=c;inherited;PMIX_MCA_k=v;OMPI_MCA_a=b c;");
    OK(parse_parameters("rmaps_base_mapping_policy = node\nhwloc_base_binding_policy = core",
                        "w|-map-by|socket|prog") == 0 &&
       !strcmp(opt.map_by, "socket") && !strcmp(opt.bind_to, "core"));
    OK(parse_parameters("btl = self", "w|-mca|btl|tcp|prog") == 0 &&
       !strcmp(opt.env.sets_last->text, "OMPI_MCA_btl=tcp"));
    OK(parse("w|-tune|a,b|--tune|c|prog") == 0 && !strcmp(opt.tune, "a,b,c"));
    snprintf(want, sizeof want, "tune:2: 'btl self' %s", is_none);
    check_bad_parameters("a = b\nbtl self", want);
    snprintf(want, sizeof want, "tune:1: '= self' %s", is_none);
    check_bad_parameters("= self", want);
    snprintf(want, sizeof want, "tune:1: '-np' %s", is_none);
    check_bad_parameters("-np 2", want);
    check_bad_parameters("-mca btl", "tune:1: -mca needs two values: KEY VALUE");
    check_bad_parameters("-x", "tune:1: -x needs a value: NAME=VALUE");
    check_bad_parameters("-x =1", "tune:1: -tune: '' is not the name of a variable");
    OK(parse_parameters("-prtemca foo 1", "w|prog") == LAUNCH_USAGE &&
       strstr(err.text, "the parameter 'foo' has no meaning here"));
}

static void test_settings(void)
{
    static const char sys[] = "tree-width 5", user[] = "tree-width 6", found[] = "tree-width 7";
    static const char env[] = "WIREUP_TREE_WIDTH=8";

    OK(parse_files(sys, NULL, NULL, "w|prog", "") == 0 && opt.tree_width == 5);
    OK(parse_files(sys, user, NULL, "w|prog", "") == 0 && opt.tree_width == 6);
    OK(parse_files(sys, user, found, "w|prog", "") == 0 && opt.tree_width == 7);
    OK(parse_files(sys, user, found, "w|prog", env) == 0 && opt.tree_width == 8);
    OK(parse_files(sys, user, found, "w|-tree-width|9|prog", env) == 0 && opt.tree_width == 9);
    OK(opt.settings && opt.last_setting->source == OPTION_ENVIRONMENT &&
       !strcmp(opt.settings->where, "sys:1") && !strcmp(opt.settings->value, "5"));
    OK(parse_files("prepend-rank\n-verbose=yes\nquiet = no", "prepend-rank no", NULL, "w|prog",
                   "") == 0 &&
       !opt.prepend_rank && opt.verbose && !opt.quiet);
    OK(parse_files("disable-auto-cleanup", NULL, NULL, "w|prog", "") == 0 && !opt.auto_cleanup);
    OK(parse_files("disable-auto-cleanup no", NULL, NULL, "w|prog", "") == 0 && opt.auto_cleanup);
    OK(parse_files("n 3 # of each\nwdir '/a b'", NULL, NULL, "w|prog|:|-n|1|other", "") == 0 &&
       opt.blocks->nprocs == 3 && opt.blocks->next->nprocs == 1 &&
       !strcmp(opt.blocks->next->wdir, "/a b"));
    OK(parse_files("genv A 1\ngenv B=2\nmca k v", NULL, NULL, "w|prog", "") == 0 &&
       !strcmp(opt.env.sets->text, "A=1") && !strcmp(opt.env.sets->next->text, "B=2") &&
       !strcmp(opt.env.sets_last->text, "OMPI_MCA_k=v") && !strcmp(opt.settings->value, "A 1"));
    OK(parse_files("bynode", NULL, NULL, "w|prog", "") == 0 && !strcmp(opt.map_by, "node"));
}

/* What is one decision is made by the strongest alone. */
static void test_decisions(void)
{
    OK(parse_files(
           "hostfile f\noutput-file o\nmap-by core\nppn 2\noversubscribe\ngenvnone\n"
           "timeout 9000\ntimeout-signal USR1@600",
           NULL, NULL,
           "w|-hosts|a,b|-output-directory|d|-rankfile|r|-nooversubscribe|-genvlist|A|-timeout|5"
           "|prog",
           "") == 0);
    OK(!opt.hostfile && opt.hosts.count == 2 && !opt.output_file && opt.output_directory);
    OK(!opt.map_by && !opt.ppn && opt.rankfile && !opt.oversubscribe && opt.no_oversubscribe);
    OK(opt.env.forward == ENV_LIST && opt.timeout_s == 5 && !opt.warning);
    OK(parse_files("hosts a", "hosts b,c", NULL, "w|prog", "") == 0 && opt.hosts.count == 2);
    OK(parse_files("hosts a", NULL, NULL, "w|prog|:|-hosts|b|other", "") == 0 &&
       opt.hosts.count == 1 && opt.last_block->hosts.count == 1);
    OK(parse_files("map-by core", NULL, NULL, "w|prog", "I_MPI_PERHOST=2") == 0 && opt.ppn == 2 &&
       !opt.map_by);
    OK(parse_with("w|-map-by|core|prog", "I_MPI_PERHOST=2") == 0 && opt.ppn == 2 && opt.map_by);
    OK(parse_files("hosts a,b", NULL, NULL, "w|-configfile|jobs", "") == 0 &&
       options_parse_config(&opt, "jobs", SLICE("-hosts c prog\n"), &err) == 0 &&
       opt.hosts.count == 1);
}

static const char *setting_of(const struct option_row *row)
{
    static char text[128];

    snprintf(text, sizeof text, SLICE_FMT " x", SLICE_ARG(option_name(row)));
    return text;
}

static void check_file(const char *user, const char *found, const char *sentence)
{
    int rc = parse_files(NULL, user, found, "w|prog", "");

    if (!OK_F(rc == LAUNCH_USAGE && strcmp(err.text, sentence) == 0, "%s", sentence))
        printf("# got %d: %s\n", rc, err.text);
}

static void test_settings_mistakes(void)
{
    check_file("\n\nbind-too core", NULL,
               "user:3: unknown option 'bind-too'; did you mean -bind-to?");
    check_file("=", NULL, "user:1: unknown option ''; --help lists all");
    check_file("--", NULL, "user:1: unknown option ''; --help lists all");
    check_file("n", NULL, "user:1: n needs a value: N");
    check_file("n =", NULL, "user:1: n needs a value: N");
    check_file("n 1 2", NULL, "user:1: n: '2' is one word too many; quotes keep blanks together");
    check_file("n x", NULL, "user:1: n must be a number from 1 to 16777216, not 'x'");
    check_file("wdir 'a\n", NULL, "user:1: a quote is not closed");
    check_file("quiet maybe", NULL, "user:1: quiet: must be yes or no, not 'maybe'");
    check_file("env A=1", NULL,
               "user:1: env: this belongs on the command line: it is of one program; write genv");
    check_file("soft 1:2", NULL,
               "user:1: soft is not supported: give one number of processes by -n");
    for (size_t i = 0; i < option_row_count; i++) {
        const struct option_row here = option_row_at(i), *row = &here;
        if (row->take == TAKE_TEXT && !row->typed && !row->project)
            OK_F(parse_files(NULL, NULL, setting_of(row), "w|prog", "") == LAUNCH_USAGE &&
                     strstr(err.text, "that nobody has named"),
                 "found " SLICE_FMT, SLICE_ARG(option_name(row)));
    }
    check_file(
        NULL, "map-by seq:file=nodes",
        "found:1: map-by: a file that nobody has named cannot say this; to use it: -config found");
    check_file(
        NULL, "output dir=/x",
        "found:1: output: a file that nobody has named cannot say this; to use it: -config found");
}

/* ---- no memory ---- */

static void test_allocations(void)
{
    static const char line[] = "w|-genv|A|1|-hosts|a:2,b|-env|B|2|-envlist|X,Y|-mca|k|v|prog|x|:|"
                               "-x|C=1|other|:|-x|D|third";
    unsigned n = 0;
    int rc;

    do {
        fail_at = ++n;
        rc = parse(line);
    } while (rc == -12);
    OK_F(rc == LAUNCH_GO && n > 2, "each of %u allocations of the command line may fail", n - 1);
    fail_at = n = 0;
    do {
        parse("w|-configfile|jobs");
        fail_at = ++n;
        rc = options_parse_config(&opt, "jobs", SLICE("-n 1 -env A 1 a b c\n-hosts x,y d\n"), &err);
        fail_at = 0;
    } while (rc == -12);
    OK_F(rc == LAUNCH_GO && n > 2, "and of %u of a configuration file", n - 1);
    n = 0;
    do {
        fail_at = ++n;
        rc = parse_files("hosts a\ngenv A 1\n", "map-by 'core'\nmca k v", NULL, "w|prog", "");
        fail_at = 0;
    } while (rc == -12);
    OK_F(rc == LAUNCH_GO && n > 2, "and of %u of files of settings", n - 1);
}

int main(void)
{
    launch_options_init(&opt);
    test_spellings();
    test_defaults();
    test_environment();
    test_variables();
    test_warning();
    test_blocks();
    test_mistakes();
    test_old_names();
    test_shown();
    test_config();
    test_many_blocks();
    test_table();
    test_hydra();
    test_settings();
    test_parameters();
    test_decisions();
    test_settings_mistakes();
    test_allocations();
    launch_options_free(&opt);
    launch_options_free(&opt);
    return tap_done();
}
