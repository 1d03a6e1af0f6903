"use strict";
/* What all parts of the page use: the data, elements, numbers, scales. */

const data = JSON.parse(document.getElementById("data").textContent);
const X = data.experiment;
const T = data.trials;
const N = T.id.length;
const minimize = X.optimize_mode === "minimize";

/* ---- elements: text only, never markup ---- */

function el(tag, attributes, ...children) {
    const e = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes || {})) {
        if (key.startsWith("on")) e.addEventListener(key.slice(2), value);
        else if (value === true) e.setAttribute(key, "");
        else if (value !== false && value != null) e.setAttribute(key, value);
    }
    for (const c of children.flat(Infinity))
        if (c != null) e.append(c.nodeType ? c : String(c));
    return e;
}

function pairs(list) {
    return el(
        "dl",
        null,
        list
            .filter(([, v]) => v != null && v !== "")
            .map(([k, v]) => [el("dt", null, k), el("dd", null, v)]),
    );
}

function copyButton(text) {
    const b = el(
        "button",
        {
            onclick: async () => {
                let done = true;
                try {
                    await navigator.clipboard.writeText(text());
                } catch {
                    const area = el("textarea");
                    area.value = text();
                    document.body.append(area);
                    area.select();
                    done = document.execCommand("copy");
                    area.remove();
                }
                b.textContent = done ? "Copied" : "Cannot copy";
                setTimeout(() => {
                    b.textContent = "Copy";
                }, 1500);
            },
        },
        "Copy",
    );
    return b;
}

/* Rows of cells under their heads; numbers stand at the right. */
function table(heads, rows, isNumber) {
    const line = (tag, cells) =>
        el(
            "tr",
            null,
            cells.map((c, k) => el(tag, { class: isNumber(k) && "n" }, c)),
        );
    return el(
        "div",
        { class: "scroll" },
        el(
            "table",
            null,
            el("thead", null, line("th", heads)),
            el(
                "tbody",
                null,
                rows.map((cells) => line("td", cells)),
            ),
        ),
    );
}

/* The first `few` of a list, the others at the press of a button. */
function addMore(list, few, add, what) {
    list.slice(0, few).forEach(add);
    if (list.length <= few) return null;
    const more = el(
        "button",
        {
            onclick: () => {
                more.remove();
                list.slice(few).forEach(add);
            },
        },
        "All " + list.length + (what ? " " + what : ""),
    );
    return more;
}

/* ---- numbers: null is none; what JSON cannot say comes as a text ---- */

const number = (v) => (v === null || v === undefined ? NaN : Number(v));
const column = (list) => Float64Array.from(list, number);

function format(v) {
    if (v === null || v === undefined) return "";
    if (typeof v === "string") v = Number(v);
    if (Number.isNaN(v)) return "NaN";
    if (!Number.isFinite(v)) return v > 0 ? "∞" : "−∞";
    if (Number.isInteger(v) && Math.abs(v) < 1e9) return String(v);
    const a = Math.abs(v);
    return a !== 0 && (a < 1e-4 || a >= 1e7)
        ? Number(v.toPrecision(4)).toExponential()
        : String(Number(v.toPrecision(5)));
}

function formatSeconds(s) {
    if (!Number.isFinite(s)) return "";
    if (s < 60) return Number(s.toPrecision(3)) + " s";
    const parts = [
        [86400, "d"],
        [3600, "h"],
        [60, "min"],
        [1, "s"],
    ];
    const at = parts.findIndex(([n]) => s >= n);
    const [n, unit] = parts[at],
        [m, small] = parts[at + 1] || [0, ""];
    const rest = m ? Math.floor((s % n) / m) : 0;
    return (
        Math.floor(s / n) + " " + unit + (rest ? " " + rest + " " + small : "")
    );
}

const percent = (share) => (100 * share).toFixed(share < 0.1 ? 1 : 0) + " %";
const plural = (n, word) =>
    n.toLocaleString("en") + " " + word + (n === 1 ? "" : "s");

/* ---- trials ---- */

const value = column(T.value),
    latest = column(T.latest);
const budget = column(T.budget),
    started = column(T.started);
const ended = column(T.ended),
    duration = column(T.duration);
const from = T.from;
const statusOf = (i) => (T.status[i] === null ? "" : T.statuses[T.status[i]]);
const whyOf = (i) => (T.why[i] === null ? "" : T.whys[T.why[i]]);
/* Of trials on other machines. */
const placeOf = (i) =>
    T.place && T.place[i] !== null ? T.places[T.place[i]] : "";
