/* SPDX-License-Identifier: MIT */
#include "t.h"

#include <tunepipe/trial.h>

#include <locale.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>

NOT_UNDER_TSAN;
NOT_WITH_CLANG;

static void
enter(const char *parameters)
{
    FILE *file;

    CHECK_EQ(mkdir("trial", 0700), 0);
    file = fopen("trial/parameters.tsv", "w");
    CHECK(file != NULL);
    CHECK(fputs(parameters, file) >= 0);
    CHECK_EQ(fclose(file), 0);
    CHECK_EQ(setenv("TUNEPIPE_TRIAL_DIR", "trial", 1), 0);
}

static void
check_file(const char *path, const char *want)
{
    char text[4096];
    FILE *file = fopen(path, "r");
    size_t n;

    CHECK(file != NULL);
    n = fread(text, 1, sizeof text - 1, file);
    text[n] = '\0';
    fclose(file);
    CHECK_STR(text, want);
}

TEST(trial_header_reads_parameters)
{
    char out[8];

    enter("lr\t0.1\nunits\t32.0\nbig\t1e3\nhalf\t2.5\nname\trelu\n"
          "act/_name\tab\\tc\\\\\nlong\t123456789\nhuge\t99999999999999999999\n"
          "hex\t0x10\nempty\t\nmin\t-9223372036854775808");
    CHECK(tp_param_double("lr", 7) == 0.1);
    CHECK(tp_param_double("units", 7) == 32);
    CHECK_EQ(tp_param_long("units", 7), 32);
    CHECK_EQ(tp_param_long("big", 7), 1000);
    CHECK_EQ(tp_param_long("min", 7), LONG_MIN);
    CHECK_EQ(tp_param_string("name", out, sizeof out), 0);
    CHECK_STR(out, "relu");
    CHECK_EQ(tp_param_string("act/_name", out, sizeof out), 0);
    CHECK_STR(out, "ab\tc\\");
    CHECK_EQ(tp_param_string("long", out, sizeof out), -1);
    CHECK_STR(out, "1234567");
    CHECK_EQ(tp_param_string("long", out, 0), -1);
    CHECK_EQ(tp_param_string("empty", out, sizeof out), 0);
    CHECK_STR(out, "");
    CHECK_EQ(tp_param_string("nam", out, sizeof out), -1);
    CHECK_EQ(tp_param_string("names", out, sizeof out), -1);
    CHECK_EQ(tp_param_string("relu", out, sizeof out), -1);
    CHECK(tp_param_double("absent", 7) == 7);
}

/* Each name once, for the manager; not what tunepipe itself asks for. */
TEST(trial_header_notes_what_is_absent)
{
    char out[8], name[600];

    enter("lr\t0.1\n");
    for (int i = 0; i < 2; i++) {
        CHECK(tp_param_double("rate", 7) == 7);
        CHECK_EQ(tp_param_long("rat", 7), 7);
        CHECK_EQ(tp_param_string("act/slope", out, sizeof out), -1);
        CHECK(tp_param_double("lr", 7) == 0.1);
        CHECK_EQ(tp_param_string("lr", out, 1), -1); /* it does not fit */
        CHECK(tp_budget() == 0);
    }
    CHECK_EQ(tp_param_long("two\nlines", 7), 7);
    CHECK_EQ(tp_param_long("", 7), 7);
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    CHECK_EQ(tp_param_long(name, 7), 7);
    check_file("trial/absent", "rate\nrat\nact/slope\n");
}

TEST(trial_header_says_when_a_value_does_not_fit)
{
    enter("lr\tfast\nunits\t2.5\nhuge\t99999999999999999999\nhex\t0x10\n"
          "inf\tInfinity\nempty\t\n");
    CHECK(freopen("message", "w", stderr) != NULL);
    CHECK(tp_param_double("lr", 7) == 7);
    CHECK_EQ(tp_param_long("units", 7), 7);
    CHECK_EQ(tp_param_long("huge", 7), 7);
    CHECK(tp_param_double("hex", 7) == 7);
    CHECK(tp_param_double("inf", 7) == 7);
    CHECK(tp_param_double("empty", 7) == 7);
    fflush(stderr);
    check_file("message",
               "tunepipe/trial.h: parameter 'lr' is 'fast', not a number\n"
               "tunepipe/trial.h: parameter 'units' is '2.5', not a whole "
               "number that fits a long\n"
               "tunepipe/trial.h: parameter 'huge' is '99999999999999999999', "
               "not a whole number that fits a long\n"
               "tunepipe/trial.h: parameter 'hex' is '0x10', not a number\n"
               "tunepipe/trial.h: parameter 'inf' is 'Infinity', not a number\n"
               "tunepipe/trial.h: parameter 'empty' is '', not a number\n");
}

TEST(trial_header_reports_shortest_numbers)
{
    struct stat st;

    enter("");
    CHECK_EQ(tp_report(0.1), 0);
    CHECK_EQ(tp_report(1.0 / 3), 0);
    CHECK_EQ(tp_report(0.1 + 0.2), 0);
    CHECK_EQ(tp_report(-1e22), 0);
    CHECK_EQ(tp_report(NAN), 0);
    CHECK_EQ(tp_report(-INFINITY), 0);
    CHECK_EQ(tp_report_json("{\"default\": 1,\n\"x\": 2}"), 0);
    CHECK_EQ(tp_final(96.33), 0);
    CHECK_EQ(tp_final(INFINITY), 0);
    CHECK_EQ(tp_final_json("{\"default\": 2}"), 0);
    check_file("trial/metrics",
               "intermediate 0.1\nintermediate 0.3333333333333333\n"
               "intermediate 0.30000000000000004\nintermediate -1e+22\n"
               "intermediate NaN\nintermediate -Infinity\n"
               "intermediate {\"default\": 1, \"x\": 2}\nfinal 96.33\n"
               "final Infinity\nfinal {\"default\": 2}\n");
    CHECK_EQ(stat("trial/metrics", &st), 0);
    CHECK_EQ(st.st_mode & 07777, 0600);
}

