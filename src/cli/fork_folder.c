/* SPDX-License-Identifier: MIT */
#include "cli/fork_folder.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "core/folder.h"
#include "core/number.h"
#include "history/folder.h"
#include "json.h"
#include "replay/fork.h"
#include "trial/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PART_MAX ((size_t)1 << 30)

bool
fork_folder_is_experiment(const char *folder)
{
    char *path = file_join(folder, FOLDER_EXPERIMENT);
    struct stat st;
    bool is = path != NULL && stat(path, &st) == 0;

    free(path);
    return is;
}

static int
read_part(const char *folder, const char *name, struct buf *out,
          struct err *err)
{
    char *path = file_join(folder, name);
    int rc = path == NULL ? err_set(err, ERR_MEMORY, "out of memory")
                          : file_read(path, PART_MAX / 2, out, err);

    free(path);
    return rc;
}

static int
write_part(const char *folder, const char *name, const struct buf *text,
           struct err *err)
{
    char *path = file_join(folder, name);
    int rc = -1;

    if (path == NULL)
        err_set(err, ERR_MEMORY, "out of memory");
    else if (buf_check(text, path, err) == 0)
        rc = file_write(path, text->len > 0 ? text->data : "", text->len, err);
    free(path);
    return rc;
}

static int
copy_part(const char *from, const char *to, const char *name, struct err *err)
{
    struct buf text;
    int rc;

    buf_init(&text, PART_MAX);
    rc = read_part(from, name, &text, err);
    if (rc == 0)
        rc = write_part(to, name, &text, err);
    buf_fini(&text);
    return rc;
}

/* ---- experiment.json ---- */

static const char *
base_name(const char *path, size_t *len)
{
    size_t end = strlen(path), begin;

    while (end > 1 && path[end - 1] == '/')
        end--;
    for (begin = end; begin > 0 && path[begin - 1] != '/'; begin--)
        continue;
    *len = end - begin;
    return path + begin;
}

static void
write_experiment(struct jval old, const char *from, const char *to, uint64_t at,
                 uint64_t seed, struct buf *out)
{
    struct jval_iter it = jval_iter(old);
    struct json_writer w = json_begin_object(out);
    const char *id;
    size_t len;

    id = base_name(to, &len);
    json_add_string(&w, "id", id, len);
    while (jval_next(&it)) {
        if (strcmp(it.key, "id") == 0 || strcmp(it.key, "pid") == 0 ||
            strncmp(it.key, "forked_", 7) == 0)
            continue;
        if (strcmp(it.key, "seed") == 0)
            json_add_unsigned(&w, it.key, seed);
        else
            jval_write(it.value, json_value(&w, it.key));
    }
    json_add_text(&w, "forked_from", from);
    json_add_unsigned(&w, "forked_at", at);
    json_close(&w);
    buf_add_char(out, '\n');
}

static int
copy_experiment(const char *from, const char *to, uint64_t at, uint64_t seed,
                struct err *err)
{
    struct json *doc = NULL;
    struct buf text, made;
    int rc;

    buf_init(&text, PART_MAX);
    buf_init(&made, PART_MAX);
    rc = read_part(from, FOLDER_EXPERIMENT, &text, err);
    if (rc == 0) {
        doc = json_parse(text.data, text.len, JSON_STRICT, err);
        rc = doc == NULL ? err_place(err, "%s/%s", from, FOLDER_EXPERIMENT) : 0;
    }
    if (rc == 0) {
        write_experiment(json_root(doc), from, to, at, seed, &made);
        rc = write_part(to, FOLDER_EXPERIMENT, &made, err);
    }
    json_free(doc);
    buf_fini(&text);
    buf_fini(&made);
    return rc;
}

/* ---- results.jsonl ---- */

static bool
had_ended(const struct fork_report *report, const char *line, size_t len)
{
    struct json *doc = json_parse(line, len, JSON_NAN, NULL);
    const char *trial;
    bool ended = false;
    struct jval v;

    if (doc != NULL && jval_get(json_root(doc), "trial", &v) &&
        jval_string(v, &trial, NULL))
        ended = map_get(&report->ended, trial, strlen(trial)) != NULL;
    json_free(doc);
    return ended;
}

/* From there others go on: what is left of it is shared.  A trial that did not
 * end so is started anew, or is over. */
static int
share_checkpoints(const char *from, const char *to, struct jval line,
                  struct err *err)
{
    const char *trial = jval_text_of(line, "trial");
    char *all = file_join(to, TRIAL_CHECKPOINTS), *old = NULL, *new = NULL;
    uint64_t number;
    int rc = 0;

    if (strcmp(jval_text_of(line, "status"), "paused") == 0 &&
        number_parse_u64(trial, strlen(trial), &number) && all != NULL &&
        asprintf(&old, "%s/" TRIAL_CHECKPOINTS "/%s", from, trial) >= 0 &&
        access(old, F_OK) == 0) {
        new = file_join(all, trial);
        rc = new == NULL ? err_set(err, ERR_MEMORY, "out of memory")
                         : file_make_folder(all, err);
        if (rc == 0)
            rc = folder_link(old, new, err);
    }
    free(all);
    free(old);
    free(new);
    return rc;
}

static int
share_all(const char *from, const char *to, struct buf *results,
          struct err *err)
{
    const char *line = buf_text(results), *end;
    int rc = 0;

    for (; rc == 0 && (end = strchr(line, '\n')) != NULL; line = end + 1) {
        struct json *doc =
            json_parse(line, (size_t)(end - line), JSON_NAN, NULL);

        if (doc != NULL)
            rc = share_checkpoints(from, to, json_root(doc), err);
        json_free(doc);
    }
    return rc;
}

/* The results that the log knows of. */
static int
copy_results(const char *from, const char *to, const struct fork_report *report,
             struct err *err)
{
    struct buf text, kept;
    const char *line, *end;
    int rc;

    buf_init(&text, PART_MAX);
    buf_init(&kept, PART_MAX);
    rc = read_part(from, FOLDER_RESULTS, &text, err);
    line = buf_text(&text);
    for (; rc == 0 && (end = strchr(line, '\n')) != NULL; line = end + 1)
        if (had_ended(report, line, (size_t)(end - line)))
            buf_add(&kept, line, (size_t)(end - line) + 1);
    if (rc == 0)
        rc = write_part(to, FOLDER_RESULTS, &kept, err);
    if (rc == 0)
        rc = share_all(from, to, &kept, err);
    buf_fini(&text);
    buf_fini(&kept);
    return rc;
}

int
fork_folder_copy(const char *from, const char *to, uint64_t at,
                 const struct fork_report *report, struct err *err)
{
    char *trials = file_join(to, FOLDER_TRIALS);
    int rc = trials == NULL ? err_set(err, ERR_MEMORY, "out of memory")
                            : file_make_folder(trials, err);

    free(trials);
    if (rc != 0 || copy_part(from, to, FOLDER_CONFIG, err) != 0 ||
        copy_part(from, to, FOLDER_SPACE, err) != 0 ||
        copy_results(from, to, report, err) != 0)
        return -1;
    return copy_experiment(from, to, at, report->seed, err);
}
