/* SPDX-License-Identifier: MIT */
#include "dispatcher/tuning.h"

#include "core/err.h"
#include "core/pack.h"
#include "core/problems.h"
#include "dispatcher/tuning_state.h"
#include "json.h"
#include "plugin/loader.h"
#include "plugin/tuner.h"
#include "space/space.h"
#include "tunepipe/tuner.h"

#include <stdlib.h>

/* ---- out ---- */

static void
save_space(const struct tuning *t, struct buf *out)
{
    struct buf text;

    buf_init(&text, SIZE_MAX / 2);
    if (t->space != NULL)
        space_write(t->space, &text);
    pack_bytes(out, text.data, text.len);
    out->failed = out->failed || text.failed;
    buf_fini(&text);
}

int
tuning_save(const struct tuning *t, struct buf *out, struct err *err)
{
    size_t len = out->len;
    int rc;

    pack_u64(out, t->next_id);
    pack_u64(out, t->closed);
    save_space(t, out);
    owed_save(&t->owed, out);
    trials_save(t->trials, out);
    reunion_save(&t->reunion, out);
    if (tuning_advised(t))
        origins_save(&t->origins, out);
    rc = buf_check(out, "what a snapshot holds", err);
    if (rc == 0)
        rc = tuner_save(t->tuner, out, err);
    if (rc != 1)
        out->len = len;
    return rc;
}

/* ---- in ---- */

static int
damaged(struct err *err, const char *what)
{
    return err_set(err, ERR_LOG, "%s: damaged, or out of memory", what);
}

static struct space *
read_space(const struct tuning *t, struct unpack *in, struct err *err)
{
    struct problems problems;
    struct space *space;
    struct json *doc;
    const char *text;
    size_t len;

    text = unpack_bytes(in, &len);
    if (in->failed) {
        damaged(err, "search space");
        return NULL;
    }
    doc = json_parse(text, len, JSON_NAN, err);
    if (doc == NULL) {
        err_place(err, "search space");
        return NULL;
    }
    problems_init(&problems);
    space = space_parse(json_root(doc), &problems);
    json_free(doc);
    if (problems_check(&problems, err) == 0 && space != NULL &&
        tuner_plugin(t->tuner)->tuner.flags & TP_TUNER_WHOLE &&
        space_make_whole(space, err) != 0) {
        space_free(space);
        space = NULL;
    }
    problems_fini(&problems);
    return space;
}

static int
load_space(struct tuning *t, struct unpack *in, struct err *err)
{
    struct space *space = read_space(t, in, err);

    if (space == NULL)
        return -1;
    t->x = malloc(space_dims(space)->n_dims * sizeof *t->x + 1);
    if (t->x == NULL)
        err_set(err, ERR_MEMORY, "search space: out of memory");
    if (t->x == NULL || tuner_space(t->tuner, space, err) != 0) {
        space_free(space);
        return -1;
    }
    t->space = space;
    return 0;
}

/* Whether it can be shown to a tuner of this space. */
static bool
is_sound(const struct tuning *t, const struct trial *trial)
{
    if (trial->id >= t->next_id)
        return false;
    if (trial->unfit)
        return trial->foreign;
    return trial->n_dims == space_dims(t->space)->n_dims &&
           space_has_indices(t->space, trial->x);
}

static int
check_trials(const struct tuning *t, struct err *err)
{
    size_t n;
    struct trial **sorted = trials_sorted(t->trials, &n);
    bool sound = true;

    if (sorted == NULL)
        return err_set(err, ERR_MEMORY, "trial table: out of memory");
    for (size_t i = 0; i < n; i++)
        sound = sound && is_sound(t, sorted[i]);
    free(sorted);
    return sound ? 0 : damaged(err, "trials");
}

int
tuning_load(struct tuning *t, struct unpack *in, struct err *err)
{
    t->next_id = unpack_u64(in);
    t->closed = unpack_bool(in);
    if (load_space(t, in, err) != 0)
        return -1;
    if (owed_load(&t->owed, in) != 0 || owed_end(&t->owed) > t->next_id)
        return damaged(err, "owed ids");
    if (trials_load(t->trials, in) != 0)
        return damaged(err, "trials");
    if (check_trials(t, err) != 0)
        return -1;
    if (reunion_load(&t->reunion, in, err) != 0)
        return -1;
    if (tuning_advised(t) &&
        (origins_load(&t->origins, in) != 0 || !tuning_origins_fit(t)))
        return damaged(err, "what an advisor may speak of");
    return tuner_load(t->tuner, in, err);
}
