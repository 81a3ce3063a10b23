/* doc.c - prints the texts derived from the option table, for the files kept in the repository.
 *
 *   wireup-doc help|options|synopsis|commands|environment|completion
 *   wireup-doc hydra|mpirun|srun|torchrun|managers
 *   wireup-doc pmix-synopsis|pmix-common|pmix-tools|pmix-completion
 *
 * Not installed; see tests/check-docs.
 */
#include <stdio.h>
#include <string.h>

#include "launch/allocation.h"
#include "launch/options_doc.h"
#include "launch/synonyms_doc.h"
#include "tools/pmix/tool_doc.h"

static const struct {
    const char *name;
    void (*write)(struct buf *out);
} parts[] = {
    { "help", options_help },
    { "options", options_man },
    { "synopsis", options_man_synopsis },
    { "commands", options_man_commands },
    { "environment", options_man_environment },
    { "completion", options_completion },
    { "managers", allocation_table },
    { "hydra", synonyms_page_hydra },
    { "mpirun", synonyms_page_mpirun },
    { "srun", synonyms_page_srun },
    { "torchrun", synonyms_page_torchrun },
    { "pmix-synopsis", tool_doc_man_synopsis },
    { "pmix-common", tool_doc_man_common },
    { "pmix-tools", tool_doc_man },
    { "pmix-completion", tool_doc_completion },
};

int main(int argc, char **argv)
{
    struct buf out = BUF_NULL(1 << 20);
    int rc = 2;

    for (size_t i = 0; argc == 2 && i < sizeof parts / sizeof parts[0]; i++) {
        if (strcmp(argv[1], parts[i].name) != 0)
            continue;
        parts[i].write(&out);
        rc = buf_cstr(&out) && fputs(buf_cstr(&out), stdout) >= 0 && fflush(stdout) == 0 ? 0 : 1;
    }
    if (rc == 2)
        fprintf(stderr, "usage: wireup-doc PART\n");
    buf_free(&out);
    return rc;
}
