/* constant_names.c - the names and texts of PMIx's numbers.
 *
 * Every text exists once, in proto/pmix_constants.def, pmix_status.def and pmix_types.def; here are
 * only the look-ups.  All of them work before, between and after any init, and return constant
 * texts, except for PMIx_Info_directives_string, whose text belongs to the caller.
 */
#include <strings.h>

#include "lib/pmix/api/constant_names.h"
#include "pmix.h"
#include "wire/pmix_command.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* ---- Groups of constants -------------------------------------------------------------------- */

/* All rows one after the other, and where each group begins and ends. */
enum {
#define GROUP(group, ctype, kind, other, what) FIRST_##group, BEFORE_##group = FIRST_##group - 1,
#define CONST(group, name, value, state, text) ROW_##name,
#define END(group)                             END_##group, BACK_##group = END_##group - 1,
#include "proto/pmix_constants.def"
#undef GROUP
#undef CONST
#undef END
    ROWS
};

static const struct number_name rows[] = {
#define GROUP(group, ctype, kind, other, what)
#define CONST(group, name, value, state, text) { (uint64_t)(value), #name, text },
#define END(group)
#include "proto/pmix_constants.def"
#undef GROUP
#undef CONST
#undef END
};
_Static_assert(COUNT(rows) == ROWS, "every row has its number");

