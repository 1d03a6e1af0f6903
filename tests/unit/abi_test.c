/* SPDX-License-Identifier: MIT */
/* The binary interface of plugins: no member that was released moves, no
 * constant changes its value, and a tuner built with the headers of the first
 * release works.  Appending is fine: `make abi-baseline` takes it in. */
#include "tunepipe/assessor.h"
#include "tunepipe/tuner.h"

#include "check/calls.h"
#include "check/spaces.h"
#include "check/tuner_orders.h"
#include "plugin/loader.h"
#include "t.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct fact {
    const char *what;
    unsigned long long want[2], got[2]; /* offset, size; or value, 0 */
    bool may_grow;
};

/* Arrays of these are lent without the size of an element. */
#define FIXED(type) (strcmp(type, "tp_value") == 0)

#define MEMBER(type, member, offset, size)                                   \
    {                                                                        \
        "struct " #type ": member " #member,                                 \
        {offset, size},                                                      \
        {offsetof(struct type, member), sizeof(((struct type *)0)->member)}, \
        false,                                                               \
    },
#define SIZE(type, size)          \
    {                             \
        "struct " #type,          \
        {0, size},                \
        {0, sizeof(struct type)}, \
        !FIXED(#type),            \
    },
#define CONSTANT(name, value)            \
    {                                    \
        #name,                           \
        {value, 0},                      \
        {(unsigned long long)(name), 0}, \
        false,                           \
    },

static bool
holds(const struct fact *f)
{
    return f->got[0] == f->want[0] &&
           (f->got[1] == f->want[1] || (f->may_grow && f->got[1] > f->want[1]));
}

static void
check_facts(const struct fact *facts, size_t n)
{
    size_t broken = 0;

    for (size_t i = 0; i < n; i++)
        if (!holds(&facts[i])) {
            printf("# %s: %llu, %llu bytes; was released as %llu, %llu\n",
                   facts[i].what, facts[i].got[0], facts[i].got[1],
                   facts[i].want[0], facts[i].want[1]);
            broken++;
        }
    CHECK_EQ(broken, 0);
}

TEST(abi_members_and_constants_stay_where_they_were_released)
{
    const struct fact facts[] = {
#include "data/abi/baseline.inc"
    };

    if (sizeof(void *) != 8)
        SKIP("the table is of 64-bit machines");
    check_facts(facts, sizeof facts / sizeof *facts);
}

TEST(abi_a_moved_member_is_noticed_and_an_appended_one_is_not)
{
    struct shifted {
        uint64_t added, first;
    };
    const struct fact moved = {
        "x", {0, 8}, {offsetof(struct shifted, first), 8}, false};
    const struct fact grown = {"x", {0, 8}, {0, sizeof(struct shifted)}, true};
    const struct fact shrunk = {
        "x", {0, 24}, {0, sizeof(struct shifted)}, true};
    const struct fact fixed = {
        "x", {0, 8}, {0, sizeof(struct shifted)}, !FIXED("tp_value")};

    CHECK(!holds(&moved));
    CHECK(holds(&grown));
    CHECK(!holds(&shrunk));
    CHECK(!holds(&fixed));
}

TEST(abi_a_tuner_built_with_the_released_headers_works)
{
    struct calls_seen seen = {.taken = 0};
    struct calls_setup setup = {.seen = &seen};
    struct spaces spaces;
    struct err err = {0};
    struct plugin *p =
        plugin_load_file(t_build("tests/abi/released.so"), PLUGIN_TUNER, &err);

    CHECK_STR(err.text, "");
    CHECK_STR(p->name, "released");
    CHECK_EQ(p->n_args, 1);
    CHECK(p->tuner.save == NULL && p->tuner.load == NULL); /* later members */
    CHECK_EQ(spaces_init(&spaces, NULL), 0);
    setup.plugin = p;
    for (size_t i = 0; i + 1 < spaces.n; i++) {
        tuner_orders(&setup, spaces.at[i].title, spaces.at[i].space,
                     spaces.at[i + 1].space, &err);
        CHECK_STR(err.text, "");
    }
    CHECK(seen.points > 0);
    spaces_fini(&spaces);
    plugin_unload(p);
}
