/* attributes.c - translates key names to key strings and back, from proto/pmix_attributes.def.
 *
 * The Standard allows both at any time, before init too.  Unknown ones are returned unchanged:
 * callers pass user input through here, and keys of their own.
 */
#include "lib/pmix/api/attributes.h"
#include "base/search.h"
#include "pmix.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const struct attribute attributes[] = {
#define ATTR(name, text, type, state, since) { #name, text, PMIX_##type },
#include "proto/pmix_attributes.def"
#undef ATTR
};

#define ATTR(name, text, type, state, since)                                                       \
    _Static_assert(sizeof #name <= ATTRIBUTE_NAME && sizeof text <= ATTRIBUTE_TEXT, "it fits");
#include "proto/pmix_attributes.def"
#undef ATTR

size_t attribute_count(void)
{
    return COUNT(attributes);
}

const struct attribute *attribute_at(size_t i)
{
    return &attributes[i];
}

/* In the order of the table: upper case, so that '_' sorts after the letters. */
static int order(const char *a, const char *b)
{
    while (*a != '\0' && toupper((unsigned char)*a) == toupper((unsigned char)*b)) {
        a++;
        b++;
    }
    return toupper((unsigned char)*a) - toupper((unsigned char)*b);
}

static bool is_named_before(const void *item, const void *key)
{
    const struct attribute *a = item;

    return order(a->name, key) < 0;
}

const struct attribute *attribute_by_name(const char *name)
{
    size_t at =
        search_first(attributes, COUNT(attributes), sizeof *attributes, is_named_before, name);

    return at < COUNT(attributes) && order(attributes[at].name, name) == 0 ? &attributes[at] : NULL;
}

enum {
#define ATTR(name, text, type, state, since) INDEX_##name,
#include "proto/pmix_attributes.def"
#undef ATTR
};

static const uint16_t by_text[] = {
#define KEY(name) INDEX_##name,
#include "proto/pmix_attributes_by_text.def"
#undef KEY
};
_Static_assert(COUNT(by_text) == COUNT(attributes), "the index names every key");

static bool has_text_before(const void *item, const void *key)
{
    return strcmp(attributes[*(const uint16_t *)item].text, key) < 0;
}

/* Two names may share a string: the first of them here is returned. */
const struct attribute *attribute_by_text(const char *text)
{
    size_t at = search_first(by_text, COUNT(by_text), sizeof *by_text, has_text_before, text);

    if (at < COUNT(by_text) && strcmp(attributes[by_text[at]].text, text) == 0)
        return &attributes[by_text[at]];
    return NULL;
}

const char *PMIx_Get_attribute_string(const char *attribute)
{
    const struct attribute *a = attribute != NULL ? attribute_by_name(attribute) : NULL;

    return a != NULL ? a->text : attribute;
}

const char *PMIx_Get_attribute_name(const char *attrstring)
{
    const struct attribute *a = attrstring != NULL ? attribute_by_text(attrstring) : NULL;

    return a != NULL ? a->name : attrstring;
}
