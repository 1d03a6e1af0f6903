/* Of an experiment with several objectives: two values of the results against
 * each other, with the front, and how its hypervolume grew. */

const O = data.objectives || null;
/* A value by its name, as a column of this page. */
const valueNamed = (name) =>
    name === "default"
        ? resultAxis
        : M[data.metrics.findIndex((m) => m.name === name)] || null;
const objectiveOf = (name) => (O ? O.items.find((o) => o.name === name) : null);
/* An objective with all that the experiment says of it. */
const objectiveText = (o) =>
    [
        o.name + ": " + o.direction,
        ...["reference", "goal"]
            .filter((key) => Number.isFinite(o[key]))
            .map((key) => key + " " + format(o[key])),
    ].join(", ");
/* What the one value is that charts of results show: of several the first. */
const resultTitle = (otherwise) =>
    O && O.items[0].name !== "default" ? O.items[0].name : otherwise;
const several = O !== null && O.items.length > 1;
const onFront = new Set(O ? O.front : []);
const withinLimits = (i) => !O || !O.violation || violation[i] === 0;

/* Which two values are drawn: what was chosen, else the first two. */
function frontAxes() {
    const names = frontNames(),
        x = names.includes(state.frontx) ? state.frontx : names[0],
        y = names.includes(state.fronty)
            ? state.fronty
            : names.find((n) => n !== x);
    return [x, y];
}

/* All values by name, the objectives first. */
function frontNames() {
    const objectives = O.items.map((o) => o.name);
    return [
        ...objectives,
        ...data.metrics
            .map((m) => m.name)
            .filter((n) => !objectives.includes(n)),
    ].filter((n) => valueNamed(n) !== null);
}

const goodSideOf = (name) => {
    const o = objectiveOf(name);
    return o === null || o === undefined
        ? ""
        : o.direction === "minimize"
          ? "low"
          : "high";
};

function paintFront(c) {
    const [x, y] = frontAxes(),
        xs = valueNamed(x).cells,
        ys = valueNamed(y).cells,
        trials = withResult().filter(
            (i) => Number.isFinite(xs[i]) && Number.isFinite(ys[i]),
        );
    const scaleFor = (cells, name) =>
        valueScale(
            trials.map((i) => cells[i]),
            trials.map((i) => cells[i]),
            goodSideOf(name),
        );
    const named = (name) => {
        const o = objectiveOf(name);
        return o ? name + " (" + o.direction + ")" : name;
    };
    c.axes(scaleFor(xs, x), scaleFor(ys, y), named(x), named(y));
    const dots = (keep, name, size, hollow) =>
        c.dots(
            trials
                .filter(keep)
                .map((i) => [c.clampX(xs[i]), c.clampY(ys[i]), i]),
            color(name),
            size,
            hollow,
        );
    c.ctx.globalAlpha = N > 2000 ? 0.5 : 0.8;
    dots((i) => !onFront.has(i) && withinLimits(i), "soft", dotSize(N));
    dots((i) => !onFront.has(i) && !withinLimits(i), "bad", dotSize(N), true);
    c.ctx.globalAlpha = 1;
    const front = trials.filter((i) => onFront.has(i));
    if (O.items.length === 2 && objectiveOf(x) && objectiveOf(y))
        stairs(c, front, xs, ys, x);
    dots((i) => onFront.has(i), "accent", 4);
    if (O.knee === null || !trials.includes(O.knee)) return;
    c.ctx.strokeStyle = color("best");
    c.ctx.lineWidth = 2;
    c.ctx.beginPath();
    c.ctx.arc(c.clampX(xs[O.knee]), c.clampY(ys[O.knee]), 8, 0, 7);
    c.ctx.stroke();
}

