/* tool.c - a tool connects to a launcher that runs already, and asks what it runs.
 * It is no rank of any job: monitors, job viewers and steering front-ends begin like this, on any
 * launcher that serves PMIx tools.
 *
 *   ./tool $(wireup tools | cut -f 2)         the address of the launcher */
#define EXAMPLE "tool"
#include "example.h"

#include <pmix_tool.h>

int main(int argc, char **argv)
{
    pmix_info_t info, *answers = NULL;
    const char *jobs;
    size_t n = 0;

    alarm(EXAMPLE_SECONDS);
    if (argc < 2)
        fail("name the address of a launcher");
    PMIX_INFO_LOAD(&info, PMIX_SERVER_URI, argv[1], PMIX_STRING);
    must("connect", PMIx_tool_init(&me, &info, 1));
    must("query", ask(PMIX_QUERY_NAMESPACES, NULL, NULL, &answers, &n));
    jobs = n && answers[0].value.type == PMIX_STRING ? answers[0].value.data.string : "";
    if (!*jobs)
        fail("the launcher runs nothing");
    printf("tool: it runs %s\n", jobs);
    must("finalize", PMIx_tool_finalize());
    printf("tool: good\n");
    return 0;
}
