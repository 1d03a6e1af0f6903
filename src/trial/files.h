/* SPDX-License-Identifier: MIT */

/* trial/files.h - the folder of a trial and its environment: every name and
 * every format that the manager, the wrapper, `tunepipe trial` and a trial
 * program agree on.  Constants only; C and C++; includes nothing.
 *
 * Each attempt at a trial has a folder of its own: trials/ID, and behind it
 * trials/ID.1, trials/ID.2 and so on.
 *
 * The manager makes the folder (0700) and, in it, parameters.json and
 * parameters.tsv (0600) before it starts the wrapper, and what else is needed:
 * there is no file of which nobody has use.  An empty stdout or stderr goes
 * when the trial has ended.
 *
 *   file             written by  read by
 *   parameters.json  manager     trial
 *   parameters.tsv   manager     trial (trial.h, `tunepipe trial param`)
 *   metrics          trial       manager
 *   answers          (a FIFO)    manager writes, a trial that waits reads
 *   answered         manager     wrapper, on another machine
 *   absent           trial       manager
 *   parameter.cfg    manager     trial (NNI's API)
 *   .nni/metrics     trial       manager (NNI's API)
 *   stdout, stderr   trial       people
 *   origin           manager     a later manager
 *   wrapper.pid      wrapper     manager, `tunepipe rerun`
 *   exit             what that becomes at the end
 *   stop             manager     a later manager
 *   resources        manager     a later manager
 *   out-of-memory    manager     manager, for the attempts that follow
 *   again            manager     a later manager
 *   prepare/         (a folder)  the files of prepareCommand's wrapper
 *
 * A trial may write there what it likes.  So nobody follows a symbolic link in
 * it, nor waits for a FIFO, and what is made there is new: open with
 * O_NOFOLLOW, O_NONBLOCK, O_EXCL.
 */
#ifndef TRIAL_FILES_H
#define TRIAL_FILES_H

/* The parameters the trial got, one line of JSON: those of its TR, but that
 * numbers of a type whose bounds and step are whole are integers, 96, not 96.0.
 */
#define TRIAL_PARAMETERS_JSON "parameters.json"

/* The parameters flattened, for programs without a JSON parser.  One line per
 * value: NAME<TAB>VALUE<LF>.
 *
 * A nested choice gives a line per member, its names joined with '/':
 * "activation/_name", "activation/slope".  Numbers are in JSON spelling,
 * strings stand for themselves without quotes, true, false and null are these
 * words, anything else (an array, an object that is no nested choice) is JSON
 * text.  In NAME and VALUE a backslash, TAB, LF and CR are written \\ \t \n \r,
 * so a line has exactly one TAB.  No other backslash sequence occurs. */
#define TRIAL_PARAMETERS_TSV "parameters.tsv"

/* Two files of notes: texts without control characters, a line each and each
 * once, in the order in which they came up; none more once the file has
 * TRIAL_NOTE_MAX bytes.  Whether they tell of a mistake knows the manager.
 *
 * Names of parameters that the trial asked for and does not have, lines of less
 * than TRIAL_ABSENT_LINE bytes: a mistake by the search space.  Files and
 * folders outside its own folder of which it saved copies as a checkpoint, by
 * their absolute paths without symbolic links, lines of less than
 * TRIAL_SAVED_FROM_LINE bytes: a mistake where another trial did that, too. */
#define TRIAL_ABSENT "absent"
#define TRIAL_ABSENT_LINE 512
#define TRIAL_SAVED_FROM "saved-from"
#define TRIAL_SAVED_FROM_LINE 4096
#define TRIAL_NOTE_MAX 32768

/* What the trial reports.  Appended to with O_APPEND, one write(2) per line:
 *
 *   intermediate JSON<LF>
 *   final JSON<LF>
 *   done JSON<LF>         a final result; the manager then ends the trial
 *   checkpoint NUMBER<LF> one was saved (below)
 *   refused<LF>           a final result was to be reported that is none
 *
 * `done` counts among the final results; what is reported behind it is not
 * used.  The trial has then succeeded, however it ends: SIGTERM to all its
 * processes, SIGKILL after the grace.
 *
 * JSON is, on that one line, a number or an object with a numeric member
 * "default", or, where the experiment has objectives, an object with numbers by
 * name, all that TUNEPIPE_OBJECTIVES names in a final result; beyond JSON the
 * words NaN, Infinity and -Infinity are numbers.
 * The file need not exist until the first report (who creates it: 0600).
 *
 * What lies behind the last LF is not there yet: it is read again when more
 * has come.  A line of more than TRIAL_METRIC_MAX bytes, its LF included, is
 * never a metric.  The sequence of a metric is the number of lines of its type
 * before it, from 0, where a line's type is decided by its first word and the
 * space behind it alone: a line whose JSON is bad, or that is too long, is
 * reported and not sent, but keeps its number.  A line that begins otherwise
 * is reported and has none.  `refused` is no metric: it tells whoever looks for
 * the result that there was something. */
