/* SPDX-License-Identifier: MIT */
#include "t.h"

#include <ftw.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define STATUS_SKIPPED 77

struct t_case {
    const char *name;
    void (*run)(void);
    const char *not_in; /* the builds, each behind a blank */
};

/* Made by scripts/gen-tests from the object files. */
extern const struct t_case t_cases[];

void
t_check(bool ok, const char *text, const char *file, int line)
{
    if (ok)
        return;
    printf("# %s:%d: not true: %s\n", file, line, text);
    fflush(stdout);
    _exit(1);
}

void
t_check_int(long long got, long long want, const char *text, const char *file,
            int line)
{
    if (got == want)
        return;
    printf("# %s:%d: %s is %lld, expected %lld\n", file, line, text, got, want);
    fflush(stdout);
    _exit(1);
}

void
t_check_str(const char *got, const char *want, const char *text,
            const char *file, int line)
{
    if (got != NULL && want != NULL && strcmp(got, want) == 0)
        return;
    printf("# %s:%d: %s is\n#   '%s', expected\n#   '%s'\n", file, line, text,
           got ? got : "(null)", want ? want : "(null)");
    fflush(stdout);
    _exit(1);
}

void
t_check_has(const char *got, const char *part, const char *text,
            const char *file, int line)
{
    if (got != NULL && strstr(got, part) != NULL)
        return;
    printf("# %s:%d: %s is\n#   '%s', which lacks\n#   '%s'\n", file, line,
           text, got ? got : "(null)", part);
    fflush(stdout);
    _exit(1);
}

void
t_skip(const char *fmt, ...)
{
    va_list ap;

    fputs("# SKIP ", stdout);
    va_start(ap, fmt);
    vprintf(fmt, ap);
    va_end(ap);
    putchar('\n');
    fflush(stdout);
    _exit(STATUS_SKIPPED);
}

static const char *
under(const char *variable, const char *path)
{
    static char *kept[64]; /* reachable, so that no leak is reported */
    static size_t n;
    const char *top = getenv(variable);

    if (top == NULL)
        t_skip("%s is not set: run the tests with make check", variable);
    if (n == 64 || asprintf(&kept[n], "%s/%s", top, path) < 0)
        abort();
    return kept[n++];
}

const char *
t_source(const char *path)
{
    return under("TP_SOURCE", path);
}

const char *
t_build(const char *path)
{
    return under("TP_BUILD", path);
}

static int
remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

/* Seconds that a test may take; valgrind needs more. */
static unsigned
patience(void)
{
    const char *text = getenv("TP_PATIENCE");

    return text != NULL ? (unsigned)strtoul(text, NULL, 10) : 60;
}

static void
child(const struct t_case *c, const char *folder)
{
    if (chdir(folder) != 0)
        _exit(1);
    setpgid(0, 0);
    alarm(patience());
    c->run();
    fflush(stdout);
    exit(0); /* not _exit: the leak checker reports at exit */
}

/* The exit status of the test's process, or 128 + the signal. */
static int
run_case(const struct t_case *c)
{
    const char *top = getenv("TMPDIR");
    char folder[4096];
    int status;
    pid_t pid;

    snprintf(folder, sizeof folder, "%s/tunepipe-test-XXXXXX",
             top != NULL && top[0] != '\0' ? top : "/tmp");
    if (mkdtemp(folder) == NULL) {
        perror("mkdtemp");
        return 1;
    }
    fflush(stdout);
    pid = fork();
    if (pid == 0)
        child(c, folder);
    if (pid < 0 || waitpid(pid, &status, 0) < 0) {
        perror("fork");
        return 1;
    }
    killpg(pid, SIGKILL); /* whatever the test left running */
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Each word is a part of names that are wanted; behind a '-', of names that
 * are not. */
static bool
wanted(const char *name, int argc, char **argv)
{
    bool any = true, found = false;

    for (int i = 1; i < argc; i++) {
        bool out = argv[i][0] == '-';
        bool has = strstr(name, argv[i] + out) != NULL;

        if (out && has)
            return false;
        any = any && out;
        found = found || has;
    }
    return any || found;
}

/* By the mark of its file. */
static bool
runs_in(const char *build, const struct t_case *c)
{
    return build == NULL || strstr(c->not_in, build) == NULL;
}

int
main(int argc, char **argv)
{
    int passed = 0, failed = 0, skipped = 0;
    unsigned part = 0, parts = 1, n = 0;
    const char *which = getenv("TP_PART"); /* 0/2: the first, the third, ... */
    const char *build = getenv("TP_BUILT");

    if (which != NULL &&
        (sscanf(which, "%u/%u", &part, &parts) != 2 || parts == 0))
        return 2;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (const struct t_case *c = t_cases; c->name != NULL; c++) {
        int status;

        if (!wanted(c->name, argc, argv) || !runs_in(build, c) ||
            n++ % parts != part)
            continue;
        status = run_case(c);
        if (status == STATUS_SKIPPED)
            skipped++;
        else if (status == 0)
            passed++;
        else
            failed++;
        if (status == 0 && getenv("TP_QUIET") != NULL)
            continue;
        printf("%s %s",
               status == 0                ? "ok"
               : status == STATUS_SKIPPED ? "skipped"
                                          : "FAILED",
               c->name);
        if (status > 128)
            printf(" (%s)", strsignal(status - 128));
        putchar('\n');
    }
    printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped);
    return failed > 0;
}
