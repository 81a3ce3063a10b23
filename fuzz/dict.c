/* dict.c - prints a libFuzzer dictionary: the words of a protocol, read from its table, so that a
 * new message reaches the fuzzers without anybody's remembering.
 *
 *   fuzz-dict pmi1|pmi2|session|options|hosts|procmap|pmix|map
 */
#include <stdio.h>
#include <string.h>

#include "wire/pmi1.h"
#include "wire/pmi2.h"
#include "wire/pmix_types.h"
#include "wire/text.h"
#include "launch/options_table.h"

static void print_protocol(const struct text_proto *proto)
{
    printf("\"cmd=\"\n\"mcmd=\"\n\"endcmd\"\n\"\\x0a\"\n\" \"\n\";\"\n\"=\"\n");
    for (unsigned m = 0; m < proto->nmsgs; m++) {
        const struct text_msg *msg = &proto->msgs[m];

        printf("\"cmd=%s\"\n", msg->name);
        for (unsigned f = 0; f < msg->nfields; f++)
            printf("\"%s=\"\n", msg->fields[f].name);
    }
}

static void print_options(void)
{
    for (size_t i = 0; i < option_row_count; i++) {
        struct option_row row = option_row_at(i);
        struct slice rest = slice_str(row.names), name;
        if (row.take == TAKE_GROUP)
            continue;
        while (option_next_name(&rest, &name))
            printf("\"-" SLICE_FMT "\"\n", SLICE_ARG(name));
        rest = slice_str(row.words);
        while (option_next_name(&rest, &name))
            printf("\"" SLICE_FMT "\"\n", SLICE_ARG(name));
    }
    printf("\" \"\n\"=\"\n\"\\\\\\x0a\"\n\"'\"\n\"#\"\n");
}

/* The words of scripts besides those of the messages. */
static void print_verbs(void)
{
    static const char *const words[] = {
        "all ",          "c0 ",          "c1 ",          "p0 ",     "d0 ",        " tx ",
        " raw \\\"",     " hangup",      " exit ",       " dies ",  " deaf",      " hears",
        "0> ",           "1> ",          "4> ",          "job n=2", "stranger s", "host spawned",
        "host refused ", "host preset ", " speaks pmi2", "\\\\n",   " flood ",
    };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        printf("\"%s\"\n", words[i]);
}

/* Data types as both kinds of encoding write them, and texts of some. */
static void print_types(void)
{
    for (unsigned n = 0; n < PTYPE_NUMBERS; n++)
        if (ptype_find((uint16_t)n))
            printf("\"\\x%02x\"\n\"\\x00\\x%02x\"\n", n, n);
    printf("\"\\xff\\xff\\xff\\xff\\x0f\"\n\"hwloc:0-\"\n\"SK0:L30:NM0\"\n\"PMIX_\"\n");
}

int main(int argc, char **argv)
{
    const char *what = argc == 2 ? argv[1] : "";

    if (strcmp(what, "pmi1") == 0) {
        print_protocol(&pmi1_proto);
    } else if (strcmp(what, "pmi2") == 0) {
        print_protocol(&pmi2_proto);
    } else if (strcmp(what, "session") == 0) {
        print_verbs();
        print_protocol(&pmi1_proto);
        print_protocol(&pmi2_proto);
    } else if (strcmp(what, "options") == 0) {
        print_options();
    } else if (strcmp(what, "hosts") == 0) {
        printf("\" slots=\"\n\" max_slots=\"\n\" binding=\"\n\" user=\"\n\" port=\"\n\"@\"\n\"rank "
               "0=\"\n\"+n0\"\n\" slot=\"\n\"0:1-2,*\"\n\":\"\n\"[::1]:\"\n");
    } else if (strcmp(what, "procmap") == 0) {
        printf("\"(vector,\"\n\"(0,1,1)\"\n\"[\"\n\"]x\"\n\",\"\n\")\"\n");
    } else if (strcmp(what, "pmix") == 0) {
        print_types();
    } else if (strcmp(what, "map") == 0) {
        printf("\"pmix[\"\n\"raw:\"\n\"blob:\\x00component=zlib:\\x00size=\"\n\"[1:\"\n\"]\"\n");
        printf("\"-\"\n\",\"\n\";\"\n\"1-9\"\n");
    } else {
        fprintf(stderr, "usage: fuzz-dict pmi1|pmi2|session|options|hosts|procmap|pmix|map\n");
        return 2;
    }
    return 0;
}
