/* SPDX-License-Identifier: MIT */
#include "manager/command_template.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/grow.h"
#include "core/map.h"
#include "core/nearest.h"
#include "core/problems.h"
#include "manager/environment.h"
#include "manager/parameters.h"
#include "space/space.h"
#include "trial/files.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX ((size_t)64 << 20)
#define VALUE_SHOWN 60
#define NAMES_SHOWN 6

/* ---- quoting ---- */

/* Whether a shell reads the text as itself wherever it stands: in a word, in
 * quotes of any kind, in a here-document, in arithmetic. */
static bool
is_plain(const char *text, size_t len)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnop"
                                "qrstuvwxyz0123456789_-+.,:/@%";

    for (size_t i = 0; i < len; i++)
        if (memchr(plain, text[i], sizeof plain - 1) == NULL)
            return false;
    return true;
}

static void
add_quotes(struct buf *out, const char *text, size_t len)
{
    buf_add_char(out, '\'');
    for (size_t i = 0; i < len; i++)
        if (text[i] == '\'')
            buf_add_text(out, "'\\''");
        else
            buf_add_char(out, text[i]);
    buf_add_char(out, '\'');
}

void
shell_quote(struct buf *out, const char *text, size_t len)
{
    if (len > 0 && is_plain(text, len))
        buf_add(out, text, len);
    else
        add_quotes(out, text, len);
}

/* ---- where in a command a shell quotes ---- */

/* DESIGN.  A value gets quotes of its own, which mean what they should only
 * outside of other quotes.  So the command is read as far as is needed to know
 * that: quotes, backslashes, comments.  What would take a whole shell to follow
 * (here-documents, arithmetic, backquotes, substitutions within quotes), or
 * where some shell reads quoted words as code (bash behind >& and within [[),
 * is not followed: from there on nothing is taken to stand outside of quotes.
 * Where it does not, a value must be plain, which no shell reads as anything
 * else. */

enum where { OUTSIDE, SINGLE, DOUBLE, COMMENT, LOST };

struct lexer {
    const char *start, *at;
    enum where where;
    char before;      /* the character before `at`, 'x' for one that is quoted;
                         NUL at the start */
    const char *lost; /* LOST: what is not followed */
};

static bool
is_one_of(char c, const char *set, size_t n)
{
    return memchr(set, c, n) != NULL;
}

#define IS_ONE_OF(c, set) is_one_of(c, set, sizeof(set) - 1)

static void
lose(struct lexer *s, const char *what)
{
    s->where = LOST;
    s->lost = what;
}

static void
skip(struct lexer *s, size_t n, char before)
{
    s->at += n;
    s->before = before;
}

/* A backslash outside of quotes or within double ones; one before the end of a
 * line joins what stands before it and what comes. */
static void
skip_backslash(struct lexer *s)
{
    if (s->at[1] != '\n')
        skip(s, s->at[1] == '\0' ? 1 : 2, 'x');
    else if (IS_ONE_OF(s->before, "$<>(["))
        lose(s, "a line that ends in \\");
    else
        skip(s, 2, s->before);
}

/* ${NAME}, and what has nothing in it that quotes or is expanded. */
static void
skip_variable(struct lexer *s)
{
    size_t n = 2 + strcspn(s->at + 2, "}{'\"`\\#$(<> \t\n");

    if (s->at[n] == '}')
        skip(s, n + 1, 'x');
    else
        lose(s, "${");
}

/* Whether `at` begins a redirection to a descriptor that is told by digits.
 * Where it is another word, bash expands that twice. */
static bool
is_duplication(const char *at)
{
    size_t n = 2 + strspn(at + 2, "0123456789-");

    return n > 2 && IS_ONE_OF(at[n], " \t\n;&|()<>\0");
}

