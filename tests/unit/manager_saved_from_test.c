/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "core/buf.h"
#include "core/file.h"
#include "manager/progress.h"
#include "manager/saved_from.h"
#include "manager/trial.h"
#include "trial/files.h"
#include "trial/note.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* A trial that ran so long, saved this file and has ended. */
static void
end(struct saved_from *s, unsigned number, int64_t from, int64_t until,
    const char *path)
{
    char folder[24];
    struct trial t = {.folder = folder, .started_ns = from, .ended_ns = until};
    const struct attempt_end e = {.trial = &t};

    snprintf(t.id, sizeof t.id, "%05u", number);
    snprintf(folder, sizeof folder, "%u-%d", number, (int)until);
    CHECK_EQ(mkdir(folder, 0700), 0);
    note_add(folder, TRIAL_SAVED_FROM, path, TRIAL_SAVED_FROM_LINE);
    saved_from_hear_end(s, &e);
}

static const char *
said(struct buf *text)
{
    buf_clear(text);
    CHECK_EQ(file_read("err", 4096, text, NULL), 0);
    return buf_text(text);
}

TEST(manager_saved_from_two_that_ran_at_the_same_time)
{
    int fd = open("err", O_WRONLY | O_CREAT | O_APPEND, 0600);
    struct progress p;
    struct saved_from s = {.progress = &p};
    struct buf text;
    char path[24];

    buf_init(&text, 1 << 20);
    progress_open(&p, fd, fd, true, 0, false);
    end(&s, 0, 10, 20, "/shared");
    end(&s, 1, 20, 30, "/shared"); /* behind it */
    end(&s, 1, 25, 40, "/shared"); /* itself, once more */
    end(&s, 2, 15, 45, "/other");
    end(&s, 3, 0, 50, "/shared"); /* not known since when */
    for (unsigned i = 4; i < 60; i++) {
        snprintf(path, sizeof path, "/own-%u", i);
        end(&s, i, 15, 60 + i, path);
    }
    CHECK_STR(said(&text), "");
    end(&s, 60, 15, 130, "/own-59");
    CHECK_HAS(said(&text), "warning: trials 00059 and 00060, which ran at the "
                           "same time, saved checkpoints of the same file, "
                           "/own-59: one may");
    CHECK_EQ(truncate("err", 0), 0);
    end(&s, 61, 15, 140, "/own-59"); /* once is enough */
    CHECK_STR(said(&text), "");
    saved_from_close(&s);
    progress_close(&p);
    buf_fini(&text);
    close(fd);
}
