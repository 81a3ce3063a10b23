/* newcomer.c - a job on the nodes of a DVM spawns a process on a node that joins for it, and both
 * connect.
 *
 *   newcomer tool URI NODE FILE   has the DVM start `parent`, and waits for its word in FILE
 *   newcomer parent NODE FILE     spawns `child` on NODE, which is new; connects with it
 *   newcomer child                connects with its parent
 *
 * FILE is a pipe; the parent writes what its connect has returned, and whether a group with both of
 * them could be made. */
#include <pmix_tool.h>
#include <stdio.h>
#include <string.h>

static pmix_proc_t me;

static pmix_status_t spawn(char **argv, const char *key, const char *node, pmix_nspace_t nspace)
{
    pmix_info_t info;
    pmix_app_t app = { .cmd = argv[0], .argv = argv, .maxprocs = 1 };
    pmix_status_t rc;

    PMIX_INFO_LOAD(&info, key, node, PMIX_STRING);
    rc = PMIx_Spawn(&info, 1, &app, 1, nspace);
    PMIX_INFO_DESTRUCT(&info);
    return rc;
}

/* With another process: connected, and in a group. */
static pmix_status_t meet(const char *nspace)
{
    pmix_proc_t both[2] = { me, me };
    pmix_info_t *results = NULL;
    size_t n = 0;
    pmix_status_t rc;

    PMIX_LOAD_PROCID(&both[1], nspace, 0);
    rc = PMIx_Connect(both, 2, NULL, 0);
    if (rc == PMIX_SUCCESS)
        rc = PMIx_Group_construct("both", both, 2, NULL, 0, &results, &n);
    PMIX_INFO_FREE(results, n);
    return rc;
}

static int write_word(const char *file, pmix_status_t rc)
{
    FILE *f = fopen(file, "w");

    if (!f)
        return 1;
    fprintf(f, "%s\n", PMIx_Error_string(rc));
    return fclose(f);
}

static int tool(char **argv)
{
    char parent[] = "parent", *words[] = { argv[0], parent, argv[3], argv[4], NULL };
    pmix_nspace_t nspace;
    pmix_info_t info;
    pmix_status_t rc;
    char text[100] = "";
    FILE *f;

    PMIX_INFO_LOAD(&info, PMIX_SERVER_URI, argv[2], PMIX_STRING);
    rc = PMIx_tool_init(&me, &info, 1);
    PMIX_INFO_DESTRUCT(&info);
    if (rc == PMIX_SUCCESS)
        rc = spawn(words, PMIX_HOST, "n1", nspace);
    f = rc == PMIX_SUCCESS ? fopen(argv[4], "r") : NULL;
    if (f && fgets(text, sizeof text, f))
        printf("%s", text);
    else
        printf("spawn %s\n", PMIx_Error_string(rc));
    fflush(stdout);
    if (f)
        fclose(f);
    PMIx_tool_finalize();
    return 0;
}

int main(int argc, char **argv)
{
    char child[] = "child", *words[] = { argv[0], child, NULL };
    pmix_value_t *value = NULL;
    pmix_nspace_t nspace;
    pmix_status_t rc;

    if (argc == 5 && !strcmp(argv[1], "tool"))
        return tool(argv);
    if (argc < 2 || PMIx_Init(&me, NULL, 0) != PMIX_SUCCESS)
        return 2;
    if (argc == 4 && !strcmp(argv[1], "parent")) {
        rc = spawn(words, PMIX_ADD_HOST, argv[2], nspace);
        write_word(argv[3], rc == PMIX_SUCCESS ? meet(nspace) : rc);
    } else if (PMIx_Get(&me, PMIX_PARENT_ID, NULL, 0, &value) == PMIX_SUCCESS) {
        meet(value->data.proc->nspace);
        PMIX_VALUE_RELEASE(value);
    }
    PMIx_Finalize(NULL, 0);
    return 0;
}