static void
step_outside(struct lexer *s)
{
    char c = s->at[0], next = s->at[1];

    if (c == '\\') {
        skip_backslash(s);
    } else if (c == '$' && next == '{') {
        skip_variable(s);
    } else if (c == '`') {
        lose(s, "`");
    } else if (c == '<' && next == '<') {
        lose(s, "<<");
    } else if (c == '>' && next == '&' && !is_duplication(s->at)) {
        lose(s, ">&");
    } else if (c == '(' && next == '(') {
        lose(s, "((");
    } else if (c == '[' && next == '[') {
        lose(s, "[[");
    } else if ((c == '\'' || c == '"') && s->before == '$') {
        lose(s, "$ and a quote");
    } else if (c == '#' && IS_ONE_OF(s->before, "()<>")) {
        lose(s, "#");
    } else {
        if (c == '\'')
            s->where = SINGLE;
        else if (c == '"')
            s->where = DOUBLE;
        else if (c == '#' && IS_ONE_OF(s->before, " \t\n;&|\0"))
            s->where = COMMENT;
        skip(s, 1, c);
    }
}

static void
step_double(struct lexer *s)
{
    char c = s->at[0];

    if (c == '\\') {
        skip_backslash(s);
    } else if (c == '$' && s->at[1] == '{') {
        skip_variable(s);
    } else if (c == '`') {
        lose(s, "`");
    } else if (c == '$' && s->at[1] == '(') {
        lose(s, "$(");
    } else {
        if (c == '"')
            s->where = OUTSIDE;
        skip(s, 1, c == '"' ? 'x' : c);
    }
}

static void
step(struct lexer *s)
{
    switch (s->where) {
    case OUTSIDE:
        step_outside(s);
        return;
    case DOUBLE:
        step_double(s);
        return;
    case SINGLE:
        if (s->at[0] == '\'')
            s->where = OUTSIDE;
        break;
    case COMMENT:
        if (s->at[0] == '\\' && s->at[1] == '\n')
            lose(s, "a comment that ends in \\");
        if (s->at[0] == '\n') {
            s->where = OUTSIDE;
            skip(s, 1, '\n');
            return;
        }
        break;
    case LOST:
        break;
    }
    skip(s, 1, 'x');
}

static void
write_where(struct buf *out, const struct lexer *s)
{
    static const char *const words[] = {
        [OUTSIDE] = "outside of quotes",
        [SINGLE] = "within single quotes",
        [DOUBLE] = "within double quotes",
        [COMMENT] = "in a comment",
        [LOST] = "behind",
    };

    buf_add_text(out, words[s->where]);
    if (s->where == LOST)
        buf_printf(out, " '%s'", s->lost);
}

/* ---- names in braces ---- */

struct hole {
    const char *name;
    size_t len;
};

struct names {
    const struct space *space; /* NULL: not known */
    struct jval parameters;
    bool has_parameters;
};

/* The value of one parameter of a trial, looked for by its name. */
struct search {
    const struct hole *hole;
    struct buf value;
    bool found;
};

static void
take_value(void *ctx, const char *name, const char *value, size_t len)
{
    struct search *s = ctx;

    if (s->found || strlen(name) != s->hole->len ||
        memcmp(name, s->hole->name, s->hole->len) != 0)
        return;
    s->found = true;
    buf_add(&s->value, value, len);
}

static bool
is_name(const struct names *n, const struct hole *hole)
{
    struct search s = {.hole = hole};

    if (hole->len == 0)
        return false;
    if (n->space != NULL &&
        space_find(n->space, hole->name, hole->len, NULL, NULL))
        return true;
    if (!n->has_parameters)
        return false;
    buf_init(&s.value, TEXT_MAX);
    parameters_flatten(n->parameters, take_value, &s, NULL);
    buf_fini(&s.value);
    return s.found;
}

/* Whether `at` begins {NAME}, with so many braces. */
static bool
is_hole(const struct names *n, const char *at, size_t braces, struct hole *out)
{
    static const char open[] = "{{", close[] = "}}";

    if (strncmp(at, open, braces) != 0)
        return false;
    out->name = at + braces;
    out->len = strcspn(out->name, "{}");
    return strncmp(out->name + out->len, close, braces) == 0 && is_name(n, out);
}

