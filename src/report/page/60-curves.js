/* Learning curves, and how many trials were still there at each step. */

const curveTrials = () =>
    Array.from(T.id, (_, i) => i).filter((i) => data.curves[i] !== null);
const lastStep = (i) => {
    const s = data.curves[i][0];
    return s[s.length - 1];
};
const MANY = 400;

/* How each group is chosen, and what it is called. */
const curveGroups = {
    all: ["all", () => true],
    best: ["the best 20", (i, rank) => rank < 20],
    ended: ["with a result", (i) => counts(i)],
    stopped: [
        "stopped or paused",
        (i) => ["stopped", "paused"].includes(statusOf(i)),
    ],
    running: ["running", (i) => statusOf(i) === "running"],
    line: [
        "the selected trial's line",
        (i) => selected >= 0 && lineage(selected).includes(i),
    ],
};

function chosenCurves() {
    const all = curveTrials().sort(byResult),
        group = curveGroups[state.curves] || curveGroups.all;
    return all.filter((i, rank) => group[1](i, rank));
}

/* From the last point of the trial it goes on from. */
function traceCurve(c, i) {
    const [steps, values] = data.curves[i],
        f = from[i];
    let up = false;
    if (f !== null && data.curves[f] !== null && lastStep(f) <= steps[0]) {
        const v = number(data.curves[f][1].at(-1));
        if (Number.isFinite(v)) {
            c.ctx.moveTo(c.px(lastStep(f)), c.farY(v));
            up = true;
        }
    }
    steps.forEach((s, k) => {
        const v = number(values[k]);
        if (!Number.isFinite(v)) {
            up = false;
        } else {
            const x = c.px(s),
                y = c.farY(v);
            if (up) c.ctx.lineTo(x, y);
            else c.ctx.moveTo(x, y);
            up = true;
        }
    });
}

/* A cross where it was stopped, two bars where it was paused. */
const endMarks = {
    stopped: (x, y) => [
        [x - 3, y - 3, x + 3, y + 3],
        [x - 3, y + 3, x + 3, y - 3],
    ],
    paused: (x, y) => [
        [x - 2, y - 4, x - 2, y + 4],
        [x + 2, y - 4, x + 2, y + 4],
    ],
    failed: (x, y) => [
        [x, y - 4, x - 4, y + 3],
        [x - 4, y + 3, x + 4, y + 3],
        [x + 4, y + 3, x, y - 4],
    ],
};

/* Nearly all lie between a quarter of each curve's way and its end. */
function curvesScale() {
    const list = chosenCurves().map((i) => data.curves[i][1].map(number));
    return valueScale(
        list.flat(),
        list.flatMap((values) => [values[values.length >> 2], values.at(-1)]),
        goodSide,
    );
}

function paintCurves(c) {
    const trials = chosenCurves();
    const last = trials.reduce((m, i) => Math.max(m, lastStep(i)), 1);
    c.axes(countScale(0, last), curvesScale(), "step", "value");
    const place = places(trials),
        many = trials.length > MANY;
    c.ctx.lineJoin = "bevel";
    c.inside(() => {
        for (let k = trials.length - 1; k >= 0; k--) {
            const rank = place.get(trials[k]);
            c.ctx.strokeStyle = ramp(rank);
            c.ctx.globalAlpha = many ? Math.max(0.25, 1 - rank * 2.5) : 0.8;
            c.ctx.lineWidth = k < 10 ? 1.6 : 1;
            c.ctx.beginPath();
            traceCurve(c, trials[k]);
            c.ctx.stroke();
        }
    });
    c.ctx.globalAlpha = many ? 0.6 : 1;
    c.ctx.lineWidth = 1.4;
    for (const i of trials) paintEnd(c, i);
    c.ctx.globalAlpha = 1;
    if (selected < 0 || data.curves[selected] === null) return;
    c.inside(() => {
        c.ctx.strokeStyle = color("best");
        c.ctx.lineWidth = 2.5;
        c.ctx.beginPath();
        for (const i of lineage(selected))
            if (data.curves[i] !== null) traceCurve(c, i);
        c.ctx.stroke();
    });
}

function paintEnd(c, i) {
    const v = number(data.curves[i][1].at(-1)),
        s = statusOf(i);
    if (!Number.isFinite(v)) return;
    const x = c.px(lastStep(i)),
        y = c.clampY(v);
    c.hits.push([x, y, i]);
    if (!endMarks[s]) return;
    c.ctx.strokeStyle = statusColor(s);
    c.ctx.beginPath();
    for (const [a, b, d, e] of endMarks[s](x, y)) {
        c.ctx.moveTo(a, b);
        c.ctx.lineTo(d, e);
    }
    c.ctx.stroke();
}

/* Lines of trials, each counted once, wherever it went on from. */
function paintSurvivors(c) {
    const reach = curveTrials()
        .filter(
            (i) =>
                children[i].length === 0 ||
                !children[i].some((k) => T.cloned[k] === 0),
        )
        .map((i) => lastStep(i) + 1)
        .sort((a, b) => a - b);
    const n = reach.length,
        last = reach[n - 1] || 1;
    c.axes(countScale(0, last), countScale(0, n), "step", "trials");
    c.ctx.strokeStyle = color("accent");
    c.ctx.lineWidth = 2;
    c.ctx.beginPath();
    c.ctx.moveTo(c.px(0), c.py(n));
    reach.forEach((s, k) => {
        c.ctx.lineTo(c.px(s), c.py(n - k));
        c.ctx.lineTo(c.px(s), c.py(n - k - 1));
    });
    c.ctx.stroke();
}

function curves() {
    if (!hasCurves)
        return [
            el(
                "p",
                { class: "note" },
                "No trial has reported intermediate results.",
            ),
        ];
    const chart = new Chart({
        height: 430,
        paint: paintCurves,
        name: "learning curves",
    });
    const survivors = new Chart({
        height: 200,
        paint: paintSurvivors,
        name: "how many trials reported at each step",
    });
    const tools = valueTools(() => chart.draw()),
        tellBeyond = () => tools.tellBeyond(curvesScale());
    on("trial", () => chart.draw());
    on("controls", tellBeyond);
    tellBeyond();
    const marks = [
        ["stop", "× stopped"],
        ["pause", "‖ paused"],
        ["bad", "△ failed"],
    ];
    return [
        el(
            "h2",
            null,
            "Learning curves ",
            el("small", null, plural(curveTrials().length, "trial")),
        ),
        el(
            "div",
            { class: "tools" },
            chooser(
                "curves",
                "show",
                Object.entries(curveGroups).map(([k, [t]]) => [k, t]),
                () => chart.draw(),
            ),
            tools.node,
        ),
        legend(marks),
        chart.node,
        el(
            "h2",
            null,
            "Survivors ",
            el(
                "small",
                null,
                "trials that reported at a step, with what went on from their checkpoints",
            ),
        ),
        survivors.node,
    ];
}
