/* SPDX-License-Identifier: MIT */
/* A shared object that has nothing to do with tunepipe. */
__attribute__((visibility("default"))) int tests_unrelated(void);

int
tests_unrelated(void)
{
    return 1;
}