/* Goes to the next {NAME}, and appends to `out`, unless that is NULL, what
 * stands before it.  False: there is none any more. */
static bool
next_hole(struct lexer *s, const struct names *n, struct hole *hole,
          struct buf *out)
{
    while (*s->at != '\0') {
        const char *from = s->at;

        if (*from == '{' && (from == s->start || from[-1] != '$')) {
            if (is_hole(n, from, 2, hole)) {
                skip(s, hole->len + 4, 'x');
                if (out != NULL)
                    buf_add(out, from + 1, hole->len + 2);
                continue;
            }
            if (is_hole(n, from, 1, hole))
                return true;
        }
        step(s);
        if (out != NULL)
            buf_add(out, from, (size_t)(s->at - from));
    }
    return false;
}

/* Says that the value, JSON text, cannot stand where it would. */
static void
write_refusal(struct buf *out, const struct lexer *s, const struct hole *hole,
              const char *value)
{
    buf_printf(out, "{%.*s} stands ", (int)hole->len, hole->name);
    write_where(out, s);
    buf_printf(out,
               ", where a shell could read its value %.*s%s as code: expected "
               "it %s, which quotes it",
               VALUE_SHOWN, value, strlen(value) > VALUE_SHOWN ? "..." : "",
               s->where == LOST ? "before that" : "outside of quotes");
}

/* ---- filling ---- */

static int
refuse_value(const struct lexer *s, const struct hole *hole,
             const struct buf *value, struct err *err)
{
    struct buf json, text;

    buf_init(&json, TEXT_MAX);
    buf_init(&text, TEXT_MAX);
    json_write_string(&json, value->data, value->len);
    write_refusal(&text, s, hole, buf_text(&json));
    err_set(err, ERR_INPUT, "%s", buf_text(&text));
    buf_fini(&text);
    buf_fini(&json);
    return -1;
}

/* Appends the value.  Without quotes only where nothing but a blank follows:
 * in `{n}>file` a bare 5 would be a descriptor. */
static int
put_value(const struct lexer *s, const struct hole *hole,
          const struct buf *value, struct buf *out, struct err *err)
{
    const char *text = value->len > 0 ? value->data : "";
    char next = s->at[hole->len + 2];

    if (memchr(text, '\0', value->len) != NULL)
        return err_set(err, ERR_INPUT,
                       "the value of {%.*s} holds a NUL byte, which no command "
                       "can: expected one without, or parameters.json read",
                       (int)hole->len, hole->name);
    if (s->where != OUTSIDE && !is_plain(text, value->len))
        return refuse_value(s, hole, value, err);
    if (s->where != OUTSIDE)
        buf_add(out, text, value->len);
    else if (IS_ONE_OF(next, " \t\n\0"))
        shell_quote(out, text, value->len);
    else
        add_quotes(out, text, value->len);
    return 0;
}

int
command_template_fill(const char *command, const struct space *space,
                      struct jval parameters, struct buf *out, struct err *err)
{
    const struct names n = {space, parameters, true};
    struct lexer s = {.start = command, .at = command};
    struct hole hole;
    int rc = 0;

    while (rc == 0 && next_hole(&s, &n, &hole, out)) {
        struct search search = {.hole = &hole};

        buf_init(&search.value, TEXT_MAX);
        rc = parameters_flatten(parameters, take_value, &search, err);
        if (rc == 0)
            rc = put_value(&s, &hole, &search.value, out, err);
        buf_fini(&search.value);
        skip(&s, hole.len + 2, 'x');
    }
    return rc == 0 ? buf_check(out, "the command", err) : -1;
}

/* ---- checking ---- */

struct checking {
    const struct lexer *s;
    const struct hole *hole;
    const char *place, *key;
    struct problems *problems;
    bool told; /* once a hole */
};

