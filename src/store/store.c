/* SPDX-License-Identifier: MIT */
#include "store/store.h"

#include "core/buf.h"
#include "core/err.h"

#include <stdlib.h>

/* DESIGN
 *
 * The log and the results are read one after the other while both grow, so a
 * trial's row may begin with what either tells.  Each statement sets its own
 * columns only: whatever the order, the row becomes the same. */
static const char *const texts[] = {
    [STORE_META_PUT] = "INSERT OR REPLACE INTO meta VALUES (?1, ?2)",
    [STORE_META_GET] = "SELECT value FROM meta WHERE key = ?1",
    [STORE_EXPERIMENT] =
        "INSERT OR REPLACE INTO experiments VALUES (?1, ?2, ?3, ?4, ?5, ?6, "
        "?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
    [STORE_SUGGESTED] = "INSERT OR REPLACE INTO suggested VALUES (?1, ?2, ?3)",
    [STORE_UNSUGGEST] = "DELETE FROM suggested WHERE parameter_id = ?1",
    [STORE_STARTED] =
        "INSERT INTO trials (trial, parameter_id, started_us, parameters) "
        "VALUES (?1, ?2, ?3, ?4) ON CONFLICT (trial) DO UPDATE SET "
        "parameter_id = coalesce(parameter_id, ?2), "
        "started_us = coalesce(started_us, ?3), "
        "parameters = coalesce(parameters, ?4)",
    [STORE_DATED] = "UPDATE trials SET started_us = min(started_us, ?2) WHERE "
                    "trial = ?1",
    [STORE_ENDED] =
        "INSERT INTO trials (trial, event, ended_us) VALUES (?1, ?2, ?3) "
        "ON CONFLICT (trial) DO UPDATE SET event = ?2, ended_us = ?3",
    [STORE_RESULT] =
        "INSERT INTO trials (trial, parameter_id, seed, ended, status, why, "
        "ended_by, value, counts, latest, duration_s, intermediates, "
        "parameters, from_trial, from_how, budget, result, reported, violation) "
        "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, "
        "?15, ?16, ?17, ?18, ?19) "
        "ON CONFLICT (trial) DO UPDATE SET "
        "parameter_id = ?2, seed = ?3, ended = ?4, status = ?5, why = ?6, "
        "ended_by = ?7, value = ?8, counts = ?9, latest = ?10, "
        "duration_s = ?11, intermediates = ?12, parameters = ?13, "
        "from_trial = ?14, from_how = ?15, budget = ?16, result = ?17, "
        "reported = ?18, violation = ?19",
    [STORE_ATTEMPT_STARTED] =
        "INSERT INTO attempts (trial, attempt, started_us, pid) VALUES (?1, "
        "?2, ?3, ?4) ON CONFLICT (trial, attempt) DO UPDATE SET "
        "started_us = ?3, pid = ?4",
    [STORE_ATTEMPT_EXITED] =
        "INSERT INTO attempts (trial, attempt, exited_us, status) VALUES (?1, "
        "?2, ?3, ?4) ON CONFLICT (trial, attempt) DO UPDATE SET "
        "exited_us = ?3, status = ?4, started_us = coalesce(?5, started_us)",
    [STORE_METRIC] = "INSERT OR IGNORE INTO metrics VALUES (?1, ?2, ?3, ?4, "
                     "?5, ?6, ?7)",
    [STORE_HAS_PARAMETERS] =
        "SELECT 1 FROM trials WHERE trial = ?1 AND parameters IS NOT NULL",
    [STORE_PARAMETER] =
        "INSERT OR REPLACE INTO parameters VALUES (?1, ?2, ?3, ?4)",
    [STORE_NAME] = "INSERT OR IGNORE INTO names VALUES (?1)",
    [STORE_NAMES] = "SELECT name FROM names ORDER BY name",
    [STORE_VALUE] = "INSERT OR REPLACE INTO reported VALUES (?1, ?2, ?3)",
    [STORE_VALUE_NAME] = "INSERT OR IGNORE INTO value_names VALUES (?1)",
    [STORE_VALUE_NAMES] = "SELECT name FROM value_names ORDER BY name",
    [STORE_FRONT] = "SELECT trial, reported, budget FROM trials WHERE "
                    "front = 1 ORDER BY ended",
    [STORE_SET_FRONT] = "UPDATE trials SET front = ?2 WHERE trial = ?1",
    [STORE_DECISION] = "INSERT OR REPLACE INTO decisions VALUES (?1, ?2, ?3, "
                       "?4, ?5, ?6, ?7)",
    [STORE_NOTE] = "INSERT OR REPLACE INTO notes VALUES (?1, ?2, ?3, ?4, ?5, "
                   "?6, ?7, ?8)",
};

