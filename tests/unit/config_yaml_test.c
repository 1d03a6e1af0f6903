/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "config/yaml.h"
#include "core/buf.h"
#include "core/problems.h"

#include <stdlib.h>
#include <string.h>

NOT_UNDER_TSAN;

static struct problems problems;

#define ADRIFT                                                                  \
    "; is the line indented otherwise than those around it, or a text without " \
    "quotes that needs them?\n"

static const struct {
    const char *text, *want;
} bad_yaml[] = {
    {"", "y:1: the document is empty"},
    {"a: 1\nb: 2\na: 3\n", "y:3: key 'a' stands twice, first in line 1"},
    {"a: &x 1\n", "y:1: anchors (&name) are not supported"},
    {"a: *x\n", "y:1: aliases (*name) are not supported"},
    {"a: !!int 3\n", "y:1: tags are not supported, but for !!str"},
    {"a: !!map {}\n", "y:1: tags are not supported, but for !!str"},
    {"a: 1\n---\nb: 2\n", "y:2: a second document; expected only one"},
    {"[1]: 2\n", "y:1: a key must be a plain text"},
    {"a: 1\n b: 2\n", ADRIFT},
    {"a: 1\nb:\n  c: 1\n d: 2\n", ADRIFT},
    {"a: 1\nb:\n \tc: 1\n", "; there is a tab: indent with spaces\n"},
    {"a: [1,\n", "y:2: not valid YAML"},
    {"a: {b: 1\nc: 2\n", "; is a brace or a bracket above not closed?\n"},
    {"a: \"\xff\"\n", "y:1: not valid YAML"},
    {"\"a\\0b\": 1\n", "y:1: a key must not hold a NUL byte"},
};

TEST(config_yaml_refuses)
{
    for (size_t i = 0; i < sizeof bad_yaml / sizeof *bad_yaml; i++) {
        problems_init(&problems);
        CHECK(yaml_parse(bad_yaml[i].text, strlen(bad_yaml[i].text), "y",
                         &problems) == NULL);
        CHECK_HAS(buf_text(&problems.lines), bad_yaml[i].want);
        problems_fini(&problems);
    }
}

/* Each key once compared with each before it would take minutes. */
TEST(config_yaml_takes_as_many_keys_as_fit)
{
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
    size_t n = (YAML_TEXT_MAX - 10) / 5;
    char *text = malloc(YAML_TEXT_MAX), *p = text;
    struct yaml_node *root;

    *p++ = '{';
    for (size_t i = 0; i < n; i++) {
        *p++ = digits[i / 46656 % 36];
        *p++ = digits[i / 1296 % 36];
        *p++ = digits[i / 36 % 36];
        *p++ = digits[i % 36];
        *p++ = i + 1 < n ? ',' : '}';
    }
    problems_init(&problems);
    root = yaml_parse(text, (size_t)(p - text), "y", &problems);
    CHECK(root != NULL);
    CHECK_EQ(root->count, n);
    yaml_node_free(root);
    problems_fini(&problems);
    free(text);
}

TEST(config_yaml_has_limits)
{
    size_t len = YAML_TEXT_MAX + 1;
    char *text = malloc(len);

    memset(text, '[', len);
    problems_init(&problems);
    CHECK(yaml_parse(text, 64, "y", &problems) == NULL);
    CHECK_HAS(buf_text(&problems.lines), "not valid YAML");
    problems_fini(&problems);
    problems_init(&problems);
    CHECK(yaml_parse(text, len - 1, "y", &problems) == NULL);
    CHECK_STR(buf_text(&problems.lines),
              "y:1: nested more than 64 levels deep\n");
    problems_fini(&problems);
    problems_init(&problems);
    CHECK(yaml_parse(text, len, "y", &problems) == NULL);
    CHECK_STR(buf_text(&problems.lines), "y:1: longer than 1 MiB\n");
    problems_fini(&problems);
    free(text);
}

TEST(config_yaml_types_scalars_by_the_core_schema)
{
    static const char text[] =
        "[1, -0, +7, 007, 0x1F, 0o17, 1e-3, 1., .5, -1.5E+2, 1e400,"
        " 18446744073709551615, 18446744073709551616, -9223372036854775808,"
        " true, False, yes, no, on, ~, null, '', '1', \"true\", !!str 5,"
        " 1_000, 0b1, 12:30, 2001-01-01, -, .e, 1.5.2, \"\\u00e9\\n\"]";
    struct yaml_node *root;
    struct buf out;

    problems_init(&problems);
    buf_init(&out, 4096);
    root = yaml_parse(text, strlen(text), "y", &problems);
    CHECK(root != NULL);
    CHECK_EQ(yaml_write_json(root, "y", "p", &out, &problems), 0);
    CHECK_STR(buf_text(&out),
              "[1, 0, 7, 7, 31, 15, 0.001, 1.0, 0.5, -150.0, \"1e400\", "
              "18446744073709551615, 1.8446744073709552e+19, "
              "-9223372036854775808, true, false, \"yes\", \"no\", \"on\", "
              "null, null, \"\", \"1\", \"true\", \"5\", \"1_000\", \"0b1\", "
              "\"12:30\", \"2001-01-01\", \"-\", \".e\", \"1.5.2\", "
              "\"\\u00e9\\n\"]");
    buf_fini(&out);
    yaml_node_free(root);
    problems_fini(&problems);
}
