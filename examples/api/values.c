/* values.c - values, attributes and lists of them, names of processes, lists of words.  No launcher
 * is needed.
 *
 *   ./values */
#define EXAMPLE "values"
#include "../pmix/example.h"

static void is(const char *what, bool so)
{
    if (!so)
        fail("%s", what);
}

/* `part` must be in the text. */
static void shows(const char *text, const char *part)
{
    if (!text || !strstr(text, part))
        fail("'%s' instead of %s", text ? text : "", part);
}

/* The same, and the text is freed: it was the caller's. */
static void shows_own(char *text, const char *part)
{
    shows(text, part);
    free(text);
}

/* A value has a copy of what is put into it; unloading gives a copy back, or fills memory of the
 * caller.  A number may be asked for in another type, if it fits. */
static void load_and_unload(void)
{
    uint32_t n = 42, again = 0, *to = &again;
    pmix_value_t v, copy;
    int64_t wide = 0;
    size_t len = 0;

    must("load", PMIx_Value_load(&v, &n, PMIX_UINT32));
    must("unload", PMIx_Value_unload(&v, (void **)&to, &len));
    is("42", again == 42 && len == sizeof again);
    must("number", PMIx_Value_get_number(&v, &wide, PMIX_INT64));
    is("42 as 64 bits", wide == 42);
    must("copy", PMIx_Value_xfer(&copy, &v));
    is("equal", PMIx_Value_compare(&copy, &v) == PMIX_EQUAL);
    shows(PMIx_Value_comparison_string(PMIX_EQUAL), "EQUAL");
    must("size", PMIx_Value_get_size(&v, &len));
    shows_own(PMIx_Value_string(&v), "42");
    PMIx_Value_destruct(&copy);
    PMIx_Value_destruct(&v);
}

/* A flag may be a boolean, a number or a word. */
static void truth(void)
{
    pmix_value_t v;
    pmix_info_t i;

    must("load", PMIx_Value_load(&v, "no", PMIX_STRING));
    is("no", PMIx_Value_true(&v) == PMIX_BOOL_FALSE);
    PMIx_Value_destruct(&v);
    must("load",
         PMIx_Info_load(&i, PMIX_COLLECT_DATA, NULL, PMIX_BOOL)); /* without a value: true */
    is("collect", PMIx_Info_true(&i) == PMIX_BOOL_TRUE);
    PMIx_Info_destruct(&i);
}

/* An attribute, its copy, and how it looks. */
static void attribute(void)
{
    pmix_info_t i, copy;
    uint32_t seconds = 30;
    size_t bytes_of = 0;

    must("load", PMIx_Info_load(&i, PMIX_TIMEOUT, &seconds, PMIX_UINT32));
    PMIx_Info_construct(&copy);
    must("copy", PMIx_Info_xfer(&copy, &i));
    must("size", PMIx_Info_get_size(&i, &bytes_of));
    shows_own(PMIx_Info_string(&copy), "30");
    PMIx_Info_destruct(&copy);
    PMIx_Info_destruct(&i);
}

/* An attribute may be required: then a call fails rather than ignore it.  Other marks: it qualifies
 * the one before it, it stays until it is changed, it has been looked at, it is the last one of its
 * array. */
static void marks(void)
{
    pmix_info_t i;

    must("load", PMIx_Info_load(&i, PMIX_COLLECT_DATA, NULL, PMIX_BOOL));
    PMIx_Info_required(&i);
    is("required", PMIx_Info_is_required(&i) && !PMIx_Info_is_optional(&i));
    shows_own(PMIx_Info_directives_string(i.flags), "REQUIRED");
    PMIx_Info_optional(&i);
    is("optional", PMIx_Info_is_optional(&i));
    PMIx_Info_qualifier(&i);
    is("qualifier", PMIx_Info_is_qualifier(&i));
    PMIx_Info_persistent(&i);
    is("persistent", PMIx_Info_is_persistent(&i));
    PMIx_Info_processed(&i);
    is("processed", PMIx_Info_was_processed(&i));
    PMIx_Info_set_end(&i);
    is("end", PMIx_Info_is_end(&i));
    PMIx_Info_destruct(&i);
}

/* Attributes are collected in a list when their number is not known, and made an array at the end.
 */
