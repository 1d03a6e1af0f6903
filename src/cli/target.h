/* SPDX-License-Identifier: MIT */
/* target.h - for verbs about an experiment: which one, and, where it runs, the
 * way to its manager. */
#ifndef CLI_TARGET_H
#define CLI_TARGET_H

#include "json.h"

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

struct control_client;
struct err;

/* Where experiments are looked for when none is named. */
#define TARGET_USUAL "tunepipe-experiments"

/* The experiments whose folders lie in a working folder, the newest first. */
struct target_list {
    struct target_entry {
        char *path; /* WORKING/NAME */
        struct timespec began;
    } * items;
    size_t n, cap;
};

/* -1: the folder cannot be read, or memory is out; target_list_fini() is to be
 * called in either case. */
int target_list_load(struct target_list *l, const char *working,
                     struct err *err);
void target_list_fini(struct target_list *l);

/* The absolute folder of an experiment, to be freed; `given` NULL: the newest
 * in ./tunepipe-experiments, which is told on stderr.  NULL: err. */
char *target_folder(const char *verb, const char *given, struct err *err);

/* The folder of an experiment from a verb's operands, of which there is one or
 * none; as target_folder(). */
char *target_of_words(const char *verb, int argc, char **argv, struct err *err);

/* The command log for a verb that reads one, to be freed: that of `given`, a
 * log or a folder that has one; NULL: of the newest experiment, as
 * target_folder().
 */
char *target_log(const char *verb, const char *given, struct err *err);

/* Of a verb's operands [DIR] WORD: the DIR, NULL where it is left out.  -1: err
 * says that there is a DIR, or too much, and no WORD.  A path is a DIR, but
 * where `word_is_path`, if it exists only.  `expected` names both operands, for
 * err. */
int target_before(int argc, char **argv, bool word_is_path,
                  const char *expected, const char **dir, struct err *err);

/* Connects to the experiment's manager.  -1 where none lives: err says how the
 * experiment ended, and how to go on where that is possible. */
int target_connect(struct control_client *l, const char *folder,
                   struct err *err);

/* What a verb does with an experiment's folder; `words` are the options that
 * were read.  Returns the exit status; -1: err tells. */
typedef int target_act(const char *folder, const void *words, struct err *err);

/* For a verb about one experiment, whose options are read: finds the folder
 * from its operands, of which there is one or none, as target_of_words(), calls
 * `act` for it, tells what went wrong and returns the exit status. */
int target_run(const char *verb, int argc, char **argv, target_act *act,
               const void *words);

/* target_run() for a verb that reads a folder, whether it runs or not: a folder
 * that is given goes by the name that was given, and is `act`'s to check. */
int target_read(const char *verb, int argc, char **argv, target_act *act,
                const void *words);

/* target_run() for a verb that sends a request and prints nothing of the
 * answer. */
int target_run_request(const char *verb, int argc, char **argv,
                       const char *request);

/* Sends one request and waits for its answer; *doc is to be freed. */
int target_ask(const char *folder, const char *request, struct json **doc,
               struct jval *answer, struct err *err);

/* Requests that are always the same. */
#define REQUEST_PAUSE "{\"command\": \"pause\"}"
#define REQUEST_CONTINUE "{\"command\": \"continue\"}"
#define REQUEST_STOP "{\"command\": \"stop\"}"
#define REQUEST_STOP_NOW "{\"command\": \"stop\", \"now\": true}"
#define REQUEST_IMPORT "{\"command\": \"import\"}"
#define REQUEST_RETRY_FAILED "{\"command\": \"retry\", \"trials\": \"failed\"}"
#define REQUEST_STATUS "{\"command\": \"status\"}"
/* Gives nothing back; but a study that is asked so is used, and lives on for
 * whoever is about to come. */
#define REQUEST_NOTHING "{\"command\": \"release\", \"trials\": []}"
#define REQUEST_STATUS_ALL "{\"command\": \"status\", \"rows\": 1000000}"

/* target_ask() for a verb that prints nothing of the answer. */
int target_tell(const char *folder, const char *request, struct err *err);

/* Prints an answer as it is, a line of JSON; -1: out of memory. */
int target_print_answer(struct jval answer, struct err *err);

/* Prints in a line how an experiment has ended; -1: it has not, as err says. */
int target_print_end(const char *folder, struct err *err);

#endif
