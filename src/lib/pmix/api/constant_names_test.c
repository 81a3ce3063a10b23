/* constant_names_test.c - every text that OpenPMIx's libraries print, and names of keys.
 *
 *   test-pmix-texts strings.tsv
 *
 * Where its releases differ, 5.0 counts; 6.1 counts for names that only 6.1 has.
 */
#include "tests/tap.h"

#include <errno.h>

#include "lib/pmix/api/attributes.h"
#include "lib/pmix/api/constant_names.h"
#include "pmix.h"

enum { FUNCTION, VALUE, NAMES, TEXT_422, TEXT_503, TEXT_610, COLUMNS };

/* "(any other)": a number that no table has, or all bits of a mask. */
enum { NOBODYS = 123, ALL_CHANNELS = 127, NO_STATUS = -12345 };

typedef const char *namer(long long value);

#define NAMER(name, type)                                                                          \
    static const char *name_##name(long long value)                                                \
    {                                                                                              \
        return PMIx_##name((type)value);                                                           \
    }
NAMER(Error_string, pmix_status_t)
NAMER(Proc_state_string, pmix_proc_state_t)
NAMER(Job_state_string, pmix_job_state_t)
NAMER(Scope_string, pmix_scope_t)
NAMER(Persistence_string, pmix_persistence_t)
NAMER(Data_range_string, pmix_data_range_t)
NAMER(Data_type_string, pmix_data_type_t)
NAMER(Alloc_directive_string, pmix_alloc_directive_t)
NAMER(Resource_block_directive_string, pmix_resource_block_directive_t)
NAMER(IOF_channel_string, pmix_iof_channel_t)
NAMER(Link_state_string, pmix_link_state_t)
NAMER(Device_type_string, pmix_device_type_t)
NAMER(Value_comparison_string, pmix_value_cmp_t)
NAMER(Group_operation_string, pmix_group_operation_t)

/* The one whose text belongs to the caller. */
static const char *name_Info_directives_string(long long value)
{
    static char text[64];
    char *given = PMIx_Info_directives_string((pmix_info_directives_t)value);

    snprintf(text, sizeof text, "%s", given != NULL ? given : "");
    free(given);
    return text;
}

static const struct call {
    const char *name;
    namer *name_fn;
    int other; /* the number used for "(any other)" */
} calls[] = {
#define CALL(name, other)                                                                          \
    {                                                                                              \
        "PMIx_" #name, name_##name, other                                                          \
    }
    CALL(Error_string, NO_STATUS),
    CALL(Proc_state_string, NOBODYS),
    CALL(Job_state_string, NOBODYS),
    CALL(Scope_string, NOBODYS),
    CALL(Persistence_string, NOBODYS),
    CALL(Data_range_string, NOBODYS),
    CALL(Data_type_string, NOBODYS),
    CALL(Alloc_directive_string, NOBODYS),
    CALL(Resource_block_directive_string, NOBODYS),
    CALL(IOF_channel_string, ALL_CHANNELS),
    CALL(Link_state_string, NOBODYS),
    CALL(Device_type_string, NOBODYS),
    CALL(Value_comparison_string, NOBODYS),
    CALL(Group_operation_string, NOBODYS),
    CALL(Info_directives_string, NOBODYS),
};

static const struct call *find_call(const char *name)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strcmp(calls[i].name, name) == 0)
            return &calls[i];
    return NULL;
}

/* Splits a line into cells in place; empty ones too. */
static void split(char *line, char *cells[COLUMNS])
{
    static char none[] = "";

    line[strcspn(line, "\n")] = '\0';
    for (int i = 0; i < COLUMNS; i++) {
        cells[i] = line != NULL ? line : none;
        line = line != NULL ? strchr(line, '\t') : NULL;
        if (line != NULL)
            *line++ = '\0';
    }
}

static bool nothing(const char *text)
{
    return strcmp(text, "") == 0 || strcmp(text, "<NOSYM>") == 0 || strcmp(text, "UNKNOWN") == 0 ||
           strcmp(text, "ERROR STRING NOT FOUND") == 0;
}