static void list(void)
{
    void *l = PMIx_Info_list_start(), *next = NULL;
    pmix_data_array_t array;
    uint32_t n = 1, m = 2;
    pmix_info_t *first;
    pmix_value_t v;
    pmix_info_t i;

    must("add", PMIx_Info_list_add(l, "a", &n, PMIX_UINT32));
    must("add once",
         PMIx_Info_list_add_unique(l, "a", &m, PMIX_UINT32, true)); /* takes its place */
    must("value", PMIx_Value_load(&v, "text", PMIX_STRING));
    must("add a value", PMIx_Info_list_add_value(l, "b", &v));
    must("add it once", PMIx_Info_list_add_value_unique(l, "b", &v, false));
    must("at the front", PMIx_Info_list_prepend(l, "c", &n, PMIX_UINT32));
    must("attribute", PMIx_Info_load(&i, "d", &n, PMIX_UINT32));
    must("copy of it", PMIx_Info_list_xfer(l, &i));
    must("copy of it, once", PMIx_Info_list_xfer_unique(l, &i, true));
    is("four", PMIx_Info_list_get_size(l) == 4);
    first = PMIx_Info_list_get_info(l, NULL, &next);
    is("c first", first && PMIx_Check_key(first->key, "c") && next);
    must("array", PMIx_Info_list_convert(l, &array));
    is("array of four", array.type == PMIX_INFO && array.size == 4);
    PMIx_Data_array_destruct(&array);
    PMIx_Info_list_release(l);
    PMIx_Info_destruct(&i);
    PMIx_Value_destruct(&v);
}

/* An attribute that the list takes over as it is, without a copy. */
static void list_insert(void)
{
    void *l = PMIx_Info_list_start();
    pmix_info_t i;

    must("load", PMIx_Info_load(&i, PMIX_WDIR, "/tmp", PMIX_STRING));
    must("insert", PMIx_Info_list_insert(l, &i));
    is("one", PMIx_Info_list_get_size(l) == 1);
    PMIx_Info_list_release(l);
    PMIx_Info_destruct(&i);
}

/* What a lookup returns: a name, its value, its publisher. */
static void published(void)
{
    pmix_proc_t who;
    pmix_pdata_t one, copy;

    PMIx_Load_procid(&who, "job", 3);
    PMIx_Pdata_construct(&one);
    PMIx_Pdata_construct(&copy);
    PMIx_Pdata_load(&one, &who, "service", "host:4000", PMIX_STRING);
    PMIx_Pdata_xfer(&copy, &one);
    is("port", !strcmp(copy.value.data.string, "host:4000") && copy.proc.rank == 3);
    PMIx_Pdata_destruct(&one);
    PMIx_Pdata_destruct(&copy);
}

/* Names of processes are compared with a rank that may stand for all. */
static void processes(void)
{
    pmix_proc_t a, b;
    pmix_nspace_t job;
    pmix_key_t key;

    PMIx_Load_nspace(job, "job");
    PMIx_Load_procid(&a, job, 0);
    PMIx_Proc_load(&b, job, PMIX_RANK_WILDCARD);
    is("same job", PMIx_Check_nspace(a.nspace, b.nspace));
    is("rank 0 is one of all", PMIx_Check_rank(a.rank, b.rank) && PMIx_Check_procid(&a, &b));
    PMIx_Xfer_procid(&b, &a);
    is("valid", !PMIx_Procid_invalid(&b) && !PMIx_Nspace_invalid(job) && PMIx_Rank_valid(b.rank));
    shows_own(PMIx_Proc_string(&a), "job");
    PMIx_Load_key(key, PMIX_JOB_SIZE);
    is("a key of the Standard", PMIx_Check_key(key, PMIX_JOB_SIZE) && PMIx_Check_reserved_key(key));
}

/* A namespace of a job that runs on several clusters. */
static void clusters(void)
{
    pmix_nspace_t whole, cluster, job, c, j;

    PMIx_Load_nspace(cluster, "east");
    PMIx_Load_nspace(job, "job");
    PMIx_Multicluster_nspace_construct(whole, cluster, job);
    PMIx_Multicluster_nspace_parse(whole, c, j);
    is("both parts", !strcmp(c, "east") && !strcmp(j, "job"));
}

/* Lists of words end with NULL; whoever makes one frees it. */
static void words(void)
{
    char **argv = NULL, **copy, *line;

    must("append", PMIx_Argv_append_nosize(&argv, "b"));
    must("append", PMIx_Argv_append_unique_nosize(&argv, "b")); /* stands there already */
    must("prepend", PMIx_Argv_prepend_nosize(&argv, "a"));
    is("two", PMIx_Argv_count(argv) == 2);
    copy = PMIx_Argv_copy(argv);
    line = PMIx_Argv_join(copy, ',');
    is("a,b", !strcmp(line, "a,b"));
    free(line);
    PMIx_Argv_free(copy);
    PMIx_Argv_free(argv);
}

/* Between two delimiters may be nothing: that is a word or not. */
static void split(void)
{
    char **without = PMIx_Argv_split("a,,b", ','), **with = PMIx_Argv_split_with_empty("a,,b", ',');
    char **chosen = PMIx_Argv_split_inter("a,,b", ',', true);

    is("two words", PMIx_Argv_count(without) == 2);
    is("three words", PMIx_Argv_count(with) == 3 && PMIx_Argv_count(chosen) == 3);
    PMIx_Argv_free(without);
    PMIx_Argv_free(with);
    PMIx_Argv_free(chosen);
}