/* What the front of two objectives dominates has this border. */
function stairs(c, front, xs, ys, x) {
    const list = [...front].sort((a, b) => xs[a] - xs[b]),
        first = goodSideOf(x) === "low";
    c.ctx.strokeStyle = color("accent");
    c.ctx.lineWidth = 1.5;
    c.ctx.beginPath();
    list.forEach((i, k) => {
        const at = [c.clampX(xs[i]), c.clampY(ys[i])],
            before = list[k - 1];
        if (k > 0)
            c.ctx.lineTo(
                first ? at[0] : c.clampX(xs[before]),
                first ? c.clampY(ys[before]) : at[1],
            );
        if (k > 0) c.ctx.lineTo(...at);
        else c.ctx.moveTo(...at);
    });
    c.ctx.stroke();
}

function paintGrowth(c) {
    const last = Math.max(2, O.results),
        growth = O.growth.filter((g) => g[1] !== null),
        top = most(growth.map((g) => g[1]));
    c.axes(
        countScale(1, last),
        scale(0, top > 0 ? 1.05 * top : 1, false),
        "results, in the order of their ends",
        "hypervolume",
    );
    c.ctx.strokeStyle = color("best");
    c.ctx.lineWidth = 2;
    c.ctx.beginPath();
    let before = 0;
    growth.forEach(([k, v], i) => {
        if (i > 0) c.ctx.lineTo(c.px(k), c.py(before));
        c.ctx[i > 0 ? "lineTo" : "moveTo"](c.px(k), c.py(v));
        c.hits.push([
            c.px(k),
            c.py(v),
            -1,
            [el("b", null, format(v)), pairs([["behind result", k]])],
        ]);
        before = v;
    });
    if (growth.length === O.growth.length)
        c.ctx.lineTo(c.px(last), c.py(before));
    c.ctx.stroke();
}

function frontTable() {
    const rows = O.front.slice(0, 200);
    return el(
        "div",
        { class: "scroll rows front" },
        el(
            "table",
            null,
            el(
                "thead",
                null,
                el(
                    "tr",
                    null,
                    ["trial", ...frontNames()].map((n) => el("th", null, n)),
                ),
            ),
            el(
                "tbody",
                null,
                rows.map((i) =>
                    el(
                        "tr",
                        { onclick: () => select(i) },
                        el(
                            "td",
                            null,
                            T.id[i] + (i === O.knee ? " (knee)" : ""),
                        ),
                        frontNames().map((n) =>
                            el("td", null, format(valueNamed(n).cells[i])),
                        ),
                    ),
                ),
            ),
        ),
    );
}

function volumeNote() {
    if (!O.growth || O.growth.length === 0) return null;
    const [k, v] = O.growth[O.growth.length - 1];
    return (
        "hypervolume " +
        (v === null ? "not computed of so many" : format(v)) +
        ", grew last " +
        plural(O.results - k, "result") +
        " ago"
    );
}

function frontSection() {
    if (!several) return [];
    const chart = new Chart({
        height: 380,
        paint: paintFront,
        name: "two values of the results, and the front",
    });
    const draw = () => chart.draw(),
        names = frontNames().map((n) => [n, n]);
    [state.frontx, state.fronty] = frontAxes();
    const growth =
        O.growth && O.growth.length > 0
            ? new Chart({
                  height: 200,
                  paint: paintGrowth,
                  name: "the hypervolume over the results",
              })
            : null;
    return [
        el(
            "h2",
            null,
            "Front ",
            el(
                "small",
                null,
                "results that no other one dominates" +
                    (O.limits.length ? "; " + O.limits.join("; ") : ""),
            ),
        ),
        el(
            "div",
            { class: "tools" },
            chooser("frontx", "across", names, draw),
            chooser("fronty", "up", names, draw),
        ),
        legend([
            ["accent", "on the front"],
            ["best", "ring: the knee", true],
            ["soft", "dominated"],
            ...(O.violation ? [["bad", "beyond limits", true]] : []),
        ]),
        chart.node,
        growth ? el("h2", null, "Hypervolume ") : null,
        growth ? growth.node : null,
        el("h2", null, "The front's results"),
        frontTable(),
    ];
}
