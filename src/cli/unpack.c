/* SPDX-License-Identifier: MIT */
#include "cli/attempt.h"
#include "cli/options.h"
#include "cli/target.h"
#include "cli/verb.h"

#include "core/err.h"
#include "core/file.h"
#include "core/grow.h"
#include "core/visible.h"
#include "history/folder.h"
#include "pack/member.h"
#include "pack/packs.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: tunepipe unpack [DIR] TRIAL [--to FOLDER]\n"
    "       tunepipe unpack [DIR] --all [--to FOLDER]\n"
    "\n"
    "Puts the folder of a trial back whose files were packed (keepTrialFiles,\n"
    "tunepipe-experiment(5)): DIR/trials/00003, and 00003.1 and so on where it\n"
    "was started more than once.  Nothing is overwritten; the pack stays as it\n"
    "is.  `tar -xzf` unpacks a whole pack, too.\n"
    "\n"
    "DIR is the experiment's folder; without it the newest in\n"
    "./tunepipe-experiments.  TRIAL is a number as `tunepipe show` prints it, 3\n"
    "or 00003: all its attempts; or one attempt, 3.0, 3.1, ...\n"
    "\n"
    "  --all        all trials that are packed\n"
    "  --to FOLDER  in this folder, made where it is missing\n"
    "\n"
    "Prints the folders.  What is put back into DIR/trials is packed again when\n"
    "the experiment goes on.\n"
    "\n"
    "Exit status: 0 done; 1 something is there already, a pack is damaged, or\n"
    "nothing can be written; 2 usage; 3 no such experiment, or no pack has the\n"
    "trial.\n"
    "\n"
    "Example: tunepipe unpack tunepipe-experiments/digits-20260131-101500 17\n";

struct words {
    const char *to;
    bool all;
};

static const struct option options[] = {
    {"all", OPTION_FLAG, offsetof(struct words, all), NULL},
    {"to", OPTION_TEXT, offsetof(struct words, to), "FOLDER"},
};
#define N_OPTIONS (sizeof options / sizeof *options)

struct wanted {
    uint64_t number, attempt;
};

struct work {
    struct wanted *items; /* attempts that are unpacked */
    size_t n, cap;
    bool all, one; /* one: this attempt alone */
    struct wanted which;
    bool failed; /* out of memory */
};

/* Notes an attempt that is packed and wanted. */
static int
note(void *ctx, uint64_t number, uint64_t attempt)
{
    struct work *w = ctx;

    if (!w->all &&
        (number != w->which.number || (w->one && attempt != w->which.attempt)))
        return 0;
    if (w->n > 0 && w->items[w->n - 1].number == number &&
        w->items[w->n - 1].attempt == attempt)
        return 0; /* it is in two members */
    if (GROW(w->items, w->n, w->cap) != 0)
        return w->failed = true;
    w->items[w->n++] = (struct wanted){number, attempt};
    return 0;
}

static int
compare(const void *a, const void *b)
{
    const struct wanted *x = a, *y = b;

    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return x->attempt < y->attempt ? -1 : x->attempt > y->attempt;
}

static int
unpack_one(struct packs *k, const char *trials, const char *to,
           const struct wanted *w, struct err *err)
{
    char id[PACK_ID_MAX], *from, *folder;
    int rc;

    pack_id(w->number, w->attempt, id);
    from = file_join(trials, id);
    folder = file_join(to, id);
    rc = from == NULL || folder == NULL
             ? err_set(err, ERR_MEMORY, "out of memory")
             : packs_unpack(k, from, folder, false, err);
    if (rc == 0)
        visible_printf(stdout, "%s\n", folder);
    free(from);
    free(folder);
    return rc;
}

/* Unpacks all that is noted, as far as it goes; err tells what failed first. */
static int
unpack_all(const struct work *w, const char *trials, const char *to,
           struct err *err)
{
    struct packs *k = packs_new();
    int rc = k == NULL ? err_set(err, ERR_MEMORY, "out of memory") : 0;

    for (size_t i = 0; k != NULL && i < w->n; i++)
        if (unpack_one(k, trials, to, &w->items[i], rc == 0 ? err : NULL) != 0)
            rc = -1;
    packs_free(k);
    return rc;
}

/* Takes the word for a trial or one of its attempts. */
static int
read_trial(const char *word, struct work *w, struct err *err)
{
    size_t len = strcspn(word, ".");

    if (!attempt_is_word(word))
        return err_set(err, ERR_USAGE,
                       "expected [DIR] TRIAL, an experiment's folder and a "
                       "trial such as 3, 00003 or 3.1; see --help");
    w->which.number = strtoull(word, NULL, 10);
    w->one = word[len] == '.';
    if (w->one)
        w->which.attempt = strtoull(word + len + 1, NULL, 10);
    return 0;
}

static int
go(const char *folder, const char *word, const char *to, struct work *w,
   struct err *err)
{
    char *trials = file_join(folder, FOLDER_TRIALS);
    char damage[400];
    int rc = trials == NULL ? err_set(err, ERR_MEMORY, "out of memory")
                            : packs_each(trials, note, w, err);

    if (rc == 0 && w->failed)
        rc = err_set(err, ERR_MEMORY, "out of memory");
    if (rc == 0 && packs_damage(trials, damage, sizeof damage))
        visible_printf(stderr, "tunepipe unpack: warning: %s\n", damage);
    if (rc == 0 && w->n == 0)
        rc = err_set(err, ERR_CONFIG,
                     "%s: no pack in %s has trial '%.40s', expected one that "
                     "has ended and whose files were packed",
                     folder, FOLDER_TRIALS, word);
    if (rc == 0 && to != NULL)
        rc = file_make_folder(to, err);
    if (rc == 0) {
        qsort(w->items, w->n, sizeof *w->items, compare);
        rc = unpack_all(w, trials, to != NULL ? to : trials, err);
    }
    free(trials);
    return rc;
}

static int
run(int argc, char **argv)
{
    struct words words = {0};
    struct work w = {0};
    struct err err = {0};
    char *folder = NULL;
    int rc = options_parse(options, N_OPTIONS, &words, &argc, argv, &err);
    int operands = words.all ? 1 : 2;
    const char *word = words.all ? "" : argv[argc - 1];

    w.all = words.all;
    if (rc == 0 && (argc > operands + 1 || (!words.all && argc < 2)))
        rc = err_set(&err, ERR_USAGE,
                     "expected [DIR] TRIAL, or [DIR] --all; see --help");
    if (rc == 0 && !words.all)
        rc = read_trial(word, &w, &err);
    if (rc == 0) {
        folder = target_folder("unpack", argc == operands + 1 ? argv[1] : NULL,
                               &err);
        rc = folder == NULL ? -1 : go(folder, word, words.to, &w, &err);
    }
    free(w.items);
    free(folder);
    return verb_printed("unpack",
                        rc == 0 ? EXIT_DONE : verb_fail("unpack", &err));
}

const struct verb verb_unpack = {
    .name = "unpack",
    .summary = "put a trial's folder back that was packed",
    .help = help,
    .run = run,
    .options = options,
    .n_options = N_OPTIONS,
    .operand = "DIR",
};
