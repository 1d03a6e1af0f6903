/* SPDX-License-Identifier: MIT */
/* folder.h - what lies in the folder of an experiment: the names that its
 * manager and whoever reads it agree on.  Constants only.
 *
 *   config.yml          the configuration, byte for byte
 *   search_space.json   as sent to the dispatcher
 *   import.jsonl        the trials that it was told of first: imports.h;
 *   import.N.jsonl      those that came later, in their order
 *   import.new          the same, not taken yet: by `tunepipe import`
 *   added.jsonl         the trials that `tunepipe trial add` and `retry`, and
 *                       clients of a study added: these with their tags
 *   experiment.json     name, seed, direction, keys that the command line gave
 *                       (config/overrides.h); the manager holds a lock on it
 *                       while it lives
 *   manager.pid         its process id, for people
 *   results.jsonl       one line per ended trial, in the order of their ends
 *   interrupted.jsonl   the same of trials that were interrupted, until the
 *                       experiment goes on
 *   summary.json        how it ended; absent until then; what was counted of
 *                       the trials: results_note()
 *   budget.json         how long it has run, and may go on: budget.h
 *   machines.json       which are left out: runner/machines.h
 *   control             the socket of a living manager: control/control.h
 *   batch.sh, .id, .out of an experiment whose manager is a batch job: its
 *                       script, its number, what it printed (cli/batch.h)
 *   checkpoints/ID/     see trial/files.h
 *   trials/ID/          see trial/files.h
 *   trials/N-N.tar.gz   those of trials that have ended: pack/member.h
 *   reruns/             what `tunepipe rerun` made, each like a trial's
 *   command.log         the dispatcher's; where it lies elsewhere
 *   command.log.at      tells where: log/place.c
 *   dispatcher.log      what the dispatcher said on its standard error
 *   hooks.log           what hooks wrote: hooks.h
 *   report.html         made by `tunepipe report`, and report-N.html
 *   results.db          with `index: true`, or made by `tunepipe index`
 *   index.log           what the one that keeps it up to date said
 *   dispatcher.pid      its process, and when that began */
#ifndef HISTORY_FOLDER_H
#define HISTORY_FOLDER_H

#define FOLDER_PID "manager.pid"
#define FOLDER_BATCH "batch.sh"
#define FOLDER_BATCH_ID "batch.id"
#define FOLDER_BATCH_OUT "batch.out"
#define FOLDER_CONFIG "config.yml"
#define FOLDER_SPACE "search_space.json"
#define FOLDER_EXPERIMENT "experiment.json"
#define FOLDER_RESULTS "results.jsonl"
#define FOLDER_INTERRUPTED "interrupted.jsonl"
#define FOLDER_SUMMARY "summary.json"
#define FOLDER_IMPORT "import.jsonl"
#define FOLDER_IMPORT_NEW "import.new"
#define FOLDER_ADDED "added.jsonl"
#define FOLDER_ASKED "asked" /* runner/client/client.h */
#define FOLDER_TRIALS "trials"
#define FOLDER_DISPATCHER_LOG "dispatcher.log"
#define FOLDER_INDEX_LOG "index.log"

#endif
