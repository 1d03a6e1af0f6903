/* SPDX-License-Identifier: MIT */
#include "core/err.h"
#include "core/file.h"
#include "core/folder.h"
#include "log/log.h"
#include "t.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

NOT_UNDER_TSAN;

/* The absolute path of what is here, to be freed; a test is a process. */
static const char *
here(const char *name)
{
    static char path[4096 + 64];
    char top[4096];

    CHECK(getcwd(top, sizeof top) != NULL);
    snprintf(path, sizeof path, "%s/%s", top, name);
    return path;
}

static void
make(const char *name)
{
    struct err err;

    CHECK_EQ(mkdir(name, 0700), 0);
    CHECK_EQ(log_place_make(here(name), "logs/deep", &err), 0);
}

static void
lies(const char *folder, const char *place)
{
    struct err err = {0};
    char *is = log_place(folder, &err);

    CHECK_STR(is != NULL ? is : err.text, place);
    free(is);
}

TEST(place_is_the_folder_itself_without_a_record)
{
    struct err err;

    lies("none", "none");
    CHECK_EQ(mkdir("folder", 0700), 0);
    lies("folder", "folder");
    CHECK_EQ(log_place_claim("folder", &err), 0);
    log_place_remove("folder");
    CHECK_EQ(access("folder", F_OK), 0);
}

TEST(place_is_owner_only_and_nobody_elses)
{
    struct stat st;

    make("folder");
    lies("folder", here("logs/deep/folder"));
    CHECK_EQ(stat("logs/deep/folder", &st), 0);
    CHECK_EQ(st.st_mode & 07777, 0700);
    CHECK_EQ(mkdir("sub", 0700), 0);
    make("sub/folder"); /* of the same name */
    lies("sub/folder", here("logs/deep/folder-2"));
    lies("logs/deep/folder", "logs/deep/folder");
    log_place_remove("folder");
    lies("folder", "folder");
    CHECK(access("logs/deep/folder", F_OK) != 0);
    lies("sub/folder", here("logs/deep/folder-2"));
}

TEST(place_that_is_not_there_is_told)
{
    struct err err;
    char host[65] = "";

    make("folder");
    CHECK_EQ(rename("logs", "away"), 0);
    CHECK(log_place("folder", &err) == NULL);
    CHECK_EQ(err.code, ERR_LOG);
    gethostname(host, sizeof host - 1);
    CHECK_HAS(err.text, here("logs/deep/folder on machine "));
    CHECK_HAS(err.text, host);
    CHECK(!log_exists("folder"));
    CHECK(log_open_in("folder", 0, &err) == NULL);
    CHECK_EQ(log_place_claim("folder", &err), -1);
    /* another one that lies there, or a link to the right one */
    make("other");
    CHECK_EQ(rename("logs/deep/other", "logs/deep/folder"), 0);
    CHECK(log_place("folder", &err) == NULL);
    folder_remove("logs/deep/folder");
    CHECK_EQ(symlink(here("away/deep/folder"), "logs/deep/folder"), 0);
    CHECK(log_place("folder", &err) == NULL);
    CHECK_EQ(unlink("logs/deep/folder"), 0);
    CHECK_EQ(rename("away/deep/folder", "logs/deep/folder"), 0);
    lies("folder", here("logs/deep/folder"));
}

TEST(place_record_that_is_none_is_an_error)
{
    static const char *const texts[] = {"",
                                        "1\n",
                                        "1\nhost\n",
                                        "1\nhost\nrelative\n",
                                        "x\nhost\n/path\n",
                                        "1\nhost\n/path"};
    struct err err;

    make("folder");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        CHECK_EQ(file_write("folder/command.log.at", texts[i], strlen(texts[i]),
                            &err),
                 0);
        CHECK(log_place("folder", &err) == NULL);
        CHECK_STR(err.text, "folder/command.log.at: expected lines with a "
                            "number, a machine and a folder");
    }
    CHECK_EQ(rename("folder/command.log.at", "at"), 0);
    CHECK_EQ(symlink("../at", "folder/command.log.at"), 0);
    CHECK(log_place("folder", &err) == NULL);
    CHECK_HAS(err.text, "command.log.at: cannot read, expected a file");
}

TEST(place_goes_with_a_folder_that_moves_and_not_with_a_copy)
{
    struct err err;

    make("folder");
    CHECK_EQ(log_place_claim(here("folder"), &err), 0);
    CHECK_EQ(rename("folder", "moved"), 0);
    CHECK_EQ(log_place_claim(here("moved"), &err), 0);
    CHECK_EQ(folder_copy("moved", "copy", &err), 0);
    CHECK_EQ(log_place_claim(here("copy"), &err), -1);
    CHECK_HAS(err.text, "copy: is a copy of ");
    CHECK_EQ(log_place_claim(here("moved"), &err), 0);
    folder_remove("moved"); /* then the copy is what there is */
    CHECK_EQ(log_place_claim(here("copy"), &err), 0);
}
