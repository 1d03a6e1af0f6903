/* SPDX-License-Identifier: MIT */
/* DESIGN.  Each thing is written into a text; texts compare.  The order of
 * `things` is that of the notes. */
#include "check/surroundings.h"

#include "plugin/floatenv.h"

#include <limits.h>
#include <locale.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOTE_MAX PATH_MAX

extern char **environ;

static void
note_floats(char *out)
{
    snprintf(out, NOTE_MAX, "%d", floatenv_is_default());
}

static void
note_handlers(char *out)
{
    size_t len = 0;

    for (int i = 1; i < 32; i++) {
        struct sigaction now;

        if (sigaction(i, NULL, &now) == 0)
            len += (size_t)snprintf(out + len, NOTE_MAX - len, "%p ",
                                    (void *)(uintptr_t)now.sa_handler);
    }
}

static void
note_mask(char *out)
{
    sigset_t now;

    sigprocmask(SIG_SETMASK, NULL, &now);
    for (int i = 1; i < 32; i++)
        *out++ = sigismember(&now, i) == 1 ? '1' : '0';
    *out = '\0';
}

static void
note_locale(char *out)
{
    const char *now = setlocale(LC_ALL, NULL);

    snprintf(out, NOTE_MAX, "%s", now != NULL ? now : "");
}

static void
note_folder(char *out)
{
    if (getcwd(out, NOTE_MAX) == NULL)
        out[0] = '\0';
}

static void
note_umask(char *out)
{
    mode_t now = umask(077);

    umask(now);
    snprintf(out, NOTE_MAX, "%o", (unsigned)now);
}

static void
note_environment(char *out)
{
    uint64_t hash = 0;

    for (char **e = environ; e != NULL && *e != NULL; e++)
        for (const char *c = *e; *c != '\0'; c++)
            hash = hash * 1099511628211u + (unsigned char)*c;
    snprintf(out, NOTE_MAX, "%llx", (unsigned long long)hash);
}

static const struct {
    const char *name, *advice;
    void (*note)(char *out);
} things[] = {
    {"the floating-point environment",
     "the host puts it back: put it back itself, or link without -ffast-math",
     note_floats},
    {"a signal handler", "signals belong to the host", note_handlers},
    {"the signal mask", "signals belong to the host", note_mask},
    {"the locale", "use newlocale() and uselocale() within the call",
     note_locale},
    {"the working folder", "use whole paths", note_folder},
    {"the umask", "give open() its mode", note_umask},
    {"the environment", "keep what it needs in its object", note_environment},
};
#define N_THINGS (sizeof things / sizeof *things)

struct surroundings {
    char notes[N_THINGS][NOTE_MAX];
    const char *by[N_THINGS];
};

struct surroundings *
surroundings_new(void)
{
    struct surroundings *s = calloc(1, sizeof *s);

    for (size_t i = 0; s != NULL && i < N_THINGS; i++)
        things[i].note(s->notes[i]);
    return s;
}

void
surroundings_free(struct surroundings *s)
{
    free(s);
}

void
surroundings_after(struct surroundings *s, const char *callback)
{
    char now[NOTE_MAX] = "";

    for (size_t i = 0; i < N_THINGS; i++) {
        things[i].note(now);
        if (strcmp(now, s->notes[i]) == 0)
            continue;
        if (s->by[i] == NULL)
            s->by[i] = callback;
        if (i > 0) /* floats are put back after each call */
            memcpy(s->notes[i], now, strlen(now) + 1);
    }
}

const char *
surroundings_changed(const struct surroundings *s, size_t i, const char **by,
                     const char **advice)
{
    for (size_t k = 0; k < N_THINGS; k++)
        if (s->by[k] != NULL && i-- == 0) {
            *by = s->by[k];
            *advice = things[k].advice;
            return things[k].name;
        }
    return NULL;
}
