/* SPDX-License-Identifier: MIT */
#include "config/keys.h"

#include "config/eventname.h"
#include "config/experiment.h"
#include "config/labels.h"
#include "config/reader.h"
#include "config/wishes.h"
#include "config/yaml.h"
#include "core/buf.h"
#include "core/bytes.h"
#include "core/err.h"
#include "core/file.h"
#include "core/number.h"
#include "core/problems.h"
#include "json.h"

#include <math.h>
#include <regex.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is missing in an algorithm that is written as a map with keys, or too
 * much. */
static void
check_named(struct reader *r, const struct algorithm *a, const char *path)
{
    if (a->class_name != NULL && (a->name != NULL || a->plugin != NULL))
        reader_problem(r, a->line, path, "has `className` and `%s`: give one",
                       a->name != NULL ? "name" : "plugin");
    else if (a->class_name == NULL && a->code_folder != NULL)
        reader_problem(r, a->line, path,
                       "has `codeDirectory`, and needs `className`");
    else if (a->class_name == NULL && a->name == NULL && a->plugin == NULL)
        reader_problem(r, a->line, path,
                       "needs `name` (see tunepipe tuners), `plugin` or "
                       "`className`");
    else if (a->class_name != NULL && strchr(a->class_name, '.') == NULL)
        reader_problem(r, a->line, path,
                       "className: expected MODULE.CLASS, got '%.100s'",
                       a->class_name);
}

/* Reads an algorithm into a struct algorithm, by algorithm_keys. */
static void
set_algorithm(struct reader *r, const struct key *key,
              const struct yaml_node *node, const char *path, void *target)
{
    struct algorithm *a = target;
    size_t before = r->problems->count;

    a->line = node->key_line;
    if (node->kind == YAML_SCALAR) {
        reader_problem(r, node->line, path,
                       "expected a map such as {name: %.100s}, got a text",
                       node->text);
        return;
    }
    read_map(r, key->keys, node, path, target);
    if (node->kind == YAML_MAP && node->count > 0 &&
        r->problems->count == before)
        check_named(r, a, path);
    if (node->kind == YAML_MAP && node->count == 0)
        reader_problem(r, node->key_line, path,
                       "is empty; needs `name` (see tunepipe tuners)");
}

/* Reads the filters into a struct draft: a list of maps by filter_keys, or,
 * without arguments, of names. */
static void
set_filters(struct reader *r, const struct key *key,
            const struct yaml_node *node, const char *path, void *target)
{
    struct draft *d = target;
    char place[KEY_PATH_MAX];

    if (node->kind != YAML_SEQUENCE) {
        reader_problem(r, node->line, path, "expected a list, got %s",
                       yaml_type_name(node));
        return;
    }
    if (node->count > EXPERIMENT_FILTERS_MAX) {
        reader_problem(r, node->line, path,
                       "has %zu filters, expected at most "
                       "%d",
                       node->count, EXPERIMENT_FILTERS_MAX);
        return;
    }
    for (const struct yaml_node *c = node->children; c != NULL; c = c->next) {
        struct algorithm *a = &d->x.filters[d->x.n_filters];

        snprintf(place, sizeof place, "%s[%zu]", path, d->x.n_filters++);
        a->line = c->line;
        if (c->kind == YAML_SCALAR)
            set_text(r, key, c, place, &a->name);
        else
            read_map(r, key->keys, c, place, a);
        if (c->kind == YAML_MAP && yaml_get(c, "name") == NULL)
            reader_problem(r, c->line, place,
                           "needs `name` (see tunepipe tuners)");
    }
}

/* Reads the constraints into a struct draft: a list of texts, which the filter
 * `constraints` gets as one. */
static void
set_constraints(struct reader *r, const struct key *key,
                const struct yaml_node *node, const char *path, void *target)
{
    struct draft *d = target;
    struct buf all;
    size_t n = 0;

    (void)key;
    if (node->kind != YAML_SEQUENCE) {
        reader_problem(r, node->line, path, "expected a list of texts, got %s",
                       yaml_type_name(node));
        return;
    }
    buf_init(&all, YAML_TEXT_MAX);
    for (const struct yaml_node *c = node->children; c != NULL; c = c->next) {
        if (c->kind != YAML_SCALAR || c->text[0] == '\0')
            reader_problem(r, c->line, path,
                           "[%zu] is %s, expected a text such as 'x < y'", n,
                           c->kind == YAML_SCALAR ? "empty"
                                                  : yaml_type_name(c));
        else
            buf_printf(&all, "%s%s", all.len > 0 ? "; " : "", c->text);
        n++;
    }
    d->constraints_line = node->key_line;
    d->constraints = buf_take(&all);
    if (all.failed || d->constraints == NULL)
        reader_problem(r, node->line, path, "out of memory");
    buf_fini(&all);
}

#define IN(member) offsetof(struct algorithm, member)
/* The keys of a struct algorithm. */
static const struct key algorithm_keys[] = {
    {"name", set_text, IN(name), KEY_DISPATCH, NULL, NULL, NULL},
    {"plugin", set_path, IN(plugin), KEY_DISPATCH, NULL, NULL, NULL},
    {"classArgs", set_json_map, IN(args), KEY_DISPATCH, NULL, NULL, NULL},
    {"className", set_text, IN(class_name), KEY_DISPATCH, NULL, NULL, NULL},
    {"codeDirectory", set_path, IN(code_folder), KEY_DISPATCH, NULL, NULL,
     NULL},
    {NULL, NULL, 0, 0, NULL, NULL, NULL}};

/* The keys of an assessor. */
static const struct key assessor_keys[] = {
    {"name", set_text, IN(name), KEY_DISPATCH, NULL, NULL, NULL},
    {"plugin", set_path, IN(plugin), KEY_DISPATCH, NULL, NULL, NULL},
    {"classArgs", set_json_map, IN(args), KEY_DISPATCH, NULL, NULL, NULL},
    {"className", set_text, IN(class_name), KEY_DISPATCH, NULL, NULL, NULL},
    {"codeDirectory", set_path, IN(code_folder), KEY_DISPATCH, NULL, NULL,
     NULL},
    {"objective", set_text, IN(objective), KEY_DISPATCH, NULL, NULL, NULL},
    {NULL, NULL, 0, 0, NULL, NULL, NULL}};

