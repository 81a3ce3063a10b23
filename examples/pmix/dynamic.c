/* dynamic.c - a program starts further processes while it runs, and both jobs work together.
 * Rank 0 spawns two children and connects to them: only connected jobs can be sure that the
 * other one's values are there, and that they hear of each other's end.
 *
 *   wireup -n 2 ./dynamic */
#define EXAMPLE "dynamic"
#include "example.h"

enum { CHILDREN = 2 };

static void connect_and_check(const char *other, uint32_t first, uint32_t n)
{
    pmix_proc_t both[2], p;
    pmix_value_t *v;

    both[0] = process(n == CHILDREN ? 0 : PMIX_RANK_WILDCARD);
    PMIX_LOAD_PROCID(&both[1], other, n == CHILDREN ? PMIX_RANK_WILDCARD : 0);
    must("connect", PMIx_Connect(both, 2, NULL, 0));
    for (uint32_t r = 0; r < n; r++) {
        PMIX_LOAD_PROCID(&p, other, r);
        must("a value of the other job", PMIx_Get(&p, "example.number", NULL, 0, &v));
        if (number(v) != first + r)
            fail("rank %u of %s has %lu", r, other, (unsigned long)number(v));
        PMIX_VALUE_RELEASE(v);
    }
    must("disconnect", PMIx_Disconnect(both, 2, NULL, 0));
}

static void spawn_children(char *program, pmix_nspace_t children)
{
    char *words[] = { program, (char *)(uintptr_t) "child", me.nspace, NULL };
    pmix_app_t app;
    pmix_status_t rc;

    PMIX_APP_CONSTRUCT(&app);
    app.cmd = program;
    app.argv = words;
    app.maxprocs = CHILDREN;
    rc = PMIx_Spawn(NULL, 0, &app, 1, children);
    if (is_refusal(rc))
        refused("spawn processes", rc);
    must("spawn", rc);
}

/* Under its parent's name, which it finds itself, too. */
static void check_parent(const char *parent)
{
    pmix_value_t *v = NULL;
    pmix_proc_t self = process(me.rank);

    if (PMIx_Get(&self, PMIX_PARENT_ID, NULL, 0, &v) != PMIX_SUCCESS)
        return;
    if (v->type != PMIX_PROC || strcmp(v->data.proc->nspace, parent) != 0)
        fail("the parent is another one");
    PMIX_VALUE_RELEASE(v);
}

int main(int argc, char **argv)
{
    bool is_child = argc > 2 && !strcmp(argv[1], "child");
    pmix_nspace_t children;

    begin();
    put_number("example.number", (is_child ? 70 : 50) + me.rank);
    must("commit", PMIx_Commit());
    if (is_child) {
        check_parent(argv[2]);
        connect_and_check(argv[2], 50, 1);
        must("finalize", PMIx_Finalize(NULL, 0));
        return 0;
    }
    if (me.rank == 0) {
        spawn_children(argv[0], children);
        connect_and_check(children, 70, CHILDREN);
    }
    return end();
}
