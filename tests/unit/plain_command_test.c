/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "manager/plain_command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void
put(const char *path, const char *text, int mode)
{
    FILE *f = fopen(path, "w");

    CHECK(f != NULL && fputs(text, f) >= 0 && fclose(f) == 0);
    CHECK_EQ(chmod(path, (mode_t)mode), 0);
}

/* The words, a '|' behind each; "sh" where a shell is needed. */
static const char *
words_of(const char *command)
{
    static char out[256];
    char path[] = "PATH=bin:/nowhere", home[] = "HOME=/";
    char *env[] = {home, path, NULL};
    char folder[4096];
    char **words;

    CHECK(getcwd(folder, sizeof folder) != NULL);
    words = plain_command(command, folder, env);
    out[0] = '\0';
    for (char **word = words; word != NULL && *word != NULL; word++) {
        strcat(out, *word);
        strcat(out, "|");
    }
    if (words == NULL)
        strcpy(out, "sh");
    free(words);
    return out;
}

TEST(plain_command_is_split_as_a_shell_would)
{
    CHECK_EQ(mkdir("bin", 0700), 0);
    put("bin/prog", "#!/bin/sh\n", 0700);
    put("script", "echo no program\n", 0700);
    put("data", "#!/bin/sh\n", 0600);
    CHECK_STR(words_of("prog"), "prog|");
    CHECK_STR(words_of("  bin/prog --lr=0.1 a,b %x  "),
              "bin/prog|--lr=0.1|a,b|%x|");
    CHECK_STR(words_of("prog 'a  $b' x'y;'z ''"), "prog|a  $b|xy;z||");
    CHECK_STR(words_of("prog -e -5"), "prog|-e|-5|");
}

TEST(plain_command_leaves_the_rest_to_a_shell)
{
    static const char *const commands[] = {
        "",          "  ",         "prog a\tb",  "prog > out", "prog | cat",
        "prog; x",   "prog &",     "prog $x",    "prog \"a\"", "prog `x`",
        "prog ~/a",  "prog *",     "prog a\\ b", "prog 'a",    "prog # a",
        "X=1 prog",  "X=1",        "prog\nprog", "prog {a,b}", "! prog",
        "exec prog", "cd bin",     "echo a",     "true",       "kill 1",
        "nosuch",    "bin/nosuch", "./script",   "./data",     "bin",
        "if prog",   "[ a ]",      "printf a",   "prog (a)",   "prog [a]",
    };

    CHECK_EQ(mkdir("bin", 0700), 0);
    put("bin/prog", "#!/bin/sh\n", 0700);
    put("bin/echo", "#!/bin/sh\n", 0700);
    put("bin/true", "#!/bin/sh\n", 0700);
    put("script", "echo a shell reads this\n", 0700);
    put("data", "#!/bin/sh\n", 0600);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        CHECK_STR(words_of(commands[i]), "sh");
}

TEST(plain_command_knows_one_of_nni)
{
    CHECK_EQ(mkdir("bin", 0700), 0);
    put("ours.py", "import tunepipe # running, NNIX, mynni, nni2\n", 0600);
    put("theirs.py", "from nni import report_final_result\n", 0600);
    put("bin/by_hand", "cat \"$NNI_SYS_DIR/x\"\n", 0700);
    put("reader", "fopen parameter.cfg", 0700);
    CHECK_EQ(setenv("TP_HERE", "bin", 1), 0);
    CHECK(!plain_command_is_nni("python3 ours.py", "."));
    CHECK(!plain_command_is_nni("running nosuch.py", "."));
    CHECK(plain_command_is_nni("python3 theirs.py --x 1", "."));
    CHECK(plain_command_is_nni("cd x && python3 'theirs.py';", "."));
    CHECK(plain_command_is_nni("sh $TP_HERE/by_hand", "."));
    CHECK(plain_command_is_nni("sh ${TP_HERE}/by_hand", "."));
    CHECK(plain_command_is_nni("./reader", "."));
    CHECK(plain_command_is_nni("python3 -m nni.x", "."));
    CHECK(!plain_command_is_nni("${", "."));
    CHECK(!plain_command_is_nni("", "."));
}