/* The keys of a filter, which is a struct algorithm, too. */
static const struct key filter_keys[] = {
    {"name", set_text, IN(name), KEY_DISPATCH, NULL, NULL, NULL},
    {"args", set_json_map, IN(args), KEY_DISPATCH, NULL, NULL, NULL},
    {NULL, NULL, 0, 0, NULL, NULL, NULL}};
#undef IN

/* ---- onFailure ---- */

static void
set_retry(struct reader *r, const struct key *key, const struct yaml_node *node,
          const char *path, void *target)
{
    (void)key;
    if (!yaml_uint(node, target))
        reader_expected(r, node, path, "an integer, 0 or above");
}

static void
set_value(struct reader *r, const struct key *key, const struct yaml_node *node,
          const char *path, void *target)
{
    struct on_failure *f = target;

    if (node->kind == YAML_MAP)
        set_json_map(r, key, node, path, &f->values);
    else if (node->kind != YAML_SCALAR ||
             !number_parse(node->text, strlen(node->text), &f->value) ||
             !isfinite(f->value))
        reader_expected(r, node, path, "a number");
}

static const struct word then_words[] = {
    {"skip", FAILURE_SKIP}, {"report", FAILURE_REPORT}, {NULL, 0}};
static const struct word repeated_words[] = {{"pause", REPEATED_PAUSE},
                                             {"end", REPEATED_END},
                                             {"ignore", REPEATED_IGNORE},
                                             {NULL, 0}};

#define IN(member) offsetof(struct on_failure, member)
/* The keys of a struct on_failure. */
static const struct key failure_keys[] = {
    {"retry", set_retry, IN(retry), 0, NULL, NULL, NULL},
    {"backoff", set_duration, IN(backoff_ms), 0, NULL, NULL, NULL},
    {"then", set_word, IN(then), 0, NULL, then_words, NULL},
    {"value", set_value, 0, 0, NULL, NULL, NULL},
    {NULL, NULL, 0, 0, NULL, NULL, NULL}};

/* Reads onFailure into a struct on_failure, by failure_keys. */
static void
set_failure(struct reader *r, const struct key *key,
            const struct yaml_node *node, const char *path, void *target)
{
    const struct on_failure *f = target;
    bool valued = yaml_get(node, "value") != NULL;

    read_map(r, key->keys, node, path, target);
    if (f->then == FAILURE_REPORT && !valued)
        reader_problem(r, node->key_line, path,
                       "then: report needs `value`, the result that the tuner "
                       "is told");
    else if (f->then == FAILURE_SKIP && valued)
        reader_problem(r, node->key_line, path,
                       "value is for then: report, which is not said");
}

/* ---- searchSpace, searchSpaceFile ---- */

/* Notes the lines of the entries, and of what belongs to each, by the places
 * that src/space names.  One that cannot be noted is told by a line above it.
 */
static void
note_lines(struct map *lines, const struct yaml_node *space, const char *before)
{
    size_t len = strlen(before);
    char *place = NULL;

    for (const struct yaml_node *n = space->children; n != NULL; n = n->next) {
        size_t i = 0;

        if (asprintf(&place, "%s%s%s", before,
                     len > 0 && before[len - 1] != '.' ? "." : "", n->key) < 0)
            return;
        map_put(lines, place, strlen(place), (void *)(uintptr_t)n->key_line);
        if (n->kind == YAML_MAP)
            note_lines(lines, n, place);
        for (const struct yaml_node *e = n->children;
             n->kind == YAML_SEQUENCE && e != NULL; e = e->next, i++) {
            char *inner = NULL;

            if (e->kind == YAML_MAP &&
                asprintf(&inner, "%s[%zu].", before, i) >= 0)
                note_lines(lines, e, inner);
            free(inner);
        }
        free(place);
    }
}

/* Notes a plain None in a list, which YAML reads as a text. */
static void
note_none(struct reader *r, const struct yaml_node *node, const char *path)
{
    for (const struct yaml_node *n = node->children; n != NULL; n = n->next)
        if (node->kind == YAML_SEQUENCE && n->plain &&
            strcmp(n->text, "None") == 0)
            reader_note(r, n->line, path,
                        "'None' is a text here: write null for Python's None, "
                        "quotes around it for the text");
        else
            note_none(r, n, path);
}

/* JSON is YAML, but for what is wrong with neither. */
static void
note_json_lines(struct map *lines, const struct buf *text)
{
    struct problems ignored;
    struct yaml_node *root;

    problems_init(&ignored);
    root = yaml_parse(text->data, text->len, "", &ignored);
    if (root != NULL && root->kind == YAML_MAP)
        note_lines(lines, root, "");
    yaml_node_free(root);
    problems_fini(&ignored);
}

/* Reads the text of a search space's file, by NNI's rule: it is JSON, or else
 * YAML. */
static char *
space_from_text(struct reader *r, struct draft *d, struct buf *text)
{
    const char *path = d->space_file;
    struct json *doc =
        json_parse(text->data, text->len, JSON_COMMENTS | JSON_UNIQUE, NULL);
    struct reader inner = *r;
    struct yaml_node *root;
    char *space = NULL;
    struct buf out;

    inner.file = path;
    inner.top = NULL;
    if (doc != NULL && jval_type(json_root(doc)) == JSON_OBJECT) {
        buf_init(&out, 8 * YAML_TEXT_MAX);
        jval_write(json_root(doc), &out);
        space = buf_take(&out);
        buf_fini(&out);
        note_json_lines(&d->x.space_lines, text);
    } else {
        root = yaml_parse(text->data, text->len, path, r->problems);
        if (root != NULL)
            set_json_map(&inner, NULL, root, "search space", &space);
        if (root != NULL && root->kind == YAML_MAP)
            note_lines(&d->x.space_lines, root, "");
        if (root != NULL)
            note_none(&inner, root, "search space");
        yaml_node_free(root);
    }
    json_free(doc);
    return space;
}

static void
read_space_file(struct reader *r, struct draft *d)
{
    struct err err = {0};
    struct buf text;

    buf_init(&text, 2 * YAML_TEXT_MAX);
    if (file_read(d->space_file, YAML_TEXT_MAX, &text, &err) != 0)
        reader_problem(r, d->space_file_line, "searchSpaceFile", "%s",
                       err.text);
    else if (text.len == 0)
        reader_problem(r, d->space_file_line, "searchSpaceFile",
                       "%s is empty; an empty space is {}", d->space_file);
    else
        d->x.search_space = space_from_text(r, d, &text);
    buf_fini(&text);
}

