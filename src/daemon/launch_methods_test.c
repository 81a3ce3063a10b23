/* launch_methods_test.c - the command line of each launch method, and the sentence for each way in
 * which it fails. */
#include "daemon/launch_methods.h"

#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

static const struct bootstrap_node nodes[] = { { 1, "n1", NULL, 0 }, { 2, "n2", "eve", 0 },
                                               { 3, "n3", NULL, 0 }, { 4, "n4", NULL, 77 },
                                               { 1, "n1", NULL, 0 }, { 2, "n2", NULL, 0 },
                                               { 3, "n3", NULL, 0 } };

static void line(const struct agent_spec *s, uint32_t first, uint32_t n, const char *file,
                 const char *want)
{
    struct arena a = ARENA_NULL(1 << 20);
    struct errmsg err = { "" };
    struct buf text = BUF_NULL(65536);
    char **argv = NULL;
    int rc = agent_argv(s, nodes + first, n, s->wireupd, file, &a, &argv, &err);

    for (char **w = argv; rc == 0 && *w; w++)
        buf_printf(&text, "%s%s", w == argv ? "" : "|", *w);
    OK_F(rc == 0 && !strcmp(buf_cstr(&text), want), "%s: %s %s", agent_kind_name(s->kind),
         rc ? err.text : buf_cstr(&text), want);
    buf_free(&text);
    arena_free(&a);
}

#define SSH "ssh|-x|-T|-o|BatchMode=yes|-o|ConnectTimeout=15|"

static void test_lines(void)
{
    struct agent_spec s = { .kind = AGENT_SSH, .wireupd = "/opt/wireupd" };

    line(&s, 0, 1, NULL, SSH "n1|/opt/wireupd");
    line(&s, 1, 1, NULL, SSH "-l|eve|n2|/opt/wireupd");
    s.port = 2222;
    s.user = "adam";
    s.args = "-F  /my/config";
    line(&s, 0, 1, NULL, SSH "-F|/my/config|-p|2222|-l|adam|n1|/opt/wireupd");
    line(&s, 1, 1, NULL, SSH "-F|/my/config|-p|2222|-l|eve|n2|/opt/wireupd");
    line(&s, 3, 1, NULL, SSH "-F|/my/config|-p|77|-l|adam|n4|/opt/wireupd");
    s.wireupd = "/opt/it's here/wireupd";
    line(&s, 0, 1, NULL, SSH "-F|/my/config|-p|2222|-l|adam|n1|'/opt/it'\\''s here/wireupd'");
    s = (struct agent_spec){ .kind = AGENT_EXEC, .exec = "kubectl exec -i", .wireupd = "wireupd" };
    line(&s, 0, 1, NULL, "kubectl|exec|-i|n1|wireupd");
    s.exec = "'/a b/it'\\''s' --x='1 2' 'y'";
    line(&s, 0, 1, NULL, "/a b/it's|--x=1 2|y|n1|wireupd");
    s = (struct agent_spec){ .kind = AGENT_SLURM, .wireupd = "/a b/wireupd" };
    line(&s, 0, 1, NULL,
         "srun|--ntasks-per-node=1|--kill-on-bad-exit=0|--mpi=none|--cpu-bind=none|--unbuffered|"
         "--nodelist=n1|--nodes=1|--ntasks=1|/a b/wireupd");
    line(&s, 4, 3, NULL,
         "srun|--ntasks-per-node=1|--kill-on-bad-exit=0|--mpi=none|--cpu-bind=none|--unbuffered|"
         "--nodelist=n1,n2,n3|--nodes=3|--ntasks=3|/a b/wireupd");
    s = (struct agent_spec){ .kind = AGENT_PBS, .wireupd = "/w" };
    line(&s, 0, 1, "/home/me/record", "pbs_tmrsh|n1|/w|--record|/home/me/record");
    s = (struct agent_spec){ .kind = AGENT_LSF, .wireupd = "/w" };
    line(&s, 0, 1, NULL, "blaunch|n1|/w");
    s.kind = AGENT_SGE;
    line(&s, 0, 1, NULL, "qrsh|-inherit|n1|/w");
    s.kind = AGENT_FLUX;
    line(&s, 4, 3, NULL, "flux|exec|-r|all|/w");
    s.kind = AGENT_FORK;
    line(&s, 0, 1, NULL, "/w");
    s = (struct agent_spec){ .kind = AGENT_DVM, .exec = "wireup on --dvm d", .wireupd = "/a b/w" };
    line(&s, 0, 1, NULL, "n1|'/a b/w'");
    s = (struct agent_spec){ .kind = AGENT_RSH, .exec = "/usr/bin/krsh", .wireupd = "/w" };
    line(&s, 1, 1, NULL, "/usr/bin/krsh|-l|eve|n2|/w");
}