#define TRIAL_METRICS "metrics"
#define TRIAL_METRIC_INTERMEDIATE "intermediate "
#define TRIAL_METRIC_FINAL "final "
#define TRIAL_METRIC_DONE "done "
#define TRIAL_METRIC_CHECKPOINT "checkpoint "
#define TRIAL_METRIC_REFUSED "refused"
#define TRIAL_METRIC_MAX (1024 * 1024)

/* A trial that waits for the answer to its intermediate report says so at the
 * end of the line, where a reader that does not care sees white space:
 *
 *   intermediate JSON<TAB><LF>        it waits, and goes on whatever comes
 *   intermediate JSON<TAB><TAB><LF>   it waits, and ends by itself when told
 *
 * The answer comes through the FIFO `answers`, a line each, written at once:
 *
 *   OFFSET go<LF>
 *   OFFSET stop<LF>     it is not worth its time
 *   OFFSET pause<LF>    enough for now: another trial may go on from its newest
 *                       checkpoint
 *   OFFSET finish<LF>   enough: this value is its final result, unless it
 *                       reports one
 *
 * OFFSET, in decimal, is where the report's line ends in `metrics`, its LF
 * included: the trial's own file position behind its write.  An answer to
 * anything else is one that nobody waits for any more, and is skipped.
 *
 * Whoever waits opens `answers` for reading with O_NONBLOCK (which never
 * waits), takes flock(LOCK_EX) on it, so that of a trial's processes and
 * threads one waits at a time, appends the line, clears O_NONBLOCK and reads.
 * The manager alone has it open for writing, as long as somebody there
 * answers: the end of the file means that nobody does, be it that the manager
 * died, at once or later, and the answer is then "go"; the same when there is
 * no such file.  So nobody waits for the dead, and a trial that is adopted
 * waits again from its next report on.
 *
 * The manager makes it until it has seen that trials do not wait, and removes
 * it from the folder of one that does not.  Whoever would wait and finds none
 * writes his report as if he did: from the next one on there is. */
#define TRIAL_ANSWERS "answers"
#define TRIAL_METRIC_WAITS "\t"
#define TRIAL_METRIC_HEARS "\t\t"
#define TRIAL_ANSWER_GO "go"
#define TRIAL_ANSWER_STOP "stop"
#define TRIAL_ANSWER_PAUSE "pause"
#define TRIAL_ANSWER_FINISH "finish"
#define TRIAL_ANSWER_MAX 32 /* bytes, its LF and a NUL included */

/* NNI's names for the same two, so that a trial written with the trial API of
 * NNI 1.x or 2.x runs as it is (that API also keeps a trial.log here).  They
 * are there where the trial's command, or a file that this names, speaks of
 * nni, of a variable NNI_... or of parameter.cfg; else from when a trial makes
 * .nni on, which is what that API does first.
 *
 * The parameters are the payload of the TR, byte for byte: an object whose
 * member "parameters" is what parameters.json holds, with numbers as NNI writes
 * them, 96.0.
 *
 * The metrics are records, appended one behind the other: the code, the length
 * of what follows in bytes in six digits, and so much JSON; NNI ends it with
 * an LF, which counts.  At most 999,999 bytes.
 *
 *   ME000099{"parameter_id": 0, "trial_job_id": "00000", "type": "PERIODICAL",
 *   "sequence": 0, "value": "0.93"}<LF>
 *
 * `type` is PERIODICAL (intermediate) or FINAL; `value` is a text that holds
 * JSON as in TRIAL_METRICS, or that JSON itself.  Everything else is left
 * unread: whose record it is tells the folder, and its sequence is its position
 * among those of its type.  A record whose JSON is bad costs itself, and keeps
 * its number once its type is known; behind a header that is none nothing more
 * of the file is read.  Each of the two is reported once.
 *
 * A trial may report in both files.  Then numbers are given in the order of
 * reading, which is that of writing as long as one waits for the other; of
 * several final results, wherever they stand, the first read counts.
 *
 * NNI's own manager also writes .nni/state, its record of the exit status.  No
 * trial reads it and it is left out: see TRIAL_EXIT. */
