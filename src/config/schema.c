/* SPDX-License-Identifier: MIT */
/* DESIGN.  One walk over the table of keys.  The type of a key follows from the
 * function that reads it, unless docs.c has one; keys of NNI v1 refer to the
 * type of what they are read as.  What holds between keys is said at the end of
 * the map in which it holds. */
#include "config/schema.h"

#include "config/docs.h"
#include "config/keys.h"
#include "config/reader.h"
#include "config/v1.h"
#include "core/buf.h"
#include "json.h"

#include <stdio.h>
#include <string.h>

#define NUMBER "[0-9]*[.]?[0-9]+([eE][-+]?[0-9]+)?"

/* Types that several keys have.  null counts as absent everywhere. */
static const char defs[] =
    "\"text\": {\"type\": [\"string\", \"number\", \"boolean\", \"null\"], "
    "\"minLength\": 1},\n"
    "    \"count\": {\"type\": [\"integer\", \"null\"], \"minimum\": 1},\n"
    "    \"bool\": {\"enum\": [true, false, \"yes\", \"no\", \"on\", \"off\", "
    "null]},\n"
    "    \"duration\": {\"type\": [\"string\", \"number\", \"null\"], "
    "\"exclusiveMinimum\": 0, \"pattern\": \"^" NUMBER " *[smhd]? *$\"},\n"
    "    \"size\": {\"type\": [\"string\", \"integer\", \"null\"], "
    "\"minimum\": 0, \"pattern\": \"^[0-9]+[kMG]?$\"},\n"
    "    \"map\": {\"type\": [\"object\", \"null\"]},\n"
    "    \"space\": {\"type\": [\"object\", \"null\"], "
    "\"additionalProperties\": {\"type\": \"object\", \"required\": "
    "[\"_type\", \"_value\"], \"properties\": {\"_type\": {\"enum\": "
    "[\"choice\", \"randint\", \"uniform\", \"quniform\", \"loguniform\", "
    "\"qloguniform\", \"normal\", \"qnormal\", \"lognormal\", "
    "\"qlognormal\"]}, \"_value\": {\"type\": \"array\"}}}}";

static const struct {
    key_set *set;
    const char *def;
} types[] = {
    {set_text, "text"}, {set_path, "text"},         {set_count, "count"},
    {set_bool, "bool"}, {set_duration, "duration"}, {set_json_map, "map"},
};

#define TOLD(algorithm)                                                    \
    "{\"required\": [\"" algorithm "\"], \"properties\": {\"" algorithm    \
    "\": {\"required\": [\"classArgs\"], \"properties\": {\"classArgs\": " \
    "{\"required\": [\"optimize_mode\"]}}}}}"

/* Rules between the keys of a map. */
static const struct {
    const char *path, *rule;
} rules[] = {
    {"", "\"allOf\": [{\"anyOf\": [{\"required\": [\"searchSpace\"]}, "
         "{\"required\": [\"searchSpaceFile\"]}, {\"required\": "
         "[\"searchSpacePath\"]}]}, {\"anyOf\": [{\"required\": "
         "[\"trialCommand\"]}, {\"required\": [\"trial\"]}, {\"required\": "
         "[\"trainingService\"], \"properties\": {\"trainingService\": "
         "{\"required\": [\"trialCommand\"]}}}]}, {\"anyOf\": [{\"required\": "
         "[\"direction\"]}, " TOLD("tuner") ", " TOLD("advisor") ", " TOLD(
             "assessor") "]}]"},
    {"tuner", "\"anyOf\": [{\"required\": [\"name\"]}, {\"required\": "
              "[\"plugin\"]}, {\"required\": [\"className\"]}, {\"required\": "
              "[\"builtinTunerName\"]}, {\"required\": "
              "[\"builtinAdvisorName\"]}]"},
    {"assessor", "\"anyOf\": [{\"required\": [\"name\"]}, {\"required\": "
                 "[\"plugin\"]}, {\"required\": [\"className\"]}, "
                 "{\"required\": [\"builtinAssessorName\"]}]"},
    {"filters", "\"required\": [\"name\"]"},
};

