/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "core/err.h"
#include "core/file.h"
#include "core/folder.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void
make(void)
{
    CHECK_EQ(mkdir("from", 0700), 0);
    CHECK_EQ(mkdir("from/inner", 0700), 0);
    CHECK_EQ(file_write("from/inner/file", "text", 4, NULL), 0);
    CHECK_EQ(symlink("inner", "from/link"), 0);
    CHECK_EQ(symlink("/nowhere", "from/dangling"), 0);
}

TEST(folder_copies_all_that_is_in_it)
{
    struct stat st;

    make();
    CHECK_EQ(folder_copy("from", "to", NULL), 0);
    CHECK_EQ(stat("to/inner/file", &st), 0);
    CHECK_EQ(st.st_size, 4);
    CHECK_EQ(lstat("to/link", &st), 0);
    CHECK(S_ISLNK(st.st_mode));
    CHECK_EQ(lstat("to/dangling", &st), 0);
    CHECK_EQ(folder_sync("to", NULL), 0);
    CHECK(folder_bytes("to") > 0);
}

TEST(folder_copy_names_what_it_cannot_copy)
{
    struct err err = {0};

    make();
    CHECK_EQ(mkfifo("from/inner/fifo", 0600), 0);
    CHECK_EQ(folder_copy("from", "to", &err), -1);
    CHECK_HAS(err.text, "from/inner/fifo: neither a file nor a folder");
    CHECK_EQ(folder_copy("absent", "other", &err), -1);
    CHECK_HAS(err.text, "absent: cannot look at");
    CHECK_EQ(folder_copy("from/inner/file", "from", &err), -1);
    CHECK_HAS(err.text, "from: cannot create");
}

TEST(folder_remove_follows_no_link)
{
    make();
    CHECK_EQ(mkdir("kept", 0700), 0);
    CHECK_EQ(file_write("kept/file", "", 0, NULL), 0);
    CHECK_EQ(symlink("../kept", "from/out"), 0);
    CHECK(!folder_is_empty("from"));
    folder_remove("from");
    CHECK(access("from", F_OK) != 0);
    CHECK_EQ(access("kept/file", F_OK), 0);
    folder_remove("from"); /* one that is not there */
}

TEST(folder_that_is_empty)
{
    CHECK_EQ(mkdir("e", 0700), 0);
    CHECK(folder_is_empty("e"));
    CHECK_EQ(file_write("e/.hidden", "", 0, NULL), 0);
    CHECK(!folder_is_empty("e"));
}

TEST(folder_that_is_roomy)
{
    struct err err = {0};

    CHECK_EQ(folder_make_roomy("deep/roomy", &err), 0);
    CHECK(folder_is_empty("deep/roomy"));
    CHECK_EQ(file_write("deep/roomy/file", "", 0, NULL), 0);
    CHECK_EQ(folder_make_roomy("deep/roomy", &err), 0); /* it is there */
    CHECK(!folder_is_empty("deep/roomy"));
    CHECK_EQ(folder_make_roomy("", &err), -1);
    CHECK_HAS(err.text, "not a usable path");
}
