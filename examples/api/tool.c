/* tool.c - the calls of a tool: it connects to one server or several, chooses which of them is
 * asked, reads what a job prints and types into it.
 *
 *   ./tool $(wireup tools | cut -f 2)         the address of a launcher */
#define EXAMPLE "tool"
#include "../pmix/example.h"

#include <pmix_tool.h>

#include "answer.h"

static struct answer answer = ANSWER_NONE;

/* ---- servers --------------------------------------------------------------------------------- */

/* Connects to one more server; requests go there from now on. */
static void attach(const char *uri, pmix_proc_t *server)
{
    pmix_info_t address;

    must("address", PMIx_Info_load(&address, PMIX_SERVER_URI, uri, PMIX_STRING));
    must("attach", PMIx_tool_attach_to_server(&me, server, &address, 1));
    if (!PMIx_tool_is_connected())
        fail("attached, and not connected");
    PMIx_Info_destruct(&address);
}

/* The older form of the same, which does not tell who the server is. */
static void connect_again(const char *uri)
{
    pmix_info_t address;

    must("address", PMIx_Info_load(&address, PMIX_SERVER_URI, uri, PMIX_STRING));
    must("connect", PMIx_tool_connect_to_server(&me, &address, 1));
    PMIx_Info_destruct(&address);
}

/* All servers that this tool is connected to; one of them is chosen. */
static void choose(void)
{
    pmix_proc_t *servers = NULL;
    size_t n = 0;

    must("servers", PMIx_tool_get_servers(&servers, &n));
    if (!n)
        fail("no server");
    must("choose", PMIx_tool_set_server(&servers[0], NULL, 0));
    PMIx_Proc_free(servers, n);
}

/* Leaves one server; the tool stays, and may attach to another one. */
static void leave(const pmix_proc_t *server)
{
    must("leave", PMIx_tool_disconnect(server));
}

/* A tool may be a server as well: a debugger whose daemons connect to it. */
static void become_server(void)
{
    static pmix_server_module_t module;

    may("be a server", PMIx_tool_set_server_module(&module));
}

/* ---- input and output ------------------------------------------------------------------------ */

static void on_output(size_t handler, pmix_iof_channel_t channel, pmix_proc_t *source,
                      pmix_byte_object_t *bytes, pmix_info_t infos[], size_t n)
{
    (void)handler, (void)channel, (void)source, (void)bytes, (void)infos, (void)n;
}

/* Standard output of a job, from now on, until we no longer want it. */
static void pull(const char *job)
{
    pmix_proc_t all;

    PMIx_Load_procid(&all, job, PMIX_RANK_WILDCARD);
    must("pull", answer_of(&answer, PMIx_IOF_pull(&all, 1, NULL, 0, PMIX_FWD_STDOUT_CHANNEL,
                                                  on_output, on_reference, &answer)));
    must("no more",
         answer_of(&answer, PMIx_IOF_deregister(answer.number, NULL, 0, on_done, &answer)));
}

/* Bytes for the standard input of a process. */
static void push(const char *job)
{
    pmix_byte_object_t bytes = { (char[]){ "word\n" }, 5 };
    pmix_proc_t first;

    PMIx_Load_procid(&first, job, 0);
    may("push", answer_of(&answer, PMIx_IOF_push(&first, 1, &bytes, NULL, 0, on_done, &answer)));
}

static char *first_job(void)
{
    pmix_info_t *answers = NULL;
    char *job;
    size_t n = 0;

    must("jobs", ask(PMIX_QUERY_NAMESPACES, NULL, NULL, &answers, &n));
    if (!n || answers[0].value.type != PMIX_STRING)
        fail("the launcher runs nothing");
    job = strndup(answers[0].value.data.string, strcspn(answers[0].value.data.string, ","));
    PMIx_Info_free(answers, n);
    return job;
}

int main(int argc, char **argv)
{
    pmix_info_t alone;
    pmix_proc_t server;
    char *job;

    alarm(EXAMPLE_SECONDS);
    if (argc < 2)
        fail("name the address of a launcher");
    must("attribute", PMIx_Info_load(&alone, PMIX_TOOL_DO_NOT_CONNECT, NULL, PMIX_BOOL));
    must("init", PMIx_tool_init(&me, &alone, 1));
    attach(argv[1], &server);
    choose();
    job = first_job();
    pull(job);
    push(job);
    become_server();
    leave(&server);
    connect_again(argv[1]);
    free(job);
    must("finalize", PMIx_tool_finalize());
    printf(EXAMPLE ": good\n");
    return 0;
}
