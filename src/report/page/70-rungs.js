/* Rungs: how many trials got to each budget, and which of them went on.
 *
 * Where trials are promoted each is on one rung, that of its TRIAL_BUDGET; in
 * its place goes on another one.  Where they are only stopped, all have the
 * greatest budget, and a rung is a step at which trials were stopped.  Without
 * budgets whoever stops trials does not do it by rungs. */

const BRACKETS = 6,
    LEVELS = 12;

/* "0-3_1_5" is of bracket 0-3; other ids tell none. */
function bracketOf(i) {
    const id = T.parameter_id[i],
        match = typeof id === "string" ? /^(.+)_\d+_\d+$/.exec(id) : null;
    return match ? match[1] : "";
}

const reached = (i) => (data.curves[i] === null ? 0 : lastStep(i) + 1);

/* The last value not behind the level. */
function valueAt(i, level) {
    const [steps, values] = data.curves[i];
    let k = steps.length - 1;
    while (k > 0 && steps[k] >= level) k--;
    return number(values[k]);
}

/* Steps at which trials were stopped, and the end; none where that was
 * anywhere. */
function stopLevels() {
    const levels = new Map();
    for (let i = 0; i < N; i++)
        if (statusOf(i) === "stopped" && reached(i) > 0)
            levels.set(reached(i), (levels.get(reached(i)) || 0) + 1);
    return levels.size === 0 || levels.size > LEVELS
        ? []
        : [...new Set([...levels.keys(), most(budget)])].sort((a, b) => a - b);
}

function promotedRungs() {
    const brackets = new Map(),
        at = new Map();
    for (let i = 0; i < N; i++) {
        if (Number.isNaN(budget[i])) continue;
        const b = bracketOf(i);
        if (!brackets.has(b)) brackets.set(b, new Map());
        const rung = brackets.get(b);
        if (!rung.has(budget[i])) rung.set(budget[i], []);
        const entry = {
            i,
            value: result[i],
            on: children[i].length > 0,
            before: at.get(from[i]) || null,
        };
        at.set(i, entry);
        rung.get(budget[i]).push(entry);
    }
    return [...brackets].map(([name, map]) => ({
        name,
        rungs: [...map]
            .sort((a, b) => a[0] - b[0])
            .map(([b, entries]) => ({ budget: b, entries })),
    }));
}

function stoppedRungs(levels) {
    let before = new Map();
    return [
        {
            name: "",
            rungs: levels.map((level) => {
                const entries = curveTrials()
                    .filter((i) => reached(i) >= level)
                    .map((i) => ({
                        i,
                        value: valueAt(i, level),
                        on: reached(i) > level,
                        before: before.get(i) || null,
                    }));
                before = new Map(entries.map((e) => [e.i, e]));
                return { budget: level, entries };
            }),
        },
    ];
}

function rungs() {
    return budgets.length > 1 ? promotedRungs() : stoppedRungs(stopLevels());
}

const hasRungs =
    budgets.length > 1 ||
    (budgets.length === 1 && !hasFrom && stopLevels().length > 1);
const known = (e) => Number.isFinite(e.value);
const failedEntry = (e) =>
    ["failed", "lost", "out of memory"].includes(statusOf(e.i)) && !e.on;
const runningEntry = (e) => statusOf(e.i) === "running" && !e.on;
const byValue = (a, b) => (minimize ? a.value - b.value : b.value - a.value);

function bracketScale(bracket) {
    const values = bracket.rungs
        .flatMap((r) => r.entries)
        .filter(known)
        .map((e) => e.value);
    return valueScale(values, values, goodSide);
}