struct place {
    char path[KEY_PATH_MAX];
    int depth; /* of indentation */
};

/* The place of a member; the paths of our own table are short. */
static struct place
below(const struct place *p, const char *name)
{
    struct place inner = {.depth = p->depth + 1};

    if (snprintf(inner.path, sizeof inner.path, "%s%s%s", p->path,
                 p->path[0] != '\0' ? "." : "", name) >= (int)sizeof inner.path)
        inner.path[0] = '\0';
    return inner;
}

/* A property begins on a line of its own. */
static void
begin(struct buf *out, const struct place *p, const char *name, bool *first)
{
    buf_printf(out, "%s\n%*s", *first ? "" : ",", 4 * p->depth, "");
    json_write_text(out, name);
    buf_add_text(out, ": {");
    *first = false;
}

static void
end(struct buf *out, const char *text)
{
    if (text != NULL && text[0] != '\0') {
        buf_add_text(out, ", \"description\": ");
        json_write_text(out, text);
    }
    buf_add_char(out, '}');
}

static void
write_words(struct buf *out, const struct word *words)
{
    buf_add_text(out, "\"enum\": [");
    for (; words->word != NULL; words++) {
        json_write_text(out, words->word);
        buf_add_text(out, ", ");
    }
    buf_add_text(out, "null]");
}

/* Writes a reference: #/properties/A/properties/B for "A.B". */
static void
write_reference(struct buf *out, const char *path)
{
    const char *dot;

    buf_add_text(out, "\"$ref\": \"#");
    do {
        dot = strchr(path, '.');
        buf_printf(out, "/properties/%.*s",
                   dot != NULL ? (int)(dot - path) : (int)strlen(path), path);
        path = dot != NULL ? dot + 1 : NULL;
    } while (path != NULL);
    buf_add_char(out, '"');
}

static void
write_v1_type(struct buf *out, const struct v1_rule *rule)
{
    switch (rule->how) {
    case V1_MOVE:
        write_reference(out, rule->to);
        break;
    case V1_DROP:
        buf_add_text(out, "\"$comment\": \"any value\"");
        break;
    case V1_UNSET:
        buf_add_text(out, "\"enum\": [false, \"no\", \"off\", null]");
        break;
    case V1_REFUSE:
        buf_add_text(out, "\"not\": {}");
        break;
    case V1_CLASS:
        buf_add_text(out, "\"type\": \"string\", \"pattern\": \".[.]py$\"");
        break;
    case V1_LATEST:
        buf_add_text(out, "\"$ref\": \"#/$defs/bool\"");
        break;
    }
}

static void
write_v1_key(struct buf *out, const struct place *p, const struct v1_rule *rule,
             const char *name, bool *first)
{
    char text[256];

    if (rule->to != NULL)
        snprintf(text, sizeof text, "NNI v1: read as %s.", rule->to);
    else
        snprintf(text, sizeof text, "NNI v1: %s.",
                 rule->note != NULL ? rule->note : "left out");
    begin(out, p, name, first);
    write_v1_type(out, rule);
    buf_add_text(out, ", \"deprecated\": true");
    end(out, text);
}

/* Writes the keys of NNI v1 of one map, behind today's. */
static void
write_v1_keys(struct buf *out, const struct place *p, bool *first)
{
    size_t len = strlen(p->path);

    for (const struct v1_rule *k = v1_rules; k->from != NULL; k++) {
        const char *dot = strchr(k->from, '.');

        if (len == 0 && dot == NULL)
            write_v1_key(out, p, k, k->from, first);
        else if (dot != NULL && (size_t)(dot - k->from) == len &&
                 strncmp(k->from, p->path, len) == 0)
            write_v1_key(out, p, k, dot + 1, first);
    }
}

