/* SPDX-License-Identifier: MIT */
#include "manager/command_template.h"

#include "core/problems.h"
#include "unit/space_help.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

NOT_UNDER_TSAN;

static const char space_text[] =
    "{'lr': {'_type': 'loguniform', '_value': [0.001, 1]},"
    " 'act': {'_type': 'choice', '_value': ['relu', 'a b']},"
    " 'net': {'_type': 'choice', '_value': ["
    "  {'_name': 'deep', 'n': {'_type': 'randint', '_value': [1, 9]}},"
    "  {'_name': 'wide', 'act': {'_type': 'choice', '_value': ['x', 'y']}}"
    " ]}}";

/* What becomes of the command, or why it does not. */
static struct line
fill(const char *command, const char *parameters)
{
    struct space *space = help_space(space_text);
    struct json *doc = help_json(parameters);
    struct line out;
    struct err err = {0};
    struct buf text;
    int rc;

    buf_init(&text, sizeof out.text - 1);
    rc = command_template_fill(command, space, json_root(doc), &text, &err);
    snprintf(out.text, sizeof out.text, "%s",
             rc == 0 ? buf_text(&text) : err.text);
    buf_fini(&text);
    json_free(doc);
    space_free(space);
    return out;
}

static const char parameters[] =
    "{'lr': 1e-05, 'n': 8, 'act': 'a b', 'list': [1, 2], 'none': null,"
    " 'net': {'_name': 'deep', 'n': 3}, 'TRIAL_BUDGET': 9}";

TEST(command_template_puts_values_in_their_places)
{
    static const char *const cases[][2] = {
        {"t.py --lr {lr} {act}", "t.py --lr 1e-05 'a b'"},
        {"t.py --lr={lr}", "t.py --lr=1e-05"},
        {"{n}>out {n} >out {n}", "'8'>out 8 >out 8"},
        {"{list} {none}", "'[1, 2]' null"},
        {"{net/_name}-{net/n}", "'deep'-3"},
        {"b {TRIAL_BUDGET}", "b 9"},
        /* of the space, and not of this trial */
        {"[{net/act}]", "['']"},
        {"'[{net/act}]' \"[{net/act}]\"", "'[]' \"[]\""},
        /* a plain value may stand anywhere */
        {"python -c 'print({lr})' \"{n}\"", "python -c 'print(1e-05)' \"8\""},
        {"echo $(({n} * 2)) # {n}", "echo $((8 * 2)) # 8"},
        {"cat <<E\n{lr}\nE", "cat <<E\n1e-05\nE"},
        /* what is no parameter's name stays */
        {"a {x} {a,b} {} { n; } ${n} $$ {n",
         "a {x} {a,b} {} { n; } ${n} $$ {n"},
        {"awk '{print $1}' {net} {LR}", "awk '{print $1}' {net} {LR}"},
        {"sh -c 'echo ${lr}' \"\\${n}\"", "sh -c 'echo ${lr}' \"\\${n}\""},
        {"{{lr}} '{{lr}}' {{x}} \\{lr}", "{lr} '{lr}' {{x}} \\{lr}"},
        {"", ""},
        {"{", "{"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_STR(fill(cases[i][0], parameters).text, cases[i][1]);
}

#define REFUSED(where, expected)                                             \
    "{act} stands " where ", where a shell could read its value \"a b\" as " \
    "code: expected it " expected ", which quotes it"
#define REFUSED_BEHIND(what) REFUSED("behind '" what "'", "before that")

static const struct {
    const char *command, *want;
} refused[] = {
    {"echo '{act}'", REFUSED("within single quotes", "outside of quotes")},
    {"echo \"{act}\"", REFUSED("within double quotes", "outside of quotes")},
    {"a # don't\n'{act}'",
     REFUSED("within single quotes", "outside of quotes")},
    {"a # {act}", REFUSED("in a comment", "outside of quotes")},
    {"a \\\n# {act}", REFUSED("in a comment", "outside of quotes")},
    {"echo \\\"'\"{act}\"'",
     REFUSED("within single quotes", "outside of quotes")},
    {"`a {act}`", REFUSED_BEHIND("`")},
    {"\"`a\" {act} `", REFUSED_BEHIND("`")},
    {"cat <<E\n{act}", REFUSED_BEHIND("<<")},
    {"$(({act}))", REFUSED_BEHIND("((")},
    {"\"$(a \"{act}\")\"", REFUSED_BEHIND("$(")},
    {"${a:-'}'{act}}", REFUSED_BEHIND("${")},
    {"\"${a#\"{act}\"}\"", REFUSED_BEHIND("${")},
    {"a >& {act}", REFUSED_BEHIND(">&")},
    {"a >&1{act}", REFUSED_BEHIND(">&")},
    {"a >\\\n& {act}", REFUSED_BEHIND("a line that ends in \\")},
    {"[[ 1 -eq {act} ]]", REFUSED_BEHIND("[[")},
    {"$'\\'{act}'", REFUSED_BEHIND("$ and a quote")},
    {"a=$(b)#'{act}", REFUSED_BEHIND("#")},
    {"$\\\n((a)) {act}", REFUSED_BEHIND("a line that ends in \\")},
    {"a # b \\\n{act}", REFUSED_BEHIND("a comment that ends in \\")},
};

TEST(command_template_refuses_what_cannot_be_quoted_there)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        CHECK_STR(fill(refused[i].command, parameters).text, refused[i].want);
    CHECK_STR(fill("echo {act}", "{'act': 'a\\u0000'}").text,
              "the value of {act} holds a NUL byte, which no command can: "
              "expected one without, or parameters.json read");
}

/* Before there is any trial, as far as the search space tells. */
TEST(command_template_is_checked_by_its_space)
{
    static const char *const fine[] = {
        "a {act} {lr} {net/act} {net/_name}", "a '{lr} {net/act} {net/_name}'",
        "a \"{x}\" '{{act}}' \"\\${act}\"", "$(b {act}) \"$(c)\"",
        "a >&2 {act}; (b >&-) {act} [ {act} ]"};
    struct space *space = help_space(space_text);
    struct problems problems;
    char want[LINE_MAX_BYTES];

    problems_init(&problems);
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++)
        command_template_check(fine[i], space, "e.yml", "key", &problems);
    CHECK_STR(buf_text(&problems.lines), "");
    problems_fini(&problems);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        problems_init(&problems);
        command_template_check(refused[i].command, space, "e.yml", "key",
                               &problems);
        snprintf(want, sizeof want, "e.yml: key: %s\n", refused[i].want);
        CHECK_STR(buf_text(&problems.lines), want);
        problems_fini(&problems);
    }
    space_free(space);
}

