/* SPDX-License-Identifier: MIT */
/* verb.h - one word of the command line, one file, one struct verb.
 *
 * A new one: its file, its line in main.c, its page man/tunepipe-NAME.1 and
 * the page's line in man/tunepipe.1.  Completions follow from the table;
 * tests/e2e/man.sh says what a page lacks.
 *
 * Exit statuses, the same for every verb, named by consequence: */
#ifndef CLI_VERB_H
#define CLI_VERB_H

enum exit_status {
    EXIT_DONE = 0,     /* all that was asked for is done */
    EXIT_FAILED = 1,   /* it ran, and failed; or an answer is "no" */
    EXIT_USAGE = 2,    /* the command line is wrong: nothing was done */
    EXIT_CONFIG = 3,   /* configuration, search space, plugin or arguments
                          are wrong: nothing was started */
    EXIT_PROTOCOL = 4, /* the byte stream could not be followed any more */
    EXIT_LOG = 5,      /* the command log is damaged or cannot be written */
    EXIT_GRACE = 6,    /* a plugin was still computing when the grace ended */
    EXIT_STOP = 7,     /* a synchronous report: the trial should end, not
                          being worth its time */
    /* a synchronous report: the trial should pause; another may go on from
     * there */
    EXIT_PAUSE = 8,
    /* a synchronous report: this was the trial's final result; a study: there
     * is nothing more to try */
    EXIT_FINISH = 9,
};

#include "core/buf.h"
#include "json_writer.h"

#include <stddef.h>
#include <stdio.h>

struct err;
struct option;

struct verb {
    const char *name;
    const char *summary; /* one line, for the list of verbs */
    const char *help;    /* all of --help: usage, options, an example */
    int (*run)(int argc, char **argv); /* argv[0] is the name */
    const struct option *options;      /* n_options long: run's own table */
    size_t n_options;
    /* What it takes beside options, as struct option's value; "a|b FILE": one
     * of a, b, then a FILE; NULL: nothing. */
    const char *operand;
};

/* Prints the table of verbs for `tunepipe --verbs`, from which
 * scripts/gen-completion makes the shells' completions.  A line for each verb:
 * VERB, "-", OPERAND, summary; and then one for each of its options: VERB,
 * --NAME, VALUE, ""; separated by TABs, "-" where there is none. */
void verb_list(const struct verb *const *verbs, size_t n);

/* Prints "tunepipe VERB: error: TEXT" and returns the status that fits the
 * error's code. */
int verb_fail(const char *verb, const struct err *err);

/* For verbs whose work is to print: returns `status`, or the status of a write
 * that failed, which is told. */
int verb_printed(const char *verb, int status);

/* An object in JSON that a verb prints in a line of its own.  It is open when
 * it begins; printing it closes all that is open, and frees it.  -1: out of
 * memory, nothing is printed. */
struct verb_json {
    struct buf text;
    struct json_writer writer;
};
struct json_writer *verb_json_begin(struct verb_json *line);
int verb_json_print(struct verb_json *line, FILE *out, struct err *err);

/* For verbs that load plugins: what those print goes to stderr from now on, so
 * that stdout holds the verb's own output alone.  Returns the descriptor for
 * that output; -1 on failure. */
int verb_shield_stdout(struct err *err);
/* The verb's own output as a stream, where plugins are loaded, too; NULL on
 * failure. */
FILE *verb_own_stdout(struct err *err);

#endif
