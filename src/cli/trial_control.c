/* SPDX-License-Identifier: MIT */
#include "cli/trial_control.h"

#include "cli/target.h"
#include "cli/verb.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/map.h"
#include "core/number.h"
#include "json.h"
#include "manager/results.h"
#include "manager/trial.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REQUEST_MAX ((size_t)64 << 10) /* the socket's own limit */

struct named {
    char *folder;
    char **trials; /* of argv */
    int n;
};

/* [DIR] TRIAL...: a number is no folder. */
static int
read_named(const char *verb, int argc, char **argv, struct named *out,
           struct err *err)
{
    uint64_t number;
    bool dir = argc > 1 && !number_parse_u64(argv[1], strlen(argv[1]), &number);

    *out = (struct named){.trials = argv + 1 + dir, .n = argc - 1 - dir};
    for (int i = 0; i < out->n; i++)
        if (!number_parse_u64(out->trials[i], strlen(out->trials[i]), &number))
            return err_set(err, ERR_USAGE,
                           "'%s': expected a trial's number, such as 00003",
                           out->trials[i]);
    out->folder = target_folder(verb, dir ? argv[1] : NULL, err);
    return out->folder == NULL ? -1 : 0;
}

static void
add_number(struct buf *request, uint64_t number, size_t n)
{
    buf_printf(request, "%s%llu", n > 0 ? ", " : "",
               (unsigned long long)number);
}

static void
add_named(struct buf *request, const struct named *named)
{
    for (int i = 0; i < named->n; i++) {
        uint64_t number = 0;

        number_parse_u64(named->trials[i], strlen(named->trials[i]), &number);
        add_number(request, number, (size_t)i);
    }
}

/* What "begin" is followed by the list of numbers. */
static void
begin(struct buf *request, const char *command)
{
    buf_init(request, REQUEST_MAX);
    buf_printf(request, "{\"command\": \"%s\", \"trials\": [", command);
}

static int
finish(struct buf *request, const char *folder, struct json **doc,
       struct jval *answer, struct err *err)
{
    int rc;

    buf_add_text(request, "]}");
    rc = buf_check(request, "the list of trials", err);
    if (rc == 0)
        rc = target_ask(folder, buf_text(request), doc, answer, err);
    buf_fini(request);
    return rc;
}

int
trial_control_kill(int argc, char **argv, struct err *err)
{
    struct json *doc = NULL;
    struct named named;
    struct jval answer;
    struct buf request;
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
    begin(&request, "kill");
    add_named(&request, &named);
    rc = finish(&request, named.folder, &doc, &answer, err);
    json_free(doc);
    free(named.folder);
    return rc;
}

/* ---- retry ---- */

static bool
failed(const struct result *r)
{
    return trial_is_failure(trial_state_of(r->status));
}

static uint64_t
number_of(const char *trial)
{
    uint64_t number = 0;

    number_parse_u64(trial, strlen(trial), &number);
    return number;
}

/* By their parameters, the last trial that had them: JSON text -> its number,
 * and one. */
static void
note_last(struct map *last, const char *parameters, uint64_t number)
{
    uintptr_t before = (uintptr_t)map_get(last, parameters, strlen(parameters));

    if (number + 1 > before)
        map_put(last, parameters, strlen(parameters),
                (void *)(uintptr_t)(number + 1));
}

static void
note_live(struct map *last, struct jval account)
{
    struct jval trials, parameters, v;

    if (!jval_get(account, "trials", &trials))
        return;
    for (size_t i = 0; i < jval_count(trials); i++) {
        const char *id = "";
        struct buf text;

        buf_init(&text, (size_t)64 << 20);
        if (jval_get(jval_at(trials, i), "trial", &v) &&
            jval_get(jval_at(trials, i), "parameters", &parameters) &&
            jval_string(v, &id, NULL)) {
            jval_write(parameters, &text);
            note_last(last, buf_text(&text), number_of(id));
        }
        buf_fini(&text);
    }
}

static size_t
add_failed(struct buf *request, const struct results *r, struct jval account)
{
    struct map last = {0};
    size_t n = 0;

    note_live(&last, account);
    for (size_t i = 0; i < r->n; i++)
        note_last(&last, r->items[i].parameters, number_of(r->items[i].trial));
    for (size_t i = 0; i < r->n; i++) {
        const struct result *one = &r->items[i];
        uint64_t number = number_of(one->trial);

        if (failed(one) &&
            (uintptr_t)map_get(&last, one->parameters,
                               strlen(one->parameters)) == number + 1)
            add_number(request, number, n++);
    }
    map_fini(&last);
    return n;
}

/* What runs is asked for first: what ends meanwhile is then among the
 * results. */
static int
find_failed(struct buf *request, const char *folder, size_t *n, struct err *err)
{
    struct jval account;
    struct json *doc;
    struct results *r;

    if (target_ask(folder, "{\"command\": \"status\", \"rows\": 1000000}", &doc,
                   &account, err) != 0)
        return -1;
    r = results_load(folder, err);
    if (r != NULL)
        *n = add_failed(request, r, account);
    results_free(r);
    json_free(doc);
    return r == NULL ? -1 : 0;
}

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

static int
retry(const struct named *named, bool all_failed, struct err *err)
{
    struct json *doc = NULL;
    struct jval answer;
    struct buf request;
    size_t n = (size_t)named->n;
    int rc = 0;

    begin(&request, "retry");
    if (all_failed)
        rc = find_failed(&request, named->folder, &n, err);
    else
        add_named(&request, named);
    if (rc != 0 || n == 0) {
        if (rc == 0)
            fprintf(stderr, "tunepipe trial retry: none has failed whose "
                            "parameters no later trial has\n");
        buf_fini(&request);
        return rc;
    }
    rc = finish(&request, named->folder, &doc, &answer, err);
    if (rc == 0)
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
