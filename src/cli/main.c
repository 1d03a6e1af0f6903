/* SPDX-License-Identifier: MIT */
/* tunepipe: the list of verbs, and nothing else. */
#include "cli/verb.h"

#include "core/nearest.h"
#include "core/visible.h"
#include "tunepipe/plugin.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

extern const struct verb verb_dispatch, verb_run, verb_resume, verb_show,
    verb_replay, verb_log, verb_explain, verb_fork, verb_tuners, verb_trial,
    verb_plugin, verb_nni, verb_index, verb_export, verb_schema, verb_rerun,
    verb_import, verb_status, verb_update, verb_pause, verb_continue, verb_stop,
    verb_top, verb_wait, verb_why, verb_report, verb_ls, verb_study, verb_ask,
    verb_tell, verb_unpack, verb_machine, verb_agent;

static const struct verb *const verbs[] = {
    &verb_run,     &verb_study,   &verb_ask,    &verb_tell,     &verb_resume,
    &verb_ls,      &verb_show,    &verb_status, &verb_top,      &verb_wait,
    &verb_why,     &verb_update,  &verb_pause,  &verb_continue, &verb_stop,
    &verb_machine, &verb_rerun,   &verb_unpack, &verb_report,   &verb_index,
    &verb_export,  &verb_import,  &verb_schema, &verb_dispatch, &verb_replay,
    &verb_log,     &verb_explain, &verb_fork,   &verb_tuners,   &verb_trial,
    &verb_plugin,  &verb_nni,     &verb_agent,
};
#define N_VERBS (sizeof verbs / sizeof *verbs)

static int
usage(FILE *out)
{
    fputs("usage: tunepipe VERB [ARGUMENTS]   (tunepipe VERB --help)\n\n", out);
    for (size_t i = 0; i < N_VERBS; i++)
        fprintf(out, "  %-10s %s\n", verbs[i]->name, verbs[i]->summary);
    fputs("\nA first experiment: tunepipe run experiment.yml\n", out);
    return out == stdout ? EXIT_DONE : EXIT_USAGE;
}

/* Whether it is a word of the verb's own, "kill" of "param|kill NAME". */
static bool
has_word(const struct verb *verb, const char *word)
{
    const char *at = verb->operand;
    size_t len = strlen(word);

    while (at != NULL && strchr(at, ' ') != NULL) {
        size_t n = strcspn(at, "| ");

        if (n == len && strncmp(at, word, len) == 0)
            return true;
        at += n + 1;
    }
    return false;
}

static int
unknown(const char *word)
{
    const char *names[N_VERBS];
    char hint[128];

    for (size_t i = 0; i < N_VERBS; i++) {
        names[i] = verbs[i]->name;
        if (has_word(verbs[i], word)) {
            visible_printf(stderr,
                           "tunepipe: error: no verb '%s' (did you mean '%s "
                           "%s'?); see tunepipe --help\n",
                           word, names[i], word);
            return EXIT_USAGE;
        }
    }
    visible_printf(stderr,
                   "tunepipe: error: no verb '%s'%s; see tunepipe --help\n",
                   word, nearest_hint(word, names, N_VERBS, hint, sizeof hint));
    return EXIT_USAGE;
}

static const struct verb *
find(const char *word)
{
    for (size_t i = 0; i < N_VERBS; i++)
        if (strcmp(word, verbs[i]->name) == 0)
            return verbs[i];
    return NULL;
}

/* tunepipe help VERB */
static int
help_on(const char *word)
{
    const struct verb *verb = find(word);

    if (verb == NULL)
        return unknown(word);
    fputs(verb->help, stdout);
    return EXIT_DONE;
}

static int
run(const struct verb *verb, int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            fputs(verb->help, stdout);
            return EXIT_DONE;
        }
    return verb->run(argc, argv);
}

/* Runs what NNI's managers start as a module of Python: -m nni ... */
static int
run_module(int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[2], verb_nni.name) == 0)
        return run(&verb_nni, argc - 2, argv + 2);
    visible_printf(stderr, "tunepipe: error: -m: expected nni, got '%s'\n",
                   argc > 2 ? argv[2] : "");
    return EXIT_USAGE;
}

int
main(int argc, char **argv)
{
    const struct verb *verb;

    if (argc < 2)
        return usage(stderr);
    if (strcmp(argv[1], "help") == 0 && argc > 2)
        return help_on(argv[2]);
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0)
        return usage(stdout);
    if (strcmp(argv[1], "--version") == 0) {
        printf("tunepipe %s (plugin ABI %u)\n", TP_VERSION, TP_ABI);
        return EXIT_DONE;
    }
    if (strcmp(argv[1], "--verbs") == 0) {
        verb_list(verbs, N_VERBS);
        return verb_printed("--verbs", EXIT_DONE);
    }
    if (strcmp(argv[1], "-m") == 0)
        return run_module(argc, argv);
    verb = find(argv[1]);
    return verb == NULL ? unknown(argv[1]) : run(verb, argc - 1, argv + 1);
}
