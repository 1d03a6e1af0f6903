/* SPDX-License-Identifier: MIT */
#include "store/lines.h"

#include "core/crc32c.h"
#include "core/err.h"
#include "core/file.h"

#include <stdlib.h>
#include <sys/types.h>

#define MARKED 4096 /* bytes */

int
lines_open(struct lines *l, const char *folder, const char *name,
           struct err *err)
{
    *l = (struct lines){.path = file_join(folder, name)};
    if (l->path == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    l->file = fopen(l->path, "re");
    if (l->file == NULL)
        return err_errno(err, ERR_SYSTEM, "%s: cannot open", l->path);
    return 0;
}

void
lines_close(struct lines *l)
{
    if (l->file != NULL)
        fclose(l->file);
    free(l->text);
    free(l->path);
    *l = (struct lines){0};
}

/* Reads the last bytes before `offset`; how many, or -1. */
static ssize_t
read_before(const struct lines *l, int64_t offset, char out[MARKED])
{
    size_t n = offset < MARKED ? (size_t)offset : MARKED;

    if (fseeko(l->file, (off_t)(offset - (int64_t)n), SEEK_SET) != 0 ||
        fread(out, 1, n, l->file) != n)
        return -1;
    return (ssize_t)n;
}

int
lines_seek(struct lines *l, int64_t offset, int64_t number, int64_t mark,
           struct err *err)
{
    char before[MARKED];
    ssize_t n = read_before(l, offset, before);

    if (n < 0 || (n > 0 && before[n - 1] != '\n')) {
        err_set(err, ERR_INPUT, "%s has no line that ends at %lld", l->path,
                (long long)offset);
        return 1;
    }
    if (mark >= 0 && mark != (int64_t)crc32c(0, before, (size_t)n)) {
        err_set(err, ERR_INPUT, "%s has another line that ends at %lld",
                l->path, (long long)offset);
        return 1;
    }
    l->offset = offset;
    l->number = number;
    return 0;
}

int
lines_mark(const struct lines *l, int64_t *mark, struct err *err)
{
    char before[MARKED];
    ssize_t n = read_before(l, l->offset, before);

    if (n < 0)
        return err_errno(err, ERR_SYSTEM, "%s: cannot read", l->path);
    *mark = (int64_t)crc32c(0, before, (size_t)n);
    return 0;
}

int
lines_next(struct lines *l, struct err *err)
{
    ssize_t len = getline(&l->text, &l->cap, l->file);

    if (len < 0 && !feof(l->file))
        return err_errno(err, ERR_SYSTEM, "%s: cannot read", l->path);
    if (len <= 0 || l->text[len - 1] != '\n')
        return 0;
    l->len = (size_t)len - 1;
    l->text[l->len] = '\0';
    l->offset += len;
    l->number++;
    return 1;
}
