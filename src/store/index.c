/* SPDX-License-Identifier: MIT */
#include "store/index.h"

#include "core/err.h"
#include "core/file.h"
#include "history/folder.h"
#include "store/index_pass.h"
#include "store/tables.h"
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define NEW_ENDING ".new"
#define JOURNAL_ENDING "-journal" /* SQLite's */

struct index {
    const struct sql *sql;
    char *folder, *path, *fresh; /* fresh: until it is renamed to path */
    struct index_pass pass;
};

void
index_free(struct index *ix)
{
    if (ix == NULL)
        return;
    index_pass_fini(&ix->pass);
    free(ix->folder);
    free(ix->path);
    free(ix->fresh);
    free(ix);
}

static int
check_folder(const struct index *ix, struct err *err)
{
    char *path = file_join(ix->folder, FOLDER_EXPERIMENT);
    int rc = 0;

    if (path == NULL)
        rc = err_set(err, ERR_MEMORY, "out of memory");
    else if (access(path, R_OK) != 0)
        rc = err_errno(err, ERR_CONFIG,
                       "%s is no experiment's folder: %s: cannot open",
                       ix->folder, path);
    free(path);
    return rc;
}

struct index *
index_new(const struct sql *sql, const char *folder, struct err *err)
{
    struct index *ix = calloc(1, sizeof *ix);

    if (ix == NULL || (ix->folder = strdup(folder)) == NULL ||
        (ix->path = file_join(folder, INDEX_FILE)) == NULL ||
        (ix->fresh = file_join(folder, INDEX_FILE NEW_ENDING)) == NULL) {
        err_set(err, ERR_MEMORY, "out of memory");
        goto fail;
    }
    if (check_folder(ix, err) != 0)
        goto fail;
    ix->sql = sql;
    ix->pass = (struct index_pass){.folder = ix->folder};
    return ix;
fail:
    index_free(ix);
    return NULL;
}

const char *
index_path(const struct index *ix)
{
    return ix->path;
}

static int
lock_folder(const struct index *ix, struct err *err)
{
    int fd = open(ix->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int rc;

    if (fd < 0)
        return err_errno(err, ERR_CONFIG, "%s: cannot open", ix->folder);
    do
        rc = flock(fd, LOCK_EX);
    while (rc != 0 && errno == EINTR);
    if (rc == 0)
        return fd;
    err_errno(err, ERR_SYSTEM, "%s: cannot lock", ix->folder);
    close(fd);
    return -1;
}

/* ---- the database that is there ---- */

static int
check_sound(struct store *s, struct err *err)
{
    struct sql_query *q = s->sql->prepare(s->db, "PRAGMA quick_check(1)", err);
    int rc = q == NULL ? -1 : s->sql->step(q, err);

    if (rc == 1) {
        const char *word = s->sql->text(q, 0, NULL);

        rc = strcmp(word, "ok") == 0
                 ? 0
                 : err_set(err, ERR_INPUT, "is damaged: %s", word);
    }
    s->sql->finish(q);
    return rc;
}

static int
open_old(const struct index *ix, struct store *s, enum index_how how,
         struct err *err)
{
    int64_t version = 0;

    if (store_open(s, ix->sql, ix->path, SQL_WRITE, err) != 0 ||
        store_get(s, "schema", &version, err) < 0)
        return -1;
    if (version != TABLES_VERSION)
        return err_set(err, ERR_INPUT, "is of version %lld, this is %d",
                       (long long)version, TABLES_VERSION);
    return how == INDEX_CHECK ? check_sound(s, err) : 0;
}

/* 1: it is of no use, and why[] says so; nothing was changed. */
static int
update_old(struct index *ix, enum index_how how, struct index_report *out,
           struct err *err)
{
    struct store s = {0};
    struct err why = {0};
    int rc = 1;

    if (how != INDEX_ANEW && access(ix->path, F_OK) == 0) {
        rc = open_old(ix, &s, how, &why);
        if (rc == 0)
            rc = index_pass_run(&ix->pass, &s, out, &why);
        /* The log's damage is told, and is none of the database. */
        if (rc < 0 && why.code == ERR_LOG && err != NULL)
            *err = why;
        else if (rc != 0)
            rc = 1;
        snprintf(out->why, sizeof out->why, "%.159s", why.text);
    }
    store_close(&s);
    return rc;
}

/* ---- a new one ---- */

static void
remove_with_journal(const char *path)
{
    char *journal;

    unlink(path);
    if (asprintf(&journal, "%s" JOURNAL_ENDING, path) < 0)
        return;
    unlink(journal);
    free(journal);
}

static int
sync_file(const char *path, struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int rc = fd < 0 || fsync(fd) != 0
                 ? err_errno(err, ERR_SYSTEM, "%s: cannot sync", path)
                 : 0;

    if (fd >= 0)
        close(fd);
    return rc;
}

/* What SQLite left beside the old one must not be taken for the new one's. */
static int
replace(const struct index *ix, struct err *err)
{
    if (sync_file(ix->fresh, err) != 0)
        return -1;
    remove_with_journal(ix->path);
    if (rename(ix->fresh, ix->path) != 0)
        return err_errno(err, ERR_SYSTEM, "%s: cannot rename", ix->fresh);
    return 0;
}

static int
build(struct index *ix, struct index_report *out, struct err *err)
{
    struct err damage = {0};
    struct store s = {0};
    int rc;

    out->anew = true;
    out->records = out->results = out->damaged = 0;
    remove_with_journal(ix->fresh);
    rc = store_open(&s, ix->sql, ix->fresh, SQL_CREATE, err);
    if (rc == 0)
        rc = ix->sql->run(s.db,
                          "PRAGMA journal_mode = OFF;"
                          "PRAGMA synchronous = OFF;"
                          "PRAGMA cache_size = -65536",
                          err);
    if (rc == 0)
        rc = index_pass_make(&ix->pass, &s, err);
    if (rc == 0)
        rc = index_pass_run(&ix->pass, &s, out, err);
    if (rc < 0 && err != NULL && err->code == ERR_LOG) {
        damage = *err;
        rc = 0;
    }
    if (rc == 0)
        rc = index_pass_made(&ix->pass, &s, err);
    store_close(&s);
    if (rc == 0)
        rc = replace(ix, err);
    if (rc != 0)
        remove_with_journal(ix->fresh);
    if (rc == 0 && damage.code != ERR_NONE) {
        *err = damage;
        rc = -1;
    }
    return rc;
}

int
index_update(struct index *ix, enum index_how how, struct index_report *out,
             struct err *err)
{
    struct err own;
    int lock, rc;

    *out = (struct index_report){0};
    if (err == NULL)
        err = &own;
    lock = lock_folder(ix, err);
    if (lock < 0)
        return -1;
    rc = update_old(ix, how, out, err);
    if (rc == 1)
        rc = build(ix, out, err);
    close(lock);
    return rc;
}
