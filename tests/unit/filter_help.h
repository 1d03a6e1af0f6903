/* SPDX-License-Identifier: MIT */
/* filter_help.h - a tuner with filters around it, and its log as a text. */
#ifndef TESTS_UNIT_FILTER_HELP_H
#define TESTS_UNIT_FILTER_HELP_H

#include "t.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/log.h"
#include "core/problems.h"
#include "plugin/loader.h"
#include "plugin/paths.h"
#include "plugin/tuner.h"
#include "space/space.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct stack {
    struct plugin_paths *paths;
    struct tuner *tuner;
    struct space *space;
    struct log log;
    int pipes[2];
    struct err err; /* of the last call */
    char json[512]; /* the point of the last ask, as a trial sees it */
    double x[16];
    char text[16384];
};

/* Reads what was logged so far, each line without "tunepipe: ". */
static inline const char *
stack_log(struct stack *s)
{
    static const char prefix[] = "tunepipe: ";
    ssize_t n;
    char *at;

    CHECK(write(s->pipes[1], "\n", 1) == 1); /* so that read does not wait */
    n = read(s->pipes[0], s->text, sizeof s->text - 1);
    CHECK(n > 0);
    s->text[n - 1] = '\0';
    while ((at = strstr(s->text, prefix)) != NULL)
        memmove(at, at + strlen(prefix), strlen(at + strlen(prefix)) + 1);
    return s->text;
}

static inline void
stack_open(struct stack *s, const char *tuner, const char *args)
{
    char folders[1024];
    struct json *doc = json_parse(args, strlen(args), 0, NULL);

    memset(s, 0, sizeof *s);
    snprintf(folders, sizeof folders, "%s:", t_build("tests/plugins"));
    snprintf(folders + strlen(folders), sizeof folders - strlen(folders), "%s",
             t_build("plugins"));
    CHECK(pipe(s->pipes) == 0);
    s->log =
        (struct log){.fd = s->pipes[1], .most = LOG_INFO, .name = "tunepipe"};
    s->paths = plugin_paths_new(folders, &s->err);
    s->tuner = tuner_new(s->paths, tuner, json_root(doc), 5, &s->log, &s->err);
    CHECK_STR(s->err.text, "");
    json_free(doc);
}

static inline int
stack_wrap(struct stack *s, const char *filter, const char *args)
{
    struct json *doc = json_parse(args, strlen(args), 0, NULL);
    int rc = tuner_wrap(s->tuner, s->paths, filter, json_root(doc), &s->log,
                        &s->err);

    json_free(doc);
    return rc;
}

static inline int
stack_space(struct stack *s, const char *text)
{
    struct json *doc = json_parse(text, strlen(text), 0, NULL);
    struct space *before = s->space;
    struct problems problems;
    int rc;

    problems_init(&problems);
    s->space = space_parse(json_root(doc), &problems);
    CHECK_STR(buf_text(&problems.lines), "");
    problems_fini(&problems);
    json_free(doc);
    rc = tuner_space(s->tuner, s->space, &s->err);
    space_free(before);
    return rc;
}

static inline int
stack_ask(struct stack *s, uint64_t id)
{
    char *label = NULL;
    struct buf out;
    int rc = tuner_ask(s->tuner, id, s->x, &label, &s->err);

    free(label);
    if (rc != TP_OK)
        return rc;
    buf_init(&out, 1 << 20);
    space_decode(s->space, s->x, &out);
    snprintf(s->json, sizeof s->json, "%s", buf_text(&out));
    buf_fini(&out);
    return rc;
}

static inline int
stack_tell(struct stack *s, uint64_t id, int how)
{
    struct tp_result result = {.how = how, .value = 0.5};

    return tuner_tell(s->tuner, id, s->x, &result, &s->err);
}

/* Without the pipe: what is said while it is taken down can still be read. */
static inline void
stack_destroy(struct stack *s)
{
    tuner_free(s->tuner);
    space_free(s->space);
    plugin_paths_free(s->paths);
}

static inline void
stack_close(struct stack *s)
{
    stack_destroy(s);
    close(s->pipes[0]);
    close(s->pipes[1]);
}

#endif
