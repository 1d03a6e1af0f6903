/* SPDX-License-Identifier: MIT */
/* recording.h - a recorded session and what was received when it was played:
 * reading, counting, finding.  For play.c. */
#ifndef TESTS_TOOLS_RECORDING_H
#define TESTS_TOOLS_RECORDING_H

#include "core/buf.h"
#include "core/err.h"
#include "frame.h"
#include "json.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct frames {
    struct {
        bool in; /* to the dispatcher */
        char code[3];
        char *text;
    } * at;
    size_t n;
};

struct play {
    const char *name;
    struct frames recorded, got;
    struct json *meta;
    char *args[2]; /* of tuner and assessor, where they are written down */
    int to, from;
    int digits; /* of the length in a frame */
    pid_t child;
    struct frame_decoder decoder;
};

static const char *const answers[] = {"ID", "TR", "NO", "KI"};
#define N_ANSWERS (sizeof answers / sizeof *answers)

static inline void
die(const struct play *p, const char *fmt, ...)
{
    va_list ap;

    printf("FAILED recording %s: ", p->name);
    va_start(ap, fmt);
    vprintf(fmt, ap);
    va_end(ap);
    printf("\n");
    if (p->child > 0)
        kill(p->child, SIGKILL);
    exit(1);
}

/* ---- the recording ---- */

static inline void
add(struct frames *f, bool in, const char *code, const char *text, size_t len)
{
    f->at = realloc(f->at, (f->n + 1) * sizeof *f->at);
    f->at[f->n].in = in;
    snprintf(f->at[f->n].code, 3, "%.2s", code);
    f->at[f->n++].text = strndup(text, len);
}

static inline struct json *
parse(const struct play *p, const char *text, const char *what)
{
    struct err err = {0};
    struct json *doc = json_parse(text, strlen(text), JSON_STRICT, &err);

    if (doc == NULL)
        die(p, "%s: %s: %s", what, err.text, text);
    return doc;
}

static inline const char *
text_of(struct jval object, const char *key)
{
    const char *text = "";
    struct jval v;

    return jval_get(object, key, &v) && jval_string(v, &text, NULL) ? text : "";
}

static inline FILE *
open_part(const struct play *p, const char *path, const char *ending)
{
    char name[4096];
    FILE *f;

    snprintf(name, sizeof name, "%s%s", path, ending);
    f = fopen(name, "r");
    if (f == NULL)
        die(p, "%s: %m", name);
    return f;
}

/* Whether a line is a command; else a mark (!eof, !exit), or what a WebSocket
 * has besides (ping, close, _bye_). */
static inline bool
is_command(struct jval entry)
{
    const char *kind = text_of(entry, "kind"), *code = text_of(entry, "cmd");

    return (kind[0] == '\0' || strcmp(kind, "text") == 0) &&
           strlen(code) == 2 && code[0] != '!';
}

/* Marks are left out. */
static inline void
read_frames(struct play *p, const char *path)
{
    FILE *f = open_part(p, path, ".jsonl");
    char *line = NULL;
    size_t cap = 0;

    while (getline(&line, &cap, f) >= 0) {
        struct json *doc = parse(p, line, "jsonl");
        struct jval entry = json_root(doc), data;
        const char *text = "", *code = text_of(entry, "cmd");
        size_t len = 0;

        if (jval_get(entry, "data", &data))
            (void)jval_string(data, &text, &len);
        if (is_command(entry))
            add(&p->recorded, strcmp(text_of(entry, "dir"), "in") == 0, code,
                text, len);
        json_free(doc);
    }
    free(line);
    fclose(f);
}

static inline void
read_meta(struct play *p, const char *path)
{
    FILE *f = open_part(p, path, ".meta.json");
    static char text[65536];
    size_t n = fread(text, 1, sizeof text - 1, f);

    text[n] = '\0';
    fclose(f);
    p->meta = parse(p, text, "meta.json");
}

/* meta["exp_params"][part], or meta["env"] */
static inline struct jval
meta_part(const struct play *p, const char *outer, const char *part)
{
    struct jval v = {NULL}, inner = {NULL};

    if (jval_get(json_root(p->meta), outer, &v) && part == NULL)
        return v;
    (void)jval_get(v, part, &inner);
    return inner;
}

/* How many answers with this code there are among the first n; a KI for the
 * same trial counts once. */
static inline size_t
count(const struct frames *f, size_t n, const char *code)
{
    size_t total = 0;

    for (size_t i = 0; i < n; i++) {
        bool first = !f->at[i].in && strcmp(f->at[i].code, code) == 0;

        for (size_t k = 0; first && k < i && strcmp(code, "KI") == 0; k++)
            first = strcmp(f->at[k].code, code) != 0 ||
                    strcmp(f->at[k].text, f->at[i].text) != 0;
        total += first;
    }
    return total;
}

/* The k-th answer with this code, or NULL. */
static inline const char *
answer(const struct frames *f, const char *code, size_t k)
{
    for (size_t i = 0; i < f->n; i++)
        if (!f->at[i].in && strcmp(f->at[i].code, code) == 0 && k-- == 0)
            return f->at[i].text;
    return NULL;
}

/* The parameter_id in a record, as JSON text; to be freed. */
static inline char *
id_of(const struct play *p, const char *record)
{
    struct json *doc = parse(p, record, "record");
    struct jval id;
    struct buf text;

    buf_init(&text, 4096);
    if (!jval_get(json_root(doc), "parameter_id", &id))
        die(p, "no parameter_id in %s", record);
    jval_write(id, &text);
    json_free(doc);
    return buf_take(&text);
}

#endif
