/* place.c - a PMIx program that uses the session directories it is told of.
 *
 *   place [die|wait]      prints "place RANK TMPDIR NSDIR PROCDIR" when all is as it should be
 *
 * It leaves a file in each directory, and a link that leads out of them.  die: rank 0 kills itself
 * then; wait: all stay until they are ended. */
#include <pmix.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static pmix_proc_t self;

static const char *get_text(const char *key, pmix_rank_t rank)
{
    pmix_proc_t who;
    pmix_value_t *v = NULL;

    PMIX_LOAD_PROCID(&who, self.nspace, rank);
    if (PMIx_Get(&who, key, NULL, 0, &v) != PMIX_SUCCESS || v->type != PMIX_STRING) {
        printf("place %u: %s is not told\n", self.rank, key);
        exit(1);
    }
    return v->data.string;
}

static void use(const char *dir)
{
    char file[4096];
    struct stat st;
    FILE *f;

    snprintf(file, sizeof file, "%s/left-by-%u", dir, self.rank);
    if (lstat(dir, &st) != 0 || !S_ISDIR(st.st_mode) || (st.st_mode & 0777) != 0700 ||
        st.st_uid != geteuid() || !(f = fopen(file, "w"))) {
        printf("place %u: %s is no private directory\n", self.rank, dir);
        exit(1);
    }
    fclose(f);
}

int main(int argc, char **argv)
{
    const char *tmp, *job, *own, *mode = argc > 1 ? argv[1] : "";
    char link[4096];
    pmix_value_t *v = NULL;
    pmix_proc_t all;

    if (PMIx_Init(&self, NULL, 0) != PMIX_SUCCESS)
        return 2;
    PMIX_LOAD_PROCID(&all, self.nspace, PMIX_RANK_WILDCARD);
    tmp = get_text(PMIX_TMPDIR, PMIX_RANK_WILDCARD);
    job = get_text(PMIX_NSDIR, PMIX_RANK_WILDCARD);
    own = get_text(PMIX_PROCDIR, self.rank);
    if (PMIx_Get(&all, PMIX_TDIR_RMCLEAN, NULL, 0, &v) != PMIX_SUCCESS || v->type != PMIX_BOOL ||
        !v->data.flag) {
        printf("place %u: who clears up is not told\n", self.rank);
        return 1;
    }
    if (strncmp(job, tmp, strlen(tmp)) != 0 || strncmp(own, job, strlen(job)) != 0) {
        printf("place %u: they are not below each other\n", self.rank);
        return 1;
    }
    use(tmp);
    use(job);
    use(own);
    snprintf(link, sizeof link, "%s/out", own);
    if (symlink(getenv("PWD"), link) != 0)
        return 1;
    printf("place %u %s %s %s\n", self.rank, tmp, job, own);
    fflush(stdout);
    PMIx_Fence(NULL, 0, NULL, 0);
    if (!strcmp(mode, "die") && self.rank == 0)
        raise(SIGKILL);
    while (!strcmp(mode, "wait"))
        pause();
    PMIx_Finalize(NULL, 0);
    return 0;
}
