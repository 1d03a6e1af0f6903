/* SPDX-License-Identifier: MIT */
#include "check/answers.h"

#include "core/err.h"
#include "t.h"

NOT_UNDER_TSAN;

TEST(answers_differences_are_shown)
{
    struct err err = {0};

    CHECK_EQ(answers_compare("# a\n1\n2\n", "# a\n1\n2\n", &err), 0);
    CHECK_EQ(answers_compare("", "", &err), 0);
    CHECK_EQ(answers_compare("# a\n1\n# b\n2\n", "# a\n1\n# b\n3\n", &err), -1);
    CHECK_STR(err.text, "first '2', then '3', with the same seed and calls; b");
    CHECK_EQ(answers_compare("# a\n1\n", "# a\n1\n2\n", &err), -1);
    CHECK_STR(err.text, "first '', then '2', with the same seed and calls; a");
}
