/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "runner/machines.h"

#include <stddef.h>

static void
end(struct machines *m, const char *name, unsigned times, bool well)
{
    for (; times > 0; times--)
        machines_ended(m, name, well);
}

TEST(machines_leaves_out_one_on_which_three_fail_while_others_succeed)
{
    struct machines m = {0};

    end(&m, "n1", 1, true);
    end(&m, "n3", 2, false);
    CHECK(machines_judge(&m) == NULL);
    end(&m, "n3", 1, true);
    end(&m, "n3", 2, false);
    CHECK(machines_judge(&m) == NULL); /* there was a success between */
    end(&m, "n3", 1, false);
    CHECK_STR(machines_judge(&m), "n3");
    CHECK(machines_judge(&m) == NULL);
    CHECK_STR(machines_why(&m, "n3"), "3 failures in a row");
    CHECK(machines_why(&m, "n1") == NULL && machines_why(&m, "") == NULL);
    machines_fini(&m);
}

TEST(machines_leaves_out_none_for_what_fails_everywhere)
{
    struct machines m = {0};

    end(&m, "n1", 9, false);
    end(&m, "n2", 9, false);
    CHECK(machines_judge(&m) == NULL); /* nothing has ever gone well */
    end(&m, "n1", 1, true);
    CHECK(machines_judge(&m) == NULL); /* it is one in ten there, too */
    machines_fini(&m);
}

TEST(machines_never_leaves_out_the_last)
{
    struct machines m = {0};

    end(&m, "n1", 1, true);
    end(&m, "n2", 1, true);
    end(&m, "n2", 3, false);
    CHECK_STR(machines_judge(&m), "n2");
    end(&m, "n1", 99, false);
    CHECK(machines_judge(&m) == NULL);
    machines_fini(&m);
}

TEST(machines_takes_a_row_for_chance_where_trials_often_fail)
{
    struct machines m = {0};

    for (int i = 0; i < 20; i++) {
        end(&m, "n1", 1, true);
        end(&m, "n1", 1, false);
    }
    end(&m, "n2", 9, false);
    CHECK(machines_judge(&m) == NULL); /* 1 in 512 */
    end(&m, "n2", 1, false);
    CHECK_STR(machines_judge(&m), "n2");
    machines_fini(&m);
}

TEST(machines_finds_two_that_are_bad_at_a_time)
{
    struct machines m = {0};

    end(&m, "n1", 1, true);
    end(&m, "n2", 40, false);
    end(&m, "n3", 40, false);
    CHECK(machines_judge(&m) != NULL && machines_judge(&m) != NULL);
    CHECK(machines_judge(&m) == NULL);
    machines_fini(&m);
}

TEST(machines_takes_one_back_that_is_named)
{
    struct machines m = {0};
    struct err err = {0};
    uint64_t changes;

    CHECK_EQ(machines_retry(&m, "n3", &err), -1);
    CHECK_STR(err.text, "machine 'n3': none is left out");
    CHECK(machines_leave_out(&m, "node3", "does not see /x"));
    CHECK(!machines_leave_out(&m, "node3", "again"));
    changes = m.changes;
    CHECK_EQ(machines_retry(&m, "node33", &err), -1);
    CHECK_STR(err.text,
              "machine 'node33' is not left out (did you mean 'node3'?)");
    CHECK_EQ(machines_retry(&m, "elsewhere", &err), -1);
    CHECK_HAS(err.text, ": expected one such as node3");
    CHECK_EQ(m.changes, changes);
    CHECK_EQ(machines_retry(&m, "node3", &err), 0);
    CHECK(machines_why(&m, "node3") == NULL && m.changes > changes);
    machines_fini(&m);
}

TEST(machines_keeps_what_is_left_out)
{
    struct machines m = {0}, kept = {0};
    struct err err = {0};
    struct buf names;

    buf_init(&names, 100);
    CHECK_EQ(machines_load(&kept, ".", &err), 0); /* there is no file */
    machines_leave_out(&m, "n2", "does not see \"/x\"");
    machines_leave_out(&m, "n1", "why");
    end(&m, "n3", 5, true);
    CHECK_EQ(machines_save(&m, ".", &err), 0);
    CHECK_EQ(machines_load(&kept, ".", &err), 0);
    machines_add_names(&kept, &names);
    CHECK_STR(buf_text(&names), "n1,n2");
    CHECK_STR(machines_why(&kept, "n2"), "does not see \"/x\"");
    CHECK_EQ(file_write(FOLDER_MACHINES, "{", 1, &err), 0);
    CHECK_EQ(machines_load(&kept, ".", &err), -1);
    CHECK_HAS(err.text, FOLDER_MACHINES);
    buf_fini(&names);
    machines_fini(&m);
    machines_fini(&kept);
}
