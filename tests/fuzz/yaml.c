/* SPDX-License-Identifier: MIT */
/* Configurations: read for each use, they give an experiment or problems, and
 * what they give as JSON is JSON. */
#include "fuzz.h"

#include "config/configuration.h"
#include "config/experiment.h"
#include "core/err.h"
#include "core/problems.h"
#include "fuzz_file.h"
#include "json.h"

#include <string.h>

static void
check_json(const char *text)
{
    struct json *doc;

    if (text == NULL)
        return;
    MUST(strchr(text, '\n') == NULL);
    doc = json_parse(text, strlen(text), JSON_STRICT, NULL);
    MUST(doc != NULL);
    json_free(doc);
}

static void
check_use(const char *path, enum experiment_use use)
{
    struct problems problems, notes;
    struct experiment *x;
    struct err err = {0};

    problems_init(&problems);
    problems_init(&notes);
    x = experiment_read(path, use, &problems, &notes, &err);
    MUST((x == NULL) == (err.code != ERR_NONE));
    if (x != NULL) {
        MUST(problems.count == 0);
        MUST(use == EXPERIMENT_DISPATCH || x->concurrency >= 1);
        check_json(x->search_space);
        check_json(x->tuner.args);
        check_json(x->assessor.args);
    }
    experiment_free(x);
    problems_fini(&problems);
    problems_fini(&notes);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_file f;

    fuzz_file_write(&f, data, size);
    check_use(f.path, EXPERIMENT_RUN);
    check_use(f.path, EXPERIMENT_DISPATCH);
    fuzz_file_remove(&f);
    return 0;
}
