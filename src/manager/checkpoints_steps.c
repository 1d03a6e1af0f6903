/* SPDX-License-Identifier: MIT */
/* DESIGN.  Who reads `checkpoint NUMBER` among a trial's reports writes down
 * how many there were.  A manager that dies before leaves that to the next
 * one, which finds it in the files of the attempt. */
#include "manager/checkpoints_inside.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "manager/metrics.h"
#include "manager/tail.h"
#include "manager/trial.h"
#include "trial/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_MAX_BYTES 64
#define BUFFER_MAX ((size_t)1 << 20)
#define WORD_GIVEN "given"
#define WORD_BEYOND "beyond"

static char *
place(const struct checkpoints *c, uint64_t trial, uint64_t number)
{
    return checkpoints_place_of(c, trial, TRIAL_CHECKPOINT_STEPS, number);
}

bool
checkpoints_steps_read(const struct checkpoints *c, uint64_t trial,
                       uint64_t number, struct checkpoint_steps *out)
{
    char *path = place(c, trial, number), word[16] = "";
    unsigned long long steps = 0;
    struct buf text;
    bool ok;

    buf_init(&text, BUFFER_MAX);
    ok = path != NULL &&
         file_read_plain(path, LINE_MAX_BYTES, &text, NULL) == 0 &&
         sscanf(buf_text(&text), "%llu %15s", &steps, word) >= 1;
    *out = (struct checkpoint_steps){
        .steps = steps,
        .given = strcmp(word, WORD_GIVEN) == 0,
        .beyond = strcmp(word, WORD_BEYOND) == 0,
    };
    buf_fini(&text);
    free(path);
    return ok;
}

int
checkpoints_steps_write(const struct checkpoints *c, uint64_t trial,
                        uint64_t number, const struct checkpoint_steps *of,
                        struct err *err)
{
    char *path = place(c, trial, number), line[LINE_MAX_BYTES];
    int len =
        snprintf(line, sizeof line, "%llu%s%s\n", (unsigned long long)of->steps,
                 of->given || of->beyond ? " " : "",
                 of->given    ? WORD_GIVEN
                 : of->beyond ? WORD_BEYOND
                              : "");
    int rc = path == NULL ? err_set(err, ERR_MEMORY, "out of memory")
                          : file_write_plain(path, line, (size_t)len, err);

    free(path);
    return rc;
}

void
checkpoints_steps_remove(const struct checkpoints *c, uint64_t trial,
                         uint64_t number)
{
    char *path = place(c, trial, number);

    if (path != NULL)
        unlink(path);
    free(path);
}

struct search {
    struct metrics metrics;
    uint64_t number;
    bool found;
};

static void
look(void *ctx, const char *line, size_t len, bool too_long)
{
    struct search *s = ctx;
    struct metric_line m;

    if (!s->found && metrics_line(&s->metrics, line, len, too_long, &m, NULL) ==
                         METRICS_CHECKPOINT)
        s->found = m.sequence == s->number;
}

/* Reports of this attempt before it told of the number, of all where it came
 * to save it and to nothing else. */
static bool
search(const struct trial *t, uint64_t number, uint64_t *reports)
{
    struct search s = {.number = number};
    char *path = file_join(t->folder, TRIAL_METRICS);
    struct tail tail;

    if (path != NULL && tail_open(&tail, path, TRIAL_METRIC_MAX, NULL) == 0) {
        while (!s.found &&
               tail_drain(&tail, (size_t)1 << 20, look, &s, NULL) > 0)
            continue;
        tail_close(&tail);
    }
    free(path);
    *reports = s.metrics.intermediates;
    return s.found;
}

uint64_t
checkpoints_steps_find(const struct checkpoints *c, const struct trial *t,
                       uint64_t number)
{
    char *experiment = strdup(c->folder);
    struct trial before = {.attempt = t->attempt};
    uint64_t reports, newest = 0;
    bool found = false;

    if (experiment == NULL)
        return 0;
    *strrchr(experiment, '/') = '\0';
    memcpy(before.id, t->id, sizeof before.id);
    while (!found && before.attempt-- > 0 &&
           trial_place(&before, experiment, NULL) == 0) {
        found = search(&before, number, &reports);
        origin_load(&before);
        if (found || newest == 0)
            newest = before.step + reports;
    }
    free(before.folder);
    free(experiment);
    return newest;
}
