/* SPDX-License-Identifier: MIT */
/* run [PART-OF-A-NAME]: tortures every case, each in a process and an empty
 * folder of its own. */
#include "torture.h"

#include "core/err.h"
#include "core/folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define ALLOCATIONS_MAX 20000
/* After so many failures it is run with all the memory it wants.  What a
 * failure left behind the next one meets, too, as far as that comes. */
#define WHOLE_EVERY 4

static void
complain(const struct torture_case *c, unsigned long n, const char *what,
         const char *more)
{
    printf("# %s: allocation %lu: %s%s\n", c->name, n, what, more);
    fflush(stdout);
    _exit(1);
}

static void
run_quietly(const struct torture_case *c, unsigned long n)
{
    struct err err = {0};

    if (c->run(&err) != 0)
        complain(c, n, "with memory it fails: ", err.text);
}

/* The child: 0 when all is well; *at tells the parent where it died. */
static int
torture(const struct torture_case *c, unsigned long *at)
{
    struct err err;
    long before;
    int rc, fired;

    run_quietly(c, 0); /* what libraries keep for good they have now */
    before = failing_live();
    for (*at = 1; *at < ALLOCATIONS_MAX; ++*at) {
        err = (struct err){0};
        failing_arm(*at);
        rc = c->run(&err);
        fired = failing_fired();
        if (failing_live() != before)
            complain(c, *at, "something is not freed", "");
        if (!fired && rc == 0)
            return 0; /* this was a whole run */
        if (!fired)
            complain(c, *at, "nothing failed but the case: ", err.text);
        if (rc == 0 && !c->may_pass)
            complain(c, *at, "its failure goes unnoticed", "");
        if (rc != 0 && strstr(err.text, "emory") == NULL)
            complain(c, *at, "the error names no lack of memory: ", err.text);
        if (*at % WHOLE_EVERY == 0)
            run_quietly(c, *at);
    }
    complain(c, *at, "there is no end of it", "");
    return 1;
}

static int
run_case(const struct torture_case *c, unsigned long *at)
{
    const char *top = getenv("TMPDIR");
    char folder[4096];
    int status;
    pid_t pid;

    snprintf(folder, sizeof folder, "%s/tunepipe-torture-XXXXXX",
             top != NULL && top[0] != '\0' ? top : "/tmp");
    if (mkdtemp(folder) == NULL) {
        perror("mkdtemp");
        exit(2);
    }
    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        alarm(300);
        exit(chdir(folder) == 0 ? torture(c, at) : 2);
    }
    if (pid < 0 || waitpid(pid, &status, 0) < 0)
        status = -1;
    folder_remove(folder);
    if (WIFSIGNALED(status))
        printf("# %s: allocation %lu: %s\n", c->name, *at,
               strsignal(WTERMSIG(status)));
    return status;
}

int
main(int argc, char **argv)
{
    static const struct torture_case *const tables[] = {
        torture_core,      torture_pack,    torture_protocol, torture_space,
        torture_log,       torture_history, torture_plugin,   torture_config,
        torture_session,   torture_state,   torture_saving,   torture_plugins,
        torture_objectives};
    unsigned long *at = mmap(NULL, sizeof *at, PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int failed = 0;

    if (at == MAP_FAILED)
        return 2;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        for (const struct torture_case *c = tables[i]; c->name != NULL; c++) {
            if (argc > 1 && strstr(c->name, argv[1]) == NULL)
                continue;
            if (run_case(c, at) == 0) {
                printf("ok torture_%s (%lu)\n", c->name, *at - 1);
                continue;
            }
            printf("FAILED torture_%s\n", c->name);
            failed = 1;
        }
    return failed;
}
