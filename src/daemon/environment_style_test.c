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
#define STORE                                                                                      \
    "MASTER_ADDR=127.0.0.1 MASTER_PORT=99 TORCHELASTIC_USE_AGENT_STORE=True "                      \
    "GLOO_ENABLE_STORE_V2_API=1 "

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

struct names {
    const char *set;
    char all[64][64];
    int n;
};

static bool is_set(void *arg, const char *name)
{
    const struct names *s = arg;

    return s->set && !strcmp(s->set, name);
}

static void note(void *arg, const char *name, struct slice value)
{
    struct names *s = arg;

    (void)value;
    snprintf(s->all[s->n++], sizeof s->all[0], "%s", name);
}

static struct names names_of(enum environment_style style, const char *set)
{
    struct names s = { .set = set };
    const struct environment_style_calls calls = { is_set, note, &s };
    const struct environment_place place = { .nspace = "ns", .store_port = 9, .head = "head" };

    environment_style_put(style, &place, &calls);
    return s;
}

/* Whatever variable of whatever style the user sets, it is not set again, and the others are: those
 * of the store all or none. */
static void test_users_values(void)
{
    for (int s = ENVIRONMENT_STYLE_NONE + 1; s < ENVIRONMENT_STYLES; s++) {
        const struct names all = names_of((enum environment_style)s, NULL);
        OK(all.n > 0);
        for (int i = 0; i < all.n; i++) {
            const struct names others = names_of((enum environment_style)s, all.all[i]);
            bool of_store = !strncmp(all.all[i], "MASTER_", 7) ||
                            !strcmp(all.all[i], "TORCHELASTIC_USE_AGENT_STORE");
            bool again = false;
            for (int k = 0; k < others.n; k++)
                again |= !strcmp(others.all[k], all.all[i]);
            OK_F(!again && others.n == all.n - (of_store ? 4 : 1), "%s is the user's", all.all[i]);
        }
    }
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
    test_users_values();
    test_words();
    return tap_done();
}
