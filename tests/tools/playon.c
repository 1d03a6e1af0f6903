/* SPDX-License-Identifier: MIT */
/* playon FIRST SECOND: plays two recorded sessions of one experiment, of which
 * the second went on where the first was stopped, to `tunepipe -m nni`, which
 * finds in the second what it has logged in the first.
 *
 * NNI's own dispatcher knew nothing any more and gave the ids of the first
 * session out again.  So what was reported of the k-th trial of the second is
 * reported of the k-th that is suggested now, under its id.
 *
 * Has to be so: the count of each code but KI; ids go on behind those of the
 * first session; keys, their order and types; of a grid, nothing comes again
 * that has a result, and the rest comes as it was recorded, in any order.
 */
#include "tools/compare.h"
#include "tools/player.h"

/* Which TR of these it is that has the parameter_id of `record`; (size_t)-1:
 * none. */
static size_t
index_of(const struct play *p, const struct frames *f, const char *record)
{
    char *want = id_of(p, record);
    const char *tr;
    size_t k = 0;

    for (; (tr = answer(f, "TR", k)) != NULL; k++) {
        char *id = id_of(p, tr);
        bool same = strcmp(id, want) == 0;

        free(id);
        if (same)
            break;
    }
    free(want);
    return tr != NULL ? k : (size_t)-1;
}

/* Our TR for the trial that the recording knows by the id in `record`, or
 * NULL. */
static const char *
ours(const struct play *p, const char *record)
{
    size_t k = index_of(p, &p->recorded, record);

    return k == (size_t)-1 ? NULL : answer(&p->got, "TR", k);
}

static void
request(struct play *p, const char *text)
{
    size_t want = count(&p->got, p->got.n, "TR") + strtoul(text, NULL, 10);
    size_t refused = count(&p->got, p->got.n, "NO");

    send_frame(p, "GE", text);
    while (count(&p->got, p->got.n, "TR") < want &&
           count(&p->got, p->got.n, "NO") == refused)
        if (!receive(p, "TR or NO"))
            die(p, "the dispatcher ended, expected %zu TR or a NO", want);
}

/* The metric under our id. */
static void
report(struct play *p, const char *text)
{
    const char *tr = ours(p, text);
    struct json *doc = parse(p, text, "ME");
    struct jval_iter it = jval_iter(json_root(doc));
    struct buf out;
    char *id;

    if (tr != NULL) {
        id = id_of(p, tr);
        buf_init(&out, 1 << 20);
        while (jval_next(&it)) {
            buf_add_text(&out, out.len == 0 ? "{" : ", ");
            json_write_string(&out, it.key, strlen(it.key));
            buf_add_text(&out, ": ");
            if (strcmp(it.key, "parameter_id") == 0)
                buf_add_text(&out, id);
            else
                jval_write(it.value, &out);
        }
        buf_add_char(&out, '}');
        send_frame(p, "ME", buf_text(&out));
        buf_fini(&out);
        free(id);
    }
    json_free(doc);
}

static void
end_trial(struct play *p, const char *text)
{
    struct json *doc = parse(p, text, "EN");
    struct jval end = json_root(doc);
    const char *tr = ours(p, text_of(end, "hyper_params"));

    if (tr != NULL)
        send_end(p, text_of(end, "trial_job_id"), text_of(end, "event"), tr);
    json_free(doc);
}

static void
play_frames(struct play *p)
{
    for (size_t i = 0; i < p->recorded.n; i++) {
        const char *code = p->recorded.at[i].code;
        const char *text = p->recorded.at[i].text;

        if (!p->recorded.at[i].in)
            continue;
        wait_for(p, "ID", count(&p->recorded, i, "ID"));
        if (strcmp(code, "GE") == 0)
            request(p, text);
        else if (strcmp(code, "ME") == 0)
            report(p, text);
        else if (strcmp(code, "EN") == 0)
            end_trial(p, text);
        else
            send_frame(p, code, text);
    }
}

static void
play(struct play *p, const char *path)
{
    p->name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    p->digits = FRAME_DIGITS;
    read_frames(p, path);
    read_meta(p, path);
    start(p);
    play_frames(p);
    finish(p);
}

/* ---- what came ---- */

