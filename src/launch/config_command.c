/* config_command.c - see config_command.h.  It reads what a job would read, by the same functions,
 * and prints the list that the parser has kept. */
#include "launch/config_command.h"

#include <stdio.h>
#include <string.h>

#include "launch/options.h"
#include "launch/options_table.h"
#include "launch/settings.h"
#include "tools/command_json.h"

extern char **environ;

struct config {
    struct launch_options opt;
    struct settings_paths paths;
};

static const char *const whose[SETTINGS_FILES] = { "system", "user", "project" };

static bool is_flag(const struct option_row *row)
{
    return row->take == TAKE_ON || row->take == TAKE_OFF;
}

/* -enable-auto-cleanup and -disable-auto-cleanup are of one field. */
static bool same_option(const struct option_row *a, const struct option_row *b)
{
    return a->at == b->at ||
           (is_flag(a) && is_flag(b) && a->offset == b->offset && a->in_block == b->in_block);
}

static bool is_overridden(const struct option_setting *s)
{
    struct option_row row = option_row_at(s->row);

    for (const struct option_setting *t = s->next; t; t = t->next) {
        struct option_row later = option_row_at(t->row);
        if (same_option(&row, &later) && !row.many)
            return true;
        if (row.set && row.set == later.set && t->source > s->source &&
            s->source < OPTION_ENVIRONMENT)
            return true;
    }
    return false;
}

static bool was_read(const struct config *c, const char *path)
{
    const struct settings_file *f = c->opt.files;

    while (f && f->name != path)
        f = f->next;
    return f != NULL;
}

/* ---- printing ---- */

static void put_setting_json(struct json *j, const struct option_setting *s)
{
    struct option_row row = option_row_at(s->row);

    json_object(j, NULL);
    json_text(j, "option", option_name(&row));
    json_str(j, "value", s->value);
    json_str(j, "source",
             s->source == OPTION_ENVIRONMENT ? "environment" : whose[s->source - OPTION_SYSTEM]);
    json_str(j, "where", s->where);
    json_bool(j, "in_force", !is_overridden(s));
    json_object_end(j);
}

static int print_json(const struct config *c)
{
    struct command_json o;

    command_json_begin(&o, "wireup-config-1");
    json_array(&o.json, "files");
    for (int i = 0; i < SETTINGS_FILES; i++) {
        if (!c->paths.path[i])
            continue;
        json_object(&o.json, NULL);
        json_str(&o.json, "source", whose[i]);
        json_str(&o.json, "path", c->paths.path[i]);
        json_bool(&o.json, "read", was_read(c, c->paths.path[i]));
        json_object_end(&o.json);
    }
    json_array_end(&o.json);
    json_array(&o.json, "settings");
    for (const struct option_setting *s = c->opt.settings; s; s = s->next)
        put_setting_json(&o.json, s);
    json_array_end(&o.json);
    return command_json_end(&o, 0);
}

static int print_text(const struct config *c)
{
    printf("Files, the last one is the strongest:\n");
    for (int i = 0; i < SETTINGS_FILES; i++) {
        if (c->paths.path[i])
            printf("  %-8s %s%s\n", whose[i], c->paths.path[i],
                   was_read(c, c->paths.path[i]) ? "" : " (none)");
    }
    printf(c->opt.settings ? "\nSettings:\n" : "\nNo settings: the defaults hold.\n");
    for (const struct option_setting *s = c->opt.settings; s; s = s->next) {
        struct option_row row = option_row_at(s->row);
        struct slice name = option_name(&row);
        printf("  %-20.*s %-20s %s%s\n", SLICE_ARG(name), s->value, s->where,
               is_overridden(s) ? " (overridden)" : "");
    }
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}

/* Without a program the parser ends with a complaint, after all settings. */
static int read_as_a_job(struct config *c, const char *named, struct errmsg *err)
{
    char self[] = "wireup", option[] = "-config", program[] = "true";
    char *file = named ? (char *)(uintptr_t)named : program;
    char *argv[] = { self, option, file, program, NULL }, *plain[] = { self, program, NULL };
    char **words = named ? argv : plain;
    int argc = named ? 4 : 2, rc;

    rc = settings_read(&c->opt, argc, words, environ, &c->paths, err);
    return rc ? rc : options_parse(&c->opt, argc, words, environ, err);
}

int config_command(const struct command_line *l)
{
    struct config c = { .paths = { { NULL } } };
    struct errmsg err = { "" };
    int rc, code;

    launch_options_init(&c.opt);
    rc = read_as_a_job(&c, l->choices[CHOICE_config_config], &err);
    log_remarks(l->log, buf_slice(&c.opt.remarks));
    if (rc == LAUNCH_GO)
        code = l->choices[CHOICE_config_json] ? print_json(&c) : print_text(&c);
    else
        code = launch_exit_code(rc);
    if (rc != LAUNCH_GO)
        log_error(l->log, "%s", rc < 0 ? err_text(rc) : err.text);
    launch_options_free(&c.opt);
    return code;
}
