/* SPDX-License-Identifier: MIT */
#include "manager/found.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "core/number.h"
#include "history/folder.h"
#include "manager/parameters.h"
#include "manager/past.h"
#include "manager/results.h"
#include "trial/files.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RECORD_TEXT_MAX ((size_t)64 << 20)

static struct found *
no_room(struct founds *all)
{
    all->failed = true; /* told once all is read */
    return NULL;
}

static struct found *
add_found(struct founds *all, const char *id, size_t len)
{
    struct found *f = map_get(&all->by_id, id, len), **items;
    uint64_t number;

    if (f != NULL || len >= sizeof f->id || !number_parse_u64(id, len, &number))
        return f;
    if (all->n == all->cap) {
        size_t cap = all->cap == 0 ? 64 : 2 * all->cap;

        items = realloc(all->items, cap * sizeof *items);
        if (items == NULL)
            return no_room(all);
        all->items = items;
        all->cap = cap;
    }
    f = calloc(1, sizeof *f);
    if (f == NULL || map_put(&all->by_id, id, len, f) != 0) {
        free(f);
        return no_room(all);
    }
    memcpy(f->id, id, len);
    f->number = number;
    all->items[all->n++] = f;
    return f;
}

static void
find_results(struct founds *all, const struct results *results)
{
    for (size_t i = 0; i < results->n; i++) {
        const struct result *item = &results->items[i];
        struct found *f = add_found(all, item->trial, strlen(item->trial));

        if (f != NULL)
            f->result = item;
    }
}

static void
find_past(struct founds *all, const struct past *past)
{
    for (const struct past_trial *t = past->first; t != NULL; t = t->next) {
        struct found *f =
            t->id == NULL ? NULL : add_found(all, t->id, strlen(t->id));

        if (f == NULL)
            continue;
        f->past = t;
        f->attempt = t->attempt;
    }
}

static void
find_folders(struct founds *all, const char *folder)
{
    char *path = file_join(folder, FOLDER_TRIALS);
    DIR *trials = path == NULL ? NULL : opendir(path);
    struct dirent *entry;

    while (trials != NULL && (entry = readdir(trials)) != NULL) {
        size_t len = strcspn(entry->d_name, ".");
        const char *rest = entry->d_name + len;
        uint64_t attempt = 0;
        struct found *f;

        if (len == 0 ||
            (*rest != '\0' &&
             !number_parse_u64(rest + 1, strlen(rest + 1), &attempt)))
            continue;
        f = add_found(all, entry->d_name, len);
        if (f == NULL || attempt < f->attempt)
            continue;
        f->attempt = attempt;
        f->folder = true;
    }
    if (trials != NULL)
        closedir(trials);
    free(path);
}

static size_t
place(const struct found *f, const struct results *results)
{
    return (size_t)(f->result - results->items);
}

/* Of a log whose first segments were dropped the ends of old trials are not
 * known; they are told in about the order of the results: `most` or more before
 * one whose end is known were told. */
static void
find_told(struct founds *all, const struct results *results, uint64_t most)
{
    size_t last = 0;

    for (size_t i = 0; i < all->n; i++) {
        struct found *f = all->items[i];

        f->told = f->past != NULL && f->past->event != NULL;
        if (f->told && f->result != NULL && place(f, results) > last)
            last = place(f, results);
    }
    for (size_t i = 0; i < all->n; i++) {
        struct found *f = all->items[i];

        if (f->before && f->result != NULL && place(f, results) + most <= last)
            f->told = true;
    }
}

/* Numbers are in the order of the suggestions: what is older than the oldest
 * one that is left stood in a segment that was dropped. */
static void
find_before(struct founds *all, const struct past *past)
{
    bool seen = !past->cut;

    for (size_t i = 0; i < all->n; i++) {
        struct found *f = all->items[i];

        seen = seen || (f->past != NULL && f->past->record != NULL);
        f->before = !seen;
    }
}

static int
compare(const void *a, const void *b)
{
    const struct found *x = *(struct found *const *)a;
    const struct found *y = *(struct found *const *)b;

    return x->number < y->number ? -1 : x->number > y->number;
}

static bool
is_record(const char *text, size_t len)
{
    struct suggestion s;

    if (suggestion_read(text, len, &s, NULL) != 0)
        return false;
    suggestion_fini(&s);
    return true;
}

char *
found_record(const struct found *f, const char *folder)
{
    char *path = NULL, *text = NULL;
    struct buf b;

    if (f->past != NULL && f->past->record != NULL)
        return strdup(f->past->record);
    buf_init(&b, 2 * RECORD_TEXT_MAX);
    if (f->folder &&
        asprintf(&path, "%s/" FOLDER_TRIALS "/%s/" TRIAL_NNI_PARAMETERS, folder,
                 f->id) >= 0 &&
        file_read_plain(path, RECORD_TEXT_MAX, &b, NULL) == 0 &&
        is_record(buf_text(&b), b.len)) {
        text = buf_take(&b);
    } else if (f->result != NULL) {
        buf_clear(&b);
        buf_printf(&b, "{\"parameter_id\": %s, \"parameters\": %s}",
                   f->result->parameter_id, f->result->parameters);
        text = buf_take(&b);
    }
    free(path);
    buf_fini(&b);
    return text;
}

char *
found_unlogged(const struct found *f, const struct past *past,
               const char *folder)
{
    struct suggestion s;
    char *text;

    if (f->before ||
        (f->past != NULL && past_gave(past, f->past->parameter_id)))
        return NULL;
    text = found_record(f, folder);
    if (text == NULL || suggestion_read(text, strlen(text), &s, NULL) != 0) {
        free(text);
        return NULL;
    }
    if (past_gave(past, s.id)) {
        free(text);
        text = NULL;
    }
    suggestion_fini(&s);
    return text;
}

int
founds_gather(struct founds *all, const struct results *results,
              const struct past *past, const char *folder, uint64_t concurrency,
              struct err *err)
{
    find_results(all, results);
    find_past(all, past);
    find_folders(all, folder);
    if (all->n > 0)
        qsort(all->items, all->n, sizeof *all->items, compare);
    find_before(all, past);
    find_told(all, results, concurrency);
    return all->failed ? err_set(err, ERR_MEMORY, "out of memory") : 0;
}

void
founds_fini(struct founds *all)
{
    for (size_t i = 0; i < all->n; i++)
        free(all->items[i]);
    free(all->items);
    map_fini(&all->by_id);
    *all = (struct founds){0};
}
