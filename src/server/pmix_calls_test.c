/* pmix_calls_test.c - every row of proto/pmix_calls.def: with and without the flag that it is
 * required, and with a wrong type, also inside of arrays; keys that no row has; and the table
 * itself. */
#include "server/pmix_calls.h"

#include <string.h>

#include "tests/tap.h"
#include "wire/pmix_message.h"

static pmix_value_t value_of(pmix_data_type_t type)
{
    pmix_value_t v = { .type = type };

    if (type == PMIX_BOOL)
        v.data.flag = true;
    return v;
}

static pmix_status_t check_value(enum pmix_call_id id, const char *key, pmix_value_t value,
                                 pmix_info_directives_t flags)
{
    pmix_info_t infos[2];

    memset(infos, 0, sizeof infos);
    strncpy(infos[0].key, key, PMIX_MAX_KEYLEN);
    infos[0].value = value;
    infos[0].flags = flags;
    strncpy(infos[1].key, "no.key", PMIX_MAX_KEYLEN);
    return pmix_call_check(id, infos, pmix_calls[id].others == PMIX_ATTR_REFUSED ? 1 : 2);
}

static pmix_status_t check_one(enum pmix_call_id id, const char *key, pmix_data_type_t type,
                               pmix_info_directives_t flags)
{
    return check_value(id, key, value_of(type), flags);
}

/* No row has values of this type. */
enum { WRONG = PMIX_COORD };

static void test_row(enum pmix_call_id id, const struct pmix_call_attr *a)
{
    bool refused = a->class == PMIX_ATTR_REFUSED, ignored = a->class == PMIX_ATTR_IGNORED;
    pmix_status_t plain = refused ? PMIX_ERR_NOT_SUPPORTED : PMIX_SUCCESS;
    pmix_status_t required = refused || ignored ? PMIX_ERR_NOT_SUPPORTED : PMIX_SUCCESS;

    OK_F(check_one(id, a->key, a->type, 0) == plain, "%s, %s", pmix_calls[id].name, a->name);
    OK_F(check_one(id, a->key, a->type, PMIX_INFO_REQD) == required, "%s, %s required",
         pmix_calls[id].name, a->name);
    OK_F(a->type == PMIX_UNDEF || check_one(id, a->key, WRONG, 0) == PMIX_ERR_BAD_PARAM,
         "%s, %s with a wrong type", pmix_calls[id].name, a->name);
    if (a->type == PMIX_BOOL) {
        const pmix_value_t off = { .type = PMIX_BOOL };
        OK_F(check_value(id, a->key, off, 0) == PMIX_SUCCESS &&
                 check_one(id, a->key, PMIX_UNDEF, 0) == plain,
             "%s, %s that is false, and without a value", pmix_calls[id].name, a->name);
    }
}

static void test_others(enum pmix_call_id id)
{
    const struct pmix_call *c = &pmix_calls[id];
    bool refused = c->others == PMIX_ATTR_REFUSED;
    pmix_status_t plain = refused ? PMIX_ERR_NOT_SUPPORTED : PMIX_SUCCESS;
    pmix_status_t required = c->others == PMIX_ATTR_CARRIED ? PMIX_SUCCESS : PMIX_ERR_NOT_SUPPORTED;
    pmix_status_t data = c->others == PMIX_ATTR_DATA ? PMIX_SUCCESS : required;

    OK_F(check_one(id, "pmix.no.such", PMIX_STRING, 0) == plain &&
             check_one(id, "pmix.no.such", PMIX_STRING, PMIX_INFO_REQD) == required &&
             check_one(id, "no.such", PMIX_STRING, PMIX_INFO_REQD) == data,
         "%s, an attribute that has no row", c->name);
}

static void test_order(const struct pmix_call *c)
{
    bool sorted = true, once = true;

    for (size_t i = 0; i < c->nrows; i++) {
        bool answered = c->attrs[i].class <= PMIX_ATTR_CARRIED;
        sorted = sorted && answered == (i < c->nattrs);
        for (size_t k = 0; k < i; k++)
            once = once && strcmp(c->attrs[i].key, c->attrs[k].key) != 0;
    }
    OK_F(sorted, "%s: the rows ATTR and CARRIED come first", c->name);
    OK_F(once, "%s: no key has two rows", c->name);
    OK_F(!c->nattrs || c->nattrs >= pmix_calls[0].nattrs, "%s: not shorter than the first",
         c->name);
}

/* Its fields are known to the check. */
static bool has_infos(const struct pmsg *row)
{
    for (unsigned i = 0; i < row->nfields; i++) {
        if (row->fields[i].type == PMSG_TYPE_INFO || row->fields[i].type == PMSG_TYPE_QUERY)
            return true;
    }
    return false;
}

static void test_commands(void)
{
    for (unsigned i = 0; i < PMSG_COMMANDS; i++) {
        const struct pmsg_command *c = &pmsg_commands[i];
        /* A group is left with an event; distances are computed by the library. */
        bool unused = i == CMD_GROUP_LEAVE || i == CMD_DISTANCES || c->who == PMSG_NOBODY;
        if (c->name && !unused)
            OK_F(has_infos(c->request) == (pmix_call_of((enum pmix_command)i) != NULL),
                 "the command %s has a call, if it has infos", c->name);
    }
    OK_F(pmix_call_of(CMD_NONE) == NULL, "calls without a command are found by none");
}

