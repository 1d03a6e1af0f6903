/* SPDX-License-Identifier: MIT */
#include "torture.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "core/idset.h"
#include "core/map.h"
#include "core/problems.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int
buf_grows(struct err *err)
{
    struct buf b;
    char *text;
    int rc;

    buf_init(&b, 100000);
    for (int i = 0; i < 200; i++) {
        buf_printf(&b, "%d ", i);
        buf_add(&b, "0123456789", 10);
        buf_add_char(&b, '\n');
    }
    rc = buf_check(&b, "the text", err);
    text = buf_take(&b);
    if ((text == NULL) != (rc != 0))
        rc = err_set(err, ERR_INPUT, "buf_take and buf_check differ");
    free(text);
    buf_fini(&b);
    return rc;
}

static int
map_fills(struct err *err)
{
    struct map m = {0};
    int rc = 0, value;
    size_t had = 0;
    char key[16];

    for (int i = 0; i < 100 && rc == 0; i++) {
        snprintf(key, sizeof key, "key %d", i);
        had = m.count;
        rc = map_put(&m, key, strlen(key), &value);
    }
    if (rc != 0 && m.count == had && map_get(&m, key, strlen(key)) == NULL)
        err_set(err, ERR_MEMORY, "no memory; the map is as it was");
    map_fini(&m);
    return rc;
}

static int
idset_fills(struct err *err)
{
    struct idset s = {0};
    int rc = 0;

    for (uint64_t id = 0; id < 5000 && rc == 0; id += 63)
        if ((rc = idset_add(&s, id)) != 0)
            err_set(err, ERR_MEMORY, "no memory for id %d", (int)id);
    idset_fini(&s);
    return rc;
}

static int
files(struct err *err)
{
    struct buf b;
    char *path = file_join("a/b", "c");
    int rc = -1;

    buf_init(&b, 1 << 20);
    if (path == NULL)
        err_set(err, ERR_MEMORY, "file_join: no memory");
    else if (file_make_folder("a/b", err) == 0 &&
             file_write(path, "text", 4, err) == 0 &&
             file_read(path, 100, &b, err) == 0)
        rc = b.len == 4 ? 0 : err_set(err, ERR_INPUT, "%zu bytes", b.len);
    buf_fini(&b);
    free(path);
    unlink("a/b/c");
    rmdir("a/b");
    rmdir("a");
    return rc;
}

static int
problems(struct err *err)
{
    struct problems p;
    int rc;

    problems_init(&p);
    for (int i = 0; i < 60; i++)
        problems_add(&p, "place", "number %d is wrong", i);
    rc = problems_check(&p, err) == 0 || p.count != 60;
    if (rc == 0)
        rc = buf_check(&p.lines, "the problems", err);
    problems_fini(&p);
    return rc;
}

const struct torture_case torture_core[] = {
    {"core_buf", buf_grows, 0},
    {"core_map", map_fills, 0},
    {"core_idset", idset_fills, 0},
    {"core_file", files, 1 /* asprintf has a second way */},
    {"core_problems", problems, 0},
    {NULL, NULL, 0}};