static void row(char *cells[COLUMNS])
{
    const struct call *call = find_call(cells[FUNCTION]);
    const char *want =
        nothing(cells[TEXT_503]) && *cells[TEXT_610] ? cells[TEXT_610] : cells[TEXT_503];
    bool other = strcmp(cells[VALUE], "(any other)") == 0;
    long long value = other && call != NULL ? call->other : strtoll(cells[VALUE], NULL, 10);
    const char *got = call != NULL ? call->name_fn(value) : "(nobody tells)";

    OK_F(strcmp(got, want) == 0, "%s(%s) is \"%s\"", cells[FUNCTION], cells[VALUE], want);
    if (strcmp(got, want) != 0)
        printf("# got \"%s\"\n", got);
}

static void test_table(const char *path)
{
    FILE *f = fopen(path, "r");
    char line[1024], *cells[COLUMNS];
    int rows = 0;

    OK_F(f != NULL, "the table of texts can be read");
    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        split(line, cells);
        if (strcmp(cells[FUNCTION], "function") == 0 ||
            strcmp(cells[FUNCTION], "PMIx_Get_version") == 0)
            continue;
        row(cells);
        rows++;
    }
    if (f != NULL)
        fclose(f);
    OK_F(rows > 470, "all %d rows of the table were asked for", rows);
}

static void test_status(void)
{
    EQ(PMIx_Error_code("PMIX_ERR_INIT"), PMIX_ERR_INIT);
    EQ(PMIx_Error_code("pmix_err_init"), PMIX_ERR_INIT);
    EQ(PMIx_Error_code("PMIX_SUCCESS"), 0);
    EQ(PMIx_Error_code("PMIX_EXISTS"), PMIX_ERR_EXISTS);
    EQ(PMIx_Error_code("PMIX_ERR_LOST_PRECISION"), PMIX_ERR_LOST_PRECISION);
    EQ(PMIx_Error_code("PMIX_ERR_TEMP_UNAVAILABLE"), -1367);
    EQ(PMIx_Error_code("PMIX_NO_SUCH"), INT32_MIN);
    EQ(PMIx_Error_code(""), INT32_MIN);
    EQ(PMIx_Error_code(NULL), INT32_MIN);
#define STATUS(name, value, state)                                                                 \
    OK_F(PMIx_Error_code(#name) == ((#state)[0] == 'B' ? INT32_MIN : (value)), "code of " #name);
#include "proto/pmix_status.def"
#undef STATUS
}

static void test_attributes(void)
{
    static const char unknown[] = "pmix.no.such.key";
    const char *last = "";

    OK(strcmp(PMIx_Get_attribute_string("PMIX_TIMEOUT"), "pmix.timeout") == 0);
    OK(strcmp(PMIx_Get_attribute_string("pmix_timeout"), "pmix.timeout") == 0);
    OK(strcmp(PMIx_Get_attribute_name("pmix.timeout"), "PMIX_TIMEOUT") == 0);
    OK(PMIx_Get_attribute_string(unknown) == unknown);
    OK(PMIx_Get_attribute_name(unknown) == unknown);
    OK(PMIx_Get_attribute_name(NULL) == NULL);
    OK(PMIx_Get_attribute_string(NULL) == NULL);
    /* Of two names, the one in use. */
    OK(strcmp(PMIx_Get_attribute_name("pmix.alloc.net"), "PMIX_ALLOC_FABRIC") == 0);
    OK(strcmp(PMIx_Get_attribute_name("pmix.pdata"), "PMIX_PROC_INFO_ARRAY") == 0);
    OK(strcmp(PMIx_Get_attribute_name("pmix.evname"), "PMIX_EVENT_HDLR_NAME") == 0);
    OK(strcmp(PMIx_Get_attribute_name("pmix.node.mswpt"), "PMIX_NODE_SWAP_TOTAL") == 0);
    OK(strcmp(PMIx_Get_attribute_name("pmix.monitor.fmon"), "PMIX_MONITOR_FILE") == 0);
    for (size_t i = 0; i < attribute_count(); i++) {
        const struct attribute *a = attribute_at(i);
        OK_F(strcmp(last, a->name) < 0 && attribute_by_name(a->name) == a &&
                 strcmp(PMIx_Get_attribute_string(a->name), a->text) == 0 &&
                 strcmp(attribute_by_text(a->text)->text, a->text) == 0,
             "%s is %s", a->name, a->text);
        last = a->name;
    }
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    test_table(argv[1]);
    test_status();
    test_attributes();
    OK(strstr(PMIx_Get_version(), "OpenPMIx 5.0.11") != NULL);
    OK(strncmp(PMIx_Get_version(), "Wireup ", 7) == 0);
    return tap_done();
}