/* A variable in an environment that is handed to a child; and a change of one, for a spawn. */
static void environment(void)
{
    char **env = NULL;
    pmix_envar_t change;

    must("set", PMIx_Setenv("LEVEL", "1", true, &env));
    must("set again", PMIx_Setenv("LEVEL", "2", true, &env));
    is("LEVEL=2", PMIx_Argv_count(env) == 1 && !strcmp(env[0], "LEVEL=2"));
    PMIx_Argv_free(env);
    PMIx_Envar_construct(&change);
    PMIx_Envar_load(&change, (char[]){ "PATH" }, (char[]){ "/opt/bin" }, ':');
    is("a change of PATH", !strcmp(change.envar, "PATH"));
    PMIx_Envar_destruct(&change);
}

/* A program to spawn, as text. */
static void program(void)
{
    pmix_app_t app;

    PMIx_App_construct(&app);
    app.cmd = strdup("solver");
    app.maxprocs = 4;
    must("argument", PMIx_Argv_append_nosize(&app.argv, "solver"));
    shows_own(PMIx_App_string(&app), "solver");
    PMIx_App_destruct(&app);
}

/* What a host tells of an attribute that it offers. */
static void offered(void)
{
    pmix_regattr_t one, copy;

    PMIx_Regattr_construct(&one);
    PMIx_Regattr_construct(&copy);
    PMIx_Regattr_load(&one, "PMIX_TIMEOUT", PMIX_TIMEOUT, PMIX_INT, "seconds");
    PMIx_Regattr_xfer(&copy, &one);
    is("its name", !strcmp(copy.name, "PMIX_TIMEOUT"));
    PMIx_Regattr_destruct(&one);
    PMIx_Regattr_destruct(&copy);
}

/* Bytes that a value or a message carries. */
static void bytes(void)
{
    pmix_byte_object_t b;

    PMIx_Byte_object_construct(&b);
    PMIx_Byte_object_load(&b, strdup("abc"), 4); /* takes them over */
    is("abc", b.size == 4);
    PMIx_Byte_object_destruct(&b);
}

/* The name of an attribute in programs, from its key, and back. */
static void names(void)
{
    is("name", !strcmp(PMIx_Get_attribute_name(PMIX_TIMEOUT), "PMIX_TIMEOUT"));
    is("key", !strcmp(PMIx_Get_attribute_string("PMIX_TIMEOUT"), PMIX_TIMEOUT));
    is("status", PMIx_Error_code("PMIX_ERR_TIMEOUT") == PMIX_ERR_TIMEOUT);
    is("version", PMIx_Get_version()[0] != '\0');
}

/* Every number of the Standard that a person may meet has a text. */
static void texts(void)
{
    pmix_resource_unit_t unit;

    shows(PMIx_Alloc_directive_string(PMIX_ALLOC_NEW), "NEW");
    shows(PMIx_Data_range_string(PMIX_RANGE_SESSION), "ALLOCATION");
    shows(PMIx_Data_type_string(PMIX_UINT32), "UINT32");
    shows(PMIx_Device_type_string(PMIX_DEVTYPE_GPU), "GPU");
    shows(PMIx_Group_operation_string(PMIX_GROUP_CONSTRUCT), "CONSTRUCT");
    shows(PMIx_IOF_channel_string(PMIX_FWD_STDOUT_CHANNEL), "STDOUT");
    shows(PMIx_Job_state_string(PMIX_JOB_STATE_RUNNING), "RUN");
    shows(PMIx_Link_state_string(PMIX_LINK_UP), "ACTIVE");
    shows(PMIx_Persistence_string(PMIX_PERSIST_APP), "APPLICATION");
    shows(PMIx_Proc_state_string(PMIX_PROC_STATE_RUNNING), "EXEC");
    shows(PMIx_Resource_block_directive_string(PMIX_RESOURCE_BLOCK_DEFINE), "DEFINE");
    shows(PMIx_Scope_string(PMIX_GLOBAL), "ALL NODES");
    PMIx_Resource_unit_construct(&unit);
    free(PMIx_Resource_unit_string(&unit));
    PMIx_Resource_unit_destruct(&unit);
}

int main(void)
{
    load_and_unload();
    truth();
    attribute();
    marks();
    list();
    list_insert();
    published();
    processes();
    clusters();
    words();
    split();
    environment();
    program();
    offered();
    bytes();
    names();
    texts();
    printf(EXAMPLE ": good\n");
    return 0;
}
