/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "cli/verb.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "trial/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

extern const struct verb verb_trial;

/* Runs `tunepipe trial WORDS...`; returns its status, and what it printed in
 * `out`, stdout first. */
static int
trial(char *out, const char *w1, const char *w2, const char *w3, const char *w4)
{
    char *argv[] = {(char *)"trial", (char *)w1, (char *)w2,
                    (char *)w3,      (char *)w4, NULL};
    int argc = 0, status;
    FILE *file;
    size_t n = 0;

    while (argv[argc] != NULL)
        argc++;
    fflush(stdout);
    CHECK(freopen("out", "w", stdout) != NULL);
    CHECK(freopen("bad", "w", stderr) != NULL);
    status = verb_trial.run(argc, argv);
    fflush(stdout);
    fflush(stderr);
    for (int i = 0; i < 2; i++) {
        file = fopen(i == 0 ? "out" : "bad", "r");
        n += fread(out + n, 1, 4000 - n, file);
        fclose(file);
    }
    out[n] = '\0';
    return status;
}

static void
put(const char *path, const char *text)
{
    CHECK_EQ(file_write(path, text, strlen(text), NULL), 0);
}

static void
enter(void)
{
    CHECK_EQ(mkdir("trial", 0700), 0);
    put("trial/" TRIAL_PARAMETERS_TSV, "learning_rate\t0.01\nnote\ta\\nb\n");
    put("trial/" TRIAL_PARAMETERS_JSON, "{\"learning_rate\": 0.01}\n");
    setenv(TRIAL_ENV_DIR, "trial", 1);
}

static void
check_lines(const char *path, const char *want)
{
    struct buf text;

    buf_init(&text, 1 << 20);
    CHECK_EQ(file_read(path, 4000, &text, NULL), 0);
    CHECK_STR(buf_text(&text), want);
    buf_fini(&text);
}

/* The harness's own messages go to the first stdout; a failed check here is
 * seen by its status. */
#define CHECK_RUN(status, text, ...)                 \
    do {                                             \
        CHECK_EQ(trial(out, __VA_ARGS__), (status)); \
        CHECK_STR(out, (text));                      \
    } while (0)

TEST(trial_verb_prints_parameters)
{
    char out[4096];

    enter();
    CHECK_RUN(EXIT_DONE, "0.01\n", "param", "learning_rate", NULL, NULL);
    CHECK_RUN(EXIT_DONE, "a\nb\n", "param", "note", "--default", "x");
    CHECK_RUN(EXIT_DONE, "x\n", "param", "--default", "x", "absent");
    CHECK_RUN(EXIT_DONE, "x\n", "param", "--default", "x", "absent");
    CHECK_RUN(EXIT_DONE, "x\n", "param", "--default", "x", "abs");
    CHECK_RUN(EXIT_DONE, "x\n", "param", "--default", "x", "two\nlines");
    check_lines("trial/" TRIAL_ABSENT, "absent\nabs\n");
    CHECK_RUN(EXIT_DONE, "{\"learning_rate\": 0.01}\n", "params", NULL, NULL,
              NULL);
    CHECK_RUN(EXIT_FAILED,
              "tunepipe trial: error: this trial has no parameter "
              "'learnig_rate' (did you mean 'learning_rate'?)\n",
              "param", "learnig_rate", NULL, NULL);
}

TEST(trial_verb_reports)
{
    char out[4096];
    FILE *file;

    enter();
    CHECK_RUN(EXIT_DONE, "", "report", "0.5", NULL, NULL);
    CHECK_RUN(EXIT_DONE, "", "report", "-1", NULL, NULL);
    CHECK_RUN(EXIT_DONE, "", "report", "--final", "{\"default\": 2}", NULL);
    CHECK_EQ(trial(out, "report", "good", NULL, NULL), EXIT_FAILED);
    CHECK_HAS(out, "metric 'good': expected a number");
    file = fopen("trial/" TRIAL_METRICS, "r");
    out[fread(out, 1, 4000, file)] = '\0';
    fclose(file);
    CHECK_STR(out, "intermediate 0.5\nintermediate -1\n"
                   "final {\"default\": 2}\n");
}

TEST(trial_verb_says_what_is_wrong)
{
    char out[4096];

    unsetenv(TRIAL_ENV_DIR);
    CHECK_RUN(EXIT_USAGE,
              "tunepipe trial: error: TUNEPIPE_TRIAL_DIR is not set: tunepipe "
              "trial works inside a trial; see tunepipe run --help\n",
              "report", "1", NULL, NULL);
    CHECK_EQ(trial(out, "param", "lr", NULL, NULL), EXIT_USAGE);
    CHECK_RUN(EXIT_DONE, "3\n", "param", "lr", "--default", "3");
    CHECK_EQ(trial(out, NULL, NULL, NULL, NULL), EXIT_USAGE);
    CHECK_HAS(out, "expected param, params, report, checkpoint, ls, output, "
                   "add, kill or retry");
    CHECK_EQ(trial(out, "reprot", "1", NULL, NULL), EXIT_USAGE);
    CHECK_HAS(out, "did you mean 'report'?");
    CHECK_EQ(trial(out, "param", NULL, NULL, NULL), EXIT_USAGE);
    CHECK_EQ(trial(out, "param", "a", "b", NULL), EXIT_USAGE);
    CHECK_EQ(trial(out, "param", "a", "--default", NULL), EXIT_USAGE);
    CHECK_EQ(trial(out, "params", "a", NULL, NULL), EXIT_USAGE);
    CHECK_EQ(trial(out, "report", NULL, NULL, NULL), EXIT_USAGE);
    CHECK_EQ(trial(out, "report", "1", "2", NULL), EXIT_USAGE);
    setenv(TRIAL_ENV_DIR, "nowhere", 1);
    CHECK_EQ(trial(out, "param", "a", NULL, NULL), EXIT_FAILED);
    CHECK_HAS(out, "nowhere/parameters.tsv");
}