static void
check_element(void *ctx, struct jval element)
{
    struct checking *c = ctx;
    const char *value;
    struct buf json, text;
    size_t len;

    buf_init(&json, TEXT_MAX);
    jval_write(element, &json);
    if (!jval_string(element, &value, &len)) {
        value = buf_text(&json);
        len = json.len;
    }
    if (!c->told && !is_plain(value, len)) {
        buf_init(&text, TEXT_MAX);
        write_refusal(&text, c->s, c->hole, buf_text(&json));
        problems_add(c->problems, c->place, "%s: %s", c->key, buf_text(&text));
        buf_fini(&text);
        c->told = true;
    }
    buf_fini(&json);
}

void
command_template_check(const char *command, const struct space *space,
                       const char *place, const char *key,
                       struct problems *problems)
{
    const struct names n = {.space = space};
    struct lexer s = {.start = command, .at = command};
    struct hole hole;

    while (next_hole(&s, &n, &hole, NULL)) {
        struct checking c = {&s, &hole, place, key, problems, false};

        if (s.where != OUTSIDE)
            space_find(space, hole.name, hole.len, check_element, &c);
        skip(&s, hole.len + 2, 'x');
    }
}

/* ---- names that are meant, and misspelt ---- */

/* The names that trials find, "lr" and "net/units". */
struct known {
    const char **names; /* ours to free */
    size_t n, cap;
};

static void
add_known(void *ctx, const char *name)
{
    struct known *k = ctx;
    char *copy = strdup(name);

    if (copy != NULL && GROW(k->names, k->n, k->cap) == 0)
        k->names[k->n++] = copy;
    else
        free(copy);
}

static bool
is_known(const struct known *k, const char *name, size_t len, const char *rest)
{
    for (size_t i = 0; i < k->n; i++)
        if (strncmp(k->names[i], name, len) == 0 &&
            strcmp(k->names[i] + len, rest) == 0)
            return true;
    return false;
}

/* Whether the name may be a parameter's: those of the search space, and what
 * lies in a choice whose values are objects. */
static bool
may_be_given(const struct known *k, const char *name)
{
    for (size_t len = 0; name[len] != '\0'; len++)
        if (name[len] == '/' && is_known(k, name, len, ""))
            return true;
    return is_known(k, name, strlen(name), "");
}

struct noting {
    const struct space *space;
    struct known known;
    bool has_all; /* trials have no other parameters */
    const char *place, *key;
    struct problems *notes;
};

/* The option whose value begins at `at`, `--n` or `--n=`; NULL: none, or one
 * that has its value, `--n=1`. */
static const char *
option_before(const char *command, const char *at, size_t *len)
{
    const char *end = at, *start;

    if (end > command && IS_ONE_OF(end[-1], "\"'"))
        end--;
    if (end == command || !IS_ONE_OF(end[-1], " \t="))
        return NULL;
    while (end > command && IS_ONE_OF(end[-1], " \t"))
        end--;
    for (start = end; start > command && !IS_ONE_OF(start[-1], " \t\n\"'");)
        start--;
    *len = (size_t)(end - start);
    return *len > 1 && start[0] == '-' && strncmp(start, "-- ", 3) != 0 &&
                   memchr(start, '=', *len - 1) == NULL
               ? start
               : NULL;
}

/* Whether the {NAME} is an argument of its own or the value of a long option,
 * and not a word of another language, such as awk's {print}. */
static bool
is_argument(const struct lexer *s, size_t name_len)
{
    size_t len;
    const char *option = option_before(s->start, s->at, &len);

    if (option != NULL && option[1] == '-')
        return true;
    return s->where == OUTSIDE &&
           IS_ONE_OF(s->at[name_len + 2], " \t\n;&|)\0") &&
           (s->at == s->start || IS_ONE_OF(s->at[-1], " \t\n="));
}