static void
name_space_place(struct reader *r, struct draft *d)
{
    char *place = NULL;
    int rc = d->space_file != NULL ? asprintf(&place, "%s", d->space_file)
                                   : asprintf(&place, "%s:%u: searchSpace",
                                              r->file, d->space_line);

    d->x.space_place = rc < 0 ? NULL : place;
    d->x.space_named = strdup(d->space_file != NULL ? d->space_file : r->file);
    d->x.space_key = d->space_file != NULL ? "" : ": searchSpace";
    if (rc < 0 || d->x.space_named == NULL)
        reader_problem(r, d->space_line, "searchSpace", "out of memory");
}

void
spacekey_check(struct reader *r, struct draft *d, const struct yaml_node *root)
{
    if (d->space_line > 0 && d->space_file_line > 0)
        reader_problem(r, d->space_file_line, "searchSpaceFile",
                       "excludes searchSpace (line %u): give one of them",
                       d->space_line);
    else if (d->space_file != NULL)
        read_space_file(r, d);
    else if (d->space_line == 0 && d->space_file_line == 0)
        reader_problem(r, root->line, "searchSpace",
                       "is required, or searchSpaceFile; an empty one is {}");
    name_space_place(r, d);
}

/* ---- on, hookConcurrency, hookTimeout ---- */

/* Adds a command for the events that `glob` matches. */
static void
add_hook(struct reader *r, const struct yaml_node *node, const char *glob,
         const char *path, struct experiment *x)
{
    struct hook_config *hook;

    if (node->kind != YAML_SCALAR || node->text[0] == '\0' ||
        strlen(node->text) != node->len) {
        reader_problem(r, node->line, path, "expected a command, got %s",
                       node->kind != YAML_SCALAR ? yaml_type_name(node)
                       : node->text[0] == '\0'   ? "nothing"
                                                 : "a text with a NUL");
        return;
    }
    if (x->n_hooks == EXPERIMENT_HOOKS_MAX) {
        reader_problem(r, node->line, path, "is one command more than %d",
                       EXPERIMENT_HOOKS_MAX);
        return;
    }
    hook = &x->hooks[x->n_hooks++];
    hook->glob = strdup(glob);
    hook->command = strdup(node->text);
    if (hook->glob == NULL || hook->command == NULL)
        reader_problem(r, node->line, path, "out of memory");
}

/* Reads `on` into a struct draft. */
static void
set_hooks(struct reader *r, const struct key *key, const struct yaml_node *node,
          const char *path, void *target)
{
    struct draft *d = target;
    char below[KEY_PATH_MAX];

    (void)key;
    if (node->kind != YAML_MAP) {
        reader_problem(r, node->line, path,
                       "expected a map from events to commands, got %s",
                       yaml_type_name(node));
        return;
    }
    for (const struct yaml_node *c = node->children; c != NULL; c = c->next) {
        struct err err = {0};

        snprintf(below, sizeof below, "%s.%.200s", path, c->key);
        if (event_names_like(c->key, &err) == 0) {
            reader_problem(r, c->key_line, below, "%s", err.text);
            continue;
        }
        if (c->kind != YAML_SEQUENCE)
            add_hook(r, c, c->key, below, &d->x);
        else
            for (const struct yaml_node *one = c->children; one != NULL;
                 one = one->next)
                add_hook(r, one, c->key, below, &d->x);
    }
}

/* Reads hookConcurrency into a uint64_t: 1 to HOOK_CONCURRENCY_MAX. */
static void
set_hook_concurrency(struct reader *r, const struct key *key,
                     const struct yaml_node *node, const char *path,
                     void *target)
{
    uint64_t *out = target;

    (void)key;
    if (!yaml_uint(node, out) || *out < 1 || *out > HOOK_CONCURRENCY_MAX)
        reader_expected(r, node, path, "an integer from 1 to 64");
}

/* ---- labels ---- */

typedef void take_fn(struct reader *r, const struct yaml_node *node,
                     const char *path, int device, struct labels *l);

/* Whether the node can be a label, which has to be one line, as it is listed
 * and put into messages. */
static bool
is_label(const struct yaml_node *node)
{
    if (node->kind != YAML_SCALAR || node->len == 0 ||
        node->len > LABEL_LEN_MAX)
        return false;
    for (size_t i = 0; i < node->len; i++)
        if ((unsigned char)node->text[i] < ' ' || node->text[i] == 0x7f)
            return false;
    return true;
}

static void
take_glob(struct reader *r, const struct yaml_node *node, const char *path,
          int device, struct labels *l)
{
    (void)device;
    if (l->n_globs == LABELS_GLOBS_MAX) {
        reader_problem(r, node->line, path, "is one label more than %d",
                       LABELS_GLOBS_MAX);
        return;
    }
    l->globs[l->n_globs] = strdup(node->text);
    if (l->globs[l->n_globs] == NULL)
        reader_problem(r, node->line, path, "out of memory");
    else
        l->n_globs++;
}

static void
take_label(struct reader *r, const struct yaml_node *node, const char *path,
           int device, struct labels *l)
{
    if (l->n == LABELS_MAX)
        reader_problem(r, node->line, path, "is one label more than %d",
                       LABELS_MAX);
    else if (labels_add(l, device, node->text) != 0)
        reader_problem(r, node->line, path, "out of memory");
}

/* Adds one label, or a list of them. */
static void
take(struct reader *r, const struct yaml_node *node, const char *path,
     take_fn *one, int device, struct labels *l)
{
    const struct yaml_node *c = node, *end = node->next;

    if (node->kind == YAML_SEQUENCE) {
        c = node->children;
        end = NULL;
    }
    for (; c != end; c = c->next) {
        if (is_label(c))
            one(r, c, path, device, l);
        else
            reader_expected(r, c, path, "a label: a line of at most 200 bytes");
    }
}

/* Reads trialLabels into a struct labels: a glob, or a list. */
static void
label_globs(struct reader *r, const struct key *key,
            const struct yaml_node *node, const char *path, void *target)
{
    (void)key;
    take(r, node, path, take_glob, LABELS_MACHINE, target);
}

