/* memory_test.c - the library when memory runs out, at every single allocation.
 *
 * Each scenario runs with its first, then its second, … allocation failing, until it succeeds.
 * Every time it must report the failure (by its status or a NULL) or not need that memory, and must
 * not leak: allocated and freed blocks are counted.
 *
 * Linked with --wrap for every function that allocates memory.
 */
#include "tests/tap.h"

#include "pmix.h"
#include "lib/pmix/values/print.h"
#include "lib/pmix/values/value.h"
#include "server/pmix_value.h"

static long live, taken, fail_at; /* fail_at: 0 never, else the n-th from here */

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
char *__real_strdup(const char *s);
char *__real_strndup(const char *s, size_t n);
void __real_free(void *p);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
char *__wrap_strdup(const char *s);
char *__wrap_strndup(const char *s, size_t n);
void __wrap_free(void *p);

static bool may_take(void)
{
    return ++taken != fail_at;
}

static void *counted(void *p)
{
    live += p != NULL;
    return p;
}

void *__wrap_malloc(size_t n)
{
    return may_take() ? counted(__real_malloc(n)) : NULL;
}

void *__wrap_calloc(size_t n, size_t size)
{
    return may_take() ? counted(__real_calloc(n, size)) : NULL;
}

void *__wrap_realloc(void *p, size_t n)
{
    if (!may_take())
        return NULL;
    return p == NULL ? counted(__real_realloc(p, n)) : __real_realloc(p, n);
}

char *__wrap_strdup(const char *s)
{
    return may_take() ? counted(__real_strdup(s)) : NULL;
}

char *__wrap_strndup(const char *s, size_t n)
{
    return may_take() ? counted(__real_strndup(s, n)) : NULL;
}

void __wrap_free(void *p)
{
    live -= p != NULL;
    __real_free(p);
}

/* ---- Scenarios: true when all of it worked --------------------------------------------------- */

static char text[] = "a text";
static uint32_t axes[] = { 1, 2, 3 };
static pmix_coord_t coords[] = { { 1, axes, 3 }, { 2, axes, 3 } };
static pmix_geometry_t geometry = { 1, text, text, coords, 2 };
static char *lines[] = { text, text, NULL };
static pmix_regattr_t regattr = { text, "pmix.x", PMIX_INT, lines };
static pmix_info_t infos[2];
static pmix_app_t app = { text, lines, lines, text, 2, infos, 2 };
static pmix_query_t query = { lines, infos, 2 };

/* Arrays of everything deep, in an array of values. */
static pmix_data_array_t arrays[] = {
    { PMIX_APP, 1, &app },         { PMIX_QUERY, 1, &query }, { PMIX_GEOMETRY, 1, &geometry },
    { PMIX_REGATTR, 1, &regattr }, { PMIX_STRING, 2, lines }, { PMIX_INFO, 2, infos },
    { PMIX_COORD, 2, coords },     { PMIX_UINT32, 3, axes },
};
enum { ARRAYS = sizeof arrays / sizeof *arrays };
static pmix_value_t values[ARRAYS];
static pmix_data_array_t everything = { PMIX_VALUE, ARRAYS, values };

static void prepare(void)
{
    for (size_t i = 0; i < ARRAYS; i++)
        values[i] = (pmix_value_t){ .type = PMIX_DATA_ARRAY, .data.darray = &arrays[i] };
    PMIx_Load_key(infos[0].key, "first");
    infos[0].value = (pmix_value_t){ .type = PMIX_STRING, .data.string = text };
    PMIx_Load_key(infos[1].key, "second");
    infos[1].value = (pmix_value_t){ .type = PMIX_ENVAR, .data.envar = { text, text, ':' } };
}

static bool is_out_of_memory(pmix_status_t rc)
{
    return rc == PMIX_ERR_NOMEM || rc == PMIX_ERR_OUT_OF_RESOURCE;
}

static bool honest = true; /* no call reported success without it, or failed silently */

static bool worked(pmix_status_t rc)
{
    if (rc != PMIX_SUCCESS && !is_out_of_memory(rc))
        honest = false;
    return rc == PMIX_SUCCESS;
}

