/* SPDX-License-Identifier: MIT */
/* What NNI's managers say in the environment, and dispatcher.log. */
#include "t.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "nni/environment.h"
#include "nni/journal.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* ---- the environment ---- */

static const char *
get_all(const char *name)
{
    static const char *const values[][2] = {
        {"NNI_TUNER_COMMAND_CHANNEL", "ws://localhost:8080/tuner"},
        {"NNI_CHECKPOINT_DIRECTORY", "/c"},
        {"NNI_LOG_DIRECTORY", "/l"},
        {"NNI_LOG_LEVEL", "trace"},
        {"NNI_MODE", "resume"},
        {"NNI_INCLUDE_INTERMEDIATE_RESULTS", "true"},
    };

    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (strcmp(values[i][0], name) == 0)
            return values[i][1];
    return NULL;
}

static const char *
get_empty(const char *name)
{
    (void)name;
    return "";
}

static const char *
get_none(const char *name)
{
    (void)name;
    return NULL;
}

TEST(nni_environment_is_read)
{
    struct nni_environment e;

    nni_environment_read(&e, get_all);
    CHECK_STR(e.channel, "ws://localhost:8080/tuner");
    CHECK_STR(e.checkpoint, "/c");
    CHECK_STR(e.log_folder, "/l");
    CHECK_EQ(e.level, LOG_DEBUG);
    CHECK(e.resume && e.intermediate);
}

TEST(nni_environment_that_is_empty_is_none)
{
    struct nni_environment e;

    for (int i = 0; i < 2; i++) {
        nni_environment_read(&e, i == 0 ? get_empty : get_none);
        CHECK(e.channel == NULL && e.checkpoint == NULL);
        CHECK_STR(e.log_folder, ".");
        CHECK_EQ(e.level, LOG_INFO);
        CHECK(!e.resume && !e.intermediate);
    }
}

/* ---- dispatcher.log ---- */

static const char *
file_text(const char *path, struct buf *out)
{
    buf_init(out, 100000);
    CHECK_EQ(file_read(path, 100000, out, NULL), 0);
    return buf_text(out);
}

TEST(nni_journal_has_the_lines_of_nni)
{
    struct log log = {
        .fd = open("/dev/null", O_WRONLY), .most = LOG_ERROR, .name = "x"};
    struct journal j;
    struct stat st;
    struct buf text;

    CHECK_EQ(journal_open(&j, "a/b", LOG_INFO, NULL), 0);
    log.also = &j.sink;
    log_info(&log, "tuner tpe: 3 results imported");
    log_info(&log, "tuner exec (python3 x.py): said so");
    log_debug(&log, "nobody reads this");
    log_warning(&log, "two\nlines");
    journal_say(&j, LOG_ERROR, "nni.tuner.grid", "seed %d", 7);
    journal_close(&j);
    journal_say(&j, LOG_ERROR, NULL, "closed");
    CHECK_EQ(stat("a/b/dispatcher.log", &st), 0);
    CHECK_EQ(st.st_mode & 0777, 0600);
    file_text("a/b/dispatcher.log", &text);
    CHECK_HAS(buf_text(&text),
              "] INFO (nni.tuner.tpe/MainThread) 3 results imported\n[");
    CHECK_HAS(buf_text(&text), "] INFO (nni.runtime.msg_dispatcher_base/"
                               "MainThread) tuner exec (python3 x.py): said");
    CHECK_HAS(buf_text(&text), "] WARNING (nni.runtime.msg_dispatcher_base/"
                               "MainThread) two lines\n[");
    CHECK_HAS(buf_text(&text), "] ERROR (nni.tuner.grid/MainThread) seed 7\n");
    CHECK(strstr(buf_text(&text), "nobody") == NULL);
    CHECK(strstr(buf_text(&text), "closed") == NULL);
    buf_fini(&text);
}

TEST(nni_journal_is_appended_to)
{
    struct journal j;
    struct buf text;
    int lines = 0;

    for (int i = 0; i < 3; i++) {
        CHECK_EQ(journal_open(&j, ".", LOG_INFO, NULL), 0);
        journal_say(&j, LOG_INFO, NULL, "Dispatcher started");
        journal_close(&j);
    }
    file_text("dispatcher.log", &text);
    for (const char *p = buf_text(&text); (p = strchr(p, '\n')) != NULL; p++)
        lines++;
    CHECK_EQ(lines, 3);
    buf_fini(&text);
}

TEST(nni_journal_that_cannot_be_is_none)
{
    struct journal j;
    struct err err;

    CHECK_EQ(file_write("file", "", 0, NULL), 0);
    CHECK_EQ(journal_open(&j, "file/log", LOG_INFO, &err), -1);
    CHECK_HAS(err.text, "file");
    journal_say(&j, LOG_ERROR, NULL, "into nothing");
    journal_close(&j);
}
