/* What the reader chose; kept in the address, so that it outlives a reload. */

const state = {
    tab: "overview",
    trial: "",
    q: "",
    sort: "",
    page: "1",
    y: "0",
    hold: "",
    time: "",
    clip: "1",
    logy: "",
    curves: "",
    budget: "",
    brush: "",
    axes: "",
    schedule: "",
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

const listeners = { trial: [], brush: [], draw: [] };
const on = (what, f) => listeners[what].push(f);
const tell = (what) => listeners[what].forEach((f) => f());

let selected = T.id.indexOf(state.trial);
function select(i) {
    selected = i === selected ? -1 : i;
    state.trial = selected < 0 ? "" : T.id[selected];
    save();
    tell("trial");
}

/* ---- controls that keep what they are set to ---- */

function checkbox(key, label, changed) {
    const box = el("input", {
        type: "checkbox",
        onchange: () => {
            state[key] = box.checked ? "1" : "0";
            save();
            changed();
        },
    });
    box.checked = state[key] === "1";
    return el("label", null, box, label);
}

function chooser(key, label, options, changed) {
    const list = el(
        "select",
        {
            onchange: () => {
                state[key] = list.value;
                save();
                changed();
            },
        },
        options.map(([v, text]) => el("option", { value: v }, text)),
    );
    if (options.some(([v]) => v === state[key])) list.value = state[key];
    return el("label", null, label, list);
}

/* ---- ranges of parameters: {name: [low, high]}, parts of an axis ---- */

let brushes = {};
try {
    brushes = JSON.parse(state.brush) || {};
} catch {
    brushes = {};
}
const brushable = () => [...plotted, resultAxis];
const resultAxis = {
    name: "result",
    scale: "linear",
    cells: result,
    share: NaN,
    at: P.length,
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
                      const part = axisOf(p).part(p.cells[i]),
                          [a, b] = brushes[p.name];
                      return part >= a && part <= b;
                  })
                      ? 1
                      : 0,
              );
}

function brush(name, part) {
    if (part === null) delete brushes[name];
    else brushes[name] = part.map((v) => Number(v.toFixed(4)));
    state.brush = Object.keys(brushes).length ? JSON.stringify(brushes) : "";
    save();
    applyBrushes();
    tell("brush");
}

function clearBrushes() {
    brushes = {};
    state.brush = "";
    save();
    applyBrushes();
    tell("brush");
}

const scales = new Map();
function axisOf(p) {
    if (!scales.has(p))
        scales.set(
            p,
            p.isResult
                ? padded(range(result, true, false), false)
                : parameterScale(p),
        );
    return scales.get(p);
}