/* Reads machineLabels into a struct labels: a label, or a list. */
static void
label_machine(struct reader *r, const struct key *key,
              const struct yaml_node *node, const char *path, void *target)
{
    (void)key;
    take(r, node, path, take_label, LABELS_MACHINE, target);
}

/* Reads deviceLabels into a struct labels: a label, or a list, for each
 * index. */
static void
label_devices(struct reader *r, const struct key *key,
              const struct yaml_node *node, const char *path, void *target)
{
    char below[KEY_PATH_MAX];
    uint64_t index;

    (void)key;
    if (node->kind != YAML_MAP) {
        reader_expected(r, node, path,
                        "a map from GPUs to labels such as {\"0\": [fast]}");
        return;
    }
    for (const struct yaml_node *c = node->children; c != NULL; c = c->next) {
        snprintf(below, sizeof below, "%s.%.100s", path, c->key);
        if (number_parse_u64(c->key, strlen(c->key), &index) &&
            index < WISHES_DEVICES_MAX)
            take(r, c, below, take_label, (int)index, target);
        else
            reader_problem(r, c->key_line, below,
                           "expected a GPU's number from 0 to 63");
    }
}

/* ---- memory and devices ---- */

#define RETRIES_MAX 1000
#define SIZE_EXPECTED "an amount of memory above 0 such as 512MiB, 2GB or 1.5g"

/* Words of memoryLimit. */
static const struct word wish_limit_words[] = {{"auto", LIMIT_AUTO},
                                               {"cgroup", LIMIT_CGROUP},
                                               {"rlimit", LIMIT_RLIMIT},
                                               {"none", LIMIT_NONE},
                                               {NULL, 0}};

bool
wishes_reserve(const struct wishes *w)
{
    return w->memory > 0 || w->memory_auto;
}

void
wishes_fini(struct wishes *w)
{
    for (size_t i = 0; i < w->n_patterns; i++)
        free(w->patterns[i]);
    w->n_patterns = 0;
}

/* Reads trialGpuNumber into a struct wishes. */
static void
wish_devices(struct reader *r, const struct key *key,
             const struct yaml_node *node, const char *path, void *target)
{
    struct wishes *w = target;

    (void)key;
    if (!yaml_uint(node, &w->devices) || w->devices > WISHES_DEVICES_MAX) {
        reader_expected(r, node, path, "an integer from 0 to 64");
        return;
    }
    w->devices_managed = true;
    w->devices_line = node->key_line;
}

static void
add_index(struct reader *r, const struct yaml_node *node, const char *path,
          const char *text, size_t len, struct wishes *w)
{
    uint64_t index;

    if (!number_parse_u64(text, len, &index) || index >= WISHES_DEVICES_MAX)
        reader_problem(r, node->line, path,
                       "expected numbers from 0 to 63 such as 0, \"0,1\" or "
                       "[0, 1], got '%.*s'",
                       len > 100 ? 100 : (int)len, text);
    else if (w->indices >> index & 1)
        reader_problem(r, node->line, path, "has %d twice", (int)index);
    else
        w->indices |= (uint64_t)1 << index;
}

static void
add_indices(struct reader *r, const struct yaml_node *node, const char *path,
            struct wishes *w)
{
    const char *at = node->text;

    for (;;) {
        size_t len;

        at += strspn(at, " ");
        len = strcspn(at, ", ");
        add_index(r, node, path, at, len, w);
        at += len + strspn(at + len, " ");
        if (*at != ',')
            break;
        at++;
    }
    if (*at != '\0')
        reader_expected(r, node, path, "numbers with commas between them");
}

/* Reads gpuIndices into a struct wishes: 0, "0,1" or [0, 1]. */
static void
wish_indices(struct reader *r, const struct key *key,
             const struct yaml_node *node, const char *path, void *target)
{
    struct wishes *w = target;

    (void)key;
    w->indices = 0;
    w->indices_line = node->key_line;
    if (node->kind == YAML_SCALAR) {
        add_indices(r, node, path, w);
        return;
    }
    if (node->kind != YAML_SEQUENCE || node->count == 0) {
        reader_expected(r, node, path, "a number, \"0,1\" or a list");
        return;
    }
    for (const struct yaml_node *c = node->children; c != NULL; c = c->next) {
        if (c->kind == YAML_SCALAR)
            add_index(r, c, path, c->text, strlen(c->text), w);
        else
            reader_expected(r, c, path, "a number");
    }
}

static bool
is_size(const struct yaml_node *node, uint64_t *out)
{
    return node->kind == YAML_SCALAR && bytes_parse(node->text, out);
}

/* Reads trialMemory into a struct wishes: a size, or auto. */
static void
wish_memory(struct reader *r, const struct key *key,
            const struct yaml_node *node, const char *path, void *target)
{
    struct wishes *w = target;

    (void)key;
    w->memory_line = node->key_line;
    w->memory_auto =
        node->kind == YAML_SCALAR && strcmp(node->text, "auto") == 0;
    if (!w->memory_auto && (!is_size(node, &w->memory) || w->memory == 0))
        reader_expected(r, node, path, SIZE_EXPECTED ", or auto");
}

/* Reads trialGpuMemory into a struct wishes. */
static void
wish_device_memory(struct reader *r, const struct key *key,
                   const struct yaml_node *node, const char *path, void *target)
{
    struct wishes *w = target;

    (void)key;
    w->device_memory_line = node->key_line;
    if (!is_size(node, &w->device_memory) || w->device_memory == 0)
        reader_expected(r, node, path, SIZE_EXPECTED);
}

/* Reads memoryFloor into a struct wishes: a size, also 0. */
static void
wish_floor(struct reader *r, const struct key *key,
           const struct yaml_node *node, const char *path, void *target)
{
    struct wishes *w = target;

    (void)key;
    if (!is_size(node, &w->floor))
        reader_expected(r, node, path,
                        "an amount of memory such as 0, 512MiB or 4GB");
}

