/* spawn_pack_test.c - a spawn request packed and unpacked is the same; wrong bytes are none. */
#include "core/spawn_pack.h"

#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

static struct spawn_request *sample(void)
{
    static char *args[] = { (char *)"x", (char *)"a b", NULL };
    static struct spawn_pair infos[1], preputs[2];
    static struct spawn_command commands[2];
    struct spawn_request *rq = spawn_new();

    infos[0] = (struct spawn_pair){ SLICE("wdir"), SLICE("/tmp") };
    preputs[0] = (struct spawn_pair){ SLICE("k"), SLICE("v") };
    preputs[1] = (struct spawn_pair){ SLICE("empty"), SLICE("") };
    commands[0] = (struct spawn_command){ (char *)"first", args, 2, 3, infos, 1 };
    commands[1] = (struct spawn_command){ (char *)"second", args + 2, 0, 1, NULL, 0 };
    rq->commands = commands;
    rq->ncommands = 2;
    rq->preputs = preputs;
    rq->npreputs = 2;
    rq->requestor = 5;
    return rq;
}

static void round_trip(void)
{
    struct spawn_request *rq = sample(), *back;
    struct buf bytes = BUF_NULL(1 << 16);
    struct errmsg err;

    spawn_pack(rq, &bytes);
    OK(buf_ok(&bytes));
    back = spawn_unpack(buf_slice(&bytes), &err);
    OK(back && back->ncommands == 2 && back->npreputs == 2 && spawn_nprocs(back) == 4);
    OK(back && !strcmp(back->commands[0].args[1], "a b") && !back->commands[0].args[2]);
    OK(back && slice_is(spawn_info(&back->commands[0], "wdir"), "/tmp"));
    OK(back && !strcmp(back->commands[1].program, "second") && back->commands[1].nargs == 0);
    OK(back && back->requestor == 5);
    OK(back && slice_is(back->preputs[1].key, "empty") && back->preputs[1].value.len == 0);
    spawn_free(back);
    spawn_free(rq);
    buf_free(&bytes);
}

static void refusals(void)
{
    struct spawn_request *rq = sample(), *back;
    struct buf bytes = BUF_NULL(1 << 16);
    struct errmsg err;
    size_t refused = 0, n;

    spawn_pack(rq, &bytes);
    for (n = 0; n < buf_len(&bytes); n++) {
        char *copy = malloc(n + 1);
        memcpy(copy, buf_slice(&bytes).ptr, n);
        back = spawn_unpack(slice_mem(copy, n), &err);
        refused += back == NULL;
        spawn_free(back);
        free(copy);
    }
    OK_F(refused > n / 2, "%zu of %zu cuts are seen", refused, n);
    for (size_t i = 0; i < n; i++) { /* no changed byte does harm */
        char *copy = malloc(n);
        memcpy(copy, buf_slice(&bytes).ptr, n);
        copy[i] = (char)(copy[i] ^ 0x55);
        spawn_free(spawn_unpack(slice_mem(copy, n), &err));
        free(copy);
    }
    spawn_free(rq);
    buf_free(&bytes);
}

int main(void)
{
    round_trip();
    refusals();
    return tap_done();
}