int
store_open(struct store *s, const struct sql *sql, const char *path,
           enum sql_open how, struct err *err)
{
    *s = (struct store){.sql = sql};
    s->db = sql->open(path, how, err);
    return s->db == NULL ? -1 : 0;
}

void
store_close(struct store *s)
{
    if (s->db == NULL)
        return;
    for (size_t i = 0; i < STORE_N_QUERIES; i++)
        s->sql->finish(s->queries[i]);
    s->sql->close(s->db);
    *s = (struct store){.sql = s->sql};
}

static void
bind(const struct sql *sql, struct sql_query *q, int i,
     const struct store_value *v)
{
    switch (v->type) {
    case SQL_NULL:
        sql->bind_null(q, i);
        break;
    case SQL_BLOB:
        sql->bind_blob(q, i, v->text, v->len);
        break;
    case SQL_INTEGER:
        sql->bind_int(q, i, v->integer);
        break;
    case SQL_REAL:
        sql->bind_real(q, i, v->real);
        break;
    case SQL_TEXT:
        sql->bind_text(q, i, v->text, v->len);
        break;
    }
}

int
store_step(struct store *s, enum store_query q,
           const struct store_value *values, size_t n, struct err *err)
{
    struct sql_query **query = &s->queries[q];

    if (*query == NULL)
        *query = s->sql->prepare(s->db, texts[q], err);
    if (*query == NULL)
        return -1;
    for (size_t i = 0; i < n; i++)
        bind(s->sql, *query, (int)i + 1, &values[i]);
    return s->sql->step(*query, err);
}

struct sql_query *
store_query(struct store *s, enum store_query q)
{
    return s->queries[q];
}

void
store_reset(struct store *s, enum store_query q)
{
    s->sql->reset(s->queries[q]);
}

int
store_set(struct store *s, const char *key, int64_t value, struct err *err)
{
    return STORE_RUN(s, STORE_META_PUT, err, store_text(key), store_int(value));
}

int
store_set_text(struct store *s, const char *key, const char *value,
               struct err *err)
{
    return STORE_RUN(s, STORE_META_PUT, err, store_text(key),
                     store_text(value));
}

int
store_set_bytes(struct store *s, const char *key, const void *bytes, size_t len,
                struct err *err)
{
    struct store_value value = store_bytes(bytes, len);

    value.type = SQL_BLOB;
    return STORE_RUN(s, STORE_META_PUT, err, store_text(key), value);
}

int
store_get_bytes(struct store *s, const char *key, struct buf *out,
                struct err *err)
{
    int rc = STORE_RUN(s, STORE_META_GET, err, store_text(key));
    const char *bytes;
    size_t len;

    if (rc == 1) {
        bytes = s->sql->text(store_query(s, STORE_META_GET), 0, &len);
        buf_add(out, bytes, len);
        store_reset(s, STORE_META_GET);
        rc = buf_check(out, key, err) != 0 ? -1 : 1;
    }
    return rc;
}

int
store_get(struct store *s, const char *key, int64_t *out, struct err *err)
{
    int rc = STORE_RUN(s, STORE_META_GET, err, store_text(key));

    if (rc == 1) {
        *out = s->sql->integer(store_query(s, STORE_META_GET), 0);
        store_reset(s, STORE_META_GET);
    }
    return rc;
}
