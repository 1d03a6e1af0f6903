/* SPDX-License-Identifier: MIT */
#include "core/bytes.h"

#include "t.h"

#include <stddef.h>

TEST(bytes_are_read_as_people_write_them)
{
    static const struct {
        const char *text;
        uint64_t want;
    } right[] = {{"0", 0},
                 {"65536", 65536},
                 {"10B", 10},
                 {"64k", 65536},
                 {"512MiB", (uint64_t)512 << 20},
                 {"2GB", (uint64_t)2 << 30},
                 {"1.5g", (uint64_t)3 << 29},
                 {"800 M", (uint64_t)800 << 20},
                 {"1T", (uint64_t)1 << 40},
                 {"0.0001k", 1}};
    static const char *const wrong[] = {"",     "GB",   "1 GBB", "-1",
                                        "1..",  "2 pt", "1e3",   "99999999t",
                                        "1 k ", ".",    " 1"};
    uint64_t value;

    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        value = 99;
        CHECK(bytes_parse(right[i].text, &value));
        CHECK_EQ(value, right[i].want);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        value = 99;
        if (bytes_parse(wrong[i], &value))
            CHECK_STR(wrong[i], "refused");
        CHECK_EQ(value, 99);
    }
}

TEST(bytes_are_shown_with_a_fitting_unit)
{
    char text[BYTES_TEXT_MAX];

    CHECK_STR(bytes_format(0, text), "0 bytes");
    CHECK_STR(bytes_format(1023, text), "1023 bytes");
    CHECK_STR(bytes_format(65536, text), "64 KiB");
    CHECK_STR(bytes_format((uint64_t)3 << 29, text), "1.5 GiB");
    CHECK_STR(bytes_format((uint64_t)500 << 30, text), "500 GiB");
    CHECK_STR(bytes_format((uint64_t)5000 << 40, text), "5000 TiB");
}