#define TRIAL_NNI_PARAMETERS "parameter.cfg"
#define TRIAL_NNI_FOLDER ".nni"
#define TRIAL_NNI_METRICS TRIAL_NNI_FOLDER "/metrics"
#define TRIAL_NNI_CODE "ME"
#define TRIAL_NNI_DIGITS 6
#define TRIAL_NNI_RECORD_MAX 999999

/* The trial's output, 0600, appended to.  The wrapper's own last words, should
 * it ever have any, go to the trial's stderr too. */
#define TRIAL_STDOUT "stdout"
#define TRIAL_STDERR "stderr"

/* Checkpoints.  EXPERIMENT/checkpoints/ID belongs to one trial, whatever its
 * attempts, and holds
 *
 *   NUMBER            a checkpoint: a folder that is complete, never empty and
 *                     not changed any more; the highest is the newest
 *   saving.A          TUNEPIPE_CHECKPOINT_DIR: a folder for attempt A to write
 *                     into, empty at its start
 *   saving.A.XXXXXX   the same for one caller, who makes and names it
 *   gone.NUMBER       is to be deleted, of an earlier version; what is being
 *                     deleted lies in EXPERIMENT/checkpoints/.gone.N
 *   given.NUMBER      becomes NUMBER once it is complete
 *   steps.NUMBER      how many intermediate results had been reported when
 *                     NUMBER was saved, by the trial, those before it that it
 *                     goes on from, and so on: decimal and LF; the manager's
 *
 * To save: sync every file and folder within, rename saving.* to the number
 * behind the highest (and to the next where that exists by now), sync the
 * trial's folder of checkpoints, append `checkpoint NUMBER` to TRIAL_METRICS,
 * and, after saving.A itself, make that anew.  The state behind a step is saved
 * behind the report of that step, since steps.NUMBER counts what stands before
 * that line.  Who reports and saves in one does so between: sync, append
 * `intermediate`, rename and the rest, and only then wait for an answer; so at
 * no moment is a step reported twice or lost.  A process that dies on the way
 * leaves what nobody is given: the manager removes every saving.* when the
 * trial ends and before another attempt of it begins.
 *
 * The manager gives an attempt TUNEPIPE_RESTORE_DIR, the newest checkpoint, to
 * be read only; nobody deletes it before the attempt has saved another one or
 * has ended.  In lock step (--deterministic) what an earlier attempt saved is
 * not given, since a trial started again has to report there what it reported
 * before.  Which ones are kept: `checkpoints` in the configuration.
 *
 * A trial that goes on from another one (ORIGIN, below) has a copy of that
 * one's newest checkpoint as its NUMBER 1 before its first attempt begins: hard
 * links where both have the same parameters, else a copy that shares its bytes
 * where the file system can.  It appears by rename, complete and synced. */
#define TRIAL_CHECKPOINTS "checkpoints"
#define TRIAL_CHECKPOINT_SAVING "saving."
#define TRIAL_CHECKPOINT_GONE "gone."
#define TRIAL_CHECKPOINT_GIVEN "given."
#define TRIAL_CHECKPOINT_STEPS "steps."

/* What the attempt goes on from, one line that appears before it is started:
 *
 *   STEPS NUMBER TRIAL HOW
 *
 * its TUNEPIPE_STEP; the checkpoint it was given; the trial that it comes from
 * by the tuner's word, and whether it was `promoted` or `cloned`, each - for
 * none.  Without the file: from nothing. */
#define TRIAL_ORIGIN "origin"

/* A FIFO that the wrapper is given (--lease), one for all trials of a manager,
 * EXPERIMENT/lease.N; trials of earlier versions had one in their folders.  The
 * manager opens it for writing and keeps it open while it lives; nothing is
 * ever written.  (Opening for writing alone needs a reader: before the wrapper
 * runs, open O_RDWR; to adopt trials, O_WRONLY|O_NONBLOCK, where ENXIO means
 * that no wrapper is left.)  No writer means no manager: after --adopt-ms
 * without one the wrapper ends the trial.  A new writer ends the wait.  Open it
 * close-on-exec: a copy in any other process looks like a living manager.
 *
 * A manager that comes when another is gone first renames it to lease.N.held: a
 * wrapper that does not find it once its wrapper.pid stands begins nothing. */
