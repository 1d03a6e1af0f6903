/* SPDX-License-Identifier: MIT */

/* tunepipe/study.h - ask a study for trials, from a program of one's own, and
 * tell their results.
 *
 *     struct tp_study *study;
 *     struct tp_trial *trial;
 *     char why[200];
 *
 *     if (tp_study_open(&study, "study1", "study.yml", why, sizeof why) != 0)
 *         return complain(why);
 *     while (tp_study_ask(study, &trial) == 0) {
 *         double x = 0;
 *
 *         tp_trial_double(trial, "x", &x);
 *         tp_study_tell(study, tp_trial_number(trial), x * x);
 *         tp_trial_free(trial);
 *     }
 *     tp_study_close(study);
 *
 * Link with what `pkg-config --libs tunepipe-study` says.  The header is C90 to
 * C++17.  The study is a folder that all verbs of tunepipe work on; several
 * programs of one machine and one user may have it open at once.
 *
 * What serves it is a process of its own, `tunepipe study FOLDER --serve`,
 * started where none lives, and again where it has died: what was told is kept,
 * what was not answered is said again.  The program is $TUNEPIPE_PROGRAM, or
 * tunepipe beside this library, in ../bin from it, or along PATH.
 *
 * The library does not exit, has no thread, no signal handler and no variable
 * of its own, sends no SIGPIPE, prints nothing; its descriptors are
 * close-on-exec.  It starts that one process, which ends before the call, or
 * the tp_study_ask_ready(), that waits for it returns.
 *
 * Threads: a study and its trials belong to one thread at a time; different
 * studies are independent.  A forked copy of a process cannot use what that
 * opened, but for tp_trial_free() and tp_study_close(), which then tell nobody.
 * No function may be called from a signal handler.
 *
 * Errors: what is below 0 is an enum tp_study_code, and tp_study_why() a line
 * of text that names what was wrong.  A call that fails has changed nothing,
 * but for TP_STUDY_SYSTEM, where it may have been done, unheard.  Texts and
 * JSON are UTF-8; NULL is no text, except where that is said.
 *
 * Every name begins with tp_study_, tp_trial_ or TP_STUDY_. */
#ifndef TUNEPIPE_STUDY_H
#define TUNEPIPE_STUDY_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __GNUC__
#define TP_STUDY_API __attribute__((visibility("default")))
#else
#define TP_STUDY_API
#endif

struct tp_study;
struct tp_trial;

enum tp_study_code {
    TP_STUDY_OK = 0,
    TP_STUDY_REFUSED = -1, /* this call: another one may do better */
    TP_STUDY_OVER = -2,    /* an ask: the study has no more trials */
    TP_STUDY_CONFIG = -3,  /* the configuration is wrong or another study's, or
                              the folder is no study's */
    TP_STUDY_SYSTEM = -4,  /* no server can be had, or no memory */
    TP_STUDY_DAMAGED = -5, /* the study's log is damaged */
    TP_STUDY_USAGE = -6    /* a mistake of the caller's */
};

/* What a trial that has reported should do: these are the values of enum
 * tp_answer of tunepipe/trial.h. */
enum tp_study_stop {
    TP_STUDY_GO = 0,
    TP_STUDY_STOP = 1,  /* end it, tp_study_end(): it is not worth its time */
    TP_STUDY_PAUSE = 2, /* save a checkpoint and end it, tp_study_end(): another
                           trial may go on from there */
    TP_STUDY_FINISH = 3 /* end it, tp_study_end(): its last report is its
                           result; or tell another one */
};

/* ---- studies ---- */

/* Opens the study in `folder`.  `config` is the path of its configuration, the
 * keys of tunepipe-experiment(5), in YAML or JSON: the study is made where
 * there is none yet, and one that was made with another search space, tuner,
 * seed and so on is refused.  NULL: the study is there.  Waits until it is
 * served.
 *
 * 0: *study is to be closed with tp_study_close().  Else an enum tp_study_code,
 * *study is NULL, and the text is in `why`, an array of `size` bytes, cut where
 * it does not fit; NULL with size 0: not wanted. */
TP_STUDY_API int tp_study_open(struct tp_study **study, const char *folder,
                               const char *config, char *why, size_t size);

/* Closes it.  Trials that were asked for through it and have not ended are
 * given to others who ask.  Its struct tp_trials may only be freed after this.
 * NULL is fine. */
TP_STUDY_API void tp_study_close(struct tp_study *study);

