/* What the reader chose; kept in the address, so that it outlives a reload. */

const state = {
    tab: "overview",
    trial: "",
    q: "",
    sort: "",
    page: "1",
    y: "0",
    measure: "",
    hold: "",
    time: "",
    clip: "1",
    logy: "",
    curves: "",
    budget: "",
    brush: "",
    axes: "",
    columns: "",
    across: "",
    up: "",
    schedule: "",
    frontx: "",
    fronty: "",
    share: "",
};
for (const [k, v] of new URLSearchParams(location.hash.slice(1)))
    if (k in state) state[k] = v;
const defaults = { tab: "overview", page: "1", y: "0", clip: "1" };

function save() {
    const kept = new URLSearchParams();
    for (const [k, v] of Object.entries(state))
        if (v !== (defaults[k] || "")) kept.set(k, v);
    const hash = "#" + kept;
    try {
        history.replaceState(null, "", hash);
    } catch {
        location.hash = hash;
    }
}

const listeners = { trial: [], brush: [], draw: [], controls: [] };
const on = (what, f) => listeners[what].push(f);
const tell = (what) => listeners[what].forEach((f) => f());

let selected = T.id.indexOf(state.trial);
function select(i) {
    selected = i === selected ? -1 : i;
    state.trial = selected < 0 ? "" : T.id[selected];
    save();
    tell("trial");
}

/* ---- controls that keep what they are set to, and show it in all tabs ---- */

function choose(key, v, changed) {
    state[key] = v;
    save();
    if (["clip", "logy", "budget"].includes(key)) moveValueAxes();
    tell("controls");
    changed();
}

function checkbox(key, label, changed) {
    const box = el("input", {
        type: "checkbox",
        onchange: () => choose(key, box.checked ? "1" : "0", changed),
    });
    const show = () => {
        box.checked = state[key] === "1";
    };
    on("controls", show);
    show();
    return el("label", null, box, label);
}

function chooser(key, label, options, changed) {
    const list = el(
        "select",
        { onchange: () => choose(key, list.value, changed) },
        options.map(([v, text]) => el("option", { value: v }, text)),
    );
    if (options.some(([v]) => v === state[key])) list.value = state[key];
    return el("label", null, label, list);
}

/* The names that are shown: a list as JSON in state[key]; else the usual. */
function picked(key, usual) {
    try {
        const list = JSON.parse(state[key]);
        if (Array.isArray(list)) return list;
    } catch {
        /* none was chosen */
    }
    return usual;
}

/* A list of names to choose from, which opens. */
function picker(key, label, names, usual, changed) {
    const list = el("div"),
        set = (v) => {
            choose(key, v, changed);
            fill();
        };
    const fill = () => {
        const shown = new Set(picked(key, usual));
        list.replaceChildren(
            el("button", { onclick: () => set("") }, "Usual"),
            el("button", { onclick: () => set(JSON.stringify(names)) }, "All"),
            ...names.map((name) => {
                const box = el("input", {
                    type: "checkbox",
                    onchange: () => {
                        if (!shown.delete(name)) shown.add(name);
                        set(JSON.stringify(names.filter((n) => shown.has(n))));
                    },
                });
                box.checked = shown.has(name);
                return el("label", null, box, name);
            }),
        );
    };
    fill();
    return el("details", { class: "picker" }, el("summary", null, label), list);
}

/* ---- trials that can be compared ---- */

const atBudget = (i) =>
    state.budget === "" || budget[i] === Number(state.budget);
/* One that was paused at its budget has a result there. */
const judged = (i) =>
    Number.isFinite(result[i]) &&
    (counts(i) ||
        (statusOf(i) === "paused" && !(T.base[i] + T.reports[i] < budget[i])));
const withResult = () =>
    Array.from(T.id, (_, i) => i).filter((i) => judged(i) && atBudget(i));

/* ---- axes of values: results, and what else was reported ---- */

const goodSide = minimize ? "low" : "high";

/* An axis for these values, as the reader chose it.  basis: those that tell
 * where nearly all lie; .beyond: how many lie off the axis. */
function valueScale(values, basis, good) {
    const log = state.logy === "1",
        near = state.clip === "1" ? nearRange(basis, log, good) : null,
        ends = near || range(values, log);
    const beyond = values.filter(
        (v) => Number.isFinite(v) && (v < ends[0] || v > ends[1]),
    ).length;
    return { ...padded(ends, log), beyond };
}

/* How axes of values are drawn, and what that leaves off. */
function valueTools(changed) {
    const said = el("span"),
        node = [
            checkbox("clip", "clip what is far off", changed),
            checkbox("logy", "logarithmic", changed),
            said,
        ];
    const tellBeyond = ({ beyond }) => {
        said.textContent =
            beyond === 0
                ? ""
                : beyond.toLocaleString("en") +
                  " at the border: over " +
                  FENCE +
                  " interquartile ranges from the quartiles";
    };
    return { node, tellBeyond };
}

/* ---- ranges of parameters: {name: [low, high]}, parts of an axis, below
 * which -1 is for trials that have none ---- */

let brushes = {};
try {
    brushes = JSON.parse(state.brush) || {};
} catch {
    brushes = {};
}
const brushable = () => [...plotted, ...M, resultAxis];
const resultAxis = {
    name: "result",
    get title() {
        return resultTitle("result");
    },
    scale: "linear",
    cells: result,
    share: NaN,
    isValue: true,
    isResult: true,
};
let brushed = null; /* of each trial; null: there are no ranges */

function applyBrushes() {
    const used = brushable().filter((p) => brushes[p.name]);
    brushed =
        used.length === 0
            ? null
            : Uint8Array.from(T.id, (_, i) =>
                  used.every((p) => {
                      const part = partOf(p, i),
                          [a, b] = brushes[p.name];
                      return part >= a && part <= b;
                  })
                      ? 1
                      : 0,
              );
}

function keepBrushes() {
    state.brush = Object.keys(brushes).length ? JSON.stringify(brushes) : "";
    save();
    applyBrushes();
    tell("brush");
}

function brush(name, part) {
    if (part === null) delete brushes[name];
    else brushes[name] = part.map((v) => Number(v.toFixed(4)));
    keepBrushes();
}

function clearBrushes() {
    brushes = {};
    keepBrushes();
}

const scales = new Map();
function axisOf(p) {
    if (!scales.has(p))
        scales.set(p, p.isValue ? valueAxis(p) : parameterScale(p));
    return scales.get(p);
}

function valueAxis(p) {
    const values = withResult().map((i) => p.cells[i]);
    return valueScale(values, values, p.isResult ? goodSide : "");
}

/* A range on an axis that moves would be another one. */
function moveValueAxes() {
    for (const p of [...M, resultAxis]) {
        scales.delete(p);
        delete brushes[p.name];
    }
    keepBrushes();
}

/* Where a trial lies on an axis, 0 to 1; -1: it has no such value. */
function partOf(p, i) {
    const v = p.cells[i];
    return Number.isNaN(v)
        ? -1
        : Math.min(1, Math.max(0, axisOf(p).part(v) || 0));
}
