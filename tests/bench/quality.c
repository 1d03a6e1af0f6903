/* SPDX-License-Identifier: MIT */
/* quality - how good what tuners suggest is: every tuner on every problem and
 * seed, through the pipe; a line of JSON each, see search/runs.h. */
#include "search/multi.h"
#include "search/problem.h"
#include "search/session.h"

#include "core/err.h"
#include "core/number.h"

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: quality --program FILE --plugins FOLDER --tuners 'SPEC ...'\n"
    "               [--families 'NAME ...'] [--seeds N] [--first-seed N]\n"
    "               [--budget N] [--width N]\n"
    "SPEC is NAME, NAME:ARGUMENTS (an object without spaces), or either with\n"
    "LABEL= in front.  Families are bbob_d2, bbob_d5, bbob_d10, bbob_d20,\n"
    "bbob_d40, mixed, conditional, options, decades, nests, noisy, binomial\n"
    "and crashes; with several costs zdt, dtlz, mo_limited, mo_mixed and\n"
    "mo_nested, which run where they are named; a problem's name will do.\n";

#define SHOWN 5 /* failures; all are in the results */

struct job {
    const char *program, *plugins;
    const char *families; /* NULL: all with one value */
    char *tuners;
    uint64_t seeds, first_seed, budget, width;
    size_t failed;
};

/* Whether it stands among words. */
static bool
has_word(const char *words, const char *word)
{
    size_t len = strlen(word);

    for (const char *at = words; (at = strstr(at, word)) != NULL; at += len)
        if ((at == words || at[-1] == ' ') &&
            (at[len] == ' ' || at[len] == '\0'))
            return true;
    return false;
}

/* Cuts LABEL=NAME:ARGUMENTS, in place. */
static void
parse_spec(char *spec, struct session *s)
{
    char *colon = strchr(spec, ':'), *equals = strchr(spec, '=');

    s->label = spec;
    s->tuner = spec;
    if (equals != NULL && (colon == NULL || equals < colon)) {
        *equals = '\0';
        s->tuner = equals + 1;
    }
    s->args = NULL;
    if (colon != NULL) {
        *colon = '\0';
        s->args = colon + 1;
    }
}

static void
run_tuners(struct job *job, struct session *s)
{
    char *copy = strdup(job->tuners), *rest = NULL;
    struct err err;

    if (copy == NULL)
        exit(1);
    for (char *spec = strtok_r(copy, " ", &rest); spec != NULL;
         spec = strtok_r(NULL, " ", &rest)) {
        parse_spec(spec, s);
        if (session_run(s, stdout, &err) == 0)
            continue;
        if (job->failed++ >= SHOWN)
            continue;
        fprintf(stderr, "quality: %s on %s, seed %llu: %s\n", s->label,
                s->problem, (unsigned long long)s->seed, err.text);
    }
    free(copy);
}

static bool
is_named(const struct job *job, const char *name, const char *family)
{
    return has_word(job->families, family) || has_word(job->families, name);
}

static void
run_seed(struct job *job, struct session *s)
{
    char name[PROBLEM_NAME_MAX], family[PROBLEM_NAME_MAX];

    s->problem = name;
    s->family = family;
    for (size_t at = 0; problem_list(at, name, family) == 0; at++)
        if (job->families == NULL || is_named(job, name, family))
            run_tuners(job, s);
    for (size_t at = 0; job->families != NULL && multi_name(at) != NULL; at++) {
        s->problem = multi_name(at);
        s->family = multi_family(at);
        if (is_named(job, s->problem, s->family))
            run_tuners(job, s);
    }
}

static void
run_job(struct job *job)
{
    struct session s = {
        .program = job->program,
        .plugins = job->plugins,
        .budget = job->budget,
        .width = job->width,
    };

    /* Seeds outermost: who ends it early has whole ones. */
    for (uint64_t i = 0; i < job->seeds; i++) {
        s.seed = job->first_seed + i;
        run_seed(job, &s);
        fprintf(stderr, "quality: seed %llu done\n",
                (unsigned long long)s.seed);
    }
}

static void
refuse(const char *what, const char *value)
{
    fprintf(stderr, "quality: %s%s\n%s", what, value, usage);
    exit(2);
}

static uint64_t
number(const char *text, uint64_t max)
{
    uint64_t n;

    if (!number_parse_u64(text, strlen(text), &n) || n > max)
        refuse("not such a number: ", text);
    return n;
}

static void
parse(int argc, char **argv, struct job *job)
{
    static const struct option options[] = {
        {"program", required_argument, NULL, 'p'},
        {"plugins", required_argument, NULL, 'd'},
        {"tuners", required_argument, NULL, 't'},
        {"families", required_argument, NULL, 'f'},
        {"seeds", required_argument, NULL, 's'},
        {"first-seed", required_argument, NULL, 'i'},
        {"budget", required_argument, NULL, 'b'},
        {"width", required_argument, NULL, 'w'},
        {0},
    };
    int c;

    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (c == 'p')
            job->program = optarg;
        else if (c == 'd')
            job->plugins = optarg;
        else if (c == 't')
            job->tuners = optarg;
        else if (c == 'f')
            job->families = optarg;
        else if (c == 's')
            job->seeds = number(optarg, 100000);
        else if (c == 'i')
            job->first_seed = number(optarg, 1000000);
        else if (c == 'b')
            job->budget = number(optarg, SESSION_BUDGET_MAX);
        else if (c == 'w')
            job->width = number(optarg, 1000);
        else
            refuse("see ", "its usage");
    }
    if (optind < argc)
        refuse("not expected: ", argv[optind]);
    if (job->program == NULL || job->plugins == NULL || job->tuners == NULL ||
        job->width == 0)
        refuse("something is missing", "");
}

int
main(int argc, char **argv)
{
    struct job job = {
        .seeds = 20,
        .budget = 200,
        .width = 1,
    };

    parse(argc, argv, &job);
    run_job(&job);
    if (fflush(stdout) != 0)
        return 1;
    return job.failed > 0;
}
