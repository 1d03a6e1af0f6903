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

/* The same from a verb's words, of which there is none or one. */
char *target_of_words(const char *verb, int argc, char **argv, struct err *err);

/* For verbs that read a folder, run or not: its name as it was given, or as
 * target_folder() finds it; to be freed. */
char *target_given(const char *verb, int argc, char **argv, struct err *err);

/* -1 where no manager lives: err says how the experiment ended, and how to go
 * on where that can be. */
int target_connect(struct control_client *l, const char *folder,
                   struct err *err);

/* For a verb about one experiment, whose options are read: finds the folder
 * from what is left of its words, of which there is none or one, acts on it,
 * tells what went wrong and returns the exit status. */
int target_run(const char *verb, int argc, char **argv,
               int (*act)(const char *folder, const void *words,
                          struct err *err),
               const void *words);

/* The same for a verb that sends a request and has no more to say than that it
 * was done. */
int target_run_request(const char *verb, int argc, char **argv,
                       const char *request);

/* One request, one answer; *doc is to be freed. */
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

/* As target_ask() for a verb that has no more to say than what was done. */
int target_tell(const char *folder, const char *request, struct err *err);

/* An answer as it is, a line of JSON; -1: out of memory. */
int target_print_answer(struct jval answer, struct err *err);

/* How an experiment has ended, a line; -1: its manager was killed and left no
 * word. */
int target_print_end(const char *folder, struct err *err);

#endif
