/* SPDX-License-Identifier: MIT */
#include "plugin/loader.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "plugin/paths.h"
#include "t.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *
test_so(const char *name)
{
    char path[128];

    snprintf(path, sizeof path, "tests/plugins/%s.so", name);
    return t_build(path);
}

static struct plugin_paths *
paths_of(const char *option)
{
    struct err err;
    struct plugin_paths *paths = plugin_paths_new(option, &err);

    CHECK(paths != NULL);
    return paths;
}

/* Loading NAME fails with "FILE: WANT". */
static void
check_refused(const char *name, int kinds, const char *want)
{
    const char *file = test_so(name);
    struct err err = {0};
    struct plugin *p = plugin_load_file(file, kinds, &err);

    CHECK(p == NULL);
    CHECK_EQ(err.code, ERR_CONFIG);
    CHECK(strncmp(err.text, file, strlen(file)) == 0);
    CHECK_STR(err.text + strlen(file), want);
}

TEST(loader_refuses_a_bad_table_naming_file_and_member)
{
    check_refused("no_ask", PLUGIN_ANY, ": tuner needs .ask");
    check_refused("no_load", PLUGIN_ANY, ": tuner needs .load (it has .save)");
    check_refused("no_assess", PLUGIN_ANY, ": assessor needs .assess");
    check_refused("bad_magic", PLUGIN_ANY,
                  ": not a table of a tuner (_magic is 0x12345678, expected "
                  "0x48505431)");
    check_refused("bad_abi", PLUGIN_ANY,
                  ": built for plugin ABI 2, this program has 1: build it "
                  "again with its headers");
    check_refused("too_short", PLUGIN_ANY,
                  ": its table has 104 bytes (_struct_size), a tuner of ABI 1 "
                  "at least 120");
    check_refused("bad_flags", PLUGIN_ANY,
                  ": .flags is 0x40000001, this program knows 0x7: it is too "
                  "old for it");
    check_refused("null_table", PLUGIN_ANY, ": its tuner table is NULL");
    check_refused("bad_name", PLUGIN_ANY,
                  ": .name is 'Bad Name', expected 1 to 64 of a-z, 0-9, '_' "
                  "and '-'");
    check_refused("bad_default", PLUGIN_ANY,
                  ": argument 'gamma': default: is 30, expected an integer, "
                  "at least 1, at most 20");
    check_refused("not_a_plugin", PLUGIN_ANY,
                  ": no plugin of tunepipe (it exports neither tunepipe_tuner "
                  "nor tunepipe_assessor nor tunepipe_filter)");
    check_refused("undefined", PLUGIN_ANY,
                  ": undefined symbol: tests_nobody_has_this");
    check_refused("stops_at", PLUGIN_TUNER,
                  ": is an assessor, expected a tuner");
    check_refused("done", PLUGIN_ASSESSOR,
                  ": is a tuner, expected an assessor");
}

static void
copy(const char *from, const char *to, mode_t mode)
{
    struct err err = {0};
    struct buf b;

    buf_init(&b, 64 << 20);
    CHECK(file_read(from, 64 << 20, &b, &err) == 0);
    CHECK(file_write(to, b.data, b.len, &err) == 0);
    CHECK(chmod(to, mode) == 0);
    buf_fini(&b);
}

TEST(loader_refuses_what_anyone_may_write_to)
{
    struct plugin *p;
    struct err err;

    mkdir("folder", 0700);
    copy(test_so("done"), "folder/a.so", 0602);
    CHECK(plugin_load_file("folder/a.so", PLUGIN_ANY, &err) == NULL);
    CHECK_HAS(err.text, "folder/a.so: not loaded, anyone may write to it: "
                        "chmod o-w /");
    chmod("folder/a.so", 0600);
    chmod("folder", 0777);
    CHECK(plugin_load_file("folder/a.so", PLUGIN_ANY, &err) == NULL);
    CHECK_STR(err.text, "folder/a.so: not loaded, anyone may write to its "
                        "folder: chmod o-w folder");
    CHECK(symlink("folder/a.so", "link.so") == 0);
    CHECK(plugin_load_file("./link.so", PLUGIN_ANY, &err) == NULL);
    CHECK_HAS(err.text, "./link.so: not loaded, anyone may write to its "
                        "folder: chmod o-w /");
    chmod("folder", 01777); /* sticky, like /tmp */
    p = plugin_load_file("./link.so", PLUGIN_ANY, &err);
    CHECK(p != NULL);
    plugin_unload(p);
    CHECK(plugin_load_file("none.so", PLUGIN_ANY, &err) == NULL);
    CHECK_STR(err.text, "none.so: cannot load: No such file or directory");
    mkdir("dir.so", 0700);
    CHECK(plugin_load_file("dir.so", PLUGIN_ANY, &err) == NULL);
    CHECK_STR(err.text, "dir.so: cannot load: not a regular file");
}

