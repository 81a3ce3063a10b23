/* pmix_runtime_options.c - see pmix_runtime_options.h. */
#include "server/pmix_runtime_options.h"

#include <string.h>
#include <strings.h>

#include "core/spawn.h"

enum option_kind { IS_FLAG, IS_FALSE, IS_TEXT, IS_NUMBER, IS_ALL, IS_ANYHOW };

static const struct {
    const char *name, *key;
    enum option_kind kind;
} options[] = {
    { "error-nonzero-status", SPAWN_STRICT, IS_FLAG },
    { "donotlaunch", SPAWN_NO_LAUNCH, IS_FLAG },
    { "show-progress", SPAWN_LOG_PROGRESS, IS_FLAG },
    { "recoverable", SPAWN_RECOVERABLE, IS_FLAG },
    { "continuous", SPAWN_RECOVERABLE, IS_FLAG },
    { "exec-agent", SPAWN_EXEC_AGENT, IS_TEXT },
    { "max-restarts", SPAWN_RESTARTS, IS_NUMBER },
    { "timeout", SPAWN_JOB_LIMIT, IS_NUMBER },
    { "spawn-timeout", SPAWN_LIMIT, IS_NUMBER },
    { "report-state-on-timeout", SPAWN_LATE_STATE, IS_FLAG },
    { "get-stack-traces", SPAWN_LATE_STACKS, IS_FLAG },
    { "report-child-jobs-separately", SPAWN_JOINT, IS_FALSE },
    { "aggregate-help", SPAWN_EACH_HELP, IS_FALSE },
    { "stop-on-exec", SPAWN_STOP_ON_EXEC, IS_ALL },
    { "stop-in-init", SPAWN_STOP_IN_INIT, IS_ALL },
    { "stop-in-app", SPAWN_STOP_IN_APP, IS_ALL },
    { "notifyerrors", NULL, IS_ANYHOW },
    { "forward-environment", NULL, IS_ANYHOW },
    { "fwd-environment", NULL, IS_ANYHOW },
};

static bool is_word(struct slice s, const char *word)
{
    return s.len == strlen(word) && !strncasecmp(s.ptr, word, s.len);
}

/* No value is true. */
static bool read_flag(struct slice value, bool *flag_p)
{
    static const char *const words[] = { "0", "false", "no", "1", "true", "yes" };

    *flag_p = true;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (is_word(value, words[i])) {
            *flag_p = i >= 3;
            return true;
        }
    }
    return value.len == 0;
}

static bool read_value(enum option_kind kind, struct slice value, struct runtime_option *o)
{
    uint32_t number;
    bool flag;

    if (kind == IS_TEXT || kind == IS_NUMBER) {
        o->value = value;
        return value.len && (kind == IS_TEXT || slice_u32(value, &number));
    }
    if (!read_flag(value, &flag) || (kind == IS_ANYHOW && !flag))
        return false;
    if (flag == (kind == IS_FALSE))
        o->key = NULL; /* what it says holds in any case */
    o->value = kind == IS_ALL ? slice_str("all") : slice_str("1");
    return true;
}

bool runtime_options_next(struct slice *list, struct runtime_option *o_p)
{
    struct slice value = slice_trim(slice_cut(list, ','));
    struct slice name = slice_trim(slice_cut(&value, '='));

    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        if (!is_word(name, options[i].name))
            continue;
        o_p->key = options[i].key;
        return read_value(options[i].kind, slice_trim(value), o_p);
    }
    return false;
}
