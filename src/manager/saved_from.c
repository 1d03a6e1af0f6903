/* SPDX-License-Identifier: MIT */
#include "manager/saved_from.h"

#include "core/buf.h"
#include "core/file.h"
#include "manager/progress.h"
#include "manager/trial.h"
#include "trial/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define READ_MAX ((size_t)1 << 20)
#define LAST_MAX \
    (sizeof((struct saved_from *)0)->last / sizeof(struct saved_file))

/* The entry of a path, made where there is none; NULL: out of memory. */
static struct saved_file *
find(struct saved_from *s, const char *path)
{
    struct saved_file *f;
    char *own;

    for (size_t i = 0; i < LAST_MAX && i < s->n; i++)
        if (strcmp(s->last[i].path, path) == 0)
            return &s->last[i];
    own = strdup(path);
    if (own == NULL)
        return NULL;
    f = &s->last[s->n++ % LAST_MAX];
    free(f->path);
    *f = (struct saved_file){.path = own};
    return f;
}

static void
look(struct saved_from *s, const struct trial *t, const char *path)
{
    struct saved_file *f = find(s, path);

    if (f == NULL)
        return;
    if (t->started_ns != 0 && t->started_ns < f->ended_ns &&
        strcmp(f->trial, t->id) != 0) {
        progress_warn(s->progress,
                      "tunepipe: warning: trials %s and %s, which ran at the "
                      "same time, saved checkpoints of the same file, %s: one "
                      "may hold what the other wrote; write it into "
                      "$" TRIAL_ENV_DIR ", a trial's own folder",
                      f->trial, t->id, path);
        s->told = true;
    }
    snprintf(f->trial, sizeof f->trial, "%s", t->id);
    f->ended_ns = t->ended_ns;
}

void
saved_from_hear_end(void *ctx, const struct attempt_end *end)
{
    struct saved_from *s = ctx;
    const char *folder = end->trial->folder;
    char *path =
        folder == NULL || s->told ? NULL : file_join(folder, TRIAL_SAVED_FROM);
    char *lines = NULL, *line;
    struct buf text;

    buf_init(&text, READ_MAX);
    if (path != NULL &&
        file_read_plain(path, 2 * TRIAL_NOTE_MAX, &text, NULL) == 0 &&
        text.len > 0)
        lines = buf_take(&text);
    for (char *at = lines; at != NULL && (line = strsep(&at, "\n")) != NULL;)
        if (line[0] != '\0' && !s->told)
            look(s, end->trial, line);
    free(lines);
    buf_fini(&text);
    free(path);
}

void
saved_from_close(struct saved_from *s)
{
    for (size_t i = 0; i < LAST_MAX; i++)
        free(s->last[i].path);
}
