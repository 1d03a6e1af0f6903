/* SPDX-License-Identifier: MIT */
#include "core/nearest.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define WORD_MAX 64
#define SHORT_WORD 4

static size_t
least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Optimal string alignment distance (Damerau 1964), three rows at a time. */
static size_t
distance(const char *a, const char *b)
{
    size_t rows[3][WORD_MAX + 1];
    size_t la = strlen(a), lb = strlen(b);
    size_t *before = rows[0], *last = rows[1], *row = rows[2];

    if (la > WORD_MAX || lb > WORD_MAX)
        return WORD_MAX;
    for (size_t j = 0; j <= lb; j++)
        last[j] = before[j] = j;
    for (size_t i = 1; i <= la; i++) {
        size_t *spare = before;

        row[0] = i;
        for (size_t j = 1; j <= lb; j++) {
            int ca = tolower((unsigned char)a[i - 1]);
            int cb = tolower((unsigned char)b[j - 1]);

            row[j] =
                least(least(last[j], row[j - 1]) + 1, last[j - 1] + (ca != cb));
            if (i > 1 && j > 1 && ca == tolower((unsigned char)b[j - 2]) &&
                cb == tolower((unsigned char)a[i - 2]))
                row[j] = least(row[j], before[j - 2] + 1);
        }
        before = last;
        last = row;
        row = spare;
    }
    return last[lb];
}

/* What other programs call it, in small letters and digits alone.  No pointers,
 * which each start of the program would have to relocate. */
static const struct {
    char theirs[24], ours[24];
} synonyms[] = {
    /* types of parameters */
    {"int", "randint"},
    {"integer", "randint"},
    {"float", "uniform"},
    {"double", "uniform"},
    {"real", "uniform"},
    {"categorical", "choice"},
    {"logfloat", "loguniform"},
    {"logint", "lograndint"},
    /* keys */
    {"maxtrials", "maxTrialNumber"},
    {"ntrials", "maxTrialNumber"},
    {"numsamples", "maxTrialNumber"},
    {"trials", "maxTrialNumber"},
    {"objective", "direction"},
    {"mode", "direction"},
    {"goal", "direction"},
    {"minimize", "direction"},
    {"maximize", "direction"},
    {"njobs", "trialConcurrency"},
    {"concurrency", "trialConcurrency"},
    {"maxconcurrenttrials", "trialConcurrency"},
    {"timeout", "maxExperimentDuration"},
    {"space", "searchSpace"},
    {"parameters", "searchSpace"},
    {"command", "trialCommand"},
    {"enqueuetrial", "enqueue"},
    {"pointstoevaluate", "enqueue"},
    {"initialpoints", "enqueue"},
    {"sampler", "tuner"},
    {"algorithm", "tuner"},
    {"pruner", "assessor"},
    {"name", "experimentName"},
    {"studyname", "experimentName"},
    {"args", "classArgs"},
    {"params", "classArgs"},
    /* tuners and assessors */
    {"bayesian", "auto"},
    {"bayesianoptimization", "auto"},
    {"gaussianprocess", "gp"},
    {"gpsampler", "gp"},
    {"nsgaiisampler", "nsga2"},
    {"nsgaii", "nsga2"},
    {"nsgaiiisampler", "nsga2"},
    {"hyperopt", "tpe"},
    {"optuna", "tpe"},
    {"tpesampler", "tpe"},
    {"cmaessampler", "cmaes"},
    {"gridsampler", "grid"},
    {"gridsearch", "grid"},
    {"randomsampler", "random"},
    {"randomsearch", "random"},
    {"qmcsampler", "qmc"},
    {"sobol", "qmc"},
    {"smac3", "smac"},
    {"randomforest", "smac"},
    {"successivehalving", "asha"},
    {"successivehalvingpruner", "asha"},
    {"hyperbandpruner", "hyperband"},
    {"medianpruner", "medianstop"},
    {"percentilepruner", "percentile"},
    {"patientpruner", "patience"},
    {"thresholdpruner", "threshold"},
    {"wilcoxonpruner", "wilcoxon"},
};

static bool
is_called(const char *word, const char *theirs)
{
    for (; *word != '\0'; word++) {
        if (!isalnum((unsigned char)*word))
            continue;
        if (*theirs == '\0' || tolower((unsigned char)*word) != *theirs)
            return false;
        theirs++;
    }
    return *theirs == '\0';
}

static const char *
find_synonym(const char *word, const char *const *names, size_t n)
{
    for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms; i++)
        for (size_t k = 0; is_called(word, synonyms[i].theirs) && k < n; k++)
            if (strcmp(names[k], synonyms[i].ours) == 0)
                return names[k];
    return NULL;
}

/* Whether a short word with so many edits is rather another one: "init" is not
 * meant where "wait" is known. */
static bool
is_another(const char *word, const char *name, size_t edits)
{
    return edits > 1 && strlen(word) <= SHORT_WORD &&
           tolower((unsigned char)word[0]) != tolower((unsigned char)name[0]);
}

const char *
nearest_name(const char *word, const char *const *names, size_t n)
{
    size_t best_distance = strlen(word) / 3 + 2; /* one more than allowed */
    const char *best = NULL;

    for (size_t i = 0; i < n; i++)
        if (strcmp(word, names[i]) == 0)
            return names[i];
    if ((best = find_synonym(word, names, n)) != NULL)
        return best;
    if (strlen(word) < 2)
        best_distance = 1; /* any other letter would be near */
    if (best_distance > WORD_MAX)
        best_distance = WORD_MAX; /* what distance() says of long ones */
    for (size_t i = 0; i < n; i++) {
        size_t d = distance(word, names[i]);

        if (d < best_distance && !is_another(word, names[i], d)) {
            best = names[i];
            best_distance = d;
        }
    }
    return best;
}

const char *
nearest_hint(const char *word, const char *const *names, size_t n, char *out,
             size_t out_size)
{
    const char *name = nearest_name(word, names, n);

    out[0] = '\0';
    if (name != NULL)
        snprintf(out, out_size, " (did you mean '%s'?)", name);
    return out;
}
