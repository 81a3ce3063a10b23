/* job_output.h - what test programs of tools share: registrations for events, and the output of
 * jobs that they have spawned.  Include once, after pmix_rank.h; on_event is the program's handler.
 */
#ifndef WIREUP_TESTS_JOB_OUTPUT_H
#define WIREUP_TESTS_JOB_OUTPUT_H

#include <pthread.h>
#include <string.h>

static atomic_int registered;
static size_t nbytes;
static char text[8192];
static pthread_mutex_t text_lock = PTHREAD_MUTEX_INITIALIZER;

static void on_registered(pmix_status_t status, size_t ref, void *arg)
{
    (void)ref;
    (void)arg;
    must("register", status);
    registered++;
}

static void listen_for(pmix_status_t code, pmix_notification_fn_t handler)
{
    int before = registered;

    PMIx_Register_event_handler(&code, 1, NULL, 0, handler, on_registered, NULL);
    wait_for("registrations", &registered, before + 1);
}

static void on_output(size_t ref, pmix_iof_channel_t channel, pmix_proc_t *source,
                      pmix_byte_object_t *bytes, pmix_info_t infos[], size_t n)
{
    (void)ref;
    (void)channel;
    (void)source;
    (void)infos;
    (void)n;
    pthread_mutex_lock(&text_lock);
    if (bytes && bytes->bytes && nbytes + bytes->size < sizeof text) {
        memcpy(text + nbytes, bytes->bytes, bytes->size);
        nbytes += bytes->size;
    }
    pthread_mutex_unlock(&text_lock);
}

/* Output of this job, from now on. */
static void pull_output(const char *job)
{
    int before = registered;
    pmix_proc_t all;

    pthread_mutex_lock(&text_lock);
    memset(text, 0, sizeof text);
    nbytes = 0;
    pthread_mutex_unlock(&text_lock);
    PMIX_LOAD_PROCID(&all, job, PMIX_RANK_WILDCARD);
    must("pull",
         PMIx_IOF_pull(&all, 1, NULL, 0, PMIX_FWD_STDOUT_CHANNEL, on_output, on_registered, NULL));
    wait_for("answers to a pull", &registered, before + 1);
}

static int count_of(const char *word)
{
    int n = 0;

    pthread_mutex_lock(&text_lock);
    for (const char *at = text; (at = strstr(at, word)) != NULL; at++)
        n++;
    pthread_mutex_unlock(&text_lock);
    return n;
}

static void expect_text(const char *word, int times)
{
    for (int i = 0; i < RANK_PATIENCE && count_of(word) < times; i++)
        usleep(2000);
    if (count_of(word) != times)
        complain("got '%s' %d times, not %d: '%s'", word, count_of(word), times, text);
}

#endif
