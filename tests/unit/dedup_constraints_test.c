/* SPDX-License-Identifier: MIT */
/* dedup around constraints: each set of parameters that holds once, and then
 * the end. */
#include "unit/filter_help.h"

#include "core/map.h"

#define DIM(name, type, value) \
    "\"" name "\": {\"_type\": \"" type "\", \"_value\": " value "}"
#define SQUARE(n)                                                  \
    "{" DIM("a", "randint", "[0, " n "]") ", " DIM("b", "randint", \
                                                   "[0, " n "]") "}"

static void
open_both(struct stack *s, const char *tuner, const char *constraints,
          const char *space)
{
    char args[200];

    snprintf(args, sizeof args, "{\"constraints\": \"%s\"}", constraints);
    stack_open(s, tuner, "{}");
    CHECK_EQ(stack_wrap(s, "constraints", args), 0);
    CHECK_EQ(stack_wrap(s, "dedup", "{}"), 0);
    CHECK_EQ(stack_space(s, space), 0);
}

/* How many sets of parameters came, each once, until TP_DONE; each third one
 * has a result. */
static size_t
count(struct stack *s, size_t most)
{
    static char seen[] = "seen";
    struct map map = {0};
    size_t n = 0;
    int rc = TP_OK;

    while (n < most && (rc = stack_ask(s, n)) == TP_OK) {
        CHECK(map_get(&map, s->json, strlen(s->json)) == NULL);
        CHECK_EQ(map_put(&map, s->json, strlen(s->json), seen), 0);
        if (n % 3 == 0)
            CHECK_EQ(stack_tell(s, n, TP_RESULT_FINAL), 0);
        n++;
    }
    CHECK_STR(rc == TP_ERR ? s->err.text : "", "");
    CHECK_EQ(rc, n < most ? TP_DONE : TP_OK);
    if (rc == TP_DONE)
        CHECK_EQ(stack_ask(s, n), TP_DONE); /* for good */
    map_fini(&map);
    return n;
}

TEST(dedup_around_constraints_gives_out_what_holds_once_and_ends)
{
    static const char *const tuners[] = {"random", "tpe",       "cmaes", "auto",
                                         "anneal", "evolution", "gp"};

    for (size_t i = 0; i < sizeof tuners / sizeof *tuners; i++) {
        struct stack s;

        printf("# %s\n", tuners[i]);
        open_both(&s, tuners[i], "a + b == 7 or a == 3 * b", SQUARE("8"));
        CHECK_EQ(count(&s, 1000), 11); /* 8 and (0, 0), (3, 1), (6, 2) */
        stack_close(&s);
    }
}

/* Few of many: the prior finds one in a hundred. */
TEST(dedup_around_constraints_finds_the_few)
{
    struct stack s;

    open_both(&s, "random", "a == b", SQUARE("100"));
    CHECK_EQ(count(&s, 1000), 100);
    stack_close(&s);
}

/* In a branch that never repeats, however seldom the grid's draw of it holds,
 * there is always more. */
TEST(dedup_around_constraints_goes_on_where_a_branch_is_continuous)
{
    struct stack s;

    open_both(&s, "random", "c/u < 0.01",
              "{" DIM("c", "choice",
                      "[{\"_name\": \"plain\"}, {\"_name\": \"net\", " DIM(
                          "u", "uniform", "[0, 1]") "}]") "}");
    CHECK_EQ(count(&s, 60), 60);
    CHECK(s.x[0] == 1 && s.x[1] < 0.01);
    stack_close(&s);
}

/* More points than are looked at, hardly one of which holds. */
TEST(dedup_around_constraints_says_what_it_did_not_find)
{
    struct stack s;
    int rc = TP_OK;

    open_both(&s, "random", "a == 999999 and b >= 999998", SQUARE("1000000"));
    s.x[0] = 999999;
    s.x[1] = 999998;
    CHECK_EQ(stack_tell(&s, TP_NO_ID, TP_RESULT_IMPORTED), 0);
    for (uint64_t id = 0; id < 3 && rc == TP_OK; id++)
        rc = stack_ask(&s, id);
    CHECK_EQ(rc, TP_ERR);
    CHECK(strstr(s.err.text, "filter dedup: ask: found no new parameters that "
                             "the filters inside take") != NULL);
    stack_close(&s);
}
