/* SPDX-License-Identifier: MIT */
#include "runner/machines.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "core/nearest.h"
#include "json.h"
#include "json_writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_MAX ((size_t)4 << 20)
/* How unlikely a row has to be where failures are the trials' own. */
#define BY_CHANCE 0.001

struct machine_record {
    uint64_t well, failed;      /* trials that have ended so */
    uint64_t row;               /* of these, the last that failed */
    char why[MACHINES_WHY_MAX]; /* it is left out; "": it is not */
    char name[];
};

void
machines_fini(struct machines *m)
{
    size_t at = 0;
    void *r;

    while ((r = map_next(&m->all, &at)) != NULL)
        free(r);
    map_fini(&m->all);
    *m = (struct machines){0};
}

static struct machine_record *
find(const struct machines *m, const char *name)
{
    return map_get(&m->all, name, strlen(name));
}

/* NULL: out of memory, and nothing is known of it. */
static struct machine_record *
find_or_add(struct machines *m, const char *name)
{
    size_t len = strlen(name);
    struct machine_record *r = find(m, name);

    if (r != NULL)
        return r;
    r = calloc(1, sizeof *r + len + 1);
    if (r == NULL)
        return NULL;
    memcpy(r->name, name, len);
    if (map_put(&m->all, name, len, r) == 0)
        return r;
    free(r);
    return NULL;
}

/* ---- kept ---- */

int
machines_load(struct machines *m, const char *folder, struct err *err)
{
    char *path = file_join(folder, FOLDER_MACHINES);
    struct json *doc = NULL;
    struct jval list = {0};
    struct buf text;
    int rc = 0;

    buf_init(&text, FILE_MAX);
    if (path == NULL)
        rc = err_set(err, ERR_MEMORY, "out of memory");
    else if (access(path, F_OK) == 0)
        rc = file_read(path, FILE_MAX, &text, err);
    if (rc == 0 && text.len > 0) {
        doc = json_parse(text.data, text.len, JSON_STRICT, err);
        rc = doc == NULL ? -1 : 0;
    }
    if (doc != NULL)
        jval_get(json_root(doc), "left_out", &list);
    for (size_t i = 0; doc != NULL && i < jval_count(list); i++)
        machines_leave_out(m, jval_text_of(jval_at(list, i), "machine"),
                           jval_text_of(jval_at(list, i), "why"));
    if (rc != 0)
        err_place(err, "%s", path != NULL ? path : folder);
    json_free(doc);
    buf_fini(&text);
    free(path);
    return rc;
}

int
machines_save(const struct machines *m, const char *folder, struct err *err)
{
    char *path = file_join(folder, FOLDER_MACHINES);
    struct json_writer w;
    struct buf text;
    int rc;

    if (path == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    buf_init(&text, FILE_MAX);
    w = json_begin_object(&text);
    json_open_array(&w, "left_out");
    machines_write(m, &w);
    json_end(&w);
    buf_add_char(&text, '\n');
    rc = buf_check(&text, FOLDER_MACHINES, err);
    if (rc == 0)
        rc = file_write(path, text.data, text.len, err);
    buf_fini(&text);
    free(path);
    return rc;
}

/* ---- judged ---- */

void
machines_ended(struct machines *m, const char *name, bool well)
{
    struct machine_record *r = find_or_add(m, name);

    if (r == NULL)
        return;
    r->well += well;
    r->failed += !well;
    r->row = well ? 0 : r->row + 1;
}

/* Whether trials alone hardly explain the row, by what became of them on the
 * other machines; a row there may be that machine's own. */
static bool
is_to_blame(const struct machines *m, const struct machine_record *r)
{
    const struct machine_record *other;
    uint64_t well = 0, failed = 0;
    double chance = 1;
    size_t at = 0;

    if (r->row < MACHINES_ROW || r->why[0] != '\0')
        return false;
    while ((other = map_next(&m->all, &at)) != NULL) {
        if (other == r || other->why[0] != '\0')
            continue;
        well += other->well;
        failed += other->failed;
        if (other->row >= MACHINES_ROW)
            failed -= other->row;
    }
    for (uint64_t i = 0; i < r->row && well > 0 && chance >= BY_CHANCE; i++)
        chance *= (double)failed / (double)(well + failed);
    return chance < BY_CHANCE;
}

const char *
machines_judge(struct machines *m)
{
    struct machine_record *r;
    size_t at = 0;

    while ((r = map_next(&m->all, &at)) != NULL)
        if (is_to_blame(m, r)) {
            snprintf(r->why, sizeof r->why, "%llu failures in a row",
                     (unsigned long long)r->row);
            m->changes++;
            return r->name;
        }
    return NULL;
}

bool
machines_leave_out(struct machines *m, const char *name, const char *why)
{
    struct machine_record *r = name[0] != '\0' ? find_or_add(m, name) : NULL;

    if (r == NULL || r->why[0] != '\0')
        return false;
    snprintf(r->why, sizeof r->why, "%s", why[0] != '\0' ? why : "left out");
    m->changes++;
    return true;
}

/* ---- told ---- */

const char *
machines_why(const struct machines *m, const char *name)
{
    const struct machine_record *r = find(m, name);

    return r != NULL && r->why[0] != '\0' ? r->why : NULL;
}

/* Those that are left out, by their names: an array of *n, to be freed. */
static const struct machine_record **
left_out(const struct machines *m, size_t *n)
{
    const struct map_slot **slots = map_sorted(&m->all);
    const struct machine_record **list = calloc(m->all.count + 1, sizeof *list);

    *n = 0;
    for (size_t i = 0; slots != NULL && list != NULL && i < m->all.count; i++) {
        const struct machine_record *r = slots[i]->value;

        if (r->why[0] != '\0')
            list[(*n)++] = r;
    }
    free(slots);
    return list;
}

void
machines_add_names(const struct machines *m, struct buf *out)
{
    const struct machine_record **list;
    size_t n;

    list = left_out(m, &n);
    for (size_t i = 0; i < n; i++)
        buf_printf(out, "%s%s", i > 0 ? "," : "", list[i]->name);
    free(list);
}

void
machines_write(const struct machines *m, struct json_writer *w)
{
    const struct machine_record **list;
    size_t n;

    list = left_out(m, &n);
    for (size_t i = 0; i < n; i++) {
        json_open_object(w, NULL);
        json_add_text(w, "machine", list[i]->name);
        json_add_text(w, "why", list[i]->why);
        json_close(w);
    }
    free(list);
}

static int
refuse(const struct machines *m, const char *name, struct err *err)
{
    const struct machine_record **list;
    const char **names;
    char hint[128];
    size_t n;

    list = left_out(m, &n);
    names = calloc(n + 1, sizeof *names);
    for (size_t i = 0; names != NULL && i < n; i++)
        names[i] = list[i]->name;
    nearest_hint(name, names, names != NULL ? n : 0, hint, sizeof hint);
    if (n == 0)
        err_set(err, ERR_INPUT, "machine '%.100s': none is left out", name);
    else
        err_set(err, ERR_INPUT, "machine '%.100s' is not left out%s%s%.200s",
                name, hint, hint[0] == '\0' ? ": expected one such as " : "",
                hint[0] == '\0' ? list[0]->name : "");
    free(names);
    free(list);
    return -1;
}

int
machines_retry(struct machines *m, const char *name, struct err *err)
{
    struct machine_record *r = find(m, name);

    if (r == NULL || r->why[0] == '\0')
        return refuse(m, name, err);
    r->why[0] = '\0';
    r->failed -= r->row;
    r->row = 0;
    m->changes++;
    return 0;
}