/* What is noted of the names in a command. */
static struct line
noted(const char *command, bool has_all)
{
    struct json *written = help_json(space_text);
    struct space *space = help_space(space_text);
    struct problems notes;
    struct line out;

    problems_init(&notes);
    command_template_note(command, space, json_root(written), has_all,
                          "e.yml:9", "key", &notes);
    snprintf(out.text, sizeof out.text, "%s", buf_text(&notes.lines));
    problems_fini(&notes);
    space_free(space);
    json_free(written);
    return out;
}

TEST(command_template_notes_names_that_are_near_to_a_parameters)
{
    static const char *const silent[] = {
        "t {lr} '{net/_name}' {act}",              /* known */
        "t {TRIAL_BUDGET} {epochs} {}",            /* near to none */
        "t ${LR} \\{LR} {{LR}} {LR,ac} {L R} {LR", /* the shell's */
        "awk '{print $1}' {1r}",
        "t {act/n} {act/x}"}; /* values may be objects */

    for (size_t i = 0; i < sizeof silent / sizeof *silent; i++)
        CHECK_STR(noted(silent[i], false).text, "");
    CHECK_STR(noted("t {LR} 'a {net/m}' {LR}", false).text,
              "e.yml:9: key: {LR} is no parameter of the search space (did you "
              "mean {lr}?): it stays as it is\n"
              "e.yml:9: key: {net/m} is no parameter of the search space (did "
              "you mean {net/n}?): it stays as it is\n");
    CHECK_STR(noted("t {net}", false).text,
              "e.yml:9: key: {net} is a nested choice, whose name is "
              "{net/_name}: it stays as it is\n");
}

/* Where all names are known, one that is near to none is told as well, unless
 * it may be another program's word. */
