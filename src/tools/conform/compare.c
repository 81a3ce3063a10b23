/* compare.c - see compare.h. */
#include "tools/conform/compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire/pmi1.h"
#include "wire/pmi2.h"

enum rule { RULE_STATUS, RULE_EQUAL, RULE_LEAST, RULE_ANY, RULE_NAME, RULE_VALUE };

/* By the names on the wire, which the protocols' tables have. */
static const struct need {
    const struct text_proto *proto;
    uint16_t message, field;
    enum rule rule;
} needs[] = {
#define PLACE_pmi1(message, field) PMI1_AT_##message##_##field
#define PLACE_pmi2(message, field) PMI2_AT_##message##_##field
#define ROW_pmi1(message)          PMI1_##message
#define ROW_pmi2(message)          PMI2_##message
#define NEED(protocol, message, field, rule)                                                       \
    { &protocol##_proto, ROW_##protocol(message), PLACE_##protocol(message, field), RULE_##rule },
#include "tools/conform/needed.def"
#undef NEED
};

enum { NEEDS = sizeof needs / sizeof *needs, TEXT_ROOM = 300 };

static const struct decode_field *find(const struct decoded *m, const char *name)
{
    for (uint32_t i = 0; i < m->nfields; i++) {
        if (slice_is(m->fields[i].name, name))
            return &m->fields[i];
    }
    return NULL;
}

static void show(const struct decode_field *f, char text[TEXT_ROOM])
{
    if (f->kind == DECODE_TEXT || f->kind == DECODE_BYTES)
        snprintf(text, TEXT_ROOM, "'" SLICE_FMT "'", SLICE_ARG(slice_head(f->text, TEXT_ROOM - 3)));
    else
        snprintf(text, TEXT_ROOM, "%lld", (long long)f->number);
}

static bool is_scalar(const struct decode_field *f)
{
    return f->kind != DECODE_LIST && f->kind != DECODE_GROUP && f->kind != DECODE_END &&
           f->kind != DECODE_NULL;
}

/* A number may be a text in another release. */
static bool same(const struct decode_field *a, const struct decode_field *b)
{
    if (a->kind == DECODE_TEXT || a->kind == DECODE_BYTES)
        return (b->kind == DECODE_TEXT || b->kind == DECODE_BYTES) && slice_eq(a->text, b->text);
    return is_scalar(b) && b->kind != DECODE_TEXT && b->kind != DECODE_BYTES &&
           a->number == b->number;
}

static bool differ(const struct compare *c, const struct decode_field *golden,
                   const struct decode_field *live, struct errmsg *err)
{
    char want[TEXT_ROOM], is[TEXT_ROOM] = "missing";

    show(golden, want);
    if (live)
        show(live, is);
    errmsg_set(err, 0, SLICE_FMT ": " SLICE_FMT " is %s, not %s", SLICE_ARG(c->live->command),
               SLICE_ARG(golden->name), is, want);
    return false;
}

/* ---- PMI-1 and PMI-2 ------------------------------------------------------------------------- */

static bool meets(const struct compare *c, enum rule rule, const struct decode_field *golden,
                  const struct decode_field *live)
{
    switch (rule) {
    case RULE_STATUS: return (golden->number == 0) == (live->number == 0);
    case RULE_LEAST: return live->number >= golden->number;
    case RULE_ANY:
    case RULE_NAME: return true;
    case RULE_VALUE:
        if (c->is_map)
            return slice_starts(live->text, SLICE("(vector,"));
        return same(golden, live);
    default: return same(golden, live);
    }
}

static bool compare_text(const struct compare *c, struct slice *golden_name_p, struct slice *name_p,
                         struct errmsg *err)
{
    for (size_t i = 0; i < NEEDS; i++) {
        const struct need *n = &needs[i];
        const struct text_msg *row = &n->proto->msgs[n->message];
        const struct decode_field *golden, *live;
        if (strcmp(n->proto->name, c->golden->protocol) != 0 ||
            !slice_is(c->golden->command, row->name))
            continue;
        golden = find(c->golden, row->fields[n->field].name);
        live = find(c->live, row->fields[n->field].name);
        if (!golden || (n->rule == RULE_STATUS && !live && golden->number == 0))
            continue; /* a status that is not there is a success */
        if (!live || !meets(c, n->rule, golden, live))
            return differ(c, golden, live, err);
        if (n->rule == RULE_STATUS && golden->number != 0)
            return true;
        if (n->rule == RULE_NAME) {
            *golden_name_p = golden->text;
            *name_p = live->text;
        }
    }
    return true;
}

/* ---- PMIx ------------------------------------------------------------------------------------ */

/* The job has a name of its own; of a process there is more behind it. */
static bool same_renamed(struct slice golden, struct slice live,
                         const struct transcript_names *names)
{
    return slice_starts(golden, names->golden) && slice_starts(live, names->live) &&
           slice_eq(slice_skip(golden, names->golden.len), slice_skip(live, names->live.len));
}

/* Somewhere in the reply there is a field of this name with this value. */
static bool has(const struct compare *c, const struct decode_field *golden,
                const struct transcript_names *names)
{
    for (uint32_t i = 0; i < c->live->nfields; i++) {
        const struct decode_field *f = &c->live->fields[i];
        if (!slice_eq(f->name, golden->name))
            continue;
        if (same(golden, f) ||
            (golden->kind == DECODE_TEXT && same_renamed(golden->text, f->text, names)))
            return true;
    }
    return false;
}

static bool compare_pmix(const struct compare *c, const struct transcript_names *names,
                         struct errmsg *err)
{
    const struct decode_field *status = find(c->golden, "status"), *is = find(c->live, "status");

    if (status && (!is || (status->number == 0) != (is->number == 0)))
        return differ(c, status, is, err);
    for (uint32_t i = 0; i < c->golden->nfields && !(status && status->number); i++) {
        const struct decode_field *f = &c->golden->fields[i];
        if (is_scalar(f) && !slice_is(f->name, "tag") && !slice_is(f->name, "status") &&
            !slice_is(f->name, "index") && !has(c, f, names))
            return differ(c, f, NULL, err);
    }
    return true;
}

bool compare_replies(const struct compare *c, const struct transcript_names *names,
                     struct slice *golden_name_p, struct slice *name_p, struct errmsg *err)
{
    if (c->live->fault && !c->any_tail) {
        errmsg_set(err, 0, "a reply that cannot be read: %s", c->live->fault);
        return false;
    }
    if (!slice_eq(c->golden->command, c->live->command)) {
        errmsg_set(err, 0, "the reply is " SLICE_FMT ", not " SLICE_FMT,
                   SLICE_ARG(c->live->command), SLICE_ARG(c->golden->command));
        return false;
    }
    if (!strcmp(c->golden->protocol, "PMIx"))
        return compare_pmix(c, names, err);
    return compare_text(c, golden_name_p, name_p, err);
}