/* Why the last call that failed did, of the study or one of its trials: a line,
 * "" where none has.  Borrowed until the next call. */
TP_STUDY_API const char *tp_study_why(const struct tp_study *study);

/* Waits for the next trial, as long as it takes.  0: *trial is to be freed with
 * tp_trial_free(), which does not end it.  Where an ask has been begun, it is
 * that one. */
TP_STUDY_API int tp_study_ask(struct tp_study *study, struct tp_trial **trial);

/* tp_study_ask() for an event loop: begin() asks, unless an ask is under way,
 * and ready() takes the answer when it has come: 1, and *trial is as above; 0:
 * not yet; below 0: the ask has failed and is over.  Neither waits for a trial.
 * tp_study_fd() is a descriptor, the same for the life of the study, that is
 * readable (poll(2), POLLIN) when ready() is to be called; it is not to be
 * read, and not to be closed. */
TP_STUDY_API int tp_study_ask_begin(struct tp_study *study);
TP_STUDY_API int tp_study_ask_ready(struct tp_study *study,
                                    struct tp_trial **trial);
TP_STUDY_API int tp_study_fd(const struct tp_study *study);

/* Tell the result of a trial, by its number, in the units that the study
 * optimises: any double, NaN and infinities too; _json: a number, or an object
 * that has the number as "default", or, of a study with objectives, one that
 * has them by name.  0: it is kept, whatever dies now.  Each
 * trial is told once: the second time is TP_STUDY_REFUSED. */
TP_STUDY_API int tp_study_tell(struct tp_study *study, long number,
                               double value);
TP_STUDY_API int tp_study_tell_json(struct tp_study *study, long number,
                                    const char *json);
/* End a trial as failed; `why` is a line of text or NULL. */
TP_STUDY_API int tp_study_fail(struct tp_study *study, long number,
                               const char *why);
/* End a trial without a result, as one that was told to stop, pause or finish
 * is; any other has then failed. */
TP_STUDY_API int tp_study_end(struct tp_study *study, long number);

/* Has these parameters, a JSON object, tried next; what it lacks is drawn.
 * *number, unless NULL, is the trial's. */
TP_STUDY_API int tp_study_enqueue(struct tp_study *study,
                                  const char *parameters, long *number);

/* ---- trials ---- */

/* Frees it; a trial that has not ended stays this process's, and may still be
 * told by its number.  NULL is fine. */
TP_STUDY_API void tp_trial_free(struct tp_trial *trial);

TP_STUDY_API long tp_trial_number(const struct tp_trial *trial);

/* The value of a parameter, "lr", or one of a nested choice, "opt/lr";
 * "opt/_name" is what was chosen.  _long: a whole number.  _text: copied to
 * `out`, an array of `size` bytes: a text without quotes, anything else as
 * JSON.  0, or TP_STUDY_USAGE: the trial has no such parameter, it is not of
 * that type, or does not fit; *out is as it was. */
TP_STUDY_API int tp_trial_double(struct tp_trial *trial, const char *name,
                                 double *out);
TP_STUDY_API int tp_trial_long(struct tp_trial *trial, const char *name,
                               long *out);
TP_STUDY_API int tp_trial_text(struct tp_trial *trial, const char *name,
                               char *out, size_t size);

/* Borrowed, as long as the trial: all parameters as JSON, an object; the
 * trial's folder; the folder of the checkpoint that it is to go on from, and
 * that it may save checkpoints to: NULL where there is none. */
TP_STUDY_API const char *tp_trial_parameters(const struct tp_trial *trial);
TP_STUDY_API const char *tp_trial_folder(const struct tp_trial *trial);
TP_STUDY_API const char *tp_trial_restore_dir(const struct tp_trial *trial);
TP_STUDY_API const char *tp_trial_checkpoint_dir(const struct tp_trial *trial);

/* How many results it may report, those before its checkpoint included: 0 where
 * the tuner sets no such limit; and how many were reported before the
 * checkpoint. */
TP_STUDY_API double tp_trial_budget(const struct tp_trial *trial);
TP_STUDY_API long tp_trial_step(const struct tp_trial *trial);

/* Reports an intermediate result, one call per epoch or step, and waits until
 * it is judged: an enum tp_study_stop, or below 0 an error. */
TP_STUDY_API int tp_trial_report(struct tp_trial *trial, double value);
/* What a report would be answered as things stand; nothing is reported. */
TP_STUDY_API int tp_trial_should_stop(struct tp_trial *trial);

#ifdef __cplusplus
}
#endif

#endif
