/* SPDX-License-Identifier: MIT */
#include "t.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

NOT_UNDER_TSAN;

/* glibc 2.33 and later know the second pair of names, earlier ones the
 * first; unknown names are passed over. */
#define WITHOUT_FMA "glibc.cpu.hwcaps=-AVX2_Usable,-FMA_Usable,-AVX2,-FMA,-FMA4"

/* What tests/tools/fma_probe says of src/numerics, for ever. */
#define GOLDEN "51fd8d0f93d060b6"

/* The output of `program` (with `argument`, if any) up to size - 1 bytes;
 * its exit status. */
static int
run(const char *tunables, const char *program, const char *argument, char *out,
    size_t size)
{
    int ends[2];
    size_t used = 0;
    ssize_t n;
    int status;
    pid_t pid;

    CHECK(pipe(ends) == 0);
    pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        dup2(ends[1], 1);
        dup2(ends[1], 2);
        if (tunables != NULL)
            setenv("GLIBC_TUNABLES", tunables, 1);
        else
            unsetenv("GLIBC_TUNABLES");
        execl(program, program, argument, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    while ((n = read(ends[0], out + used, size - 1 - used)) > 0)
        used += (size_t)n;
    out[used] = '\0';
    close(ends[0]);
    CHECK(waitpid(pid, &status, 0) == pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(numerics_bits_do_not_hang_on_fma)
{
    const char *probe = t_build("tests/tools/fma_probe");
    char with[128], without[128];
    const char *ours = with, *theirs;

    if (access(probe, X_OK) != 0)
        SKIP("%s is not built", probe);
    CHECK_EQ(run(NULL, probe, NULL, with, sizeof(with)), 0);
    CHECK_EQ(run(WITHOUT_FMA, probe, NULL, without, sizeof(without)), 0);
    CHECK_EQ(strlen(with), 34);
    CHECK_EQ(strlen(without), 34);
    theirs = with + 16;
    CHECK(memcmp(ours, GOLDEN, 16) == 0);
    CHECK(memcmp(without, GOLDEN, 16) == 0);
    if (strcmp(theirs, without + 16) == 0)
        SKIP("this C library's exp, log, pow and sin do not change with "
             "GLIBC_TUNABLES (or the CPU has no FMA)");
}

TEST(numerics_objects_import_nothing_from_libm)
{
    char *command;
    glob_t objects;

    if (glob(t_build("src/numerics/*.o"), 0, NULL, &objects) != 0)
        SKIP("src/numerics is not built");
    CHECK(objects.gl_pathc >= 10);
    globfree(&objects);
    CHECK(asprintf(&command, "'%s' '%s'/*.o", t_source("scripts/check-libm"),
                   t_build("src/numerics")) > 0);
    CHECK_EQ(system(command), 0);
    free(command);
}

TEST(check_libm_names_file_and_symbol)
{
    const char *probe = t_build("tests/tools/fma_probe");
    char out[4096];

    if (access(probe, R_OK) != 0)
        SKIP("%s is not built", probe);
    CHECK_EQ(run(NULL, t_source("scripts/check-libm"), probe, out, sizeof(out)),
             1);
    CHECK_HAS(out, "fma_probe: imports pow from libm");
    CHECK_HAS(out, "fma_probe: imports sin from libm");
    CHECK_EQ(run(NULL, t_source("scripts/check-libm"), "/nonexistent.o", out,
                 sizeof(out)),
             1);
    CHECK_HAS(out, "/nonexistent.o");
}