static bool load_and_copy(void)
{
    pmix_value_t v, w = PMIX_VALUE_STATIC_INIT;
    bool good = worked(PMIx_Value_load(&v, &everything, PMIX_DATA_ARRAY));

    good = good && worked(PMIx_Value_xfer(&w, &v)) && PMIx_Value_compare(&v, &w) == PMIX_EQUAL;
    PMIx_Value_destruct(&v); /* harmless after any failure */
    PMIx_Value_destruct(&w);
    return good;
}

static bool unload_struct(void)
{
    pmix_value_t v = { .type = PMIX_GEOMETRY, .data.geometry = &geometry };
    pmix_geometry_t *copy = NULL;
    size_t size = 0;
    bool good = worked(PMIx_Value_unload(&v, (void **)&copy, &size));

    if (good)
        PMIx_Geometry_free(copy, 1);
    return good;
}

static bool unload_flat(void)
{
    pmix_value_t v = { .type = PMIX_INT, .data.integer = 5 };
    void *data = NULL;
    size_t size = 0;
    bool good = worked(PMIx_Value_unload(&v, &data, &size));

    if (!good && (data != NULL || size != 0))
        honest = false;
    free(data);
    return good;
}

static bool lists(void)
{
    void *list = PMIx_Info_list_start();
    pmix_data_array_t array = PMIX_DATA_ARRAY_STATIC_INIT;
    bool good = list != NULL;

    good = good && worked(PMIx_Info_list_add(list, "a", text, PMIX_STRING)) &&
           worked(PMIx_Info_list_prepend(list, "b", text, PMIX_STRING)) &&
           worked(PMIx_Info_list_insert(list, &infos[0])) &&
           worked(PMIx_Info_list_xfer(list, &infos[1])) &&
           worked(PMIx_Info_list_add_value(list, "v", &infos[0].value)) &&
           worked(PMIx_Info_list_add_unique(list, "a", "other", PMIX_STRING, true)) &&
           worked(PMIx_Info_list_xfer_unique(list, &infos[1], true)) &&
           worked(PMIx_Info_list_convert(list, &array));
    PMIx_Info_list_release(list);
    PMIx_Data_array_destruct(&array);
    return good;
}

static bool vectors(void)
{
    char **argv = NULL, **copy = NULL, **parts = NULL, *joined = NULL;
    bool good = worked(PMIx_Argv_append_nosize(&argv, "b")) &&
                worked(PMIx_Argv_prepend_nosize(&argv, "a")) &&
                worked(PMIx_Argv_append_unique_nosize(&argv, "c")) &&
                worked(PMIx_Setenv("A", "1", true, &argv)) &&
                worked(PMIx_Setenv("A", "2", true, &argv));
    int count = PMIx_Argv_count(argv);

    good = good && count == 4 && (copy = PMIx_Argv_copy(argv)) != NULL &&
           (joined = PMIx_Argv_join(copy, ',')) != NULL &&
           (parts = PMIx_Argv_split(joined, ',')) != NULL;
    PMIx_Argv_free(argv);
    PMIx_Argv_free(copy);
    PMIx_Argv_free(parts);
    free(joined);
    return good;
}

static bool creations(void)
{
    pmix_coord_t *many = PMIx_Coord_create(3, 4);
    pmix_data_array_t *array = PMIx_Data_array_create(3, PMIX_PROC);
    pmix_data_buffer_t *buffer = PMIx_Data_buffer_create();
    pmix_info_t *some = PMIx_Info_create(3);
    bool good =
        many != NULL && array != NULL && array->array != NULL && buffer != NULL && some != NULL;

    if (array != NULL && array->array == NULL && array->size != 0)
        honest = false;
    PMIx_Coord_free(many, 4);
    PMIx_Data_array_free(array);
    PMIx_Data_buffer_release(buffer);
    PMIx_Info_free(some, 3);
    return good;
}

