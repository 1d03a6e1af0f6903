/* SPDX-License-Identifier: MIT */
#include "cli/target.h"

#include "cli/verb.h"

#include "control/client.h"
#include "core/err.h"
#include "core/file.h"
#include "core/visible.h"
#include "history/folder.h"
#include "json.h"
#include "manager/results.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define USUAL "tunepipe-experiments"

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

static int
is_later(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec
                                  : a->tv_nsec > b->tv_nsec;
}

static char *
find_newest(void)
{
    DIR *all = opendir(USUAL);
    struct timespec newest = {0}, when;
    char *found = NULL, *path;
    struct dirent *entry;

    while (all != NULL && (entry = readdir(all)) != NULL) {
        path = entry->d_name[0] == '.' ? NULL : file_join(USUAL, entry->d_name);
        if (path != NULL && began(path, &when) == 0 &&
            (found == NULL || is_later(&when, &newest))) {
            free(found);
            found = path;
            newest = when;
        } else {
            free(path);
        }
    }
    if (all != NULL)
        closedir(all);
    return found;
}

char *
target_folder(const char *verb, const char *given, struct err *err)
{
    char *newest = given == NULL ? find_newest() : NULL, *folder = NULL;
    const char *which = given != NULL ? given : newest;
    struct timespec when;

    if (which == NULL) {
        err_set(err, ERR_CONFIG,
                "no experiment in ./" USUAL ": expected DIR, an experiment's "
                "folder as tunepipe run printed it");
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
        fprintf(stderr, "tunepipe %s: %s\n", verb, newest);
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

char *
target_given(const char *verb, int argc, char **argv, struct err *err)
{
    char *given;

    if (argc != 2)
        return target_of_words(verb, argc, argv, err);
    given = strdup(argv[1]);
    if (given == NULL)
        err_set(err, ERR_MEMORY, "out of memory");
    return given;
}

int
target_run(const char *verb, int argc, char **argv,
           int (*act)(const char *folder, const void *words, struct err *err),
           const void *words)
{
    struct err err = {0};
    char *folder = target_of_words(verb, argc, argv, &err);
    int rc = folder == NULL ? -1 : act(folder, words, &err);

    free(folder);
    return verb_printed(verb, rc == 0 ? EXIT_DONE : verb_fail(verb, &err));
}

static void
explain(const char *folder, struct err *err)
{
    struct results *r = results_load(folder, NULL);

    if (r == NULL)
        return;
    switch (r->state) {
    case RESULTS_RUNNING:
        err_set(err, ERR_SYSTEM,
                "%s: its manager lives and does not listen: it has only just "
                "begun, is about to end, or said why when it began",
                r->id);
        break;
    case RESULTS_DIED:
        err_set(err, ERR_SYSTEM,
                "%s: its manager died; to go on: tunepipe resume %s", r->id,
                folder);
        break;
    case RESULTS_ENDED:
        if (r->over)
            err_set(err, ERR_SYSTEM,
                    "%s is over (%s); its results: tunepipe "
                    "show %s",
                    r->id, r->reason, folder);
        else
            err_set(err, ERR_SYSTEM,
                    "%s does not run (%s); to go on: tunepipe resume %s", r->id,
                    r->reason, folder);
        break;
    }
    results_free(r);
}

int
target_connect(struct control_client *l, const char *folder, struct err *err)
{
    struct err why = {0};

    if (control_client_open(l, folder, &why) == 0)
        return 0;
    *err = why;
    if (why.number != ETIMEDOUT)
        explain(folder, err);
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
    struct results *r = results_load(folder, err);
    int rc = 0;

    if (r == NULL)
        return -1;
    if (r->state == RESULTS_ENDED)
        visible_printf(stdout, "%s: %s%s%s\n", r->id, r->reason,
                       r->over ? "" : "; to go on: tunepipe resume ",
                       r->over ? "" : folder);
    else
        rc = err_set(err, ERR_SYSTEM,
                     "%s: its manager died; to go on: tunepipe resume %s",
                     r->id, folder);
    results_free(r);
    return rc;
}