/* How many ids the session's requests took. */
static size_t
ids_taken(const struct play *p)
{
    size_t n = 0;

    for (size_t i = 0; i < p->recorded.n; i++)
        if (strcmp(p->recorded.at[i].code, "GE") == 0)
            n += strtoul(p->recorded.at[i].text, NULL, 10);
    return n;
}

static void
check_ids(const struct play *first, const struct play *second)
{
    const char *tr;
    char want[32];

    for (size_t k = 0; (tr = answer(&second->got, "TR", k)) != NULL; k++) {
        char *id = id_of(second, tr);

        snprintf(want, sizeof want, "%zu", ids_taken(first) + k);
        if (strcmp(id, want) != 0)
            die(second, "TR %zu has the id %s, expected %s", k, id, want);
        free(id);
    }
}

/* Keys and types, as the recorded TR of the same place has them. */
static void
check_shapes(const struct play *p)
{
    struct json *space = parse(p, p->recorded.at[0].text, "IN");
    const char *want, *got;

    for (size_t k = 0; (want = answer(&p->recorded, "TR", k)) != NULL &&
                       (got = answer(&p->got, "TR", k)) != NULL;
         k++) {
        struct json *a = parse(p, want, "TR"), *b = parse(p, got, "TR");

        if (!same_members(json_root(space), json_root(a), json_root(b)))
            die(p, "TR %zu: got %s\n# recorded %s", k, got, want);
        json_free(a);
        json_free(b);
    }
    json_free(space);
}

/* How many of the TR in `f` have these parameters. */
static size_t
given(const struct play *p, const struct frames *f, struct jval parameters)
{
    const char *tr;
    size_t n = 0;

    for (size_t k = 0; (tr = answer(f, "TR", k)) != NULL; k++) {
        struct json *doc = parse(p, tr, "TR");
        struct jval x;

        n += jval_get(json_root(doc), "parameters", &x) &&
             jval_equal(x, parameters);
        json_free(doc);
    }
    return n;
}

/* What has a result by FD is not given out again, everything else once; and as
 * much as when it was recorded. */
static void
check_grid(const struct play *p)
{
    const char *tr, *text = "[]";
    struct json *done;

    for (size_t i = 0; i < p->recorded.n; i++)
        if (strcmp(p->recorded.at[i].code, "FD") == 0)
            text = p->recorded.at[i].text;
    done = parse(p, text, "FD");
    for (size_t i = 0; i < jval_count(json_root(done)); i++) {
        struct jval x;

        if (jval_get(jval_at(json_root(done), i), "parameter", &x) &&
            given(p, &p->got, x) != 0)
            die(p, "element %zu of FD was given out again", i);
    }
    json_free(done);
    for (size_t k = 0; (tr = answer(&p->recorded, "TR", k)) != NULL; k++) {
        struct json *doc = parse(p, tr, "TR");
        struct jval x;

        if (!jval_get(json_root(doc), "parameters", &x) ||
            given(p, &p->got, x) != 1)
            die(p, "%s: was given out %zu times, expected once", tr,
                given(p, &p->got, x));
        json_free(doc);
    }
}

/* Kills apart: the assessor knows more than NNI's did. */
static void
check_count(const struct play *p, const char *code)
{
    size_t got = count(&p->got, p->got.n, code);
    size_t want = count(&p->recorded, p->recorded.n, code);

    if (strcmp(code, "KI") != 0 && got != want)
        die(p, "%zu %s, expected %zu", got, code, want);
}

int
main(int argc, char **argv)
{
    static struct play first, second;
    size_t trials;
    bool grid;

    if (argc != 3 || getenv("TP_BUILD") == NULL) {
        fprintf(stderr, "usage: TP_BUILD=... playon FIRST SECOND\n");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    play(&first, argv[1]);
    play(&second, argv[2]);
    trials = count(&second.got, second.got.n, "TR");
    grid = strcmp(text_of(meta_part(&second, "exp_params", "tuner"), "name"),
                  "GridSearch") == 0;
    for (size_t k = 0; k < N_ANSWERS; k++)
        check_count(&second, answers[k]);
    check_ids(&first, &second);
    check_shapes(&second);
    if (grid)
        check_grid(&second);
    else
        check_space(&second);
    printf("ok recording %s, with its log: %zu trials, %s\n", second.name,
           trials,
           grid ? "nothing again that has a result"
                : "the ids go on, the same keys and types");
    return 0;
}