/* Reads memoryHeadroom into a struct wishes: 20%. */
static void
wish_headroom(struct reader *r, const struct key *key,
              const struct yaml_node *node, const char *path, void *target)
{
    struct wishes *w = target;
    size_t len;

    (void)key;
    if (node->kind == YAML_SCALAR) {
        len = strspn(node->text, "0123456789");
        if (number_parse_u64(node->text, len, &w->headroom_percent) &&
            w->headroom_percent < 100 &&
            strcmp(node->text + len + strspn(node->text + len, " "), "%") == 0)
            return;
    }
    reader_expected(r, node, path, "a part from 0% to 99% such as 20%");
}

/* Reads outOfMemoryRetry into a struct wishes: 0 or more. */
static void
wish_retries(struct reader *r, const struct key *key,
             const struct yaml_node *node, const char *path, void *target)
{
    struct wishes *w = target;

    (void)key;
    if (!yaml_uint(node, &w->retries) || w->retries > RETRIES_MAX)
        reader_expected(r, node, path, "an integer from 0 to 1000");
}

static void
add_pattern(struct reader *r, const struct yaml_node *node, const char *path,
            struct wishes *w)
{
    regex_t re;

    if (node->kind != YAML_SCALAR || node->len == 0 ||
        strlen(node->text) != node->len) {
        reader_expected(r, node, path, "a text");
        return;
    }
    if (!reader_regex(r, node, path, REG_NOSUB, &re))
        return;
    regfree(&re);
    w->patterns[w->n_patterns] = strdup(node->text);
    if (w->patterns[w->n_patterns] == NULL)
        reader_problem(r, node->line, path, "out of memory");
    else
        w->n_patterns++;
}

/* Reads outOfMemoryPatterns into a struct wishes. */
static void
wish_patterns(struct reader *r, const struct key *key,
              const struct yaml_node *node, const char *path, void *target)
{
    struct wishes *w = target;

    (void)key;
    wishes_fini(w);
    if (node->kind != YAML_SEQUENCE || node->count > WISHES_PATTERNS_MAX) {
        reader_expected(r, node, path, "a list of at most 16 texts");
        return;
    }
    for (const struct yaml_node *c = node->children; c != NULL; c = c->next)
        add_pattern(r, c, path, w);
}

static unsigned
count_bits(uint64_t set)
{
    unsigned n = 0;

    for (; set != 0; set &= set - 1)
        n++;
    return n;
}

void
wishes_check(struct reader *r, const struct wishes *w)
{
    unsigned allowed = count_bits(w->indices);

    if (w->device_memory > 0 && (!w->devices_managed || w->devices == 0))
        reader_problem(r, w->device_memory_line, "trialGpuMemory",
                       "needs trialGpuNumber above 0");
    if (w->indices != 0 && w->devices > allowed)
        reader_problem(r, w->devices_line, "trialGpuNumber",
                       "%d, but gpuIndices allows %u", (int)w->devices,
                       allowed);
}

/* ---- trainingService: of a cluster ---- */

void
cluster_fini(struct cluster *c)
{
    free(c->partition);
    free(c->account);
    free(c->qos);
    free(c->constraint);
    free(c->nodes);
    free(c->time);
    free(c->memory);
    free(c->gres);
    free(c->script);
    while (c->n_extra > 0)
        free(c->extra[--c->n_extra]);
}

/* Reads extra into a struct cluster: options of the submission, as they are. */
static void
set_extra(struct reader *r, const struct key *key, const struct yaml_node *node,
          const char *path, void *target)
{
    struct cluster *c = target;

    (void)key;
    while (c->n_extra > 0)
        free(c->extra[--c->n_extra]);
    if (node->kind != YAML_SEQUENCE || node->count > CLUSTER_EXTRA_MAX) {
        reader_expected(r, node, path, "a list of at most 64 options");
        return;
    }
    for (const struct yaml_node *o = node->children; o != NULL; o = o->next) {
        if (o->kind != YAML_SCALAR || o->text[0] != '-' ||
            strlen(o->text) != o->len) {
            reader_expected(r, o, path, "an option such as --exclusive");
            continue;
        }
        c->extra[c->n_extra] = strdup(o->text);
        if (c->extra[c->n_extra] == NULL)
            reader_problem(r, o->line, path, "out of memory");
        else
            c->n_extra++;
    }
}

/* Reads interruptionRetry: 0 or more. */
static void
set_interruptions(struct reader *r, const struct key *key,
                  const struct yaml_node *node, const char *path, void *target)
{
    (void)key;
    if (!yaml_uint(node, target) || *(uint64_t *)target > RETRIES_MAX)
        reader_expected(r, node, path, "an integer from 0 to 1000");
}

/* ---- the keys ---- */

#define HOURS_MAX 1e6

#define AS_WORD(name) {#name, PLATFORM_##name},
#define AS_TEXT(name) ", " #name
static const struct word platform_words[] = {PLATFORM_LIST(AS_WORD){NULL, 0}};
static const char all_platforms[] = PLATFORM_LIST(AS_TEXT);

static void
set_service(struct reader *r, const struct key *key,
            const struct yaml_node *node, const char *path, void *target)
{
    const struct yaml_node *platform = yaml_get(node, "platform");
    const struct word *word = platform_words;
    struct draft *d = target;

    if (platform != NULL && platform->kind == YAML_SCALAR)
        while (word->word != NULL && strcmp(word->word, platform->text) != 0)
            word++;
    if (node->kind == YAML_SEQUENCE)
        reader_problem(r, node->line, path,
                       "expected one map, got a list: several services at "
                       "once are not supported; supported: %s",
                       all_platforms + strlen(", "));
    else if (word->word == NULL)
        reader_problem(r, platform->line, "trainingService.platform",
                       "'%.100s' is not supported; supported: %s",
                       platform->text, all_platforms + strlen(", "));
    else
        read_map(r, key->keys, node, path, target);
    if (word->word == NULL)
        return;
    d->x.platform = (enum platform)word->value;
    for (const struct key *k = key->keys; k->name != NULL; k++) {
        const struct yaml_node *of = yaml_get(node, k->name);

        if (of != NULL && d->x.platform != PLATFORM_slurm &&
            k->offset >= offsetof(struct draft, x.cluster) &&
            k->offset <
                offsetof(struct draft, x.cluster) + sizeof(d->x.cluster))
            reader_problem(r, of->key_line, path,
                           "%s is for platform: slurm, not %s", k->name,
                           word->word);
    }
}

