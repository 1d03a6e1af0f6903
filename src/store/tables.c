/* SPDX-License-Identifier: MIT */
#include "store/tables.h"

#include "core/buf.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char tables[] =
    "CREATE TABLE meta ( -- how far the files were read, and what was known\n"
    "  key TEXT PRIMARY KEY,\n"
    "  value\n"
    ") WITHOUT ROWID;\n"
    "CREATE TABLE experiments ( -- one row\n"
    "  id TEXT PRIMARY KEY,\n"
    "  name TEXT,\n"
    "  optimize_mode TEXT, -- minimize or maximize ...\n"
    "  mode_from TEXT,     -- ... and who says so\n"
    "  seed TEXT,          -- 64 bits, without a sign\n"
    "  concurrency INTEGER,\n"
    "  max_trials INTEGER,\n"
    "  deterministic INTEGER,\n"
    "  started_us INTEGER, -- microseconds since 1970, here and below\n"
    "  config TEXT,        -- config.yml\n"
    "  search_space TEXT,  -- JSON\n"
    "  reason TEXT,        -- how it ended; null: it has not\n"
    "  duration_s REAL,\n"
    "  ok INTEGER,\n"
    "  over INTEGER        -- nothing is left to be done\n"
    ") WITHOUT ROWID;\n"
    "CREATE TABLE trials (\n"
    "  trial TEXT PRIMARY KEY,\n"
    "  parameter_id TEXT,  -- JSON\n"
    "  seed TEXT,\n"
    "  ended INTEGER,      -- the how manieth to end, from 1; null: it has not\n"
    "  status TEXT,        -- succeeded, failed, ...; null: it has not ended\n"
    "  why TEXT,\n"
    "  ended_by TEXT,      -- itself, assessor, tuner, ...\n"
    "  value REAL,         -- the final result; of several values the first\n"
    "  counts INTEGER,     -- 1: it has one, and did not fail\n"
    "  budget REAL,        -- TRIAL_BUDGET; null: none\n"
    "  result REAL,        -- by which it is compared: value, where it\n"
    "                      -- counts, or the latest one of a trial that was\n"
    "                      -- paused at the end of its budget; null: neither\n"
    "  latest REAL,        -- the last intermediate result\n"
    "  duration_s REAL,\n"
    "  intermediates INTEGER,\n"
    "  started_us INTEGER, -- its first run; null: it is, or was, being\n"
    "                      -- prepared\n"
    "  ended_us INTEGER,\n"
    "  event TEXT,         -- as the tuner was told: SUCCEEDED, ...\n"
    "  parameters TEXT,    -- JSON\n"
    "  from_trial TEXT,    -- whose checkpoint it went on from; null: none\n"
    "  from_how TEXT,      -- promoted or cloned\n"
    "  reported TEXT,      -- JSON: values by name; null: one number alone\n"
    "  violation REAL,     -- how far beyond the limits on results; null:\n"
    "                      -- there are none, or it has no result\n"
    "  front INTEGER       -- 1: with objectives, no other dominates it\n"
    ") WITHOUT ROWID;\n"
    "CREATE TABLE parameters ( -- nested ones as `outer/inner`\n"
    "  trial TEXT,\n"
    "  name TEXT,\n"
    "  type TEXT,          -- number, text, or json for anything else\n"
    "  value,\n"
    "  PRIMARY KEY (trial, name)\n"
    ") WITHOUT ROWID;\n"
    "CREATE TABLE reported ( -- values of results, by name\n"
    "  trial TEXT,\n"
    "  name TEXT,\n"
    "  value REAL,\n"
    "  PRIMARY KEY (trial, name)\n"
    ") WITHOUT ROWID;\n"
    "CREATE TABLE value_names (\n"
    "  name TEXT PRIMARY KEY\n"
    ") WITHOUT ROWID;\n"
    "CREATE TABLE names ( -- of parameters\n"
    "  name TEXT PRIMARY KEY\n"
    ") WITHOUT ROWID;\n"
    "CREATE TABLE suggested ( -- by the tuner, and not started yet\n"
    "  parameter_id TEXT PRIMARY KEY,\n"
    "  parameters TEXT,\n"
    "  time_us INTEGER\n"
    ") WITHOUT ROWID;\n"
    "CREATE TABLE attempts (\n"
    "  trial TEXT,\n"
    "  attempt INTEGER,    -- from 0\n"
    "  started_us INTEGER, -- its run; null: it is, or was, being prepared\n"
    "  exited_us INTEGER,  -- or its last sign of life; null: it runs, or\n"
    "                      -- did where the log ends\n"
    "  status TEXT,        -- `exited 0`, `signalled 9`, ...; null: unknown\n"
    "  pid INTEGER,\n"
    "  PRIMARY KEY (trial, attempt)\n"
    ") WITHOUT ROWID;\n"
    "CREATE TABLE metrics (\n"
    "  trial TEXT,\n"
    "  attempt INTEGER,\n"
    "  type TEXT,          -- intermediate or final\n"
    "  sequence INTEGER,   -- from 0\n"
    "  value REAL,         -- null: it was no number, or NaN\n"
    "  said TEXT,          -- JSON as reported, if it was no plain number\n"
    "  time_us INTEGER,\n"
    "  PRIMARY KEY (trial, attempt, type, sequence)\n"
    ") WITHOUT ROWID;\n"
    "CREATE TABLE decisions ( -- who stopped which trial, and why\n"
    "  source TEXT,        -- the file that tells: log or results\n"
    "  number INTEGER,     -- log: of the command that caused it; results: of\n"
    "                      -- the line\n"
    "  trial TEXT,\n"
    "  who TEXT,           -- assessor, clock, user, ...\n"
    "  what TEXT,\n"
    "  why TEXT,\n"
    "  time_us INTEGER,\n"
    "  PRIMARY KEY (source, number, trial)\n"
    ") WITHOUT ROWID;\n"
    "CREATE TABLE notes ( -- what else the log tells for people\n"
    "  segment INTEGER,    -- where it stands in the log\n"
    "  offset INTEGER,\n"
    "  number INTEGER,\n"
    "  kind TEXT,          -- as `tunepipe log` prints it: <, S, R, E\n"
    "  trial TEXT,\n"
    "  event TEXT,\n"
    "  payload TEXT,\n"
    "  time_us INTEGER,\n"
    "  PRIMARY KEY (segment, offset)\n"
    ") WITHOUT ROWID;\n"
    "CREATE VIEW v_metrics AS\n"
    "  SELECT m.trial, t.status, m.attempt, m.type, m.sequence, m.value,\n"
    "    m.said, (m.time_us - a.started_us) / 1e6 AS after_s\n"
    "  FROM metrics m LEFT JOIN trials t ON t.trial = m.trial\n"
    "  LEFT JOIN attempts a ON a.trial = m.trial AND a.attempt = m.attempt;\n";