/* The status of a call with one info in an array, which is in another one. */
static pmix_status_t check_inside(enum pmix_call_id id, const char *group, pmix_info_t *inner)
{
    pmix_data_array_t first = { .type = PMIX_INFO, .size = 1, .array = inner }, second;
    pmix_info_t outer = { .value = { .type = PMIX_DATA_ARRAY, .data.darray = &first } };

    strncpy(outer.key, group, PMIX_MAX_KEYLEN);
    second = (pmix_data_array_t){ .type = PMIX_INFO, .size = 1, .array = &outer };
    return check_value(id, group, (pmix_value_t){ .type = PMIX_DATA_ARRAY, .data.darray = &second },
                       0);
}

static void test_inside(enum pmix_call_id id, const struct pmix_call_attr *group,
                        const struct pmix_call_attr *a)
{
    bool refused = a->class == PMIX_ATTR_REFUSED;
    pmix_info_t info = { .value = value_of(a->type) };
    pmix_status_t good, bad;

    strncpy(info.key, a->key, PMIX_MAX_KEYLEN);
    good = check_inside(id, group->key, &info);
    info.value.type = WRONG;
    bad = check_inside(id, group->key, &info);
    OK_F(good == (refused ? PMIX_ERR_NOT_SUPPORTED : PMIX_SUCCESS) &&
             (a->type == PMIX_UNDEF || bad == PMIX_ERR_BAD_PARAM),
         "%s, %s in %s, and with a wrong type", pmix_calls[id].name, a->name, group->name);
}

static void test_group(enum pmix_call_id id, const struct pmix_call_attr *group)
{
    const struct pmix_call *c = &pmix_calls[id];
    pmix_data_array_t empty = { .type = PMIX_INFO }, texts = { .type = PMIX_STRING, .size = 1 };
    pmix_value_t v = { .type = PMIX_DATA_ARRAY, .data.darray = &empty };
    pmix_info_t unknown = { .key = "no.key", .flags = PMIX_INFO_REQD };
    pmix_status_t none = check_value(id, group->key, v, 0);

    for (size_t k = 0; k < c->nrows; k++)
        test_inside(id, group, &c->attrs[k]);
    OK_F(check_inside(id, group->key, &unknown) ==
             (c->others == PMIX_ATTR_CARRIED ? PMIX_SUCCESS : PMIX_ERR_NOT_SUPPORTED),
         "%s, a key that no row has in %s", c->name, group->name);
    v.data.darray = &texts;
    OK_F(none == PMIX_SUCCESS && check_value(id, group->key, v, 0) == PMIX_ERR_BAD_PARAM,
         "%s, %s with nothing in it, and with texts", c->name, group->name);
}

static void test_compressed(void)
{
    OK_F(check_one(PMIX_CALL_REGISTER_NSPACE, PMIX_LOCAL_PEERS, PMIX_COMPRESSED_STRING, 0) ==
                 PMIX_SUCCESS &&
             check_one(PMIX_CALL_SPAWN, PMIX_WDIR, PMIX_COMPRESSED_STRING, 0) == PMIX_ERR_BAD_PARAM,
         "a text that is carried on may be compressed, one that is read here not");
}

static void test_types(void)
{
    static const pmix_data_type_t numbers[] = { PMIX_INT8, PMIX_UINT16, PMIX_INT64, PMIX_SIZE };
    char word[] = "maybe";
    bool good = true;

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        good = good && check_one(PMIX_CALL_FENCE, PMIX_TIMEOUT, numbers[i], 0) == PMIX_SUCCESS;
    OK_F(good, "integers have any width");
    OK_F(check_one(PMIX_CALL_FENCE, PMIX_TIMEOUT, PMIX_STRING, 0) == PMIX_ERR_BAD_PARAM,
         "but are no texts");
    OK_F(check_value(PMIX_CALL_FENCE, PMIX_COLLECT_DATA,
                     (pmix_value_t){ .type = PMIX_STRING, .data.string = word },
                     0) == PMIX_ERR_BAD_PARAM,
         "a text is a flag only if it says yes or no");
    OK_F(check_one(PMIX_CALL_GET, "some.qualifier", PMIX_INT,
                   PMIX_INFO_REQD | PMIX_INFO_QUALIFIER) == PMIX_SUCCESS,
         "the qualifiers of a value are its own");
}

int main(void)
{
    for (int i = 0; i < PMIX_CALLS; i++) {
        const struct pmix_call *c = &pmix_calls[i];
        for (size_t k = 0; k < c->nrows; k++)
            test_row((enum pmix_call_id)i, &c->attrs[k]);
        for (size_t k = 0; k < c->nrows; k++) {
            if (c->attrs[k].is_group)
                test_group((enum pmix_call_id)i, &c->attrs[k]);
        }
        test_others((enum pmix_call_id)i);
        test_order(c);
    }
    test_commands();
    test_types();
    test_compressed();
    return tap_done();
}
