/* SPDX-License-Identifier: MIT */
/* target.h - for verbs about an experiment: which one, and, where it runs, the
 * way to its manager. */
#ifndef CLI_TARGET_H
#define CLI_TARGET_H

#include "json.h"

struct control_client;
struct err;

/* The absolute folder of an experiment, to be freed; `given` NULL: the newest
 * in ./tunepipe-experiments, which is told on stderr.  NULL: err. */
char *target_folder(const char *verb, const char *given, struct err *err);

/* The folder of an experiment from a verb's operands, of which there is one or
 * none; as target_folder(). */
char *target_of_words(const char *verb, int argc, char **argv, struct err *err);

/* For verbs that read a folder, whether it runs or not: its name as it was
 * given, or as target_folder() finds it; to be freed. */
char *target_given(const char *verb, int argc, char **argv, struct err *err);

/* Connects to the experiment's manager.  -1 where none lives: err says how the
 * experiment ended, and how to go on where that is possible. */
int target_connect(struct control_client *l, const char *folder,
                   struct err *err);

/* For a verb about one experiment, whose options are read: finds the folder
 * from its operands, of which there is one or none, calls `act` for it, tells
 * what went wrong and returns the exit status. */
int target_run(const char *verb, int argc, char **argv,
               int (*act)(const char *folder, const void *words,
                          struct err *err),
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
#define REQUEST_STATUS_ALL "{\"command\": \"status\", \"rows\": 1000000}"

/* target_ask() for a verb that prints nothing of the answer. */
int target_tell(const char *folder, const char *request, struct err *err);

/* Prints an answer as it is, a line of JSON; -1: out of memory. */
int target_print_answer(struct jval answer, struct err *err);

/* Prints in a line how an experiment has ended; -1: its manager was killed and
 * left no summary. */
int target_print_end(const char *folder, struct err *err);

#endif
