/* SPDX-License-Identifier: MIT */
#include "cli/verb.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "json.h"
#include "t.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

extern const struct verb verb_tuners;

/* What `tunepipe tuners ARGUMENT` prints on stdout; stderr is dropped. */
static void
list(const char *option, struct buf *out)
{
    char name[] = "tuners", path[] = "--plugin-path=folder", last[16] = "";
    char *argv[] = {name, path, last, NULL};
    struct err err = {0};
    int none = open("/dev/null", O_WRONLY);
    int fd = open("listed", O_CREAT | O_TRUNC | O_WRONLY, 0600);
    int kept = dup(1);

    if (option != NULL)
        snprintf(last, sizeof last, "%s", option);
    CHECK(none >= 0 && fd >= 0 && kept >= 0);
    dup2(none, 2);
    dup2(fd, 1);
    CHECK_EQ(verb_tuners.run(option == NULL ? 2 : 3, argv), EXIT_DONE);
    dup2(kept, 1);
    CHECK(file_read("listed", 1 << 20, out, &err) == 0);
}

static void
take(const char *name)
{
    char from[128], to[128];
    struct err err = {0};
    struct buf b;

    buf_init(&b, 64 << 20);
    snprintf(from, sizeof from, "tests/plugins/%s.so", name);
    snprintf(to, sizeof to, "folder/%s.so", name);
    mkdir("folder", 0700);
    CHECK(file_read(t_build(from), 64 << 20, &b, &err) == 0);
    CHECK(file_write(to, b.data, b.len, &err) == 0);
    buf_fini(&b);
}

TEST(tuners_lists_arguments_and_refusals)
{
    struct buf out;

    take("every_arg");
    take("no_ask");
    take("prints"); /* not into the list */
    take("stops_at");
    CHECK(file_write("folder/text.so", "text", 4, NULL) == 0);
    buf_init(&out, 1 << 20);
    list(NULL, &out);
    CHECK_HAS(buf_text(&out),
              "tuner every_arg: logs its arguments\n"
              "  count (integer, at least 1, at most 100, default 20): an "
              "integer\n"
              "  net.rate (number, at least 0.0, at most 1.0, or null, default "
              "0.5): a number, nested\n"
              "  on (bool, default true): a bool\n"
              "  net.deep.mode (string, best or mean or worst, default "
              "\"best\"): a word, nested deeper\n"
              "  seed (seed, or null, default null): a seed\n"
              "  path (string, or null, default null): any text\n"
              "refused folder/no_ask.so: tuner needs .ask\n"
              "tuner prints: prints to stdout\n"
              "assessor stops_at: stops each trial at a step\n"
              "  step (integer, at least 1, at most 1000000000, default 2): "
              "values a trial may report\n"
              "refused folder/text.so: ");
    buf_fini(&out);
}

TEST(tuners_lists_as_json)
{
    struct err err = {0};
    struct jval one, args;
    struct json *doc;
    struct buf out;
    const char *text;

    take("every_arg");
    take("no_ask");
    take("puppet");
    buf_init(&out, 1 << 20);
    list("--json", &out);
    doc = json_parse(buf_text(&out), out.len, 0, &err);
    CHECK_STR(err.text, "");
    CHECK(jval_count(json_root(doc)) >= 2);
    one = jval_at(json_root(doc), 0);
    CHECK(jval_get(one, "arguments", &args) && jval_count(args) == 6);
    CHECK(jval_get(one, "name", &one) && jval_string(one, &text, NULL));
    CHECK_STR(text, "every_arg");
    one = jval_at(json_root(doc), 1);
    CHECK(jval_get(one, "error", &one) && jval_string(one, &text, NULL));
    CHECK_STR(text, "folder/no_ask.so: tuner needs .ask");
    CHECK_HAS(buf_text(&out), "\"name\": \"puppet\", ");
    CHECK_HAS(buf_text(&out),
              "does what the values say\", \"advises\": true, ");
    CHECK_HAS(buf_text(&out), "\"advises\": false, ");
    json_free(doc);
    buf_fini(&out);
}
