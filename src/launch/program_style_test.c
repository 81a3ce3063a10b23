/* program_style_test.c - which style a program gets: each module, in each way to name it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launch/program_style.h"
#include "tests/tap.h"

static const enum environment_style JAX = ENVIRONMENT_STYLE_jax, TORCH = ENVIRONMENT_STYLE_torch;

static char folder[] = "/tmp/wireup-style-XXXXXX";

static void write_file(const char *name, const char *text)
{
    char path[128];
    FILE *f;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    f = fopen(path, "w");
    if (!f || fputs(text, f) < 0 || fclose(f) != 0)
        abort();
}

static enum environment_style style_of_words(const char *const *argv)
{
    struct job_map_app app = { .path = argv[0], .wdir = folder };

    app.argv = (char **)(uintptr_t)argv; /* it is only read */
    while (argv[app.argc])
        app.argc++;
    return program_style_of(&app);
}

#define STYLE_OF(...) style_of_words((const char *const[]){ __VA_ARGS__, NULL })

static enum environment_style style_of_text(const char *text)
{
    return program_style_of_text(slice_str(text));
}

/* NAME stands for the module. */
static const char *const imports[] = {
    "import NAME",
    "import NAME as n",
    "import os, NAME",
    "import os,NAME as n , sys",
    "import NAME.sub",
    "from NAME import x",
    "from NAME.sub import (x,\n    y)",
    "try:\n\timport NAME\nexcept ImportError:\n    pass",
    "import os; import NAME; print(1)",
    "\"\"\"Words.\nimport nothing\n\"\"\"\nimport NAME",
    "x = '''one'''\nimport NAME\r\n",
};
static const char *const no_imports[] = {
    "import NAMEx",         "import x.NAME", "# import NAME", "\"\"\"Words.\nimport NAME\n\"\"\"",
    "x = '''\nimport NAME", "importNAME",    "reimport NAME", "from x import NAME",
    "import x as NAME",
};

static const char *with_name(const char *text, const char *name, char *out, size_t size)
{
    size_t n = 0;

    for (; *text && n + strlen(name) + 1 < size;) {
        bool here = !strncmp(text, "NAME", 4);
        n += (size_t)snprintf(out + n, size - n, "%.*s", here ? 64 : 1, here ? name : text);
        text += here ? 4 : 1;
    }
    out[n] = 0;
    return out;
}

static void test_module(const char *name, enum environment_style style)
{
    char text[512], script[1024], path[128];

    for (size_t i = 0; i < sizeof imports / sizeof *imports; i++) {
        with_name(imports[i], name, text, sizeof text);
        OK_F(style_of_text(text) == style, "%s", imports[i]);
    }
    for (size_t i = 0; i < sizeof no_imports / sizeof *no_imports; i++) {
        with_name(no_imports[i], name, text, sizeof text);
        OK_F(style_of_text(text) == TORCH, "%s", no_imports[i]);
    }
    snprintf(text, sizeof text, "import %s\n", name);
    snprintf(script, sizeof script, "#!/usr/bin/env python3\n%s", text);
    snprintf(path, sizeof path, "%s/script", folder);
    write_file("program.py", text);
    write_file("script", script);
    OK(STYLE_OF("python3", "program.py", "x") == style);
    OK(STYLE_OF("/opt/bin/python3.11", "-u", "-Wignore", "-X", "dev", "program.py") == style);
    OK(STYLE_OF("python", "-um", "program") == style);
    OK(STYLE_OF("python", "-c", text) == style);
    OK(STYLE_OF("pypy3", "-m", name) == style);
    OK(STYLE_OF(path) == style);
    OK(STYLE_OF("/usr/bin/env", "-u", "X", "A=b", "python3", "--check-hash-based-pycs", "always",
                "program.py") == style);
    OK(STYLE_OF("numactl", "-N", "0", path) == style);
}

static void test_modules(void)
{
#define MODULE(id, name) test_module(name, ENVIRONMENT_STYLE_##id);
#include "proto/environment_styles.def"
}

static void test_several(void)
{
    OK(style_of_text("import torch\nimport horovod.torch as hvd\nimport jax") ==
       ENVIRONMENT_STYLE_horovod);
    OK(style_of_text("import torch\nimport jax") == JAX);
    OK(style_of_text("import jax\nimport torch.distributed as dist") == TORCH);
}

static void test_others(void)
{
    char path[128];

    write_file("script", "#!/bin/sh\npython3 x\nimport jax\n");
    snprintf(path, sizeof path, "%s/script", folder);
    OK(STYLE_OF(path) == ENVIRONMENT_STYLE_NONE);
    OK(STYLE_OF("sh", path) == ENVIRONMENT_STYLE_NONE);
    OK(STYLE_OF("env", "A=b") == ENVIRONMENT_STYLE_NONE);
    OK(STYLE_OF("python3-config") == ENVIRONMENT_STYLE_NONE);
    OK(STYLE_OF("/nosuch/python3/bin/prog") == ENVIRONMENT_STYLE_NONE);
    OK(STYLE_OF("") == ENVIRONMENT_STYLE_NONE);
    OK(STYLE_OF("python3") == TORCH && STYLE_OF("python3", "-c") == TORCH);
    OK(STYLE_OF("python3", "-", "jax") == TORCH && STYLE_OF("python3", "nosuch.py") == TORCH);
    OK(STYLE_OF("python3", "-m", "no.such.module") == TORCH);
    write_file("script", "#! /usr/bin/python3 -u\n");
    OK(STYLE_OF(path) == TORCH);
    write_file("script", "#!/usr/bin/env -S A=b python3 -u\nimport jax\n");
    OK(STYLE_OF(path) == JAX);
    write_file("script", "\177ELF");
    OK(STYLE_OF(path) == ENVIRONMENT_STYLE_NONE);
    snprintf(path, sizeof path, "%s/package", folder);
    if (mkdir(path, 0700))
        abort();
    write_file("package/__main__.py", "import jax");
    OK(STYLE_OF("python3", "-m", "package") == JAX);
    OK(STYLE_OF("python3", "package") == TORCH); /* a folder */
}

static void remove_files(void)
{
    static const char *const names[] = { "program.py", "script", "package/__main__.py", "package",
                                         "" };
    char path[128];

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        if (remove(path))
            abort();
    }
}

int main(void)
{
    if (!mkdtemp(folder))
        abort();
    test_modules();
    test_several();
    test_others();
    remove_files();
    return tap_done();
}
