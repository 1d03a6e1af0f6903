/* SPDX-License-Identifier: MIT */
#include "cli/target.h"

#include "cli/verb.h"

#include "control/client.h"
#include "core/err.h"
#include "core/file.h"
#include "core/grow.h"
#include "core/number.h"
#include "core/visible.h"
#include "history/folder.h"
#include "json.h"
#include "log/log.h"
#include "manager/results.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* When an experiment began: the time of a file that is written once. */
static int
began(const char *folder, struct timespec *out)
{
    char *path = file_join(folder, FOLDER_EXPERIMENT);
    struct stat st;
    int rc = path == NULL ? -1 : stat(path, &st);

    if (rc == 0)
        *out = st.st_mtim;
    free(path);
    return rc;
}

/* Orders the newest first; of two that began at the same time, by name. */
static int
compare_began(const void *a, const void *b)
{
    const struct target_entry *x = a, *y = b;

    if (x->began.tv_sec != y->began.tv_sec)
        return x->began.tv_sec < y->began.tv_sec ? 1 : -1;
    if (x->began.tv_nsec != y->began.tv_nsec)
        return x->began.tv_nsec < y->began.tv_nsec ? 1 : -1;
    return strcmp(y->path, x->path);
}

static int
add_entry(struct target_list *l, const char *working, const char *name)
{
    struct target_entry e = {.path = NULL};
    size_t len = strlen(working);

    while (len > 0 && working[len - 1] == '/')
        len--;
    if (asprintf(&e.path, "%.*s/%s", (int)len, working, name) < 0)
        return -1;
    if (began(e.path, &e.began) != 0) { /* no experiment's folder */
        free(e.path);
        return 0;
    }
    if (GROW(l->items, l->n, l->cap) != 0) {
        free(e.path);
        return -1;
    }
    l->items[l->n++] = e;
    return 0;
}

int
target_list_load(struct target_list *l, const char *working, struct err *err)
{
    DIR *all = opendir(working);
    struct dirent *entry;
    int rc = 0;

    *l = (struct target_list){0};
    if (all == NULL)
        return err_errno(err, ERR_CONFIG, "%s", working);
    while (rc == 0 && (entry = readdir(all)) != NULL)
        if (entry->d_name[0] != '.')
            rc = add_entry(l, working, entry->d_name);
    closedir(all);
    if (rc != 0)
        return err_set(err, ERR_MEMORY, "out of memory");
    if (l->n > 0)
        qsort(l->items, l->n, sizeof *l->items, compare_began);
    return 0;
}

void
target_list_fini(struct target_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        free(l->items[i].path);
    free(l->items);
}

static char *
find_newest(void)
{
    struct target_list l;
    char *found = NULL;

    if (target_list_load(&l, TARGET_USUAL, NULL) == 0 && l.n > 0) {
        found = l.items[0].path;
        l.items[0].path = NULL;
    }
    target_list_fini(&l);
    return found;
}

/* Whether it can only be a trial's number, which is told. */
static bool
is_trial(const char *given, struct err *err)
{
    uint64_t number;

    if (!number_parse_u64(given, strlen(given), &number) ||
        access(given, F_OK) == 0)
        return false;
    err_set(err, ERR_CONFIG,
            "%s: expected an experiment's folder, as tunepipe run printed it; "
            "of a trial: tunepipe why %s, tunepipe explain %s",
            given, given, given);
    return true;
}

char *
target_folder(const char *verb, const char *given, struct err *err)
{
    char *newest = given == NULL ? find_newest() : NULL, *folder = NULL;
    const char *which = given != NULL ? given : newest;
    struct timespec when;

    if (which == NULL) {
        err_set(err, ERR_CONFIG,
                "no experiment in ./" TARGET_USUAL
                ": expected DIR, an experiment's "
                "folder as tunepipe run printed it");
    } else if (is_trial(which, err)) {
        folder = NULL;
    } else if (began(which, &when) != 0) {
        err_set(err, ERR_CONFIG,
                "%s: expected an experiment's folder, as tunepipe run "
                "printed it",
                which);
    } else {
        folder = realpath(which, NULL);
        if (folder == NULL)
            err_errno(err, ERR_CONFIG, "%s", which);
    }
    if (newest != NULL && folder != NULL)
        visible_printf(stderr, "tunepipe %s: %s\n", verb, newest);
    free(newest);
    return folder;
}

char *
target_of_words(const char *verb, int argc, char **argv, struct err *err)
{
    if (argc > 2) {
        err_set(err, ERR_USAGE, "'%s': expected one folder; see --help",
                argv[2]);
        return NULL;
    }
    return target_folder(verb, argc == 2 ? argv[1] : NULL, err);
}

/* Says so where the folder's log lies elsewhere and is not there: what can be
 * told without is told. */
static void
warn_of_log(const char *verb, const char *folder)
{
    struct err err = {0};
    char *place = log_place(folder, &err);

    if (place == NULL)
        visible_printf(stderr, "tunepipe %s: warning: %s\n", verb, err.text);
    free(place);
}