/* {node} and {command} */
static void test_templates(void)
{
    struct agent_spec s = { .kind = AGENT_TEMPLATE, .wireupd = "/a b/w" };

    s.exec = "kubectl exec -i {node} -- {command}";
    line(&s, 0, 1, NULL, "kubectl|exec|-i|n1|--|/a b/w");
    s.exec = "docker exec -i {node}";
    line(&s, 0, 1, NULL, "docker|exec|-i|n1|/a b/w");
    s.exec = "on --pod={node}.{node} sh -c 'exec {command} # {x}'";
    line(&s, 0, 1, NULL, "on|--pod=n1.n1|sh|-c|exec '/a b/w' # {x}");
    OK(!agent_command_is_last(&s) && !agent_by_tree(s.kind));
    EQ(agent_kind_of("kubectl exec {node}"), AGENT_TEMPLATE);
    EQ(agent_kind_of("x {command}"), AGENT_TEMPLATE);
    EQ(agent_kind_of("ssh"), AGENT_SSH);
    EQ(agent_kind_of("/usr/bin/ssh -p 22"), AGENT_SSH);
    EQ(agent_kind_of("/usr/bin/rsh"), AGENT_RSH);
    EQ(agent_kind_of("openssh"), AGENT_EXEC);
    EQ(agent_kind_of("kubexec.sh ssh"), AGENT_EXEC);
}

static void test_refusals(void)
{
    struct agent_spec s = { .kind = AGENT_SSH, .wireupd = "/w" };
    struct bootstrap_node evil = { 1, "-oProxyCommand=evil", NULL, 0 };
    struct arena a = ARENA_NULL(1 << 20);
    struct errmsg err;
    char **argv;

    OK_F(agent_argv(&s, &evil, 1, "/w", NULL, &a, &argv, &err) == BOOTSTRAP_BAD, "%s", err.text);
    evil = (struct bootstrap_node){ 1, "n1", "-F/x", 0 };
    OK(agent_argv(&s, &evil, 1, "/w", NULL, &a, &argv, &err) == BOOTSTRAP_BAD);
    s = (struct agent_spec){ .kind = AGENT_EXEC, .wireupd = "/w" };
    OK_F(agent_argv(&s, nodes, 1, "/w", NULL, &a, &argv, &err) == BOOTSTRAP_BAD, "%s", err.text);
    s = (struct agent_spec){ .kind = AGENT_SLURM, .wireupd = "/w" };
    OK(agent_argv(&s, nodes, 3, "/w", NULL, &a, &argv, &err) == BOOTSTRAP_BAD);
    OK_F(!strcmp(err.text, "node n2: a user is given, which only ssh and rsh can use, but "
                           "daemons are started by srun"),
         "%s", err.text);
    s = (struct agent_spec){ .kind = AGENT_RSH, .wireupd = "/w" };
    OK(agent_argv(&s, nodes + 3, 1, "/w", NULL, &a, &argv, &err) == BOOTSTRAP_BAD);
    OK_F(strstr(err.text, "node n4: a port is given, which only ssh can use"), "%s", err.text);
    s = (struct agent_spec){ .kind = AGENT_EXEC, .wireupd = "/w" };
    s = (struct agent_spec){ .kind = AGENT_TEMPLATE, .exec = "x {command}", .wireupd = "/w" };
    OK(agent_argv(&s, nodes, 1, "/w", NULL, &a, &argv, &err) == BOOTSTRAP_BAD &&
       strstr(err.text, "{command}, but not {node}"));
    s.exec = "x {node}";
    s.args = "-o y";
    OK(agent_argv(&s, nodes, 1, "/w", NULL, &a, &argv, &err) == BOOTSTRAP_BAD &&
       strstr(err.text, "-launcher-args has no place"));
    s.kind = AGENT_SSH;
    OK(agent_argv(&s, nodes, 1, "/w", NULL, &a, &argv, &err) == BOOTSTRAP_BAD &&
       strstr(err.text, "leave out -launcher ssh"));
    s = (struct agent_spec){ .kind = AGENT_EXEC, .wireupd = "/w" };
    s.exec = "  ";
    OK_F(agent_argv(&s, nodes, 1, "/w", NULL, &a, &argv, &err) == BOOTSTRAP_BAD, "%s", err.text);
    arena_free(&a);
}

