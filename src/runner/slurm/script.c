/* SPDX-License-Identifier: MIT */
#include "runner/slurm/script.h"

#include "config/cluster.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "runner/changes.h"
#include "runner/runner.h"
#include "trial/files.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define COMMAND "{command}"
#define USER_MAX ((size_t)1 << 20)

/* ---- the user's ---- */

/* The line in whose place the trial begins; NULL: there is none. */
static const char *
find_command(const char *text)
{
    const char *at = text;

    while ((at = strstr(at, COMMAND)) != NULL) {
        if ((at == text || at[-1] == '\n') &&
            (at[strlen(COMMAND)] == '\n' || at[strlen(COMMAND)] == '\0'))
            return at;
        at++;
    }
    return NULL;
}

static int
take_script(struct script *s, const char *text, const char *path,
            struct err *err)
{
    const char *at = find_command(text);

    if (strstr(text, "\r\n") != NULL)
        return err_set(err, ERR_CONFIG,
                       "%s: its lines end with CR LF, which sbatch does not "
                       "take: expected LF (sed -i 's/\\r$//' %s)",
                       path, path);
    if (at == NULL)
        return err_set(err, ERR_CONFIG,
                       "%s: expected a line that is " COMMAND
                       ", in whose place the trial is started",
                       path);
    if (strncmp(text, "#!", 2) != 0)
        return err_set(err, ERR_CONFIG,
                       "%s:1: expected #! and an interpreter of shell scripts",
                       path);
    s->head = strndup(text, (size_t)(at - text));
    s->foot = strdup(at + strlen(COMMAND));
    return 0;
}

int
script_init(struct script *s, const struct runner_setup *setup, struct err *err)
{
    const char *path = setup->cluster->script;
    struct buf text;
    int rc = 0;

    *s = (struct script){.grace_ms = setup->grace_ms,
                         .max_output = setup->max_output};
    s->wrapper = runner_wrapper(setup->program_folder, err);
    if (s->wrapper == NULL)
        return -1;
    buf_init(&text, USER_MAX);
    if (path == NULL)
        buf_add_text(&text, "#!/bin/sh\numask 077\n" COMMAND);
    else if (file_read(path, USER_MAX, &text, err) != 0)
        rc = err_set(err, ERR_CONFIG, "trainingService.script: %s", err->text);
    if (rc == 0)
        rc = take_script(s, buf_text(&text), path, err);
    buf_fini(&text);
    if (rc == 0 && (s->head == NULL || s->foot == NULL))
        rc = err_set(err, ERR_MEMORY, "out of memory");
    return rc;
}

void
script_fini(struct script *s)
{
    free(s->head);
    free(s->foot);
    free(s->wrapper);
    *s = (struct script){0};
}

/* ---- of one trial ---- */

/* sbatch refuses a script that has a CR before an LF anywhere. */
static void
add_quoted_bytes(struct buf *b, const char *text, size_t len)
{
    buf_add_char(b, '\'');
    for (size_t i = 0; i < len; i++)
        if (text[i] == '\'')
            buf_add_text(b, "'\\''");
        else if (text[i] == '\r' && i + 1 < len && text[i + 1] == '\n')
            buf_add_text(b, "'\"$(printf '\\r')\"'");
        else
            buf_add_char(b, text[i]);
    buf_add_char(b, '\'');
}

static void
add_quoted(struct buf *b, const char *text)
{
    add_quoted_bytes(b, text, strlen(text));
}

/* Whether a shell can set a variable of that name. */
static bool
is_settable(const char *name, size_t len)
{
    if (len == 0 || isdigit((unsigned char)name[0]))
        return false;
    for (size_t i = 0; i < len; i++)
        if (!isalnum((unsigned char)name[i]) && name[i] != '_')
            return false;
    return true;
}

/* A job gets the manager's environment by sbatch. */
static void
add_change(void *ctx, const char *name, size_t len, const char *value,
           size_t size, bool before)
{
    struct buf *b = ctx;

    if (!is_settable(name, len))
        return;
    if (value == NULL) {
        buf_printf(b, "unset %.*s\n", (int)len, name);
        return;
    }
    buf_printf(b, "export %.*s=", (int)len, name);
    add_quoted_bytes(b, value, size);
    if (before)
        buf_printf(b, "\"$%.*s\"", (int)len, name);
    buf_add_char(b, '\n');
}

char *
script_describe(const struct script *s, const struct runner_task *task,
                const char *home, const char *alive, struct err *err)
{
    struct buf b;
    char *text;

    buf_init(&b, SCRIPT_MAX / 2);
    changes_tell(task->env, add_change, &b);
    buf_add_text(&b, "set -- --dir ");
    add_quoted(&b, home);
    buf_add_text(&b, " --cwd ");
    add_quoted(&b, task->cwd);
    buf_printf(&b,
               " --grace-ms %lld --adopt-ms 0 --lease " TRIAL_NO_LEASE
               " --output-bytes %llu --synced 1 --node \"$SLURMD_NODENAME\" "
               "--alive ",
               (long long)s->grace_ms, (unsigned long long)s->max_output);
    add_quoted(&b, alive);
    buf_add_text(&b, " --");
    for (const char *const *word = task->command; *word != NULL; word++) {
        buf_add_char(&b, ' ');
        add_quoted(&b, *word);
    }
    buf_add_char(&b, '\n');
    text = buf_check(&b, "the job's script", err) == 0 ? buf_take(&b) : NULL;
    buf_fini(&b);
    return text;
}

/* ---- of a batch ---- */

void
script_begin(const struct script *s, struct buf *out)
{
    buf_add_text(out, s->head);
}

void
script_guard(const char *file, const char *words, struct buf *out)
{
    buf_add_text(out, "[ \"${SLURM_RESTART_COUNT:-0}\" = 0 ] || "
                      "{ echo " SCRIPT_RESTARTED " >&2; exit 0; }\n[ -e ");
    add_quoted(out, file);
    buf_add_text(out, " ] || { rm -f ");
    add_quoted(out, words);
    buf_add_text(out, "${SLURM_ARRAY_TASK_ID:+.$SLURM_ARRAY_TASK_ID}.out; "
                      "exit 0; }\n");
}

void
script_part(const char *part, size_t i, size_t n, struct buf *out)
{
    if (n > 1 && i == 0)
        buf_add_text(out, "case $SLURM_ARRAY_TASK_ID in\n");
    if (n > 1)
        buf_printf(out, "%zu)\n%s;;\n", i, part);
    else
        buf_add_text(out, part);
}

void
script_end(const struct script *s, size_t n, struct buf *out)
{
    if (n > 1)
        buf_add_text(out, "esac\n");
    buf_add_text(out, "exec ");
    add_quoted(out, s->wrapper);
    buf_add_text(out, " \"$@\"\n");
    buf_add_text(out, s->foot);
}