TEST(command_template_notes_arguments_that_are_no_parameters)
{
    static const char *const silent[] = {
        "t {TRIAL_BUDGET} {load_checkpoint_dir} ${epochs} {} {1,2} {a..c}",
        "awk '{print}' | awk \"/x/ {print}\" | awk -F: \"{print}\"",
        "git show HEAD@{upstream} {fd}>f; curl u/{epochs} '{epochs: 1}'",
        "awk --assign=x=1 '{print}' # --n {epochs}"};
    static const char *const told[] = {"t {epochs}", "t --n={epochs} {epochs}",
                                       "bash -c 't --n \"{epochs}\"'",
                                       "N={epochs} t"};

    for (size_t i = 0; i < sizeof silent / sizeof *silent; i++)
        CHECK_STR(noted(silent[i], true).text, "");
    for (size_t i = 0; i < sizeof told / sizeof *told; i++)
        CHECK_STR(noted(told[i], true).text,
                  "e.yml:9: key: {epochs} is no parameter of the search space, "
                  "which has lr, act, net/_name, net/n, net/act: it "
                  "stays as it is\n");
}

TEST(command_template_notes_parameters_that_some_trials_lack)
{
    CHECK_STR(noted("t --n {net/n} -a={net/act} {net/n}", false).text,
              "e.yml:9: key: {net/n} is empty where net is \"wide\"; an option "
              "that is there only with it: "
              "${TUNEPIPE_PARAM_net_n:+--n \"$TUNEPIPE_PARAM_net_n\"}\n"
              "e.yml:9: key: {net/act} is empty where net is \"deep\"; an "
              "option that is there only with it: "
              "${TUNEPIPE_PARAM_net_act:+-a=\"$TUNEPIPE_PARAM_net_act\"}\n");
    CHECK_HAS(noted("t -- {net/n}", false).text, ":+--OPTION \"$");
    CHECK_HAS(noted("t --m=1 {net/n}", false).text, ":+--OPTION \"$");
    CHECK_STR(noted("t {net/act/x} {net/_name/x} # {net/n}", false).text, "");
}

/* Runs `command` with the value for {v}; what it wrote. */
static struct line
output(const char *command, const char *value)
{
    struct line out = {""};
    struct buf json, text;
    struct json *doc;
    FILE *pipe;
    size_t n;

    buf_init(&json, LINE_MAX_BYTES);
    buf_init(&text, LINE_MAX_BYTES);
    buf_add_text(&json, "{\"v\": ");
    json_write_string(&json, value, strlen(value));
    buf_add_char(&json, '}');
    doc = json_parse(buf_text(&json), json.len, JSON_STRICT, NULL);
    CHECK(doc != NULL);
    CHECK_EQ(command_template_fill(command, NULL, json_root(doc), &text, NULL),
             0);
    pipe = popen(buf_text(&text), "r");
    CHECK(pipe != NULL);
    n = fread(out.text, 1, sizeof out.text - 1, pipe);
    out.text[n] = '\0';
    CHECK_EQ(pclose(pipe), 0);
    buf_fini(&text);
    buf_fini(&json);
    json_free(doc);
    return out;
}

TEST(command_template_survives_hostile_values)
{
    static const char *const values[] = {
        "",
        "'; touch owned; '",
        "\"; touch owned; \"",
        "$(touch owned)",
        "`touch owned`",
        "\ntouch owned\n",
        "\\",
        "\\'\ntouch owned #",
        "; touch owned #",
        "'\"'\"$(touch owned)'",
        "* ~ [a-z] ? !x",
        "-rf",
        "a\tb  c",
        "\xc3\xa9",
    };
    static const char *const commands[] = {
        "printf %s {v}",
        "printf %s ''{v}\"\"",
        "printf %s $(:){v}",
        "printf \\\"%s\\\" {v}|tr -d '\"'",
        "# don't\nprintf %s {v};# \"",
        "a={v}; printf %s \"$a\"",
        "printf %s \"${HOME+}\"{v}${HOME+}",
    };

    for (size_t c = 0; c < sizeof commands / sizeof *commands; c++)
        for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
            bool quotes = c == 3 && strchr(values[i], '"') != NULL;

            if (!quotes)
                CHECK_STR(output(commands[c], values[i]).text, values[i]);
            CHECK(access("owned", F_OK) != 0);
        }
}
