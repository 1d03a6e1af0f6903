/* SPDX-License-Identifier: MIT */
#include "cli/trial_control.h"

#include "cli/target.h"
#include "cli/verb.h"

#include "control/control.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/number.h"
#include "json.h"
#include "manager/results.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct named {
    char *folder;
    char **trials; /* lie in argv */
    int n;
};

/* Reads the operands [DIR] TRIAL...: a number is no folder. */
static int
read_named(const char *verb, int argc, char **argv, struct named *out,
           struct err *err)
{
    uint64_t number;
    bool dir = argc > 1 && !number_parse_u64(argv[1], strlen(argv[1]), &number);

    if (dir && access(argv[1], F_OK) != 0)
        return err_set(err, ERR_USAGE,
                       "'%s': expected a trial's number, such as 00003, or an "
                       "experiment's folder",
                       argv[1]);
    *out = (struct named){.trials = argv + 1 + dir, .n = argc - 1 - dir};
    for (int i = 0; i < out->n; i++)
        if (!number_parse_u64(out->trials[i], strlen(out->trials[i]), &number))
            return err_set(err, ERR_USAGE,
                           "'%s': expected a trial's number, such as 00003",
                           out->trials[i]);
    out->folder = target_folder(verb, dir ? argv[1] : NULL, err);
    return out->folder == NULL ? -1 : 0;
}

static int
ask_named(const struct named *named, const char *command, struct json **doc,
          struct jval *answer, struct err *err)
{
    struct json_writer w;
    struct buf request;
    int rc;

    buf_init(&request, CONTROL_LINE_MAX);
    w = json_begin_object(&request);
    json_add_text(&w, "command", command);
    json_open_array(&w, "trials");
    for (int i = 0; i < named->n; i++) {
        uint64_t number = 0;

        number_parse_u64(named->trials[i], strlen(named->trials[i]), &number);
        json_add_unsigned(&w, NULL, number);
    }
    json_close(&w);
    json_close(&w);
    rc = buf_check(&request, "the list of trials", err);
    if (rc == 0)
        rc = target_ask(named->folder, buf_text(&request), doc, answer, err);
    buf_fini(&request);
    return rc;
}

int
trial_control_kill(int argc, char **argv, struct err *err)
{
    struct json *doc = NULL;
    struct named named;
    struct jval answer;
    int rc;

    if (options_parse(NULL, 0, NULL, &argc, argv, err) != 0 ||
        read_named("trial kill", argc, argv, &named, err) != 0)
        return -1;
    if (named.n == 0) {
        free(named.folder);
        return err_set(err, ERR_USAGE,
                       "kill: expected TRIAL, the number of "
                       "one that has not ended");
    }
    rc = ask_named(&named, "kill", &doc, &answer, err);
    json_free(doc);
    free(named.folder);
    return rc;
}

/* ---- add, retry ---- */

static void
print_new(struct jval answer)
{
    const char *id = "";
    struct jval list;

    if (!jval_get(answer, "trials", &list))
        return;
    for (size_t i = 0; i < jval_count(list); i++)
        if (jval_string(jval_at(list, i), &id, NULL))
            puts(id);
}

/* Writes the request of these sets of parameters, JSON. */
static int
write_add(char **sets, int n, struct buf *out, struct err *err)
{
    struct json_writer w = json_begin_object(out);
    struct err why = {0};

    json_add_text(&w, "command", "add");
    json_open_array(&w, "parameters");
    for (int i = 0; i < n; i++) {
        struct json *doc =
            json_parse(sets[i], strlen(sets[i]), JSON_UNIQUE, &why);

        if (doc == NULL || jval_type(json_root(doc)) != JSON_OBJECT) {
            json_free(doc);
            return err_set(err, ERR_USAGE,
                           "'%.200s': expected parameters as JSON, such as "
                           "'{\"lr\":0.01}'%s%s%.200s",
                           sets[i],
                           sets[i][0] == '{' && strchr(sets[i], '"') == NULL
                               ? " (names stand in double quotes)"
                               : "",
                           why.code != ERR_NONE ? ": " : "", why.text);
        }
        jval_write(json_root(doc), json_value(&w, NULL));
        json_free(doc);
    }
    json_end(&w);
    return buf_check(out, "the sets of parameters", err);
}

static int
add(const char *folder, char **sets, int n, struct err *err)
{
    struct json *doc = NULL;
    struct jval answer;
    struct buf request;
    int rc;

    buf_init(&request, CONTROL_LINE_MAX);
    rc = write_add(sets, n, &request, err);
    if (rc == 0)
        rc = target_ask(folder, buf_text(&request), &doc, &answer, err);
    if (rc == 0)
        print_new(answer);
    json_free(doc);
    buf_fini(&request);
    return rc;
}

int
trial_control_add(int argc, char **argv, struct err *err)
{
    char *folder;
    bool dir;
    int rc;

    if (options_parse(NULL, 0, NULL, &argc, argv, err) != 0)
        return -1;
    dir = argc > 1 && argv[1][0] != '{' && access(argv[1], F_OK) == 0;
    if (argc < 2 + dir)
        return err_set(err, ERR_USAGE,
                       "add: expected [DIR] PARAMETERS..., JSON such as "
                       "'{\"lr\":0.01}'");
    folder = target_folder("trial add", dir ? argv[1] : NULL, err);
    if (folder == NULL)
        return -1;
    rc = add(folder, argv + 1 + dir, argc - 1 - dir, err);
    free(folder);
    return rc;
}

/* Refuses for an experiment without a manager; one that is over may be given
 * more to do by another manager. */
static int
refuse(const char *folder, struct err *err)
{
    struct results *r = results_load(folder, RESULTS_NONE, NULL);
    int rc = -1;

    if (r != NULL && r->state != RESULTS_RUNNING)
        rc = err_set(
            err, ERR_SYSTEM,
            results_of_study(folder)
                ? "%s does not run: it does when it is asked for a "
                  "trial; to go on: tunepipe ask %s"
                : "%s does not run; to run all of its trials that failed "
                  "again: tunepipe resume %s --retry-failed",
            r->id, folder);
    results_free(r);
    return rc;
}

static int
retry(const struct named *named, bool all_failed, struct err *err)
{
    struct json *doc = NULL;
    struct jval answer, list;
    int rc;

    if (all_failed)
        rc =
            target_ask(named->folder, REQUEST_RETRY_FAILED, &doc, &answer, err);
    else
        rc = ask_named(named, "retry", &doc, &answer, err);
    if (rc != 0)
        rc = refuse(named->folder, err);
    else if (jval_get(answer, "trials", &list) && jval_count(list) == 0)
        fprintf(stderr, "tunepipe trial retry: none has failed whose "
                        "parameters no later trial has\n");
    else
        print_new(answer);
    json_free(doc);
    return rc;
}

int
trial_control_retry(int argc, char **argv, struct err *err)
{
    static const struct option options[] = {TRIAL_CONTROL_FAILED};
    struct trial_control_words w = {0};
    struct named named;
    int rc;

    if (options_parse(options, 1, &w, &argc, argv, err) != 0 ||
        read_named("trial retry", argc, argv, &named, err) != 0)
        return -1;
    if ((named.n > 0) == w.failed)
        rc = err_set(err, ERR_USAGE,
                     "retry: expected either --failed or "
                     "TRIAL, the number of one that has ended");
    else
        rc = retry(&named, w.failed, err);
    free(named.folder);
    return rc;
}