function paintBracket(c, bracket) {
    const list = bracket.rungs,
        all = list.flatMap((r) => r.entries).filter(known),
        top = list[list.length - 1];
    c.axes(
        bandScale(list.map((r) => "budget " + format(r.budget))),
        bracketScale(bracket),
    );
    list.forEach((r, k) =>
        r.entries.filter(known).forEach((e, n) => {
            const spread = beside(n) * 0.5 * c.box.w * c.x.band;
            e.spot = [c.px(k) + spread, c.clampY(e.value), e.i];
        }),
    );
    c.ctx.strokeStyle = color("accent");
    c.ctx.globalAlpha = Math.max(0.12, Math.min(0.6, 60 / all.length));
    c.ctx.lineWidth = 1;
    c.ctx.beginPath();
    for (const e of all) {
        if (!e.before || !e.before.spot) continue;
        c.ctx.moveTo(e.before.spot[0], e.before.spot[1]);
        c.ctx.lineTo(e.spot[0], e.spot[1]);
    }
    c.ctx.stroke();
    c.ctx.globalAlpha = 0.9;
    const size = dotSize(all.length),
        last = new Set(top.entries);
    const kind = (e) =>
        e.on
            ? "accent"
            : failedEntry(e)
              ? "bad"
              : runningEntry(e)
                ? "run"
                : last.has(e)
                  ? "best"
                  : "faint";
    for (const name of ["faint", "bad", "run", "accent", "best"])
        c.dots(
            all.filter((e) => kind(e) === name).map((e) => e.spot),
            color(name),
            name === "best" ? size + 0.5 : size,
        );
    c.ctx.globalAlpha = 1;
    c.ctx.fillStyle = color("soft");
    list.forEach((r, k) =>
        c.text(
            r.entries.length +
                (k + 1 < list.length
                    ? " → " + r.entries.filter((e) => e.on).length
                    : ""),
            c.px(k),
            c.box.y - 6,
            "center",
            "alphabetic",
            c.box.w * c.x.band,
        ),
    );
}

/* The worst value with which one went on. */
function cut(r) {
    const list = r.entries.filter((e) => e.on && known(e)).sort(byValue);
    return list.length ? format(list[list.length - 1].value) : "";
}

function rungTable(all) {
    const heads = [
        "bracket",
        "budget",
        "trials",
        "running",
        "failed",
        "with a value",
        "went on",
        "best",
        "cut",
    ];
    const row = (b, r) => {
        const n = (f) => r.entries.filter(f).length,
            list = r.entries.filter(known).sort(byValue);
        return [
            b.name || "all",
            format(r.budget),
            r.entries.length,
            n(runningEntry),
            n(failedEntry),
            list.length,
            n((e) => e.on),
            list.length ? format(list[0].value) : "",
            cut(r),
        ];
    };
    return table(
        heads,
        all.flatMap((b) => b.rungs.map((r) => row(b, r))),
        (k) => k > 0,
    );
}

function rungSection() {
    const all = rungs(),
        grid = el("div", { class: all.length > 1 ? "grid wide" : "" });
    const tools = valueTools(() => tell("draw")),
        tellBeyond = () =>
            tools.tellBeyond({
                beyond: all.reduce((n, b) => n + bracketScale(b).beyond, 0),
            });
    on("controls", tellBeyond);
    tellBeyond();
    const add = (bracket) => {
        const chart = new Chart({
            height: all.length > 1 ? 260 : 380,
            paint: (c) => paintBracket(c, bracket),
            margin: { top: 24, bottom: 22 },
            name: "values by budget " + bracket.name,
        });
        const name =
            bracket.name === "" ? "all brackets" : "bracket " + bracket.name;
        grid.append(el("div", null, el("h3", null, name), chart.node));
    };
    const more = addMore(all, BRACKETS, add, "brackets");
    return [
        el(
            "h2",
            null,
            "Rungs and survivors ",
            el(
                "small",
                null,
                "value by budget; above: trials → how many went on",
            ),
        ),
        legend([
            ["accent", "went on"],
            ["faint", "did not"],
            ["best", "at the greatest budget"],
            ["run", "running"],
            ["bad", "failed"],
        ]),
        el("div", { class: "tools" }, tools.node),
        grid,
        more,
        el(
            "h2",
            null,
            "Counts ",
            el(
                "small",
                null,
                "cut: the worst value with which a trial went on",
            ),
        ),
        rungTable(all),
    ];
}