static bool copies_of_infos(void)
{
    pmix_info_t *copy = infos;
    bool good = worked(infos_copy(infos, 2, &copy));

    if (!good && copy)
        honest = false;
    if (good && (copy[0].value.data.string == text || strcmp(copy[0].value.data.string, text) != 0))
        honest = false;
    PMIx_Info_free(copy, copy ? 2 : 0);
    return good;
}

static bool value_of_modex(void)
{
    pmix_value_t v = { .type = PMIX_DATA_ARRAY, .data.darray = &everything }, back;
    struct buf bytes = BUF_NULL(1 << 20);
    struct slice canonical = pmix_canonical(&v, &bytes);
    bool good = buf_ok(&bytes) && pmix_value_of(v.type, canonical, &back);

    if (good) {
        good = PMIx_Value_compare(&v, &back) == PMIX_EQUAL;
        PMIx_Value_destruct(&back);
    }
    buf_free(&bytes);
    return good;
}

/* Functions without a result: the objects that they leave must be usable. */
static bool silent_loads(void)
{
    pmix_app_t a;
    pmix_query_t q;
    pmix_regattr_t r, s;
    pmix_envar_t e;
    pmix_pdata_t p, d;
    pmix_proc_t proc = PMIX_PROC_STATIC_INIT;
    bool good;

    PMIx_App_construct(&a);
    PMIx_Query_construct(&q);
    PMIx_Regattr_construct(&r);
    PMIx_Envar_construct(&e);
    PMIx_App_info_create(&a, 2);
    PMIx_Query_qualifiers_create(&q, 2);
    PMIx_Regattr_load(&r, "N", "k", PMIX_INT, text);
    PMIx_Regattr_xfer(&s, &r);
    PMIx_Envar_load(&e, text, text, ':');
    PMIx_Pdata_load(&p, &proc, "k", text, PMIX_STRING);
    PMIx_Pdata_xfer(&d, &p);
    good = a.ninfo == 2 && q.nqual == 2 && r.name != NULL && r.description != NULL &&
           s.name != NULL && s.description != NULL && e.envar != NULL && e.value != NULL &&
           p.value.type == PMIX_STRING && d.value.type == PMIX_STRING;
    if ((a.info == NULL && a.ninfo != 0) || (q.qualifiers == NULL && q.nqual != 0))
        honest = false;
    PMIx_App_destruct(&a);
    PMIx_Query_destruct(&q);
    PMIx_Regattr_destruct(&r);
    PMIx_Regattr_destruct(&s);
    PMIx_Envar_destruct(&e);
    PMIx_Pdata_destruct(&p);
    PMIx_Pdata_destruct(&d);
    return good;
}

static bool texts(void)
{
    char *directives = PMIx_Info_directives_string(0), *printed = NULL;
    char *info = PMIx_Info_string(&infos[0]), *whole = PMIx_App_string(&app);
    bool good = worked(print_item(NULL, &everything, PMIX_DATA_ARRAY, &printed));

    good = good && directives != NULL && info != NULL && whole != NULL;
    free(directives);
    free(printed);
    free(info);
    free(whole);
    return good;
}

/* ---- Every allocation ------------------------------------------------------------------------ */

static void exhaust(const char *name, bool (*scenario)(void))
{
    long before = live, n = 0;
    bool good = false, clean = true;

    honest = true;
    while (!good && n < 10000) {
        taken = 0;
        fail_at = ++n;
        good = scenario() && taken < fail_at; /* succeeded, and the failing one was not reached */
        fail_at = 0;
        clean = clean && live == before;
    }
    OK_F(n > 1 && good, "%s takes memory %ld times", name, n - 1);
    OK_F(honest, "%s tells every time", name);
    OK_F(clean, "%s leaves nothing behind", name);
}

int main(void)
{
    prepare();
    exhaust("loading and copying everything", load_and_copy);
    exhaust("unloading a structure", unload_struct);
    exhaust("unloading a number", unload_flat);
    exhaust("a list of infos", lists);
    exhaust("vectors", vectors);
    exhaust("creating", creations);
    exhaust("copying infos", copies_of_infos);
    exhaust("the value of a modex entry", value_of_modex);
    exhaust("loads without a status", silent_loads);
    exhaust("texts", texts);
    return tap_done();
}