#define TRIAL_LEASE "lease"

/* In place of its path: whoever started the wrapper watches over it, as a batch
 * system does over a job.  The trial does without a manager; it ends with the
 * wrapper's parent, and SIGUSR1 to the wrapper is word that it will be ended
 * soon: SIGTERM to the trial, and no SIGKILL behind it. */
#define TRIAL_NO_LEASE "-"

/* There a FIFO does not reach the trial: the manager appends its answers to the
 * file `answered`, from which the wrapper (--alive) writes them to `answers`.
 * It closes that, so that nobody waits, where the file EXPERIMENT/jobs/alive
 * has not been touched for TRIAL_ALIVE_MS: a manager does so while it lives,
 * every TRIAL_TOUCH_MS. */
#define TRIAL_ANSWERED "answered"
#define TRIAL_ALIVE "alive"
#define TRIAL_ALIVE_MS 120000
#define TRIAL_TOUCH_MS 30000

/* The wrapper: "PID STARTTIME<LF>", STARTTIME being field 22 of
 * /proc/PID/stat (clock ticks since boot).  A process with this PID and
 * another STARTTIME is a stranger.  Written at once when it is made, a new
 * file, with room for what follows.
 *
 * Behind the text stands, in this file and in what becomes of it, a NUL and how
 * the trial was started, so that the same can be done again: texts, each ended
 * by a NUL: the folder it runs in; how many words its command has, in decimal;
 * these words, the program first; all variables of its environment, NAME=VALUE,
 * in their order.  It may hold secrets, as the environment does.  Spaces behind
 * the last NUL are such room. */
#define TRIAL_WRAPPER_PID "wrapper.pid"

/* How the trial ended.  The wrapper writes it in the place of its number, when
 * no process of the trial is left, and renames the file.  Where no manager
 * lives that has the trial's reports, or with --synced 1, these and the file
 * are synced before. Its first line is one of
 *
 *   exited CODE        0 to 255
 *   signalled NUMBER   the signal that ended the trial's first process
 *   unstarted TEXT     it could not be started, and why; TEXT has no LF
 *
 * followed by one line each, in this order, numbers in decimal:
 *
 *   started_ns N   CLOCK_REALTIME before the trial's first process was made
 *   ended_ns N     the same and how long it ran, by CLOCK_MONOTONIC, until
 *                  its end was seen
 *   maxrss_kb N    the largest resident set of any one process of the trial
 *   user_us N      user and system time of all processes of the trial
 *   system_us N
 *   reported N     bytes of the trial's metrics and of its stdout: a folder
 *   printed N      that holds less has lost some with the power
 *   memory_peak N  only of a trial in a control group of its own: the most
 *   oom_kills N    bytes it held, and how many of its processes the kernel
 *                  ended for want of memory
 *   node NAME      only where no manager's machine is known to be this one: its
 *                  host's name
 *   abandoned 1    only where the wrapper ended the trial for want of a manager
 *   told 15        only where it ended the trial because of a signal it got
 *   alone 1        only where no manager had the lease when it ended, or at any
 *                  time since it had got that signal
 *   wrapper PID STARTTIME   the last: a text without is not whole
 *
 * Should it not be possible to write it for now, the wrapper waits.
 *
 * A wrapper that is gone without this file: the trial is lost, or, by the
 * wrapper's own exit status, was never begun. */
#define TRIAL_EXIT "exit"
#define TRIAL_EXIT_EXITED "exited"
#define TRIAL_EXIT_SIGNALLED "signalled"
#define TRIAL_EXIT_UNSTARTED "unstarted"

/* What the trial was given, a line each, that a later manager has it so:
 *
 *   memory BYTES          reserved; 0: not
 *   device_memory BYTES   the same of each device
 *   kills_before N        how many processes the kernel had ended for want of
 *                         memory (/proc/vmstat, oom_kill) when it started
 *   devices 0,1           only where devices are managed
 *   alone 0|1             then: whether nobody else is given them
 *   limit BYTES           only where the trial is kept to it
 *   cgroup FOLDER         then: by this control group; empty: each process */
#define TRIAL_RESOURCES "resources"

/* The attempt ended for want of memory, one line: `memory` or `device`, how
 * many bytes it is known to have needed, and in which phase.  An attempt that
 * follows is given more. */
#define TRIAL_OOM "out-of-memory"
#define TRIAL_OOM_MEMORY "memory"
#define TRIAL_OOM_DEVICE "device"
#define TRIAL_OOM_PREPARE "prepare"
#define TRIAL_OOM_RUN "run"

