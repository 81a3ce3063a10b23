/* allocation_refusal_test.c - each refusal has its sentence. */
#include "daemon/allocation_refusal.h"

#include <string.h>

#include "pmix_common.h"
#include "tap.h"

static const struct {
    uint8_t directive;
    bool is_there;
    enum answer_status status;
    const char *slurm_job, *sentence;
} rows[] = {
    { PMIX_ALLOC_NEW, false, ANSWER_OVER_QUOTA, NULL, "too few nodes are free (1 of 3)" },
    { PMIX_ALLOC_EXTEND, true, ANSWER_OVER_QUOTA, "17",
      "too few nodes are free (1 of 3); the launcher asks Slurm for no more than its job 17 has" },
    { PMIX_ALLOC_NEW, false, ANSWER_NOT_FOUND, "17", "a node that is named cannot be had" },
    { PMIX_ALLOC_EXTEND, true, ANSWER_NOT_FOUND, NULL, "a node that is named cannot be had" },
    { PMIX_ALLOC_EXTEND, false, ANSWER_NOT_FOUND, NULL, "there is no such allocation" },
    { PMIX_ALLOC_RELEASE, false, ANSWER_NOT_FOUND, NULL, "there is no such allocation" },
    { PMIX_ALLOC_RELEASE, true, ANSWER_NOT_FOUND, NULL, "is not in the allocation" },
    { PMIX_ALLOC_REQ_CANCEL, false, ANSWER_NOT_FOUND, NULL, "no request of that name waits" },
    { PMIX_ALLOC_REAQUIRE, true, ANSWER_NOT_FOUND, NULL, "no node of the allocation is lent" },
    { PMIX_ALLOC_REAQUIRE, true, ANSWER_OVER_QUOTA, "17", "others have nodes that were lent" },
    { RESERVATION_RESTORE, true, ANSWER_OVER_QUOTA, NULL, "others have nodes that were lent" },
    { RESERVATION_COMPLETE, true, ANSWER_OVER_QUOTA, NULL, "jobs of the session run" },
    { PMIX_ALLOC_NEW, false, ANSWER_DUPLICATE, NULL, "there is an allocation with that id" },
    { PMIX_ALLOC_NEW, false, ANSWER_BAD_VALUE, NULL, "neither nodes nor a number" },
    { RESERVATION_SIGNAL, true, ANSWER_BAD_VALUE, NULL, "there is no such signal" },
    { PMIX_ALLOC_RELEASE, true, ANSWER_DENIED, NULL, "another's" },
    { PMIX_ALLOC_NEW, false, ANSWER_NO_MEMORY, NULL, "out of memory" },
    { 77, false, ANSWER_FAILED, NULL, "no such directive" },
};

int main(void)
{
    struct reservation other = { .number = 1 };
    struct reservation_node nodes[3] = { { .of = &other }, { .lost = true }, { .slots = 2 } };
    const struct reservations r = { .nodes = nodes, .nnodes = 3 };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct errmsg err = { "" };
        allocation_refusal(&r, rows[i].directive, rows[i].is_there, rows[i].status,
                           rows[i].slurm_job, &err);
        OK_F(strstr(err.text, rows[i].sentence) != NULL, "directive %u, status %d: '%s'",
             rows[i].directive, (int)rows[i].status, err.text);
    }
    return tap_done();
}
