/* SPDX-License-Identifier: MIT */
#include "trial/note.h"

#include "core/buf.h"
#include "core/file.h"
#include "trial/files.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READ_MAX ((size_t)1 << 20)

/* Whether the text is one of the lines. */
static bool
is_line(const char *lines, const char *text)
{
    size_t len = strlen(text);

    for (const char *at = lines; at != NULL; at = strchr(at, '\n')) {
        at += *at == '\n';
        if (strncmp(at, text, len) == 0 && at[len] == '\n')
            return true;
    }
    return false;
}

static bool
fits_line(const char *text, size_t max)
{
    size_t len = strlen(text);

    for (size_t i = 0; i < len; i++)
        if ((unsigned char)text[i] < ' ')
            return false;
    return len > 0 && len + 1 < max;
}

void
note_add(const char *folder, const char *file, const char *text, size_t max)
{
    char *path = fits_line(text, max) ? file_join(folder, file) : NULL;
    const int flags = O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK;
    struct buf b;
    int fd = -1;

    buf_init(&b, READ_MAX);
    if (path != NULL)
        file_read_plain(path, READ_MAX - 1, &b, NULL);
    if (path != NULL && b.len < TRIAL_NOTE_MAX && !is_line(buf_text(&b), text))
        fd = open(path, flags | O_CLOEXEC, 0600);
    buf_clear(&b);
    buf_printf(&b, "%s\n", text);
    if (fd >= 0) {
        file_write_all(fd, buf_text(&b), b.len, NULL);
        close(fd);
    }
    buf_fini(&b);
    free(path);
}
