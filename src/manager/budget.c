/* SPDX-License-Identifier: MIT */
#include "manager/budget.h"

#include "core/buf.h"
#include "core/clock.h"
#include "core/err.h"
#include "core/file.h"
#include "json.h"
#include "manager/progress.h"

#include <stdlib.h>

#define TEXT_MAX 65536
#define YEARS_MS 2000000000000u            /* sixty: no duration is longer */
#define EVERY_NS ((int64_t)2 * 1000000000) /* between two savings */

/* The member of this name, at most `most`.  False: there is none such. */
static bool
get(struct jval root, const char *key, uint64_t most, uint64_t *n)
{
    struct jval v;

    return jval_get(root, key, &v) && jval_uint(v, n) && *n <= most;
}

/* False: something is missing, or none of ours; `halted` was added later. */
static bool
take(struct budget *b, struct jval root)
{
    uint64_t used, max_ms, paused, halted = 0;
    struct budget read = *b;

    if (!get(root, "used_ns", YEARS_MS * 1000000, &used) ||
        !get(root, "max_trials", UINT64_MAX, &read.max_trials) ||
        !get(root, "max_duration_ms", YEARS_MS, &max_ms) ||
        !get(root, "concurrency", UINT64_MAX, &read.concurrency) ||
        !get(root, "paused", 1, &paused))
        return false;
    get(root, "halted", 1, &halted);
    read.used_ns = (int64_t)used;
    read.max_ms = (int64_t)max_ms;
    read.paused = paused == 1;
    read.halted = halted == 1;
    *b = read;
    return true;
}

bool
budget_load(struct budget *b, const char *folder)
{
    char *path = file_join(folder, FOLDER_BUDGET);
    struct json *doc = NULL;
    struct buf text;
    bool is_whole;

    buf_init(&text, 4 * TEXT_MAX);
    if (path != NULL && file_read(path, TEXT_MAX, &text, NULL) == 0)
        doc = json_parse(buf_text(&text), text.len, JSON_STRICT, NULL);
    buf_fini(&text);
    free(path);
    if (doc == NULL)
        return false;
    is_whole = take(b, json_root(doc));
    json_free(doc);
    return is_whole;
}

void
budget_start(struct budget *b, int64_t now_ns)
{
    b->at_ns = now_ns;
    b->save_ns = now_ns + EVERY_NS;
}

void
budget_count(struct budget *b, int64_t now_ns)
{
    b->used_ns += now_ns - b->at_ns;
    b->at_ns = now_ns;
}

int64_t
budget_deadline(const struct budget *b)
{
    if (b->max_ms <= 0)
        return INT64_MAX;
    return b->at_ns + b->max_ms * 1000000 - b->used_ns;
}

int
budget_save(struct budget *b, const char *folder, struct err *err)
{
    char *path = file_join(folder, FOLDER_BUDGET);
    struct json_writer w;
    struct buf text;
    int rc;

    b->save_ns = b->at_ns + EVERY_NS;
    if (path == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    buf_init(&text, TEXT_MAX);
    w = json_begin_object(&text);
    json_add_integer(&w, "used_ns", b->used_ns);
    json_add_unsigned(&w, "max_trials", b->max_trials);
    json_add_integer(&w, "max_duration_ms", b->max_ms);
    json_add_unsigned(&w, "concurrency", b->concurrency);
    json_add_unsigned(&w, "paused", b->paused);
    json_add_unsigned(&w, "halted", b->halted);
    json_close(&w);
    buf_add_char(&text, '\n');
    rc = buf_check(&text, FOLDER_BUDGET, err);
    if (rc == 0)
        rc = file_write(path, text.data, text.len, err);
    buf_fini(&text);
    free(path);
    return rc;
}

void
budget_keep(struct budget *b, const char *folder, struct progress *p)
{
    struct err err = {0};

    budget_count(b, clock_monotonic_ns());
    if (budget_save(b, folder, &err) != 0)
        progress_warn(p, "tunepipe: warning: %s", err.text);
}
