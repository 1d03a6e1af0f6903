/* SPDX-License-Identifier: MIT */
/* commands_table.h - the answers behind the rows of commands.c's table.
 * Inside src/manager only. */
#ifndef MANAGER_COMMANDS_TABLE_H
#define MANAGER_COMMANDS_TABLE_H

#include "manager/commands.h"

/* commands_change.c */
commands_answerer commands_update, commands_pause, commands_continue,
    commands_stop, commands_import;
/* commands_wait.c */
commands_answerer commands_wait;
void commands_wait_left(void *manager, uint64_t asker); /* it is gone */
/* commands_trials.c */
commands_answerer commands_kill, commands_retry;
/* commands_why.c */
commands_answerer commands_why;

#endif