/* With prepareCommand a trial has two phases.  Each has a wrapper of its own:
 * the first has this folder as its --dir, and in it wrapper.pid, stdout, stderr
 * and exit; the second the trial's, so that without wrapper.pid and exit there
 * its run has not begun.  In both
 * TUNEPIPE_TRIAL_DIR is the trial's folder: what the first writes there, the
 * second finds.  What the first reports is read when the second begins. */
#define TRIAL_PREPARE "prepare"

/* Why the manager stopped the trial, one line that appears by rename before
 * the stop: REASON INTERMEDIATES FINALS, the reason being one of the words
 * below, followed by how many metrics of each type came before it.  What comes
 * behind these does not count, but for a final result of one that was told to
 * pause or to finish, and for all that an interrupted one reports. */
#define TRIAL_STOP "stop"
#define TRIAL_STOP_ASSESSOR "assessor"
#define TRIAL_STOP_TIMEOUT "timeout"
#define TRIAL_STOP_IDLE "idle"
#define TRIAL_STOP_CANCEL "cancel"
#define TRIAL_STOP_PAUSE "pause"   /* by the tuner, */
#define TRIAL_STOP_FINISH "finish" /* and so is this */
#define TRIAL_STOP_INTERRUPT                        \
    "interrupt" /* with its manager; it comes again \
                 */

/* Of earlier versions, a file of its own: what now stands behind the text of
 * TRIAL_WRAPPER_PID and TRIAL_EXIT.  The manager made it. */
#define TRIAL_COMMAND "command"

/* This attempt at the trial failed and another one follows: one line, how it
 * ended and why.  Appears by rename before the folder of the next attempt. */
#define TRIAL_AGAIN "again"

/* Only where devices are managed (trialGpuNumber): "0,1", or "" for none; and
 * with that what the numbers mean.  While prepareCommand runs always "": no
 * device is granted to that. */
#define TRIAL_ENV_DEVICES "CUDA_VISIBLE_DEVICES"
#define TRIAL_ENV_DEVICE_ORDER "CUDA_DEVICE_ORDER" /* "PCI_BUS_ID" */

/* The environment of a trial, set by the manager. */
#define TRIAL_ENV_DIR "TUNEPIPE_TRIAL_DIR" /* this folder, absolute */
#define TRIAL_ENV_ID "TUNEPIPE_TRIAL_ID"
#define TRIAL_ENV_PARAMETER_ID "TUNEPIPE_PARAMETER_ID"
/* Whose parameters they are, where they are not the tuner's: "customized". */
#define TRIAL_ENV_PARAMETER_SOURCE "TUNEPIPE_PARAMETER_SOURCE"
#define TRIAL_ENV_EXPERIMENT_DIR "TUNEPIPE_EXPERIMENT_DIR" /* absolute */
#define TRIAL_ENV_SEED "TUNEPIPE_SEED" /* decimal uint64, one per trial */
#define TRIAL_ENV_DIRECTION "TUNEPIPE_DIRECTION" /* "minimize", "maximize" */
/* The names of the values that a final result has to have, with commas between
 * them; absent: it is one number, or an object with it as "default". */
#define TRIAL_ENV_OBJECTIVES "TUNEPIPE_OBJECTIVES"
/* "1": every intermediate report waits for its answer (--deterministic). */
#define TRIAL_ENV_LOCKSTEP "TUNEPIPE_LOCKSTEP"

#define TRIAL_ENV_CHECKPOINT "TUNEPIPE_CHECKPOINT_DIR" /* absolute */
#define TRIAL_ENV_RESTORE "TUNEPIPE_RESTORE_DIR" /* absent: there is none */
/* Decimal: how many intermediate results the trial, with all that it goes on
 * from, had reported when that checkpoint was saved; "0" without one. */
#define TRIAL_ENV_STEP "TUNEPIPE_STEP"
/* The parameter of this name, which tuners add that decide how long a trial
 * runs: so many intermediate results, TUNEPIPE_STEP of them included.  Absent:
 * there is none. */
#define TRIAL_ENV_BUDGET "TUNEPIPE_BUDGET"
#define TRIAL_BUDGET_PARAMETER "TRIAL_BUDGET"

/* One variable per line of parameters.tsv: this prefix and NAME with every
 * byte outside [A-Za-z0-9_] replaced by '_'; the value unescaped.  Values that
 * hold a NUL byte or are longer than 64 KiB are left out.  PATH begins with
 * the folder of the tunepipe program, so that a shell can call
 * `tunepipe trial`. */