int
target_run(const char *verb, int argc, char **argv, target_act *act,
           const void *words)
{
    struct err err = {0};
    char *folder = target_of_words(verb, argc, argv, &err);
    int rc = -1;

    if (folder != NULL) {
        warn_of_log(verb, folder);
        rc = act(folder, words, &err);
    }
    free(folder);
    return verb_printed(verb, rc >= 0 ? rc : verb_fail(verb, &err));
}

int
target_read(const char *verb, int argc, char **argv, target_act *act,
            const void *words)
{
    struct err err = {0};
    int rc;

    if (argc != 2)
        return target_run(verb, argc, argv, act, words);
    if (is_trial(argv[1], &err)) {
        rc = -1;
    } else {
        warn_of_log(verb, argv[1]);
        rc = act(argv[1], words, &err);
    }
    return verb_printed(verb, rc >= 0 ? rc : verb_fail(verb, &err));
}

char *
target_log(const char *verb, const char *given, struct err *err)
{
    char *folder, *path;

    if (given != NULL)
        return log_find(given, err);
    folder = target_folder(verb, NULL, err);
    path = folder == NULL ? NULL : log_find_in(folder, err);
    free(folder);
    return path;
}

int
target_before(int argc, char **argv, bool word_is_path, const char *expected,
              const char **dir, struct err *err)
{
    uint64_t number;
    const char *only = argc == 2 ? argv[1] : NULL;

    *dir = argc == 3 ? argv[1] : NULL;
    if (argc != 2 && argc != 3)
        return err_set(err, ERR_USAGE, "expected %s; see --help", expected);
    if (only != NULL && !number_parse_u64(only, strlen(only), &number) &&
        ((!word_is_path && strchr(only, '/') != NULL) ||
         access(only, F_OK) == 0))
        return err_set(err, ERR_USAGE,
                       "'%s' alone: expected %s; without the first the newest "
                       "experiment is taken",
                       only, expected);
    return 0;
}

/* Says why no manager answers for that experiment. */
static int
explain(const struct results *r, const char *folder, struct err *err)
{
    switch (r->state) {
    case RESULTS_RUNNING:
        err_set(err, ERR_SYSTEM,
                "%s: its manager lives and does not listen: it has only just "
                "begun, is about to end, runs on another machine, which alone "
                "can ask it, or said why when it began; its process is in "
                "manager.pid there",
                r->id);
        break;
    case RESULTS_DIED:
        err_set(err, ERR_SYSTEM, "%s: its manager died; to go on: %s %s", r->id,
                results_resume(folder), folder);
        break;
    case RESULTS_QUEUED:
        err_set(err, ERR_SYSTEM,
                "%s: %s: squeue tells what for, scancel takes it back; to run "
                "it here: tunepipe resume %s",
                r->id, r->reason, folder);
        break;
    case RESULTS_FORKED:
        err_set(err, ERR_SYSTEM,
                "%s is a fork that was not started; to start it: tunepipe "
                "resume %s",
                r->id, folder);
        break;
    case RESULTS_ENDED:
        if (r->over)
            err_set(err, ERR_SYSTEM,
                    "%s is over (%s); its results: tunepipe "
                    "show %s",
                    r->id, r->reason, folder);
        else
            err_set(err, ERR_SYSTEM, "%s does not run (%s); to go on: %s %s",
                    r->id, r->reason, results_resume(folder), folder);
        break;
    }
    return -1;
}

int
target_connect(struct control_client *l, const char *folder, struct err *err)
{
    struct err why = {0};
    struct results *r;

    if (control_client_open(l, folder, &why) == 0)
        return 0;
    *err = why;
    r = why.number != ETIMEDOUT ? results_load(folder, RESULTS_NONE, NULL)
                                : NULL;
    if (r != NULL)
        explain(r, folder, err);
    results_free(r);
    return -1;
}

int
target_ask(const char *folder, const char *request, struct json **doc,
           struct jval *answer, struct err *err)
{
    struct control_client l;
    int rc;

    *doc = NULL;
    if (target_connect(&l, folder, err) != 0)
        return -1;
    rc = control_client_ask(&l, request, doc, answer, err);
    control_client_close(&l);
    return rc;
}

int
target_tell(const char *folder, const char *request, struct err *err)
{
    struct json *doc;
    struct jval answer;
    int rc = target_ask(folder, request, &doc, &answer, err);

    json_free(doc);
    return rc;
}

static int
tell(const char *folder, const void *request, struct err *err)
{
    return target_tell(folder, request, err);
}

int
target_run_request(const char *verb, int argc, char **argv, const char *request)
{
    return target_run(verb, argc, argv, tell, request);
}

int
target_print_answer(struct jval answer, struct err *err)
{
    char *text = jval_copy_text(answer);

    if (text == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    puts(text);
    free(text);
    return 0;
}

int
target_print_end(const char *folder, struct err *err)
{
    struct results *r = results_load(folder, RESULTS_NONE, err);
    int rc = 0;

    if (r == NULL)
        return -1;
    if (r->state == RESULTS_ENDED && r->over)
        visible_printf(stdout, "%s: %s\n", r->id, r->reason);
    else if (r->state == RESULTS_ENDED)
        visible_printf(stdout, "%s: %s; to go on: %s %s\n", r->id, r->reason,
                       results_resume(folder), folder);
    else
        rc = explain(r, folder, err);
    results_free(r);
    return rc;
}