const queued = column(T.queued || []);
const counts = (i) => T.counts[i] === 1;

/* Its result; of one that has none its latest value. */
const result = Float64Array.from(T.id, (_, i) =>
    counts(i) ? value[i] : latest[i],
);
const better = (a, b) => (minimize ? a < b : a > b);
const byNumber = (a, b) => {
    const x = result[a],
        y = result[b];
    if (Number.isNaN(x) || Number.isNaN(y))
        return Number.isNaN(x) - Number.isNaN(y) || a - b;
    return (minimize ? x - y : y - x) || a - b;
};
/* How far each is beyond the limits on results, where it is known. */
const violation = column(data.objectives?.violation || []);
const byResult = (a, b) =>
    (violation[a] || 0) - (violation[b] || 0) || byNumber(a, b);
const bestTrial = data.best === null ? -1 : data.best.trial;

const children = Array.from(T.id, () => []);
from.forEach((f, i) => {
    if (f !== null) children[f].push(i);
});
const hasFrom = from.some((f) => f !== null);
const hasClones = T.cloned.some((c) => c === 1);
const hasBudgets = T.budget.some((b) => b !== null);
const budgets = [...new Set(budget.filter(Number.isFinite))].sort(
    (a, b) => b - a,
);
const hasCurves = data.curves.some((c) => c !== null);

/* It and those it goes on from, the first first. */
function lineage(i) {
    const line = [];
    for (; i !== null && line.length <= N; i = from[i]) line.unshift(i);
    return line;
}

/* ---- parameters ---- */

const P = data.parameters.map((p, at) => ({
    ...p,
    at,
    cells: column(p.cells),
    share: number(data.importance.share[at]),
}));
const plotted = P.filter((p) => p.searched && p.scale !== "text");
const byShare = (list) =>
    [...list].sort((a, b) => (b.share || 0) - (a.share || 0) || a.at - b.at);

function cellText(p, i) {
    const c = p.cells[i];
    if (Number.isNaN(c)) return "";
    return p.scale === "choice" || p.scale === "text" ? p.values[c] : format(c);
}

/* Values that trials reported by name, beside their result. */
const ownNames =
    "trial status value latest result budget from reports duration attempts " +
    "parameter_id why place queued";
const taken = new Set([...P.map((p) => p.name), ...ownNames.split(" ")]);
const M = data.metrics.map((m) => ({
    name: m.name + (taken.has(m.name) ? " (reported)" : ""),
    scale: "linear",
    cells: column(m.cells),
    share: NaN,
    isValue: true,
}));

/* As the trial got them, but for names of nested choices. */
function parametersOf(i) {
    if (i === bestTrial) return data.best.parameters;
    const out = {};
    for (const p of P) {
        if (Number.isNaN(p.cells[i])) continue;
        const names = p.name.split("/");
        let at = out;
        while (names.length > 1) at = at[names[0]] = at[names.shift()] || {};
        const text = p.values[p.cells[i]];
        at[names[0]] =
            p.scale === "choice" || p.scale === "text"
                ? reread(text)
                : p.cells[i];
    }
    if (!Number.isNaN(budget[i])) out.TRIAL_BUDGET = budget[i];
    return out;
}

/* A choice of 16 is a number, one of "16" looks the same: texts of JSON are
 * taken for what they say. */
function reread(text) {
    try {
        return JSON.parse(text);
    } catch {
        return text;
    }
}

/* ---- scales: from values to pixels ---- */

function linearTicks(low, high, n) {
    const raw = (high - low) / Math.max(1, n),
        power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].find((m) => m * power >= raw) * power,
        out = [];
    for (
        let k = Math.ceil(low / step - 1e-9);
        k * step <= high + step * 1e-9 && out.length < 50;
        k++
    )
        out.push(Number((k * step).toPrecision(12)));
    return out;
}

function logTicks(low, high, n) {
    const first = Math.ceil(Math.log10(low) - 1e-9),
        last = Math.floor(Math.log10(high) + 1e-9);
    if (last - first < 1) return linearTicks(low, high, n);
    const step = Math.max(1, Math.ceil((last - first) / n)),
        out = [];
    for (let k = first; k <= last; k += step) out.push(10 ** k);
    return out;
}

