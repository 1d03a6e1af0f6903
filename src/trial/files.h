/* SPDX-License-Identifier: MIT */

/* trial/files.h - the folder of a trial and its environment: every name and
 * every format that the manager, the wrapper, `tunepipe trial` and a trial
 * program agree on.  Constants only; C and C++; includes nothing.
 *
 * The manager makes the folder (0700) and, in it, parameters.json,
 * parameters.tsv and lease (0600 each) before it starts the wrapper.  Nobody
 * else removes anything from it.
 *
 *   file             written by  read by
 *   parameters.json  manager     trial
 *   parameters.tsv   manager     trial (trial.h, `tunepipe trial param`)
 *   metrics          trial       manager
 *   stdout, stderr   trial       people
 *   lease            (a FIFO)    manager holds the write end, wrapper the other
 *   wrapper.pid      wrapper     manager
 *   exit             wrapper     manager
 */
#ifndef TRIAL_FILES_H
#define TRIAL_FILES_H

/* The parameters the trial got, one line of JSON. */
#define TRIAL_PARAMETERS_JSON "parameters.json"

/* The same, flattened, for programs without a JSON parser.  One line per
 * value: NAME<TAB>VALUE<LF>.
 *
 * A nested choice gives a line per member, its names joined with '/':
 * "activation/_name", "activation/slope".  Numbers are in JSON spelling,
 * strings stand for themselves without quotes, true, false and null are these
 * words, anything else (an array, an object that is no nested choice) is JSON
 * text.  In NAME and VALUE a backslash, TAB, LF and CR are written \\ \t \n \r,
 * so a line has exactly one TAB.  No other backslash sequence occurs. */
#define TRIAL_PARAMETERS_TSV "parameters.tsv"

/* What the trial reports.  Appended to with O_APPEND, one write(2) per line:
 *
 *   intermediate JSON<LF>
 *   final JSON<LF>
 *
 * JSON is, on that one line, a number or an object with a numeric member
 * "default"; beyond JSON the words NaN, Infinity and -Infinity are numbers.
 * The file need not exist until the first report (who creates it: 0600).
 *
 * What lies behind the last LF is not there yet: it is read again when more
 * has come.  A line of more than TRIAL_METRIC_MAX bytes, its LF included, is
 * never a metric.  The sequence of a metric is the number of lines of its type
 * before it, from 0, where a line's type is decided by its first word and the
 * space behind it alone: a line whose JSON is bad, or that is too long, is
 * reported and not sent, but keeps its number.  A line that begins otherwise
 * is reported and has none. */
#define TRIAL_METRICS "metrics"
#define TRIAL_METRIC_INTERMEDIATE "intermediate "
#define TRIAL_METRIC_FINAL "final "
#define TRIAL_METRIC_MAX (1024 * 1024)

/* The trial's output, 0600, appended to.  Once the trial runs, the wrapper's
 * own last words, should it ever have any, go to the trial's stderr too. */
#define TRIAL_STDOUT "stdout"
#define TRIAL_STDERR "stderr"

/* A FIFO.  The manager opens it for writing and keeps it open while it lives;
 * nothing is ever written.  (Opening for writing alone needs a reader: before
 * the wrapper runs, open O_RDWR; to adopt a trial, O_WRONLY|O_NONBLOCK, where
 * ENXIO means that the wrapper is gone.)  No writer means no manager: after
 * --adopt-ms without one the wrapper ends the trial.  A new writer ends the
 * wait.  Open it close-on-exec: a copy in any other process looks like a living
 * manager. */
#define TRIAL_LEASE "lease"

/* The wrapper: "PID STARTTIME<LF>", STARTTIME being field 22 of
 * /proc/PID/stat (clock ticks since boot).  A process with this PID and
 * another STARTTIME is a stranger.  Appears by rename, complete. */
#define TRIAL_WRAPPER_PID "wrapper.pid"
#define TRIAL_WRAPPER_PID_TMP "wrapper.pid.tmp"

/* How the trial ended.  Appears by rename, complete and synced, when no
 * process of the trial is left.  Its first line is one of
 *
 *   exited CODE        0 to 255
 *   signalled NUMBER   the signal that ended the trial's first process
 *   unstarted TEXT     it could not be started, and why; TEXT has no LF
 *
 * followed by one line each, in this order, numbers in decimal:
 *
 *   started_ns N   CLOCK_REALTIME before the trial's first process was made
 *   ended_ns N     CLOCK_REALTIME when its end was seen
 *   maxrss_kb N    the largest resident set of any one process of the trial
 *   user_us N      user and system time of all processes of the trial
 *   system_us N
 *
 * A wrapper that is gone without this file: the trial is lost. */
#define TRIAL_EXIT "exit"
#define TRIAL_EXIT_TMP "exit.tmp"
#define TRIAL_EXIT_EXITED "exited"
#define TRIAL_EXIT_SIGNALLED "signalled"
#define TRIAL_EXIT_UNSTARTED "unstarted"

/* The environment of a trial, set by the manager. */
#define TRIAL_ENV_DIR "TUNEPIPE_TRIAL_DIR" /* this folder, absolute */
#define TRIAL_ENV_ID "TUNEPIPE_TRIAL_ID"
#define TRIAL_ENV_PARAMETER_ID "TUNEPIPE_PARAMETER_ID"
#define TRIAL_ENV_EXPERIMENT_DIR "TUNEPIPE_EXPERIMENT_DIR" /* absolute */
#define TRIAL_ENV_SEED "TUNEPIPE_SEED" /* decimal uint64, one per trial */

/* One variable per line of parameters.tsv: this prefix and NAME with every
 * byte outside [A-Za-z0-9_] replaced by '_'; the value unescaped.  Values that
 * hold a NUL byte or are longer than 64 KiB are left out.  PATH begins with
 * the folder of the tunepipe program, so that a shell can call
 * `tunepipe trial`. */
#define TRIAL_ENV_PARAM_PREFIX "TUNEPIPE_PARAM_"

/* The wrapper:
 *
 *   tunepipe-wrapper --dir TRIAL_DIR --cwd DIR --grace-ms N --adopt-ms N
 *                    -- PROGRAM ARGUMENT...
 *
 * One process per trial, environment inherited.  SIGTERM (or SIGINT, SIGHUP)
 * stops the trial: SIGTERM to all its processes, after --grace-ms SIGKILL.
 * It exits 0 once `exit` stands, whatever became of the trial, and 2 with one
 * line on stderr when it could not do its work.  A SIGTERM that comes before
 * it has set itself up would end it and leave no `exit`: start it with SIGTERM
 * blocked (the trial gets an empty mask and default dispositions anyway).
 * SIGKILL to the wrapper also kills the trial's first process, at once. */
#define TRIAL_WRAPPER_PROGRAM "tunepipe-wrapper"

#endif