static void test_spec(void)
{
    struct agent_spec s = { AGENT_EXEC, "a b", "c d", "me", 22, "/x/wireupd", true }, t;
    struct arena a = ARENA_NULL(1 << 20);
    struct bootstrap b = { 0 };
    struct errmsg err;

    OK(agent_spec_put(&s, &a, &b) == 0 && agent_spec_get(&t, &b, &err) == 0);
    OK(t.kind == s.kind && !strcmp(t.exec, "a b") && !strcmp(t.args, "c d") &&
       !strcmp(t.user, "me") && t.port == 22 && !strcmp(t.wireupd, s.wireupd) && t.wireupd_given);
    s = (struct agent_spec){ .kind = AGENT_SSH, .wireupd = "wireupd" };
    b = (struct bootstrap){ 0 };
    OK(agent_spec_put(&s, &a, &b) == 0 && agent_spec_get(&t, &b, &err) == 0);
    OK(t.kind == AGENT_SSH && !t.exec && !t.args && !t.user && !t.port && !t.wireupd_given);
    b = (struct bootstrap){ 0 };
    OK(agent_spec_get(&t, &b, &err) == BOOTSTRAP_BAD);
    s.kind = AGENT_DVM;
    OK(agent_spec_put(&s, &a, &b) == 0 && agent_spec_get(&t, &b, &err) == BOOTSTRAP_BAD);
    for (int i = 0; i < AGENT_KINDS; i++) {
        enum agent_kind k = AGENT_KINDS;
        if (!agent_kind_read(agent_kind_name((enum agent_kind)i), &k) || (int)k != i)
            OK_F(false, "kind %d", i);
    }
    arena_free(&a);
}

static void means(int status, bool started, const char *trouble, const char *output,
                  const char *want)
{
    struct agent_spec s = { .kind = AGENT_SSH,
                            .exec = "/usr/bin/ssh -4",
                            .wireupd = "/opt/wireupd" };
    struct agent_seen seen = { .status = status,
                               .started = started,
                               .seconds = 30,
                               .trouble = slice_str(trouble),
                               .output = slice_str(output) };
    struct errmsg out = { "" };

    agent_diagnose(&s, "n9", "/opt/wireupd", &seen, &out);
    OK_F(strstr(out.text, want) && !strncmp(out.text, "node n9: ", 9) && !strchr(out.text, '\n'),
         "%s: %s", want, out.text);
}

