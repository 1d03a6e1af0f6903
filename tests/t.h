/* SPDX-License-Identifier: MIT */
/* t.h - the test harness.  A test is a function found by its name (see
 * scripts/gen-tests); each runs in a process of its own, in a new empty
 * folder, with an alarm of 60 seconds.
 *
 *     TEST(queue_pops_in_order) { CHECK(queue_pop(q) == first); }
 *
 * The environment variable TP_BUILD names the build folder, TP_SOURCE the top
 * of the source tree; TP_PATIENCE is another alarm; TP_BUILT names how it was
 * built, as V of the Makefile does, and leaves out the cases of files that are
 * marked for not being run there. */
#ifndef TESTS_T_H
#define TESTS_T_H

#include <stdbool.h>

#define TEST(name)          \
    void test_##name(void); \
    void test_##name(void)

/* Marks, each of them once in a file: no case of it runs in that build.
 *
 * Under the thread sanitizer, because one thread alone does what it tests, or
 * cases of another file do it there. */
#define NOT_UNDER_TSAN static const char t_not_in_tsan __attribute__((used)) = 0
/* With clang, because another compiler changes nothing of what it tests, such
 * as the system's calls, or cases of another file find that. */
#define NOT_WITH_CLANG \
    static const char t_not_in_clang __attribute__((used)) = 0
/* Without a sanitizer, because a script does the same there. */
#define NOT_IN_RELEASE \
    static const char t_not_in_release __attribute__((used)) = 0

#define CHECK(cond) t_check((cond), #cond, __FILE__, __LINE__)
/* Integers (as long long) and strings, showing both sides on failure. */
#define CHECK_EQ(got, want) \
    t_check_int((long long)(got), (long long)(want), #got, __FILE__, __LINE__)
#define CHECK_STR(got, want) \
    t_check_str((got), (want), #got, __FILE__, __LINE__)
/* `got` contains `part`. */
#define CHECK_HAS(got, part) \
    t_check_has((got), (part), #got, __FILE__, __LINE__)
/* Ends the test at once; it counts as skipped. */
#define SKIP(...) t_skip(__VA_ARGS__)

/* A failed check prints where and what and ends the test. */
void t_check(bool ok, const char *text, const char *file, int line);
void t_check_int(long long got, long long want, const char *text,
                 const char *file, int line);
void t_check_str(const char *got, const char *want, const char *text,
                 const char *file, int line);
void t_check_has(const char *got, const char *part, const char *text,
                 const char *file, int line);
void t_skip(const char *fmt, ...) __attribute__((format(printf, 1, 2)))
__attribute__((noreturn));

/* "$TP_SOURCE/PATH" and "$TP_BUILD/PATH" (never freed: a test is a process);
 * t_build() skips the test when TP_BUILD is not set. */
const char *t_source(const char *path);
const char *t_build(const char *path);

#endif