static void
set_seed(struct reader *r, const struct key *key, const struct yaml_node *node,
         const char *path, void *target)
{
    struct draft *d = target;

    (void)key;
    d->x.has_seed =
        yaml_uint(node, &d->x.seed) && d->x.seed <= (uint64_t)INT64_MAX;
    if (!d->x.has_seed)
        reader_expected(r, node, path, "an integer from 0 to 2^63-1");
}

static void
set_sync(struct reader *r, const struct key *key, const struct yaml_node *node,
         const char *path, void *target)
{
    struct err err;

    (void)key;
    if (node->kind != YAML_SCALAR)
        reader_problem(r, node->line, path, "expected a text, got %s",
                       yaml_type_name(node));
    else if (sync_policy_parse(node->text, target, &err) != 0)
        reader_problem(r, node->line, path, "%s", err.text);
}

static void
set_size(struct reader *r, const struct key *key, const struct yaml_node *node,
         const char *path, void *target)
{
    (void)key;
    if (node->kind != YAML_SCALAR || !number_parse_size(node->text, target))
        reader_expected(r, node, path,
                        "a number of bytes such as 65536, 64k or 8M");
}

/* Reads oldSegments: keep, compress or drop. */
static void
set_old_segments(struct reader *r, const struct key *key,
                 const struct yaml_node *node, const char *path, void *target)
{
    enum old_segments *old = target;
    struct err err;

    (void)key;
    if (node->kind != YAML_SCALAR)
        reader_problem(r, node->line, path, "expected a text, got %s",
                       yaml_type_name(node));
    else if (old_segments_parse(node->text, old, &err) != 0)
        reader_problem(r, node->line, path, "%s", err.text);
}

/* Reads trialOutput: keep, pack, drop, or drop after a time. */
static void
set_output(struct reader *r, const struct key *key,
           const struct yaml_node *node, const char *path, void *target)
{
    static const char after[] = "drop after ";
    struct files_policy *p = target;
    const char *text = node->kind == YAML_SCALAR ? node->text : "";

    (void)key;
    p->drop_ms = 0;
    if (strcmp(text, "keep") == 0)
        p->output = OUTPUT_KEPT;
    else if (strcmp(text, "pack") == 0)
        p->output = OUTPUT_PACKED;
    else if (strcmp(text, "drop") == 0 ||
             (strncmp(text, after, sizeof after - 1) == 0 &&
              number_parse_duration_ms(text + sizeof after - 1, &p->drop_ms) &&
              p->drop_ms > 0))
        p->output = OUTPUT_DROPPED;
    else
        reader_expected(r, node, path,
                        "keep, pack, drop, or drop after a time such as 2h");
}

static void
set_space(struct reader *r, const struct key *key, const struct yaml_node *node,
          const char *path, void *target)
{
    struct draft *d = target;

    d->space_line = node->key_line;
    if (node->kind == YAML_MAP)
        note_lines(&d->x.space_lines, node, "");
    note_none(r, node, path);
    set_json_map(r, key, node, path, &d->x.search_space);
}

static void
set_space_file(struct reader *r, const struct key *key,
               const struct yaml_node *node, const char *path, void *target)
{
    struct draft *d = target;

    d->space_file_line = node->key_line;
    set_path(r, key, node, path, &d->space_file);
}

/* Reads enqueue into a struct draft: the sets are checked where the search
 * space is known. */
static void
set_enqueue(struct reader *r, const struct key *key,
            const struct yaml_node *node, const char *path, void *target)
{
    struct experiment *x = &((struct draft *)target)->x;
    char place[KEY_PATH_MAX];

    if (node->kind != YAML_SEQUENCE) {
        reader_problem(r, node->line, path,
                       "expected a list of maps from parameters to values, "
                       "got %s",
                       yaml_type_name(node));
        return;
    }
    x->enqueued =
        calloc(node->count > 0 ? node->count : 1, sizeof *x->enqueued);
    if (x->enqueued == NULL)
        reader_problem(r, node->line, path, "out of memory");
    for (const struct yaml_node *c = node->children;
         c != NULL && x->enqueued != NULL; c = c->next) {
        struct enqueued *e = &x->enqueued[x->n_enqueued];

        snprintf(place, sizeof place, "%s[%zu]", path, x->n_enqueued++);
        e->line = c->line;
        set_json_map(r, key, c, place, &e->parameters);
    }
}

static void
set_annotation(struct reader *r, const struct key *key,
               const struct yaml_node *node, const char *path, void *target)
{
    bool wanted = false;

    (void)target;
    set_bool(r, key, node, path, &wanted);
    if (wanted)
        reader_problem(r, node->line, path,
                       "annotations are not supported; write searchSpace");
}

/* Adds a pattern; `name` NULL: of the one value there is. */
static void
add_metric_pattern(struct reader *r, const struct yaml_node *node,
                   const char *path, const char *name, struct experiment *x)
{
    struct metric_pattern *p = &x->patterns[x->n_patterns];
    regex_t re;

    if (node->kind != YAML_SCALAR || node->len == 0 ||
        strlen(node->text) != node->len) {
        reader_expected(r, node, path, "a text");
        return;
    }
    if (!reader_regex(r, node, path, 0, &re))
        return;
    if (re.re_nsub == 0)
        reader_problem(r, node->line, path,
                       "'%.100s' has no group: put ( ) around the number",
                       node->text);
    regfree(&re);
    if (x->n_patterns == EXPERIMENT_PATTERNS_MAX) {
        reader_problem(r, node->line, path, "is one pattern more than %d",
                       EXPERIMENT_PATTERNS_MAX);
        return;
    }
    p->name = name != NULL ? strdup(name) : NULL;
    p->regex = strdup(node->text);
    x->n_patterns++;
    if (p->regex == NULL || (name != NULL && p->name == NULL))
        reader_problem(r, node->line, path, "out of memory");
}

/* Reads metrics.pattern into a struct draft: a pattern, or one for each name.
 */
static void
set_pattern(struct reader *r, const struct key *key,
            const struct yaml_node *node, const char *path, void *target)
{
    struct draft *d = target;
    char below[KEY_PATH_MAX];

    (void)key;
    if (node->kind == YAML_SEQUENCE)
        reader_expected(r, node, path,
                        "a text, or a map from names of values to texts");
    else if (node->kind == YAML_SCALAR)
        add_metric_pattern(r, node, path, NULL, &d->x);
    else
        for (const struct yaml_node *c = node->children; c != NULL;
             c = c->next) {
            snprintf(below, sizeof below, "%s.%.200s", path, c->key);
            add_metric_pattern(r, c, below, c->key, &d->x);
        }
}

