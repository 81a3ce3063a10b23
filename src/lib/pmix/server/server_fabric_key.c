/* server_fabric_key.c - see server_fabric_key.h.  Reading order: reading requests; the key;
 * answers. */
#include "lib/pmix/server/server_fabric_key.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "lib/pmix/client/client_api.h"
#include "lib/pmix/server/server_ask.h"
#include "lib/pmix/server/server_infos.h"
#include "pmix.h"

/* Open MPI reads it when it starts its layers for Omni-Path and libfabric. */
#define VARIABLE "OMPI_MCA_orte_precondition_transports"

/* ---- reading requests ------------------------------------------------------------------------ */

/* One request: an array, or all infos of the call if attributes stand by themselves. */
static bool is_request(const pmix_info_t *i)
{
    return info_key_is(i, PMIX_ALLOC_FABRIC);
}

static bool stands_alone(struct info_group g)
{
    static const char *const keys[] = { PMIX_ALLOC_FABRIC_ID, PMIX_ALLOC_FABRIC_SEC_KEY,
                                        PMIX_ALLOC_FABRIC_TYPE, PMIX_ALLOC_FABRIC_PLANE };

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (info_group_find(g, keys[i]))
            return true;
    }
    return false;
}

static const char *id_of(struct info_group g)
{
    const pmix_info_t *id = info_group_find(g, PMIX_ALLOC_FABRIC_ID);
    const char *text = id ? info_text(id) : NULL;

    return text && *text && strlen(text) <= PMIX_MAX_KEYLEN ? text : NULL;
}

static pmix_status_t check_group(struct info_group g)
{
    pmix_status_t rc = api_check(PMIX_CALL_SETUP_APPLICATION, g.list, g.n);

    return rc == PMIX_SUCCESS && !id_of(g) ? PMIX_ERR_BAD_PARAM : rc;
}

pmix_status_t fabric_key_check(const pmix_info_t *infos, size_t n)
{
    struct info_group all = { infos, n };
    pmix_status_t rc = stands_alone(all) ? check_group(all) : PMIX_SUCCESS;

    for (size_t i = 0; i < n && rc == PMIX_SUCCESS; i++) {
        if (is_request(&infos[i]))
            rc = check_group(info_group_of(&infos[i]));
    }
    return rc;
}

/* ---- the key --------------------------------------------------------------------------------- */

static bool make_key(char *key)
{
    return getrandom(key, FABRIC_KEY_SIZE, 0) == FABRIC_KEY_SIZE;
}

/* Two numbers of 16 digits.  A key that the application has from elsewhere stays. */
static bool add_variable(pmix_info_t **list_p, size_t *n_p, const char *key)
{
    uint64_t halves[2];
    char name[] = VARIABLE, text[40];
    pmix_envar_t v = { .envar = name, .value = text, .separator = ':' };

    memcpy(halves, key, sizeof halves);
    snprintf(text, sizeof text, "%016" PRIx64 "-%016" PRIx64, halves[0], halves[1]);
    return ask_add_info(list_p, n_p, PMIX_ADD_ENVAR, &v, PMIX_ENVAR);
}

static bool wants_key(struct info_group g)
{
    const pmix_info_t *i = info_group_find(g, PMIX_ALLOC_FABRIC_SEC_KEY);

    return i && PMIx_Value_true(&i->value) != PMIX_BOOL_FALSE;
}

/* ---- answers --------------------------------------------------------------------------------- */

struct answer_of_fabric {
    pmix_info_t *list;
    size_t n;
};

static void drop(struct answer_of_fabric *a)
{
    for (size_t i = 0; i < a->n; i++)
        PMIx_Info_destruct(&a->list[i]);
    free(a->list);
}

static bool add_detail(struct answer_of_fabric *a, struct info_group g, const char *key)
{
    const pmix_info_t *i = info_group_find(g, key);

    return !i || !info_text(i) || ask_add_info(&a->list, &a->n, key, info_text(i), PMIX_STRING);
}

static bool fill(struct answer_of_fabric *a, struct info_group g, const char *key)
{
    char bytes[FABRIC_KEY_SIZE];
    pmix_byte_object_t object = { .bytes = bytes, .size = sizeof bytes };

    if (key)
        memcpy(bytes, key, sizeof bytes);
    return ask_add_info(&a->list, &a->n, id_of(g), "", PMIX_STRING) &&
           add_detail(a, g, PMIX_ALLOC_FABRIC_TYPE) && add_detail(a, g, PMIX_ALLOC_FABRIC_PLANE) &&
           (!key ||
            ask_add_info(&a->list, &a->n, PMIX_ALLOC_FABRIC_SEC_KEY, &object, PMIX_BYTE_OBJECT));
}

static pmix_status_t answer(struct info_group g, bool variable, pmix_info_t **list_p, size_t *n_p)
{
    struct answer_of_fabric a = { NULL, 0 };
    char key[FABRIC_KEY_SIZE];
    bool keyed = wants_key(g), good;

    if (keyed && !make_key(key))
        return PMIX_ERROR;
    good = fill(&a, g, keyed ? key : NULL);
    if (good) {
        pmix_data_array_t array = { .type = PMIX_INFO, .size = a.n, .array = a.list };
        good = ask_add_info(list_p, n_p, PMIX_ALLOC_FABRIC, &array, PMIX_DATA_ARRAY);
    }
    good = good && (!keyed || !variable || add_variable(list_p, n_p, key));
    drop(&a);
    return good ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
}

pmix_status_t fabric_key_answer(const pmix_info_t *infos, size_t n, bool variable,
                                pmix_info_t **list_p, size_t *n_p)
{
    struct info_group all = { infos, n };
    pmix_status_t rc = stands_alone(all) ? answer(all, variable, list_p, n_p) : PMIX_SUCCESS;

    for (size_t i = 0; i < n && rc == PMIX_SUCCESS; i++) {
        if (is_request(&infos[i]))
            rc = answer(info_group_of(&infos[i]), variable, list_p, n_p);
    }
    return rc;
}

bool fabric_key_read(const pmix_info_t *answer, pmix_info_t *i_p)
{
    struct info_group g = info_group_of(answer);

    if (!is_request(answer) || !g.n)
        return false;
    memset(i_p, 0, sizeof *i_p);
    memcpy(i_p->key, g.list[0].key, sizeof i_p->key);
    i_p->value = answer->value;
    return i_p->key[0] && strncmp(i_p->key, "pmix", 4) != 0;
}