static void test_sentences(void)
{
    means(255 << 8, false, "", "ssh: connect to host n9 port 22: Connection refused\r\n",
          "sshd running");
    means(255 << 8, false, "", "ssh: Could not resolve hostname n9: Name or service not known\n",
          "does not resolve");
    means(255 << 8, false, "",
          "Warning: Permanently added 'n9' to the list\nme@n9: Permission denied (publickey).\n",
          "set up a key");
    means(255 << 8, false, "", "Host key verification failed.\n", "known_hosts");
    means(255 << 8, false, "", "ssh: connect to host n9 port 22: No route to host\n", "no route");
    means(255 << 8, false, "", "ssh: connect to host n9 port 22: Connection timed out\n",
          "firewall");
    means(127 << 8, false, "", "bash: line 1: /opt/wireupd: No such file or directory\n",
          "-wireupd PATH");
    means(126 << 8, false, "", "bash: /opt/wireupd: Permission denied\n", "cannot be executed");
    means(1 << 8, true, "this is Wireup 2 and the launcher is Wireup 1", "", "Wireup 2");
    means(9, true, "", "", "killed by SIGKILL");
    means(2 << 8, false, "",
          "slurmstepd-n1: error: execve(): /opt/wireupd: No such file or directory\n",
          "-wireupd PATH");
    means(1 << 8, false, "", "srun: error: Only allocated 2 nodes asked for 3\n", "-launcher ssh");
    means(3 << 8, false, "", "first\nthe last thing\n\n", "the last thing");
    means(-1, false, "", "", "try this command: ssh n9 true");
    means(-1, true, "", "", "has not connected to its parent within 30 s");
}

static void reached(const struct agent_spec *s, const struct bootstrap_node *node, const char *want)
{
    struct arena a = ARENA_NULL(1 << 20);
    struct errmsg err = { "" };
    const char *words = NULL;
    int rc = agent_reach(s, node, &a, &words, &err);

    OK_F(rc == 0 ? !strcmp(words, want) : strstr(err.text, want) != NULL, "%s: %s %s",
         agent_kind_name(s->kind), rc ? err.text : words, want);
    arena_free(&a);
}

/* One command of a user. */
static void test_reach(void)
{
    struct agent_spec s = { .kind = AGENT_SSH, .args = "-F '/my config'" };
    struct bootstrap_node n1 = { .name = "n1" }, eve = { .name = "n2", .user = "eve", .port = 7 };

    reached(&s, &n1, "ssh -x -t -o LogLevel=ERROR -o ConnectTimeout=15 -F '/my config' n1");
    reached(&s, &eve,
            "ssh -x -t -o LogLevel=ERROR -o ConnectTimeout=15 -F '/my config' -p 7 -l eve n2");
    s = (struct agent_spec){ .kind = AGENT_EXEC, .exec = "/bin/wireup on" };
    reached(&s, &n1, "/bin/wireup on n1");
    reached(&s, &eve, "a user is given, which only ssh and rsh can use");
    s = (struct agent_spec){ .kind = AGENT_TEMPLATE, .exec = "docker exec -it {node} {command}" };
    reached(&s, &n1, "docker exec -it n1 sh -c");
    s.exec = "docker exec -it {node}";
    reached(&s, &n1, "docker exec -it n1 sh -c");
    s.exec = "x {node} sh -c '{command}'";
    reached(&s, &n1, "needs a -launcher-exec that ends with {command}");
    s = (struct agent_spec){ .kind = AGENT_LSF };
    reached(&s, &n1, "blaunch n1 sh -c");
    setenv("SLURM_JOB_ID", "17", 1);
    s.kind = AGENT_SLURM;
    reached(&s, &n1,
            "srun --overlap --mpi=none --cpu-bind=none --unbuffered --jobid 17 --nodelist=n1 "
            "--nodes=1 --ntasks=1 sh -c");
    s.kind = AGENT_FORK;
    reached(&s, &n1, "");
    s.kind = AGENT_FLUX;
    reached(&s, &n1, "node n1: flux runs no command of a user there; log in by hand");
    n1.name = "-x";
    s.kind = AGENT_SSH;
    reached(&s, &n1, "cannot begin with -");
}

int main(void)
{
    test_lines();
    test_templates();
    test_reach();
    test_refusals();
    test_spec();
    test_sentences();
    return tap_done();
}
