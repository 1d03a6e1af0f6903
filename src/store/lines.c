/* SPDX-License-Identifier: MIT */
#include "store/lines.h"

#include "core/err.h"
#include "core/file.h"

#include <stdlib.h>
#include <sys/types.h>

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

int
lines_seek(struct lines *l, int64_t offset, int64_t number, struct err *err)
{
    if (offset == 0) {
        rewind(l->file);
    } else if (fseeko(l->file, (off_t)offset - 1, SEEK_SET) != 0 ||
               getc(l->file) != '\n') {
        err_set(err, ERR_INPUT, "%s has no line that ends at %lld", l->path,
                (long long)offset);
        return 1;
    }
    l->offset = offset;
    l->number = number;
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
