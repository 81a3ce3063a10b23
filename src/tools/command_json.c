/* command_json.c - see command_json.h. */
#include "tools/command_json.h"

#include <stdio.h>

enum { COMMAND_JSON_MAX = 64 << 20 };

void command_json_begin(struct command_json *o, const char *schema)
{
    buf_init(&o->out, COMMAND_JSON_MAX);
    json_init(&o->json, &o->out);
    json_object(&o->json, NULL);
    json_str(&o->json, "schema", schema);
}

int command_json_end(struct command_json *o, int code)
{
    struct slice s;
    bool done;

    json_object_end(&o->json);
    json_done(&o->json);
    buf_byte(&o->out, '\n');
    s = buf_slice(&o->out);
    done = buf_ok(&o->out) && fwrite(s.ptr, 1, s.len, stdout) == s.len && fflush(stdout) == 0;
    buf_free(&o->out);
    return done ? code : 1;
}