TEST(trial_header_refuses_and_says_why)
{
    size_t room = TP_IMPL_LINE_MAX - strlen("final \n");
    char *text = (char *)malloc(room + 2);

    CHECK(text != NULL);
    enter("");
    errno = 0;
    CHECK_EQ(tp_report_json(""), -1);
    CHECK_EQ(errno, EINVAL);
    memset(text, '1', room + 1);
    text[room + 1] = '\0';
    CHECK_EQ(tp_final_json(text), -1);
    CHECK_EQ(errno, EMSGSIZE);
    text[room] = '\0';
    CHECK_EQ(tp_final_json(text), 0);
    free(text);
    setenv("TUNEPIPE_TRIAL_DIR", "nowhere", 1);
    CHECK_EQ(tp_report(1), -1);
    CHECK_EQ(errno, ENOENT);
    setenv("TUNEPIPE_TRIAL_DIR", "full", 1);
    CHECK_EQ(mkdir("full", 0700), 0);
    CHECK_EQ(symlink("/dev/full", "full/metrics"), 0);
    CHECK_EQ(tp_report(1), -1);
    CHECK_EQ(errno, ELOOP); /* what a link names is not written to */
    CHECK_EQ(unlink("full/metrics"), 0);
    CHECK_EQ(mkfifo("full/metrics", 0600), 0);
    CHECK_EQ(tp_report(1), -1);
    CHECK_EQ(errno, ENXIO); /* nor is a reader of a FIFO waited for */
    CHECK_EQ(unlink("full/metrics"), 0);
    signal(SIGXFSZ, SIG_IGN);
    CHECK_EQ(setrlimit(RLIMIT_FSIZE, &(struct rlimit){0, RLIM_INFINITY}), 0);
    CHECK_EQ(tp_report(1), -1);
    CHECK_EQ(errno, EFBIG);
}

TEST(trial_header_works_by_hand)
{
    char out[8] = "same";

    unsetenv("TUNEPIPE_TRIAL_DIR");
    unsetenv("TUNEPIPE_SEED");
    CHECK(tp_param_double("lr", 0.5) == 0.5);
    CHECK_EQ(tp_param_long("units", 3), 3);
    CHECK_EQ(tp_param_string("name", out, sizeof out), -1);
    CHECK_STR(out, "same");
    CHECK_EQ(tp_seed(9), 9);
    fflush(stdout);
    CHECK(freopen("out", "w", stdout) != NULL);
    CHECK_EQ(tp_report(0.93), 0);
    CHECK_EQ(tp_final_json("{\"default\": 1}"), 0);
    check_file("out", "intermediate 0.93\nfinal {\"default\": 1}\n");
}

TEST(trial_header_reads_the_seed)
{
    setenv("TUNEPIPE_SEED", "18446744073709551615", 1);
    CHECK(tp_seed(1) == 18446744073709551615u);
    setenv("TUNEPIPE_SEED", "18446744073709551616", 1);
    CHECK_EQ(tp_seed(1), 1);
    setenv("TUNEPIPE_SEED", "-1", 1);
    CHECK_EQ(tp_seed(1), 1);
    setenv("TUNEPIPE_SEED", "12x", 1);
    CHECK_EQ(tp_seed(1), 1);
}

/* A locale whose decimal point is a comma, made where none is installed. */
static void
use_comma(void)
{
    if (setlocale(LC_ALL, "de_DE.UTF-8") == NULL) {
        setenv("LOCPATH", ".", 1);
        if (system("localedef -i de_DE -f UTF-8 ./de_DE.UTF-8 "
                   ">/dev/null 2>&1") != 0 ||
            setlocale(LC_ALL, "de_DE.UTF-8") == NULL)
            SKIP("no locale with a decimal comma can be had");
    }
    CHECK_EQ(localeconv()->decimal_point[0], ',');
}

TEST(trial_header_keeps_its_point_in_every_locale)
{
    enter("lr\t0.25\nunits\t32.0\n");
    use_comma();
    CHECK(tp_param_double("lr", 7) == 0.25);
    CHECK_EQ(tp_param_long("units", 7), 32);
    CHECK_EQ(tp_report(0.1 + 0.2), 0);
    check_file("trial/metrics", "intermediate 0.30000000000000004\n");
}

/* Every combination that the header promises compiles it without a word, in a
 * file that uses none of its functions. */
TEST(trial_header_compiles_alone)
{
    static const char *const compilers[] = {
        "gcc -std=c99 -x c",     "clang -std=c99 -x c",
        "g++ -std=c++11 -x c++", "clang++ -std=c++11 -x c++",
        "g++ -std=c++20 -x c++",
    };
    char command[1024], name[32];
    int tried = 0;

    for (size_t i = 0; i < sizeof compilers / sizeof compilers[0]; i++) {
        CHECK_EQ(sscanf(compilers[i], "%31s", name), 1);
        snprintf(command, sizeof command, "command -v %s >/dev/null", name);
        if (system(command) != 0)
            continue;
        snprintf(command, sizeof command,
                 "echo '#include <tunepipe/trial.h>' | %s -pedantic -Wall "
                 "-Wextra -Wunused-function -Wconversion -Werror "
                 "-fsyntax-only -I'%s' -",
                 compilers[i], t_source("src/trial/include"));
        CHECK_EQ(system(command), 0);
        tried++;
    }
    if (tried == 0)
        SKIP("no compiler to try");
}