TEST(loader_is_found_by_name_file_and_older_name)
{
    static const char *const names[] = {"DONE", "done", "DoneTuner",
                                        "./plugins/done.so"};
    struct plugin_paths *paths = paths_of("nowhere::plugins");
    struct err err = {0};

    mkdir("plugins", 0700);
    copy(test_so("done"), "plugins/done.so", 0600);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct plugin *p = plugin_load(paths, PLUGIN_TUNER, names[i], &err);

        CHECK_STR(err.text, "");
        CHECK_STR(p->name, "done");
        CHECK_HAS(p->file, "plugins/done.so");
        plugin_unload(p);
    }
    CHECK(chdir("plugins") == 0);
    plugin_unload(plugin_load(paths, PLUGIN_TUNER, "done.so", &err));
    CHECK_STR(err.text, "");
    plugin_paths_free(paths);
}

TEST(loader_path_goes_before_the_environment)
{
    struct plugin_paths *paths;
    struct plugin_list list;
    struct err err;
    char *file;

    mkdir("first", 0700);
    mkdir("second", 0700);
    copy(test_so("done"), "first/b.so", 0600);
    copy(test_so("done"), "second/a.so", 0600);
    copy(test_so("done"), "second/b.so", 0600);
    copy(test_so("done"), "second/readme.txt", 0600);
    setenv("TUNEPIPE_PLUGIN_PATH", "second", 1);
    paths = paths_of("first");
    CHECK(plugin_paths_count(paths) >= 2);
    CHECK_STR(plugin_paths_at(paths, 0), "first");
    CHECK_STR(plugin_paths_at(paths, 1), "second");
    file = plugin_paths_find(paths, "b", &err);
    CHECK_STR(file, "first/b.so");
    CHECK(plugin_paths_list(paths, &list, &err) == 0);
    CHECK(list.n >= 2);
    CHECK_STR(list.files[0], "second/a.so");
    CHECK_STR(list.files[1], "first/b.so");
    plugin_list_free(&list);
    free(file);
    plugin_paths_free(paths);
}

TEST(loader_goes_by_the_plugins_own_name)
{
    struct plugin_paths *paths = paths_of("plugins");
    struct plugin *p;
    struct err err;

    mkdir("plugins", 0700);
    copy(test_so("done"), "plugins/other.so", 0600);
    p = plugin_load(paths, PLUGIN_TUNER, "Done", &err);
    CHECK(p != NULL);
    CHECK_STR(p->file, "plugins/other.so");
    CHECK(plugin_load(paths, PLUGIN_ASSESSOR, "done", &err) == NULL);
    plugin_unload(p);
    plugin_paths_free(paths);
}

TEST(loader_refuses_a_script_and_names_exec)
{
    struct err err = {0};
    FILE *f = fopen("tuner.py", "w");

    CHECK(f != NULL);
    fputs("#!/usr/bin/env python3\nprint('a text as long as a header of ELF, "
          "which is 64 bytes')\n",
          f);
    fclose(f);
    CHECK(plugin_load_file("tuner.py", PLUGIN_ANY, &err) == NULL);
    CHECK_EQ(err.code, ERR_CONFIG);
    CHECK_HAS(err.text, "tuner.py: ");
    CHECK_HAS(err.text, "a program in any language is named exec");
}

TEST(loader_that_is_unknown_lists_those_there_are)
{
    struct plugin_paths *paths = paths_of("plugins");
    struct err err;

    CHECK(plugin_load(paths, PLUGIN_TUNER, "randm", &err) == NULL);
    CHECK_EQ(err.code, ERR_CONFIG);
    CHECK_HAS(err.text, "no plugin 'randm' in plugins, ");
    mkdir("plugins", 0700);
    copy(t_build("plugins/random.so"), "plugins/random.so", 0600);
    copy(t_build("plugins/medianstop.so"), "plugins/medianstop.so", 0600);
    copy(test_so("done"), "plugins/done.so", 0600);
    copy(test_so("no_ask"), "plugins/no_ask.so", 0600);
    CHECK(plugin_load(paths, PLUGIN_TUNER, "randm", &err) == NULL);
    CHECK_STR(err.text, "no tuner 'randm' (did you mean 'random'?); there "
                        "are: done, random" PLUGIN_PATHS_HINT);
    CHECK(plugin_load(paths, PLUGIN_ASSESSOR, "", &err) == NULL);
    CHECK_STR(err.text,
              "no assessor ''; there are: medianstop" PLUGIN_PATHS_HINT);
    plugin_paths_free(paths);
}