#define TRIAL_ENV_PARAM_PREFIX "TUNEPIPE_PARAM_"

/* What NNI's trial API looks for.  NNI 2.7 sets all but the last two for a
 * local trial; its API reads those two as well, and 1.x set the first of them,
 * so they are there to overrule what the manager itself may have been given. */
#define TRIAL_ENV_NNI_PLATFORM "NNI_PLATFORM"     /* "local" */
#define TRIAL_ENV_NNI_EXPERIMENT "NNI_EXP_ID"     /* the folder's name */
#define TRIAL_ENV_NNI_SYS_DIR "NNI_SYS_DIR"       /* TRIAL_ENV_DIR */
#define TRIAL_ENV_NNI_OUTPUT_DIR "NNI_OUTPUT_DIR" /* TRIAL_ENV_DIR */
#define TRIAL_ENV_NNI_ID "NNI_TRIAL_JOB_ID"       /* TRIAL_ENV_ID */
#define TRIAL_ENV_NNI_NUMBER "NNI_TRIAL_SEQ_ID"   /* from 0 */
#define TRIAL_ENV_NNI_CODE_DIR "NNI_CODE_DIR"     /* where it runs, absolute */
#define TRIAL_ENV_NNI_MULTI_PHASE "MULTI_PHASE"   /* "false" */
#define TRIAL_ENV_NNI_REUSE_MODE "REUSE_MODE"     /* "false" */

/* NNI 3's way to its manager, which must not lead to one around this one. */
#define TRIAL_ENV_NNI_CHANNEL "NNI_TRIAL_COMMAND_CHANNEL" /* never set */

/* `import tunepipe` finds this package (src/python, installed beside what else
 * is shared): the folder it lies in is the last in PYTHONPATH. */
#define TRIAL_PYTHON_PACKAGE "python/tunepipe"

/* The wrapper:
 *
 *   tunepipe-wrapper --dir TRIAL_DIR --cwd DIR --grace-ms N --adopt-ms N
 *                    [--lease FIFO] [--cgroup FOLDER] [--limit-bytes N]
 *                    [--output-bytes N] [--synced 0|1]
 *                    -- PROGRAM ARGUMENT...
 *
 * Without --lease it is TRIAL_LEASE in TRIAL_DIR.
 *
 * The trial, not the wrapper, runs in the control group FOLDER, which is
 * removed behind it, and with RLIMIT_DATA set to N: that counts what a process
 * can write to, where RLIMIT_AS would count every mapping, a GPU's whole
 * address space too.
 *
 * Of stdout and stderr N bytes each are kept (0: all), the beginning and the
 * end: in between is a hole in the file, made every second.
 *
 * One process per trial, environment inherited.  SIGTERM (or SIGINT, SIGHUP)
 * stops the trial: SIGTERM to all its processes, after --grace-ms SIGKILL; at
 * once when it comes again, from another process when it comes a third time.
 * It exits 0 once `exit` stands, whatever became of the trial; 2 with one line
 * on stderr when it could not do its work; and TRIAL_WRAPPER_LATER, with such a
 * line, when it could not begin the trial for want of something that may come
 * back (processes, memory, files, room on the disk): then it has left neither
 * `exit` nor wrapper.pid.  A SIGTERM while it waits to write `exit` ends it.  A
 * SIGTERM that comes before it has set itself up would end it and leave no
 * `exit`: start it with SIGTERM blocked (the trial gets an empty mask and
 * default dispositions anyway). SIGKILL to the wrapper also kills the trial's
 * first process, at once. */
#define TRIAL_WRAPPER_PROGRAM "tunepipe-wrapper"

/* Started as `tunepipe-wrapper --serve ROOM`, ROOM being any text, it makes
 * such processes itself, children of its parent: standard input is a socket of
 * datagrams in order (SOCK_SEQPACKET), each order how many arguments there are
 * (32 bits), these, from the program's name on, and the environment, each ended
 * by a NUL, of so many bytes at most; the answer a process id (32 bits), or
 * less than 0: an errno. */
#define TRIAL_WRAPPER_SERVE "--serve"
#define TRIAL_WRAPPER_ORDER_MAX 131072
#define TRIAL_WRAPPER_SAYS TRIAL_WRAPPER_PROGRAM ": " /* begins its lines */
#define TRIAL_WRAPPER_LATER 75

#endif
