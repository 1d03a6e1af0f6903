/* SPDX-License-Identifier: MIT */
#include "nni/old_words.h"

#include "core/err.h"
#include "nni/exp_params.h"

#include "t.h"

#include <stdlib.h>

#define MAX_WORDS 32

static struct exp_params
read_words(const char *const *words)
{
    char *argv[MAX_WORDS] = {(char *)"nni"};
    struct exp_params p;
    struct err err;
    char *text;
    int argc = 1;

    while (words[argc - 1] != NULL) {
        argv[argc] = (char *)words[argc - 1];
        argc++;
    }
    CHECK(old_words_are_there(argc, argv));
    text = old_words_convert(argc, argv, &err);
    CHECK(text != NULL);
    CHECK_EQ(exp_params_read(text, &p, &err), 0);
    free(text);
    return p;
}

TEST(nni_old_words_name_tuner_and_assessor)
{
    const char *words[] = {"--multi_thread",
                           "--tuner_class_name",
                           "TPE",
                           "--tuner_args",
                           "{\"optimize_mode\":\"minimize\"}",
                           "--assessor_class_name=Medianstop",
                           NULL};
    struct exp_params p = read_words(words);
    struct jval v;
    const char *mode;

    CHECK(p.multi_thread);
    CHECK(p.tuner.name == NULL);
    CHECK_STR(p.tuner.class_name, "TPE");
    CHECK(p.tuner.code_directory == NULL);
    CHECK(jval_get(p.tuner.args, "optimize_mode", &v));
    CHECK(jval_string(v, &mode, NULL));
    CHECK_STR(mode, "minimize");
    CHECK(p.assessor.given);
    CHECK_STR(p.assessor.class_name, "Medianstop");
    CHECK(p.assessor.args.node == NULL);
    exp_params_fini(&p);
}

TEST(nni_old_words_name_classes_and_advisors)
{
    const char *words[] = {"--tuner_class_name",
                           "My\"Tuner",
                           "--tuner_directory",
                           "/a b",
                           "--tuner_class_filename",
                           "my.py",
                           "--advisor_class_name",
                           "BOHB",
                           "--advisor_args",
                           "{}",
                           NULL};
    struct exp_params p;

    p = read_words(words);
    CHECK(p.advisor);
    CHECK(!p.multi_thread);
    CHECK_STR(p.tuner.class_name, "BOHB");
    exp_params_fini(&p);
    words[6] = NULL;
    p = read_words(words);
    CHECK(!p.advisor);
    CHECK_STR(p.tuner.class_name, "My\"Tuner");
    CHECK_STR(p.tuner.code_directory, "/a b");
    CHECK_STR(p.tuner.class_file, "my.py");
    exp_params_fini(&p);
}

TEST(nni_old_words_refuse_what_is_no_json)
{
    const char *words[] = {"nni", "--tuner_class_name", "TPE", "--tuner_args",
                           "{optimize_mode:minimize}"};
    char **argv = (char **)words;
    struct err err;

    CHECK(!old_words_are_there(2, argv));
    CHECK(old_words_convert(5, argv, &err) == NULL);
    CHECK_EQ(err.code, ERR_CONFIG);
    CHECK_HAS(err.text, "--tuner_args: byte 1: ");
}