static void
note_far(const struct noting *n, const char *name)
{
    const struct known *k = &n->known;
    struct buf list;

    buf_init(&list, TEXT_MAX);
    for (size_t i = 0, shown = 0; i < k->n && shown <= NAMES_SHOWN; i++) {
        const struct known before = {k->names, i, 0};

        if (!is_known(&before, k->names[i], strlen(k->names[i]), ""))
            buf_printf(&list, "%s%s", i > 0 ? ", " : "",
                       shown++ < NAMES_SHOWN ? k->names[i] : "...");
    }
    problems_add(n->notes, n->place,
                 "%s: {%s} is no parameter of the search space, which has %s: "
                 "it stays as it is",
                 n->key, name, buf_text(&list));
    buf_fini(&list);
}

/* Tells of a parameter that trials of one element of a nested choice lack. */
static void
note_empty(const struct noting *n, const struct lexer *s, const char *name)
{
    static const char unknown[] = "--OPTION";
    size_t len;
    const char *option = option_before(s->start, s->at, &len), *choice;
    struct jval element;
    struct buf json, variable;

    if (!space_find_lacking(n->space, name, strlen(name), &choice, &element))
        return;
    if (option == NULL) {
        option = unknown;
        len = sizeof unknown - 1;
    }
    buf_init(&json, TEXT_MAX);
    jval_write(element, &json);
    buf_init(&variable, TEXT_MAX);
    environment_variable(name, &variable);
    problems_add(n->notes, n->place,
                 "%s: {%s} is empty where %s is %.60s; an option that is there "
                 "only with it: ${%s:+%.*s%s\"$%s\"}",
                 n->key, name, choice, buf_text(&json), buf_text(&variable),
                 (int)len, option, option[len - 1] == '=' ? "" : " ",
                 buf_text(&variable));
    buf_fini(&variable);
    buf_fini(&json);
}

static void
note_name(const struct noting *n, const struct lexer *s, const char *name)
{
    const struct known *k = &n->known;
    const char *near;

    if (may_be_given(k, name)) {
        note_empty(n, s, name);
        return;
    }
    near = nearest_name(name, k->names, k->n);
    if (is_known(k, name, strlen(name), "/_name"))
        problems_add(n->notes, n->place,
                     "%s: {%s} is a nested choice, whose name is {%s/_name}: "
                     "it stays as it is",
                     n->key, name, name);
    else if (near != NULL)
        problems_add(n->notes, n->place,
                     "%s: {%s} is no parameter of the search space (did you "
                     "mean {%s}?): it stays as it is",
                     n->key, name, near);
    else if (n->has_all && k->n > 0 &&
             strcmp(name, TRIAL_BUDGET_PARAMETER) != 0 &&
             !parameters_is_folder(name) && strstr(name, "..") == NULL &&
             is_argument(s, strlen(name)))
        note_far(n, name);
}

/* The length of the name behind an open brace that stands alone; 0: there is
 * none, it is the shell's. */
static size_t
word_length(const char *command, const char *brace)
{
    static const char first[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_"
                                "abcdefghijklmnopqrstuvwxyz";
    size_t len = strspn(brace + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_/.-"
                                   "abcdefghijklmnopqrstuvwxyz0123456789");

    if (len == 0 || brace[len + 1] != '}' || strchr(first, brace[1]) == NULL ||
        (brace > command && IS_ONE_OF(brace[-1], "${\\")))
        return 0;
    return len;
}

void
command_template_note(const char *command, const struct space *space,
                      struct jval written, bool has_all, const char *place,
                      const char *key, struct problems *notes)
{
    struct noting n = {space, {0}, has_all, place, key, notes};
    struct lexer s = {.start = command, .at = command};
    struct map told = {0};

    environment_names(written, add_known, &n.known);
    for (; *s.at != '\0'; step(&s)) {
        bool counts = *s.at == '{' && s.where != COMMENT;
        size_t len = counts ? word_length(command, s.at) : 0;
        char *name = len > 0 && map_get(&told, s.at + 1, len) == NULL
                         ? strndup(s.at + 1, len)
                         : NULL;

        if (name != NULL && map_put(&told, name, len, &told) == 0)
            note_name(&n, &s, name);
        free(name);
    }
    map_fini(&told);
    for (size_t i = 0; i < n.known.n; i++)
        free((char *)n.known.names[i]);
    free(n.known.names);
}
