/* All trials, with a filter and an order. */

const PAGE = 50;

const number_ = (name, list) => ({
    name,
    get: (i) => list[i],
    show: (i) => (Number.isNaN(list[i]) ? "" : format(list[i])),
    numeric: true,
});
const tableColumns = [
    { name: "trial", get: (i) => T.id[i], show: (i) => T.id[i] },
    { name: "status", get: statusOf, show: statusOf },
    { ...number_("value", value), show: (i) => format(T.value[i]) },
    { ...number_("latest", latest), show: (i) => format(T.latest[i]) },
    ...M.map((m) => number_(m.name, m.cells)),
    ...(hasBudgets ? [number_("budget", budget)] : []),
    ...(hasFrom
        ? [
              {
                  name: "from",
                  get: (i) => (from[i] === null ? "" : T.id[from[i]]),
                  show: (i) =>
                      from[i] === null
                          ? ""
                          : T.id[from[i]] + (T.cloned[i] ? " (clone)" : ""),
              },
          ]
        : []),
    ...P.map((p) =>
        p.scale === "linear" || p.scale === "log"
            ? { ...number_(p.name, p.cells), parameter: p }
            : {
                  name: p.name,
                  get: (i) => cellText(p, i),
                  show: (i) => cellText(p, i),
                  parameter: p,
              },
    ),
    number_("reports", column(T.reports)),
    {
        ...number_("duration", duration),
        show: (i) => formatSeconds(duration[i]),
    },
    ...(T.place
        ? [
              { name: "place", get: placeOf, show: placeOf },
              {
                  ...number_("queued", queued),
                  show: (i) => formatSeconds(queued[i]),
              },
          ]
        : []),
    number_("attempts", column(T.attempts)),
    {
        name: "parameter_id",
        get: (i) => String(T.parameter_id[i] ?? ""),
        show: (i) => String(T.parameter_id[i] ?? ""),
    },
    { name: "why", get: whyOf, show: whyOf },
];

/* Columns that tell nothing are left out: those that are empty, or say of all
 * trials what goes without saying; and texts that are not searched, such as the
 * folders of a population, which would take the room of all others. */
const unsaid = {
    attempts: () => "1",
    reports: () => "0",
    parameter_id: (i) => String(Number(T.id[i])),
};
const isToldText = (c) =>
    c.parameter && !c.parameter.searched && !c.numeric;
const usualColumns = tableColumns
    .filter(
        (c, k) =>
            k < 3 ||
            (!isToldText(c) &&
                T.id.some((_, i) => {
                    const text = c.show(i);
                    return text !== "" && text !== unsaid[c.name]?.(i);
                })),
    )
    .map((c) => c.name);

function shownColumns() {
    const names = new Set(picked("columns", usualColumns));
    return tableColumns.filter((c, k) => k === 0 || names.has(c.name));
}

/* `lr<0.01 status=failed relu`: conditions on columns; other words are looked
 * for everywhere.  A column's name may lack its beginning up to a '/'; what has
 * blanks or signs in it stands in quotation marks. */
const unquoted = (text) => text.replaceAll('"', "");

function parseFilter(text) {
    return (text.match(/(?:"[^"]*"?|[^\s"])+/g) || []).map((word) => {
        const m = /^("[^"]*"|[^<>=!"]+)(<=|>=|!=|=|<|>)(.*)$/.exec(word);
        const name = m && unquoted(m[1]);
        const c =
            m &&
            tableColumns.find(
                (k) => k.name === name || k.name.endsWith("/" + name),
            );
        return c
            ? condition(c, m[2], unquoted(m[3]))
            : anywhere(unquoted(word).toLowerCase());
    });
}

/* An example in this experiment's words: a status, and a parameter at about its
 * median, or at the best trial's choice. */
function filterHint() {
    const quoted = (text) => (/[\s<>=!]/.test(text) ? '"' + text + '"' : text),
        status = countStatuses().at(-1),
        p = byShare(plotted)[0],
        words = [];
    if (status) words.push("status=" + quoted(status[0]));
    if (p && p.scale === "choice") {
        const text = bestTrial < 0 ? "" : cellText(p, bestTrial);
        words.push(quoted(p.name) + "=" + quoted(text || p.values[0]));
    } else if (p) {
        const middle = quantile(inOrder(p.cells), 0.5);
        words.push(quoted(p.name) + "<" + Number(middle.toPrecision(2)));
    }
    return "filter: " + words.join(" ");
}

