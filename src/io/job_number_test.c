/* job_number_test.c - the smallest free number; one that another process has is not given again. */
#include "io/job_number.h"

#include <sys/wait.h>
#include <unistd.h>

#include "tests/tap.h"

/* The number that another process gets. */
static uint32_t of_another(void)
{
    int status = 0;
    pid_t pid = fork();

    if (pid == 0) {
        struct job_number n = JOB_NUMBER_NONE;
        job_number_take(&n);
        _exit((int)(n.value > 200 ? 0 : n.value));
    }
    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? (uint32_t)WEXITSTATUS(status) : 0;
}

int main(void)
{
    struct job_number a = JOB_NUMBER_NONE, b = JOB_NUMBER_NONE, c = JOB_NUMBER_NONE;
    uint32_t first;

    job_number_take(&a);
    first = a.value;
    OK(first > 0 && a.fd >= 0);
    job_number_take(&a);
    OK_F(a.value == first, "one launcher has one number");
    job_number_take(&b);
    OK(b.value > first);
    OK_F(of_another() > b.value, "another process gets another one");
    job_number_drop(&a);
    OK(a.value == 0 && a.fd == -1);
    job_number_take(&c);
    OK_F(c.value <= first, "the smallest that is free");
    job_number_drop(&a);
    job_number_drop(&b);
    job_number_drop(&c);
    return tap_done();
}
