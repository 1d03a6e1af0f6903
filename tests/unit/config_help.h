/* SPDX-License-Identifier: MIT */
/* config_help.h - reads an experiment that is written as a text. */
#ifndef TESTS_CONFIG_HELP_H
#define TESTS_CONFIG_HELP_H

#include "config/configuration.h"
#include "config/experiment.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "core/problems.h"
#include "t.h"

#include <string.h>

#define GOOD_END "tuner: {name: Random}\n"

static struct problems problems, notes;
static struct err err;

/* Writes e.yml, reads it. */
static inline struct experiment *
read_text(const char *text, enum experiment_use use)
{
    CHECK_EQ(file_write("e.yml", text, strlen(text), NULL), 0);
    problems_init(&problems);
    problems_init(&notes);
    err_clear(&err);
    return experiment_read("e.yml", use, &problems, &notes, &err);
}

static inline void
done(struct experiment *x)
{
    experiment_free(x);
    problems_fini(&problems);
    problems_fini(&notes);
}

#endif
