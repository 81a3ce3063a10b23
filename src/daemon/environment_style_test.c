/* environment_style_test.c - which style a program gets, and which variables a process. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "daemon/environment_style.h"
#include "tests/tap.h"

struct vars {
    const char *set; /* that the user has set, "A,B," */
    struct buf out;
};

static bool has(void *arg, const char *name)
{
    const struct vars *v = arg;
    const char *at = strstr(v->set, name);

    return at && at[strlen(name)] == ',' && (at == v->set || at[-1] == ',');
}

static void put(void *arg, const char *name, struct slice value)
{
    struct vars *v = arg;

    buf_printf(&v->out, "%s=" SLICE_FMT " ", name, SLICE_ARG(value));
}

static void check(enum environment_style style, const char *set, uint16_t port,
                  const char *expected)
{
    struct vars v = { set, BUF_NULL(4096) };
    const struct environment_style_calls calls = { has, put, &v };
    const struct environment_place place = {
        .values = { 5, 8, 1, 2, 3, 4 }, .nspace = "ns", .store_port = port, .head = "head"
    };

    environment_style_put(style, &place, &calls);
    if (!OK(strcmp(buf_len(&v.out) ? buf_cstr(&v.out) : "", expected) == 0))
        printf("# got %s\n", buf_len(&v.out) ? buf_cstr(&v.out) : "");
    buf_free(&v.out);
}

#define PLACES_BUT_RANK                                                                            \
    "WORLD_SIZE=8 LOCAL_RANK=1 LOCAL_WORLD_SIZE=2 GROUP_RANK=3 GROUP_WORLD_SIZE=4 ROLE_RANK=5 "    \
    "ROLE_WORLD_SIZE=8 ROLE_NAME=default TORCHELASTIC_RUN_ID=ns TORCHELASTIC_RESTART_COUNT=0 "     \
    "TORCHELASTIC_MAX_RESTARTS=0 "
#define STORE "MASTER_ADDR=127.0.0.1 MASTER_PORT=99 TORCHELASTIC_USE_AGENT_STORE=True "

static void test_variables(void)
{
    check(ENVIRONMENT_STYLE_NONE, "", 99, "");
    check(ENVIRONMENT_STYLE_torch, "", 99, "RANK=5 " PLACES_BUT_RANK STORE);
    check(ENVIRONMENT_STYLE_torch, "RANK,", 99, PLACES_BUT_RANK STORE);
    check(ENVIRONMENT_STYLE_torch, "", 0, "RANK=5 " PLACES_BUT_RANK);
    check(ENVIRONMENT_STYLE_torch, "MASTER_PORT,", 99, "RANK=5 " PLACES_BUT_RANK);
    check(ENVIRONMENT_STYLE_torch, "XMASTER_PORT,", 99, "RANK=5 " PLACES_BUT_RANK STORE);
    check(ENVIRONMENT_STYLE_jax, "OMPI_MCA_orte_hnp_uri,JAX_COORDINATOR_ADDRESS,", 99,
          "JAX_NUM_PROCESSES=8 JAX_PROCESS_ID=5 ");
    check(ENVIRONMENT_STYLE_horovod, "HOROVOD_SIZE,", 99,
          "HOROVOD_RANK=5 HOROVOD_LOCAL_RANK=1 HOROVOD_LOCAL_SIZE=2 HOROVOD_CROSS_RANK=3 "
          "HOROVOD_CROSS_SIZE=4 ");
}

/* The port of the coordinator, and the one that JAX calculates from the address of a launcher. */
static void meeting_ports(const char *nspace, bool devices, unsigned *port_p, unsigned *derived_p)
{
    struct vars v = { "JAX_NUM_PROCESSES,JAX_PROCESS_ID,", BUF_NULL(4096) };
    const struct environment_style_calls calls = { has, put, &v };
    const struct environment_place place = { .nspace = nspace,
                                             .head = "n1",
                                             .has_devices = devices };
    unsigned job, again = 0;

    *port_p = *derived_p = 0;
    environment_style_put(ENVIRONMENT_STYLE_jax, &place, &calls);
    if (sscanf(buf_cstr(&v.out),
               "JAX_COORDINATOR_ADDRESS=n1:%u OMPI_MCA_orte_hnp_uri=%u.0;tcp://n1:%u ", port_p,
               &job, &again) == 3 &&
        again == *port_p)
        *derived_p = job / 4096 % 4096 + 65535 - 4096 + 1;
    buf_free(&v.out);
}

static void test_meeting(void)
{
    unsigned port, derived, other;

    meeting_ports("wireup-1.1", false, &port, &derived);
    OK(port >= 61440 && port <= 65535 && derived == port);
    meeting_ports("wireup-1.2", false, &other, &derived);
    OK(other >= 61440 && other != port && derived == other);
    meeting_ports("wireup-1.2", true, &port, &derived);
    OK(port == other && derived == 0); /* JAX is not to choose a device */
}

static enum environment_style style_of_script(const char *text)
{
    char path[] = "/tmp/wireup-style-XXXXXX";
    enum environment_style style;
    int fd = mkstemp(path);

    if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
        abort();
    close(fd);
    style = environment_style_of(path);
    unlink(path);
    return style;
}

static void test_programs(void)
{
    OK(environment_style_of("python") == ENVIRONMENT_STYLE_torch);
    OK(environment_style_of("/opt/x/bin/python3.11") == ENVIRONMENT_STYLE_torch);
    OK(environment_style_of("/usr/bin/pypy3") == ENVIRONMENT_STYLE_torch);
    OK(environment_style_of("python3-config") == ENVIRONMENT_STYLE_NONE);
    OK(environment_style_of("/nosuch/python3/bin/prog") == ENVIRONMENT_STYLE_NONE);
    OK(environment_style_of("") == ENVIRONMENT_STYLE_NONE);
    OK(style_of_script("#!/usr/bin/python3 -u\n") == ENVIRONMENT_STYLE_torch);
    OK(style_of_script("#! /usr/bin/env python3\nimport x\n") == ENVIRONMENT_STYLE_torch);
    OK(style_of_script("#!/bin/sh\npython3 x\n") == ENVIRONMENT_STYLE_NONE);
    OK(style_of_script("\177ELF") == ENVIRONMENT_STYLE_NONE);
    OK(style_of_script("") == ENVIRONMENT_STYLE_NONE);
}

static void test_words(void)
{
    for (int s = 0; s < ENVIRONMENT_STYLES; s++) {
        const char *word = environment_style_word((enum environment_style)s);
        OK_F(environment_style_named(slice_str(word)) == (enum environment_style)s, "%s", word);
    }
    OK(environment_style_named(SLICE("other")) == ENVIRONMENT_STYLE_NONE);
    OK(environment_style_has(SLICE("WORLD_SIZE")) && !environment_style_has(SLICE("WORLD")));
}

int main(void)
{
    test_variables();
    test_meeting();
    test_programs();
    test_words();
    return tap_done();
}