static void
set_stop_value(struct reader *r, const struct key *key,
               const struct yaml_node *node, const char *path, void *target)
{
    struct draft *d = target;

    (void)key;
    d->x.has_stop_value =
        node->kind == YAML_SCALAR &&
        number_parse(node->text, strlen(node->text), &d->x.stop_value) &&
        isfinite(d->x.stop_value);
    if (!d->x.has_stop_value)
        reader_expected(r, node, path, "a number");
}

static void
set_hours(struct reader *r, const struct key *key, const struct yaml_node *node,
          const char *path, void *target)
{
    double hours;

    (void)key;
    if (node->kind == YAML_SCALAR &&
        number_parse(node->text, strlen(node->text), &hours) && hours > 0 &&
        hours <= HOURS_MAX)
        *(double *)target = hours;
    else
        reader_expected(r, node, path, "a number of hours above 0");
}

static const struct word early_stopped_words[] = {{"ignore", STOPPED_IGNORE},
                                                  {"latest", STOPPED_LATEST},
                                                  {"best", STOPPED_BEST},
                                                  {NULL, 0}};
static const struct word final_words[] = {
    {"last", FINAL_LAST}, {"none", FINAL_NONE}, {NULL, 0}};
static const struct word keep_words[] = {{"last", CHECKPOINTS_LAST},
                                         {"best", CHECKPOINTS_BEST},
                                         {"all", CHECKPOINTS_ALL},
                                         {"none", CHECKPOINTS_NONE},
                                         {NULL, 0}};
static const struct word mode_words[] = {
    {"jobs", CLUSTER_JOBS}, {"pilots", CLUSTER_PILOTS}, {NULL, 0}};
static const struct word files_words[] = {{"all", FILES_ALL},
                                          {"packed", FILES_PACKED},
                                          {"failed", FILES_FAILED},
                                          {"none", FILES_NONE},
                                          {NULL, 0}};
static const struct word direction_words[] = {
    {"minimize", 0}, {"maximize", 0}, {NULL, 0}}; /* read by find_mode() */
static const struct word type_words[] = {{"hpo", 0}, {NULL, 0}};
static const struct word level_words[] = {{"fatal", LOG_WISH_LESS},
                                          {"error", LOG_WISH_LESS},
                                          {"warning", LOG_WISH_LESS},
                                          {"info", LOG_WISH_INFO},
                                          {"debug", LOG_WISH_DEBUG},
                                          {"trace", LOG_WISH_DEBUG},
                                          {NULL, 0}};

/* The keys of an objective; objectives_check() reads them. */
static const struct key objective_keys[] = {
    {"name", set_text, 0, KEY_DISPATCH | KEY_REQUIRED, NULL, NULL, NULL},
    {"direction", NULL, 0, KEY_DISPATCH | KEY_REQUIRED, NULL, direction_words,
     NULL},
    {"reference", NULL, 0, KEY_DISPATCH, NULL, NULL, NULL},
    {"goal", NULL, 0, KEY_DISPATCH, NULL, NULL, NULL},
    {NULL, NULL, 0, 0, NULL, NULL, NULL}};

#define OF(member) offsetof(struct draft, member)
#define IDLE(name, set)                          \
    {                                            \
        name, set, 0, KEY_IDLE, NULL, NULL, NULL \
    }
#define REFUSED(name, hint)                          \
    {                                                \
        name, NULL, 0, KEY_REFUSED, hint, NULL, NULL \
    }
#define HELD(name, set, member, flags)                 \
    {                                                  \
        name, set, OF(member), flags, NULL, NULL, NULL \
    }

/* The keys for devices, which may stand beside trainingService and in it. */
#define DEVICE_KEYS                                                           \
    HELD("trialGpuNumber", wish_devices, x.wishes, 0),                        \
        HELD("useActiveGpu", set_bool, x.wishes.use_active, 0),               \
        HELD("gpuIndices", wish_indices, x.wishes, 0),                        \
        HELD("maxTrialNumberPerGpu", set_count, x.wishes.trials_a_device, 0), \
        HELD("machineLabels", label_machine, x.wishes.labels, 0),             \
        HELD("deviceLabels", label_devices, x.wishes.labels, 0)

static const struct key service_keys[] = {
    {"platform", NULL, 0, KEY_REQUIRED, NULL, NULL, NULL},
    HELD("trialCommand", set_command, x.trial_command, 0),
    HELD("trialCodeDirectory", set_path, x.trial_folder, 0),
    HELD("debug", set_bool, x.debug, 0),
    IDLE("nniManagerIp", NULL),
    DEVICE_KEYS,
    IDLE("reuseMode", NULL),
    REFUSED("machineList", "other machines are not supported"),
    {"mode", set_word, OF(x.cluster.mode), 0, NULL, mode_words, NULL},
    HELD("pilots", set_count, x.cluster.pilots, 0),
    HELD("trialsPerPilot", set_count, x.cluster.trials_a_pilot, 0),
    HELD("agentTimeout", set_duration, x.cluster.agent_ms, 0),
    HELD("sharedFolder", set_bool, x.cluster.shared, 0),
    HELD("partition", set_text, x.cluster.partition, 0),
    HELD("account", set_text, x.cluster.account, 0),
    HELD("qos", set_text, x.cluster.qos, 0),
    HELD("constraint", set_text, x.cluster.constraint, 0),
    HELD("nodes", set_text, x.cluster.nodes, 0),
    HELD("cpusPerTask", set_count, x.cluster.cpus, 0),
    HELD("time", set_text, x.cluster.time, 0),
    HELD("memory", set_text, x.cluster.memory, 0),
    HELD("gres", set_text, x.cluster.gres, 0),
    HELD("extra", set_extra, x.cluster, 0),
    HELD("script", set_path, x.cluster.script, 0),
    HELD("pollInterval", set_duration, x.cluster.poll_ms, 0),
    HELD("reportInterval", set_duration, x.cluster.report_ms, 0),
    HELD("saveTime", set_duration, x.cluster.save_ms, 0),
    HELD("interruptionRetry", set_interruptions, x.cluster.interruptions, 0),
    {NULL, NULL, 0, 0, NULL, NULL, NULL}};