static const char indexes[] =
    "CREATE INDEX trials_by_end ON trials (ended, status);\n"
    "CREATE INDEX trials_by_name ON trials\n"
    "  (length(trial), trial, ended, status);\n"
    "CREATE INDEX trials_by_duration ON trials\n"
    "  (duration_s DESC, ended, status);\n";

void
tables_write(struct buf *out, const char *best)
{
    buf_add_text(out, tables);
    buf_printf(out,
               "CREATE VIEW v_best AS\n"
               "  SELECT trial, result AS value, status, duration_s,\n"
               "    parameters\n"
               "  FROM trials WHERE result IS NOT NULL\n"
               "  ORDER BY budget DESC, result %s, ended;\n",
               best);
}

void
tables_write_indexes(struct buf *out, const char *best)
{
    buf_add_text(out, indexes);
    buf_printf(out,
               "CREATE INDEX trials_by_value ON trials\n"
               "  (" TABLES_BEST_FIRST ", ended, status);\n",
               best);
}

/* ---- v_trials ---- */

static const char *const fixed[] = {
    "trial",      "status",     "value",    "latest",
    "duration_s", "attempts",   "ended_by", "intermediates",
    "why",        "from_trial", "from_how",
};
#define N_FIXED (sizeof fixed / sizeof *fixed)

/* The columns behind the fixed ones. */
struct named {
    const char *const *values, *const *parameters;
    size_t n_values, n;
};

static const char *
name_at(const struct named *c, size_t i)
{
    return i < c->n_values ? c->values[i] : c->parameters[i - c->n_values];
}

/* Whether an earlier name is the same for SQLite, which ignores case. */
static bool
is_taken(const struct named *c, size_t i)
{
    for (size_t k = 0; k < N_FIXED; k++)
        if (strcasecmp(fixed[k], name_at(c, i)) == 0)
            return true;
    for (size_t k = 0; k < i; k++)
        if (strcasecmp(name_at(c, k), name_at(c, i)) == 0)
            return true;
    return false;
}

static void
add_quoted(struct buf *out, char quote, const char *text)
{
    buf_add_char(out, quote);
    for (; *text != '\0'; text++) {
        if (*text == quote)
            buf_add_char(out, quote);
        buf_add_char(out, *text);
    }
    buf_add_char(out, quote);
}

/* Appends a column's name; one that is taken gets its place as an ending. */
static void
add_column(struct buf *out, const struct named *c, size_t i)
{
    const char *table = i < c->n_values ? "reported" : "parameters";
    const char *text = name_at(c, i);

    buf_printf(out,
               ",\n    (SELECT p.value FROM %s p WHERE "
               "p.trial = t.trial AND p.name = ",
               table);
    add_quoted(out, '\'', text);
    buf_add_text(out, ") AS ");
    if (is_taken(c, i)) {
        char place[32];
        struct buf name;

        snprintf(place, sizeof place, " (%zu)", i + 1);
        buf_init(&name, strlen(text) + 64);
        buf_add_text(&name, text);
        buf_add_text(&name, place);
        add_quoted(out, '"', buf_text(&name));
        buf_fini(&name);
    } else {
        add_quoted(out, '"', text);
    }
}

void
tables_write_trials(struct buf *out, const char *const *values, size_t n_values,
                    const char *const *names, size_t n)
{
    const struct named c = {values, names, n_values, n_values + n};

    buf_add_text(out,
                 "DROP VIEW IF EXISTS pareto;\n"
                 "DROP VIEW IF EXISTS v_trials;\n"
                 "CREATE VIEW v_trials AS\n"
                 "  SELECT t.trial, coalesce(t.status, 'unended') AS status,\n"
                 "    t.value, t.latest, t.duration_s,\n"
                 "    (SELECT coalesce(max(a.attempt) + 1, CASE WHEN t.event "
                 "IS NULL OR EXISTS\n"
                 "      (SELECT 1 FROM meta WHERE key = 'log_lacks') THEN NULL "
                 "ELSE 0 END)\n"
                 "      FROM attempts a WHERE a.trial = t.trial) AS attempts,\n"
                 "    t.ended_by, t.intermediates, t.why, t.from_trial, "
                 "t.from_how");
    for (size_t i = 0; i < c.n && i < TABLES_COLUMNS_MAX; i++)
        add_column(out, &c, i);
    buf_add_text(out, "\n  FROM trials t;\n"
                      "CREATE VIEW pareto AS\n"
                      "  SELECT v.*, t.violation FROM trials t\n"
                      "  JOIN v_trials v ON v.trial = t.trial\n"
                      "  WHERE t.front = 1 ORDER BY t.ended;\n");
}