function scale(low, high, log) {
    if (!(low < high)) {
        const pad = Math.abs(low) * 0.05 || 1;
        [low, high] = log ? [low / 2, low * 2] : [low - pad, high + pad];
    }
    const f = log ? Math.log : (v) => v,
        a = f(low),
        b = f(high);
    return {
        low,
        high,
        log,
        part: (v) => (f(v) - a) / (b - a),
        ticks: (n) => (log ? logTicks : linearTicks)(low, high, n),
        label: (v) =>
            (log && v < 1e-3) || Math.abs(v) >= 1e5
                ? Number(v.toPrecision(3)).toExponential()
                : format(v),
    };
}

/* Steps and trials are counted: between 1 and 2 there is none. */
function countScale(low, last) {
    const high = Math.max(low + 1, last);
    return {
        ...scale(low, high, false),
        ticks: (n) => linearTicks(low, high, Math.min(n, high - low)),
    };
}

/* Trials of the same category lie beside each other: -0.5 to 0.5. */
const beside = (i) => ((i * 0.618034 + 0.5) % 1) - 0.5;

/* A place for each of the values, which are indexes into `names`. */
function bandScale(names) {
    const n = Math.max(1, names.length);
    return {
        low: 0,
        high: n,
        band: 1 / n,
        part: (v) => (v + 0.5) / n,
        ticks: (most) =>
            names
                .map((_, i) => i)
                .filter((i) => i % Math.ceil(n / Math.max(1, most)) === 0),
        label: (i) => names[i],
    };
}

function quantile(sorted, q) {
    return sorted.length === 0
        ? NaN
        : sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))];
}

const inOrder = (values, log) =>
    Float64Array.from(values)
        .filter((v) => Number.isFinite(v) && (!log || v > 0))
        .sort();

function range(values, log) {
    const all = inOrder(values, log);
    return all.length ? [all[0], all.at(-1)] : [log ? 0.1 : 0, 1];
}

/* Where nearly all lie, since what is far off would make the rest a line: up to
 * the last value within FENCE interquartile ranges of the quartiles, as far as
 * the outer fences of a box plot (Tukey 1977).  The good side is never cut.
 * Null: there are too few values, or half of them are the same. */
const FEW_VALUES = 4,
    FENCE = 3;

function nearRange(values, log, good) {
    const all = inOrder(values, log),
        f = log ? Math.log : (v) => v,
        a = f(quantile(all, 0.25)),
        b = f(quantile(all, 0.75)),
        room = FENCE * (b - a);
    if (all.length < FEW_VALUES || !(room > 0)) return null;
    const inside = all.filter((v) => f(v) >= a - room && f(v) <= b + room);
    return [
        good === "low" ? all[0] : inside[0],
        good === "high" ? all.at(-1) : inside.at(-1),
    ];
}

function padded([low, high], log) {
    const pad = log ? 0 : (high - low) * 0.04;
    return log
        ? scale(low / 1.1, high * 1.1, true)
        : scale(low - pad, high + pad, false);
}

function parameterScale(p) {
    if (p.scale === "choice") return bandScale(p.values);
    const log = p.scale === "log",
        [a, b] = range(p.cells, log);
    return scale(
        p.low === null ? a : Math.min(p.low, a),
        p.high === null ? b : Math.max(p.high, b),
        log,
    );
}

/* ---- colours ---- */

const dark = matchMedia("(prefers-color-scheme: dark)");
let styles = null;
function color(name) {
    if (styles === null) styles = getComputedStyle(document.documentElement);
    return styles.getPropertyValue("--" + name).trim();
}

const statusColors = {
    succeeded: "good",
    failed: "bad",
    lost: "bad",
    "out of memory": "bad",
    stopped: "stop",
    "timed out": "stop",
    cancelled: "soft",
    interrupted: "soft",
    paused: "pause",
    running: "run",
};
const statusColor = (s) => color(statusColors[s] || "soft");

/* Viridis: the best stands out from the page. */
const stops = [
    [68, 1, 84],
    [59, 82, 139],
    [33, 145, 140],
    [94, 201, 98],
    [253, 231, 37],
];
function ramp(t) {
    /* 0: the best */
    const at = (dark.matches ? 1 - t * 0.85 : t * 0.92) * (stops.length - 1);
    const i = Math.min(stops.length - 2, Math.floor(at)),
        f = at - i;
    return (
        "rgb(" +
        stops[i]
            .map((c, k) => Math.round(c + (stops[i + 1][k] - c) * f))
            .join(",") +
        ")"
    );
}

/* The place of each trial among those, 0 for the best, 1 for the worst. */
function places(list) {
    const order = [...list].sort(byResult),
        out = new Map();
    order.forEach((i, k) =>
        out.set(i, order.length > 1 ? k / (order.length - 1) : 0),
    );
    return out;
}