/* Writes the maps of v1 that v2 does not have. */
static void
write_v1_maps(struct buf *out, const struct place *p, bool *first)
{
    for (size_t i = 0; v1_maps[i] != NULL; i++) {
        struct place inner = below(p, v1_maps[i]);
        bool inner_first = true;

        begin(out, p, v1_maps[i], first);
        buf_add_text(out, "\"type\": [\"object\", \"null\"], "
                          "\"additionalProperties\": false, "
                          "\"deprecated\": true, \"properties\": {");
        write_v1_keys(out, &inner, &inner_first);
        buf_add_char(out, '}');
        end(out, "NNI v1.");
    }
}

static void
write_required(struct buf *out, const struct key *keys)
{
    const char *between = ", \"required\": [";

    for (const struct key *k = keys; k->name != NULL; k++)
        if (k->flags & KEY_REQUIRED) {
            buf_add_text(out, between);
            json_write_text(out, k->name);
            between = ", ";
        }
    if (strcmp(between, ", ") == 0)
        buf_add_char(out, ']');
}

static void write_key(struct buf *out, const struct place *p,
                      const struct key *key, bool *first);

/* Writes what is inside the braces of a map's schema, but for its type. */
static void
write_map(struct buf *out, const struct place *p, const struct key *keys)
{
    bool first = true;

    buf_add_text(out, "\"additionalProperties\": false");
    write_required(out, keys);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (strcmp(rules[i].path, p->path) == 0)
            buf_printf(out, ", %s", rules[i].rule);
    buf_add_text(out, ", \"properties\": {");
    for (const struct key *k = keys; k->name != NULL; k++)
        write_key(out, p, k, &first);
    write_v1_keys(out, p, &first);
    if (p->path[0] == '\0')
        write_v1_maps(out, p, &first);
    buf_add_char(out, '}');
}

static void
write_type(struct buf *out, const struct place *p, const struct key *key,
           const struct key_doc *doc)
{
    if (key->flags & KEY_REFUSED) {
        buf_add_text(out, "\"not\": {}");
    } else if (doc != NULL && doc->type != NULL &&
               strcmp(doc->type, DOC_LIST_OF_KEYS) == 0) {
        buf_add_text(out, "\"type\": [\"array\", \"null\"], \"items\": "
                          "{\"type\": [\"string\", \"object\"], ");
        write_map(out, p, key->keys);
        buf_add_char(out, '}');
    } else if (doc != NULL && doc->type != NULL) {
        buf_add_text(out, doc->type);
    } else if (key->keys != NULL) {
        buf_add_text(out, "\"type\": [\"object\", \"null\"], ");
        write_map(out, p, key->keys);
    } else if (key->words != NULL) {
        write_words(out, key->words);
    } else {
        for (size_t i = 0; i < sizeof types / sizeof *types; i++)
            if (types[i].set == key->set) {
                buf_printf(out, "\"$ref\": \"#/$defs/%s\"", types[i].def);
                return;
            }
        buf_add_text(out, "\"$comment\": \"any value\"");
    }
}

static void
write_key(struct buf *out, const struct place *p, const struct key *key,
          bool *first)
{
    struct place inner = below(p, key->name);
    const struct key_doc *doc = key_doc_of(inner.path);
    char text[512];

    begin(out, p, key->name, first);
    write_type(out, &inner, key, doc);
    snprintf(text, sizeof text, "%s%s", doc != NULL ? doc->text : "",
             key->flags & KEY_IDLE ? " Accepted, without effect." : "");
    end(out, key->flags & KEY_REFUSED ? key->hint : text);
}

void
schema_write(struct buf *out)
{
    struct place top = {.path = "", .depth = 1};

    buf_printf(out,
               "{\n  \"$schema\": "
               "\"https://json-schema.org/draft/2020-12/schema\",\n"
               "  \"title\": \"An experiment of tunepipe\",\n"
               "  \"$defs\": {\n    %s},\n  \"type\": \"object\", ",
               defs);
    write_map(out, &top, config_keys);
    buf_add_text(out, "}\n");
}