static const struct number_group groups[] = {
#define GROUP(group, ctype, kind, other, what)                                                     \
    [NUMBER_##group] = { #group, &rows[FIRST_##group], END_##group - FIRST_##group, other },
#define CONST(group, name, value, state, text)
#define END(group)
#include "proto/pmix_constants.def"
#undef GROUP
#undef CONST
#undef END
};

const struct number_group *number_group(enum number_group_id id)
{
    return &groups[id];
}

/* The row of each small number, from 1 (indexes and not texts: a pointer would need a relocation
 * in every process that loads the library); larger numbers share the last slot, which is never
 * read. Of several names of one number the last stays: they have the same text. */
enum { SMALL = 64 };
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverride-init"
static const uint16_t small[NUMBER_GROUPS][SMALL + 1] = {
#define GROUP(group, ctype, kind, other, what)
#define CONST(group, name, value, state, text)                                                     \
    [NUMBER_##group][(value) < SMALL ? (value) : SMALL] = ROW_##name + 1,
#define END(group)
#include "proto/pmix_constants.def"
#undef GROUP
#undef CONST
#undef END
};
#pragma GCC diagnostic pop

static const char *large_text(enum number_group_id id, uint64_t value)
{
    const struct number_group *g = &groups[id];

    for (size_t i = 0; i < g->count; i++)
        if (g->names[i].value == value)
            return g->names[i].text != NULL ? g->names[i].text : g->other;
    return g->other;
}

static inline const char *text_of(enum number_group_id id, uint64_t value)
{
    const char *text;
    uint16_t row;

    if (value >= SMALL)
        return large_text(id, value);
    row = small[id][value];
    text = row ? rows[row - 1].text : NULL;
    return text != NULL ? text : groups[id].other;
}

const char *number_text(enum number_group_id id, uint64_t value)
{
    return text_of(id, value);
}

const char *PMIx_Proc_state_string(pmix_proc_state_t state)
{
    return text_of(NUMBER_proc_state, state);
}

const char *PMIx_Job_state_string(pmix_job_state_t state)
{
    return text_of(NUMBER_job_state, state);
}

const char *PMIx_Scope_string(pmix_scope_t scope)
{
    return text_of(NUMBER_scope, scope);
}

const char *PMIx_Persistence_string(pmix_persistence_t persist)
{
    return text_of(NUMBER_persistence, persist);
}

const char *PMIx_Data_range_string(pmix_data_range_t range)
{
    return text_of(NUMBER_data_range, range);
}

const char *PMIx_Alloc_directive_string(pmix_alloc_directive_t directive)
{
    return text_of(NUMBER_alloc_directive, directive);
}

const char *PMIx_Resource_block_directive_string(pmix_resource_block_directive_t directive)
{
    return text_of(NUMBER_resource_block, directive);
}

const char *PMIx_Link_state_string(pmix_link_state_t state)
{
    return text_of(NUMBER_link_state, state);
}

const char *PMIx_Device_type_string(pmix_device_type_t type)
{
    return text_of(NUMBER_device_type, type);
}

const char *PMIx_Value_comparison_string(pmix_value_cmp_t cmp)
{
    return text_of(NUMBER_value_cmp, (uint64_t)cmp);
}

const char *PMIx_Group_operation_string(pmix_group_operation_t op)
{
    return text_of(NUMBER_group_operation, (uint64_t)op);
}

/* ---- Masks ---------------------------------------------------------------------------------- */

/* Every combination of the four channels is a constant text of its own, so that callers may keep
 * it. */
#define IN   "STDIN "
#define OUT  "STDOUT "
#define ERR  "STDERR "
#define DIAG "STDDIAG "

const char *PMIx_IOF_channel_string(pmix_iof_channel_t channel)
{
    static const char *const sums[] = {
        "NONE",   IN,          OUT,          IN OUT,          ERR,      IN ERR,
        OUT ERR,  IN OUT ERR,  DIAG,         IN DIAG,         OUT DIAG, IN OUT DIAG,
        ERR DIAG, IN ERR DIAG, OUT ERR DIAG, IN OUT ERR DIAG,
    };

    return sums[channel & (COUNT(sums) - 1)];
}

char *PMIx_Info_directives_string(pmix_info_directives_t directives)
{
    char text[64] = "QUALIFIER";

    if ((directives & PMIX_INFO_QUALIFIER) == 0) {
        bool required = (directives & PMIX_INFO_REQD) != 0;
        bool processed = (directives & PMIX_INFO_REQD_PROCESSED) != 0;
        bool end = (directives & PMIX_INFO_ARRAY_END) != 0;
        snprintf(text, sizeof text, "%s%s%s", required ? "REQUIRED" : "OPTIONAL",
                 processed ? ":PROCESSED" : "", end ? ":END" : "");
    }
    return strdup(text);
}

/* ---- Status --------------------------------------------------------------------------------- */

enum {
#define STATUS(name, value, state) AT_##name,
#include "proto/pmix_status.def"
#undef STATUS
};

/* The names that are returned for their value, and those that are no status at all. */
#define ANSWER_LIVE(at, value)   [-(value)] = (at) + 1,
#define ANSWER_OLD(at, value)    [-(value)] = (at) + 1,
#define ANSWER_HIDDEN(at, value) [-(value)] = (at) + 1,
#define ANSWER_ALIAS(at, value)
#define ANSWER_SHARED(at, value)
#define ANSWER_BASE(at, value)

static const uint16_t answers[] = {
#define STATUS(name, value, state) ANSWER_##state(AT_##name, value)
#include "proto/pmix_status.def"
#undef STATUS
};

enum {
    NAMED_LIVE = 1,
    NAMED_OLD = 1,
    NAMED_HIDDEN = 1,
    NAMED_ALIAS = 1,
    NAMED_SHARED = 1,
    NAMED_BASE = 0
};

enum { STATUS_NAME = 43 };

static const struct status_name {
    char name[STATUS_NAME];
    bool named;
    pmix_status_t value;
} statuses[] = {
#define STATUS(name, value, state) { #name, NAMED_##state, value },
#include "proto/pmix_status.def"
#undef STATUS
};
#define STATUS(name, value, state) _Static_assert(sizeof #name <= STATUS_NAME, "it fits");
#include "proto/pmix_status.def"
#undef STATUS

const char *PMIx_Error_string(pmix_status_t status)
{
    unsigned i = 0u - (unsigned)status; /* positive numbers become very large */

    if (i >= COUNT(answers) || answers[i] == 0)
        return "ERROR STRING NOT FOUND";
    return statuses[answers[i] - 1].name;
}

pmix_status_t PMIx_Error_code(const char *errname)
{
    for (size_t i = 0; errname != NULL && i < COUNT(statuses); i++)
        if (statuses[i].named && strcasecmp(statuses[i].name, errname) == 0)
            return statuses[i].value;
    return INT32_MIN;
}

/* ---- Data types ----------------------------------------------------------------------------- */

static const char *const types[] = {
#define TYPE(name, number, ctype, member, shape, state) [number] = "PMIX_" #name,
#include "proto/pmix_types.def"
#undef TYPE
};

const char *PMIx_Data_type_string(pmix_data_type_t type)
{
    if (type == PMIX_UNDEF || type >= COUNT(types) || types[type] == NULL)
        return "UNKNOWN";
    return types[type];
}

const char *PMIx_Get_version(void)
{
    return "Wireup " WIREUP_VERSION
           ", as OpenPMIx 5.0.11 (PMIx Standard: 4.2, Stable ABI: " PMIX_ABI_VERSION
           ", Provisional ABI: " PMIX_ABI_VERSION ")";
}