function condition(c, op, text) {
    const n = Number(text),
        numeric = text !== "" && !Number.isNaN(n);
    const tests = {
        "<": (v) => v < n,
        ">": (v) => v > n,
        "<=": (v) => v <= n,
        ">=": (v) => v >= n,
        "=": (v, s) =>
            numeric
                ? Number(v) === n && s !== ""
                : s.toLowerCase() === text.toLowerCase(),
        "!=": (v, s) =>
            numeric ? Number(v) !== n : s.toLowerCase() !== text.toLowerCase(),
    };
    return (i) => {
        const v = c.get(i);
        return tests[op](
            (op.length === 1 && op === "=") || op === "!=" || v !== ""
                ? v
                : NaN,
            String(v),
        );
    };
}

const anywhere = (word) => (i) =>
    tableColumns.some((c) => c.show(i).toLowerCase().includes(word));

/* Results before what is none; those with the greatest budget first. */
const bestFirst = (a, b) =>
    judged(b) - judged(a) ||
    (judged(a) ? (budget[b] || 0) - (budget[a] || 0) || byResult(a, b) : a - b);

function filtered() {
    const tests = parseFilter(state.q);
    let list = Array.from(T.id, (_, i) => i);
    if (brushed !== null) list = list.filter((i) => brushed[i]);
    list = list.filter((i) => tests.every((t) => t(i)));
    const down = state.sort.startsWith("-"),
        c = tableColumns.find((k) => k.name === state.sort.replace(/^-/, ""));
    if (!c) return list.sort(bestFirst);
    const missing = (v) => v === "" || Number.isNaN(v);
    return list.sort((a, b) => {
        const x = c.get(a),
            y = c.get(b);
        if (missing(x) || missing(y)) return missing(x) - missing(y) || a - b;
        return (x < y ? -1 : x > y ? 1 : 0) * (down ? -1 : 1) || a - b;
    });
}

function tableRow(i) {
    return el(
        "tr",
        { class: i === selected ? "on" : false, onclick: () => select(i) },
        shownColumns().map((c) =>
            el(
                "td",
                {
                    class: c.numeric ? "n" : c.name === "why" && "why",
                    title: c.show(i).length > 30 ? c.show(i) : null,
                },
                c.show(i),
            ),
        ),
    );
}

function tableSection() {
    const body = el("tbody"),
        head = el("tr"),
        said = el("span");
    const fill = () => {
        const list = filtered(),
            pages = Math.max(1, Math.ceil(list.length / PAGE));
        const page = Math.min(pages, Math.max(1, Number(state.page) || 1)),
            at = (page - 1) * PAGE;
        said.textContent =
            list.length === 0
                ? "no trial"
                : (at + 1).toLocaleString("en") +
                  " to " +
                  Math.min(list.length, at + PAGE).toLocaleString("en") +
                  " of " +
                  plural(list.length, "trial") +
                  (state.sort === "" ? ", the best first" : "") +
                  (brushed !== null ? " (within the chosen ranges)" : "");
        previous.disabled = page <= 1;
        next.disabled = page >= pages;
        head.replaceChildren(...shownColumns().map(heading));
        body.replaceChildren(...list.slice(at, at + PAGE).map(tableRow));
    };
    const set = (key, v) => {
        state[key] = v;
        if (key !== "page") state.page = "1";
        save();
        fill();
    };
    const heading = (c) => {
        const here = state.sort.replace(/^-/, "") === c.name,
            down = state.sort.startsWith("-");
        return el(
            "th",
            {
                class: c.numeric ? "n" : false,
                "aria-sort": here ? (down ? "descending" : "ascending") : null,
            },
            el(
                "button",
                {
                    onclick: () =>
                        set("sort", here ? (down ? "" : "-" + c.name) : c.name),
                },
                c.name + (here ? (down ? " ↓" : " ↑") : ""),
            ),
        );
    };
    const turn = (by) =>
        set("page", String(Math.max(1, (Number(state.page) || 1) + by)));
    const previous = el("button", { onclick: () => turn(-1) }, "‹ Previous"),
        next = el("button", { onclick: () => turn(1) }, "Next ›");
    const search = el("input", {
        type: "search",
        placeholder: filterHint(),
        "aria-label": "filter",
        oninput: () => set("q", search.value),
    });
    search.value = state.q;
    const clear = el(
        "button",
        {
            onclick: clearBrushes,
        },
        "Clear ranges",
    );
    const refill = () => {
        clear.hidden = brushed === null;
        fill();
    };
    const columns = picker(
        "columns",
        "columns",
        tableColumns.slice(1).map((c) => c.name),
        usualColumns,
        fill,
    );
    refill();
    on("brush", refill);
    on("trial", fill);
    return [
        el(
            "div",
            { class: "tools" },
            search,
            columns,
            previous,
            next,
            said,
            clear,
        ),
        el(
            "div",
            { class: "scroll rows" },
            el("table", null, el("thead", null, head), body),
        ),
    ];
}
