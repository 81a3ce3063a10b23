/* config.c - fuzzes configuration files and files of settings, and with them the option parser:
 * every block that is accepted has a program, every refusal a sentence. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "launch/options.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The same text as a file of settings. */
static void read_settings(const uint8_t *data, size_t size)
{
    static char name[] = "wireup", program[] = "prog";
    char *argv[] = { name, program, NULL };
    struct settings_file file = { .source = OPTION_USER, .name = "settings" };
    struct launch_options opt;
    struct errmsg err = { "" };
    int rc;

    file.text = slice_mem(data, size);
    file.found = size % 2;
    file.parameters = size % 3 == 0;
    launch_options_init(&opt);
    opt.files = &file;
    rc = options_parse(&opt, 2, argv, argv + 2, &err);
    if ((rc == LAUNCH_USAGE && err.text[0] == '\0') || rc == LAUNCH_SHOW)
        abort();
    launch_options_free(&opt);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char name[] = "wireup", option[] = "-configfile", file[] = "jobs";
    char *argv[] = { name, option, file, NULL };
    struct launch_options opt;
    struct errmsg err = { "" };
    uint32_t blocks = 0;
    int rc;

    launch_options_init(&opt);
    rc = options_parse(&opt, 3, argv, argv + 3, &err);
    if (rc != LAUNCH_GO)
        abort();
    read_settings(data, size);
    rc = options_parse_config(&opt, file, slice_mem(data, size), &err);
    if (rc == LAUNCH_USAGE && err.text[0] == '\0')
        abort();
    for (const struct launch_block *b = opt.blocks; b; b = b->next, blocks++) {
        if (!b->argv || b->argc == 0 || !b->argv[0][0] || b->argv[b->argc] || !b->where)
            abort();
    }
    if (blocks != opt.nblocks || (rc == LAUNCH_GO && blocks == 0))
        abort();
    launch_options_free(&opt);
    return 0;
}