static const struct key metrics_keys[] = {
    {"pattern", set_pattern, 0, 0, NULL, NULL, NULL},
    {"final", set_word, OF(final), 0, NULL, final_words, NULL},
    {NULL, NULL, 0, 0, NULL, NULL, NULL}};

static const struct key checkpoints_keys[] = {
    {"keep", set_word, OF(x.checkpoints.keep), 0, NULL, keep_words, NULL},
    HELD("max", set_count, x.checkpoints.max, 0),
    HELD("quota", set_size, x.checkpoints.quota, 0),
    {NULL, NULL, 0, 0, NULL, NULL, NULL}};

const struct key config_keys[] = {
    HELD("experimentName", set_text, x.name, 0),
    {"experimentType", set_word, OF(ignored), 0, NULL, type_words, NULL},
    {"searchSpace", set_space, 0, 0, NULL, NULL, NULL},
    {"searchSpaceFile", set_space_file, 0, 0, NULL, NULL, NULL},
    HELD("trialCommand", set_command, x.trial_command, 0),
    HELD("trialCodeDirectory", set_path, x.trial_folder, 0),
    HELD("trialConcurrency", set_count, x.concurrency, 0),
    HELD("maxTrialNumber", set_count, x.max_trials, 0),
    HELD("maxExperimentDuration", set_duration, x.max_experiment_ms, 0),
    HELD("maxTrialDuration", set_duration, x.max_trial_ms, 0),
    HELD("experimentWorkingDirectory", set_path, x.working_folder, 0),
    {"tuner", set_algorithm, OF(x.tuner), KEY_DISPATCH, NULL, NULL,
     algorithm_keys},
    {"assessor", set_algorithm, OF(x.assessor), KEY_DISPATCH, NULL, NULL,
     assessor_keys},
    {"trainingService", set_service, 0, 0, NULL, NULL, service_keys},
    HELD("debug", set_bool, x.debug, 0),
    {"logLevel", set_word, OF(log), 0, NULL, level_words, NULL},
    {"useAnnotation", set_annotation, 0, 0, NULL, NULL, NULL},
    DEVICE_KEYS,
    IDLE("nniManagerIp", NULL),
    IDLE("tunerGpuIndices", NULL),
    /* our own keys */
    {"direction", set_word, OF(ignored), KEY_DISPATCH, NULL, direction_words,
     NULL},
    {"objectives", NULL, 0, KEY_DISPATCH, NULL, NULL, objective_keys},
    {"resultConstraints", NULL, 0, KEY_DISPATCH, NULL, NULL, NULL},
    {"scalarize", NULL, 0, KEY_DISPATCH, NULL, NULL, NULL},
    {"filters", set_filters, 0, KEY_DISPATCH, NULL, NULL, filter_keys},
    {"constraints", set_constraints, 0, KEY_DISPATCH, NULL, NULL, NULL},
    {"seed", set_seed, 0, KEY_DISPATCH, NULL, NULL, NULL},
    {"earlyStopped", set_word, OF(x.early_stopped), KEY_DISPATCH, NULL,
     early_stopped_words, NULL},
    {"sync", set_sync, OF(x.sync), KEY_DISPATCH, NULL, NULL, NULL},
    {"segmentSize", set_size, OF(x.segments.size), KEY_DISPATCH, NULL, NULL,
     NULL},
    {"oldSegments", set_old_segments, OF(x.segments.old), KEY_DISPATCH, NULL,
     NULL, NULL},
    HELD("commandLogDirectory", set_path, x.log_folder, 0),
    {"metrics", set_map, 0, 0, NULL, NULL, metrics_keys},
    {"checkpoints", set_map, 0, 0, NULL, NULL, checkpoints_keys},
    {"keepTrialFiles", set_word, OF(x.files.files), 0, NULL, files_words, NULL},
    HELD("trialOutput", set_output, x.files, 0),
    HELD("prepareCommand", set_command, x.prepare_command, 0),
    HELD("maxPrepareDuration", set_duration, x.max_prepare_ms, 0),
    HELD("maxTrialOutput", set_size, x.max_output, 0),
    HELD("prepareConcurrency", set_count, x.prepare_concurrency, 0),
    HELD("grace", set_duration, x.grace_ms, 0),
    HELD("placeTimeout", set_duration, x.place_ms, 0),
    {"stopValue", set_stop_value, 0, 0, NULL, NULL, NULL},
    HELD("maxTrialsWithoutImprovement", set_count, x.max_without, 0),
    HELD("maxTrialHours", set_hours, x.max_trial_hours, 0),
    HELD("deterministic", set_bool, x.deterministic, 0),
    HELD("import", set_path, x.import, 0),
    {"enqueue", set_enqueue, 0, 0, NULL, NULL, NULL},
    HELD("trialIdleTimeout", set_duration, x.max_idle_ms, 0),
    {"onFailure", set_failure, OF(x.on_failure), 0, NULL, NULL, failure_keys},
    {"onRepeatedFailure", set_word, OF(x.on_repeated), 0, NULL, repeated_words,
     NULL},
    {"on", set_hooks, 0, 0, NULL, NULL, NULL},
    HELD("hookConcurrency", set_hook_concurrency, x.hook_concurrency, 0),
    HELD("hookTimeout", set_duration, x.hook_timeout_ms, 0),
    HELD("index", set_bool, x.index, 0),
    HELD("trialMemory", wish_memory, x.wishes, 0),
    HELD("trialGpuMemory", wish_device_memory, x.wishes, 0),
    HELD("trialLabels", label_globs, x.wishes.labels, 0),
    HELD("memoryHeadroom", wish_headroom, x.wishes, 0),
    HELD("memoryFloor", wish_floor, x.wishes, 0),
    {"memoryLimit", set_word, OF(x.wishes.limit), 0, NULL, wish_limit_words,
     NULL},
    HELD("outOfMemoryRetry", wish_retries, x.wishes, 0),
    HELD("outOfMemoryPatterns", wish_patterns, x.wishes, 0),
    /* keys that are known, and never right (see v1.c for those of NNI v1) */
    REFUSED("sharedStorage", "not supported: trials run on this machine alone"),
    {NULL, NULL, 0, 0, NULL, NULL, NULL}};
