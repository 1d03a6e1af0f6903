/* SPDX-License-Identifier: MIT */
#include "manager/plain_command.h"

#include "core/buf.h"
#include "core/file.h"
#include "trial/files.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- without a shell ---- */

/* Words that a shell understands itself, where they are its command. */
static const char *const builtins[] = {
    ".",       ":",       "[",         "alias",    "bg",      "break",
    "builtin", "case",    "cd",        "chdir",    "command", "continue",
    "coproc",  "declare", "dirs",      "disown",   "do",      "done",
    "echo",    "elif",    "else",      "enable",   "esac",    "eval",
    "exec",    "exit",    "export",    "false",    "fc",      "fg",
    "fi",      "for",     "function",  "getopts",  "hash",    "help",
    "history", "if",      "in",        "jobs",     "kill",    "let",
    "local",   "logout",  "mapfile",   "popd",     "printf",  "pushd",
    "pwd",     "read",    "readarray", "readonly", "return",  "select",
    "set",     "shift",   "shopt",     "source",   "suspend", "test",
    "then",    "time",    "times",     "trap",     "true",    "type",
    "typeset", "ulimit",  "umask",     "unalias",  "unset",   "until",
    "wait",    "while"};

static bool
is_builtin(const char *word)
{
    for (size_t i = 0; i < sizeof builtins / sizeof *builtins; i++)
        if (strcmp(builtins[i], word) == 0)
            return true;
    return false;
}

static bool
stands_for_itself(char c)
{
    return isalnum((unsigned char)c) || strchr("_./,:+@%-=", c) != NULL;
}

/* Moves a word to *to, without its quotes.  NULL: it is none for us; else where
 * it ends. */
static const char *
take_word(const char *at, char **to)
{
    while (*at != '\0' && *at != ' ') {
        if (*at != '\'') {
            if (!stands_for_itself(*at))
                return NULL;
            *(*to)++ = *at++;
            continue;
        }
        for (at++; *at != '\''; at++) {
            if (*at == '\0')
                return NULL;
            *(*to)++ = *at;
        }
        at++;
    }
    *(*to)++ = '\0';
    return at;
}

/* The words and then their texts, in one piece. */
static char **
split(const char *command)
{
    size_t len = strlen(command), most = len / 2 + 2, n = 0;
    char **words = malloc(most * sizeof *words + len + 1);
    char *to = words == NULL ? NULL : (char *)(words + most);

    for (const char *at = command; words != NULL && *at != '\0';) {
        if (*at == ' ') {
            at++;
            continue;
        }
        words[n++] = to;
        at = take_word(at, &to);
        if (at == NULL) {
            free(words);
            return NULL;
        }
    }
    if (words != NULL)
        words[n] = NULL;
    return words;
}

/* Whether the kernel can run the file by itself. */
static bool
is_program(const char *path)
{
    char begin[4] = "";
    FILE *f = access(path, X_OK) == 0 ? fopen(path, "re") : NULL;

    if (f == NULL)
        return false;
    if (fread(begin, 1, sizeof begin, f) < 2)
        begin[0] = '\0';
    fclose(f);
    return strncmp(begin, "#!", 2) == 0 || memcmp(begin, "\177ELF", 4) == 0;
}

static bool
is_in(const char *folder, size_t len, const char *cwd, const char *name)
{
    bool absolute = len > 0 && folder[0] == '/';
    char *path = NULL;
    bool is;

    if (asprintf(&path, "%s%s%.*s/%s", absolute ? "" : cwd, absolute ? "" : "/",
                 (int)len, folder, name) < 0)
        return false;
    is = is_program(path);
    free(path);
    return is;
}

static bool
is_found(const char *name, const char *cwd, char *const env[])
{
    const char *path = NULL;

    if (strchr(name, '/') != NULL)
        return name[0] == '/' ? is_program(name) : is_in("", 0, cwd, name);
    for (; *env != NULL && path == NULL; env++)
        if (strncmp(*env, "PATH=", 5) == 0)
            path = *env + 5;
    while (path != NULL) {
        size_t len = strcspn(path, ":");

        if (is_in(path, len, cwd, name))
            return true;
        path = path[len] == ':' ? path + len + 1 : NULL;
    }
    return false;
}

char **
plain_command(const char *command, const char *cwd, char *const env[])
{
    char **words = split(command);

    if (words != NULL &&
        (words[0] == NULL || strchr(words[0], '=') != NULL ||
         is_builtin(words[0]) || !is_found(words[0], cwd, env))) {
        free(words);
        return NULL;
    }
    return words;
}

/* ---- NNI's ---- */

#define FILE_MAX ((size_t)1 << 20) /* larger ones are no scripts */

static bool
is_of_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Whether the text has `name`, not as a part of another word; with a '_' at its
 * end as the beginning of one. */
static bool
mentions(const struct buf *text, const char *name)
{
    const char *begin = text->data, *end = begin + text->len, *at = begin;
    size_t len = strlen(name);

    while ((at = memmem(at, (size_t)(end - at), name, len)) != NULL) {
        const char *behind = at + len;

        if ((at == begin || !is_of_word(at[-1])) &&
            (name[len - 1] == '_' || behind == end || !is_of_word(*behind)))
            return true;
        at++;
    }
    return false;
}

static bool
speaks_of_nni(const struct buf *text)
{
    return text->len > 0 && (mentions(text, "nni") || mentions(text, "NNI_") ||
                             mentions(text, TRIAL_NNI_PARAMETERS));
}

/* Appends the word with the values of the variables in it. */
static void
expand(struct buf *out, const char *at, size_t len)
{
    const char *end = at + len;

    while (at < end) {
        bool braced = end - at > 2 && at[0] == '$' && at[1] == '{';
        const char *name = at + 1 + braced, *behind = name;
        char *variable;

        while (*at == '$' && behind < end && is_of_word(*behind))
            behind++;
        if (behind == name || *at != '$') {
            buf_add_char(out, *at++);
            continue;
        }
        variable = strndup(name, (size_t)(behind - name));
        if (variable != NULL && getenv(variable) != NULL)
            buf_add_text(out, getenv(variable));
        free(variable);
        at = behind + (braced && behind < end);
    }
}

static bool
file_is_nni(const char *cwd, const char *word, size_t len)
{
    struct buf name, text;
    char *path = NULL;
    struct stat st;
    bool is;

    buf_init(&name, FILE_MAX);
    expand(&name, word, len);
    if (name.len > 0)
        path = name.data[0] == '/' ? strdup(buf_text(&name))
                                   : file_join(cwd, buf_text(&name));
    buf_init(&text, 2 * FILE_MAX);
    is = path != NULL && stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
         file_read(path, FILE_MAX, &text, NULL) == 0 && speaks_of_nni(&text);
    buf_fini(&text);
    buf_fini(&name);
    free(path);
    return is;
}

bool
plain_command_is_nni(const char *command, const char *cwd)
{
    static const char ends[] = " \t\n'\"();|&<>";
    struct buf text;
    bool is;

    buf_init(&text, strlen(command) + 2);
    buf_add_text(&text, command);
    is = speaks_of_nni(&text);
    buf_fini(&text);
    for (const char *at = command; !is && *at != '\0';) {
        size_t len = strcspn(at, ends);

        is = len > 0 && file_is_nni(cwd, at, len);
        at += len + strspn(at + len, ends);
    }
    return is;
}
