/* The family tree of a population, and the schedules that its lines ran. */

const depth = new Int32Array(N);
for (let i = 0; i < N; i++)
    depth[i] = from[i] === null ? 0 : depth[from[i]] + 1;

/* A line goes on in its row; a clone takes the row of one that ended. */
function familyRows() {
    const generations = [],
        row = new Int32Array(N).fill(-1);
    for (let i = 0; i < N; i++)
        (generations[depth[i]] = generations[depth[i]] || []).push(i);
    let rows = generations.length ? generations[0].length : 0;
    generations.forEach((list, g) => {
        const taken = new Set(),
            rest = [];
        for (const i of list) {
            const wish = g === 0 ? list.indexOf(i) : row[from[i]];
            if (T.cloned[i] === 1 || taken.has(wish)) rest.push(i);
            else taken.add((row[i] = wish));
        }
        let free = 0;
        for (const i of rest) {
            while (taken.has(free)) free++;
            taken.add((row[i] = free));
            rows = Math.max(rows, free + 1);
        }
    });
    return { row, rows, generations: generations.length };
}

const family = hasFrom ? familyRows() : null;

function paintFamily(c) {
    const { row, rows, generations } = family,
        place = places(
            Array.from(T.id, (_, i) => i).filter((i) =>
                Number.isFinite(result[i]),
            ),
        );
    const names = Array.from({ length: generations }, (_, g) => String(g));
    c.axes(bandScale(names), scale(rows - 0.5, -0.5, false), "generation");
    const spot = (i) => [
        c.px(depth[i]),
        c.box.y + ((row[i] + 0.5) / rows) * c.box.h,
    ];
    const edges = (style, width, list) => {
        c.ctx.strokeStyle = style;
        c.ctx.lineWidth = width;
        c.ctx.beginPath();
        for (const i of list) {
            const [x, y] = spot(from[i]),
                [a, b] = spot(i),
                m = (x + a) / 2;
            c.ctx.moveTo(x, y);
            if (y === b) c.ctx.lineTo(a, b);
            else c.ctx.bezierCurveTo(m, y, m, b, a, b);
        }
        c.ctx.stroke();
    };
    const all = Array.from(T.id, (_, i) => i),
        linked = all.filter((i) => from[i] !== null);
    edges(
        color("faint"),
        1,
        linked.filter((i) => T.cloned[i] === 0),
    );
    edges(
        color("stop"),
        1.3,
        linked.filter((i) => T.cloned[i] === 1),
    );
    if (shownLine() >= 0)
        edges(
            color("best"),
            3,
            lineage(shownLine()).filter((i) => from[i] !== null),
        );
    const size = Math.max(
        2,
        Math.min(6, c.box.h / rows / 2.4, c.box.w / generations / 2.4),
    );
    const bins = Array.from({ length: 12 }, () => []),
        none = [];
    for (const i of all)
        (place.has(i)
            ? bins[Math.min(11, Math.floor(place.get(i) * 12))]
            : none
        ).push([...spot(i), i]);
    c.dots(none, color("soft"), size, true);
    for (let b = 11; b >= 0; b--) c.dots(bins[b], ramp(b / 11), size);
}

/* The selected trial's line, else that of the best. */
const shownLine = () => (selected >= 0 ? selected : bestTrial);

/* Up to the checkpoint from which the next one goes on; there may be none. */
function ranTo(t, next) {
    const end = data.curves[t] === null ? T.base[t] : lastStep(t) + 1;
    return next === undefined ? end : Math.min(end, T.base[next]);
}

/* From which step to which each of a line ran, and with what. */
function schedule(i) {
    return lineage(i).map((t, k, line) => ({
        trial: T.id[t],
        how: from[t] === null ? "began" : T.cloned[t] ? "cloned" : "went on",
        from_step: T.base[t],
        to_step: ranTo(t, line[k + 1]),
        value: T.value[t] === null ? T.latest[t] : T.value[t],
        parameters: parametersOf(t),
        at: t,
    }));
}

function paintSchedule(c) {
    const p =
        plotted.find((q) => q.name === state.schedule) || byShare(plotted)[0];
    if (!p) return;
    const all = Array.from(T.id, (_, i) => i).filter(
        (i) => data.curves[i] !== null && !Number.isNaN(p.cells[i]),
    );
    const last = all.reduce((m, i) => Math.max(m, lastStep(i) + 1), 1);
    c.axes(scale(0, last, false), axisOf(p), "step", p.name);
    const trace = (list, isLine) => {
        c.ctx.beginPath();
        list.forEach((i, k) => {
            const end = c.px(ranTo(i, isLine ? list[k + 1] : undefined));
            const y = c.clampY(p.cells[i]),
                f = from[i];
            if (f !== null && !Number.isNaN(p.cells[f]))
                c.ctx.moveTo(c.px(T.base[i]), c.clampY(p.cells[f]));
            else c.ctx.moveTo(c.px(T.base[i]), y);
            c.ctx.lineTo(c.px(T.base[i]), y);
            c.ctx.lineTo(end, y);
            c.hits.push([end, y, i]);
        });
        c.ctx.stroke();
    };
    c.ctx.strokeStyle = color("soft");
    c.ctx.globalAlpha = Math.max(0.1, Math.min(0.6, 100 / all.length));
    c.ctx.lineWidth = 1;
    trace(all, false);
    c.ctx.globalAlpha = 1;
    if (shownLine() < 0) return;
    c.ctx.strokeStyle = color("best");
    c.ctx.lineWidth = 3;
    trace(
        lineage(shownLine()).filter(
            (i) => data.curves[i] !== null && !Number.isNaN(p.cells[i]),
        ),
        true,
    );
}

/* Parameters that change within a line; all where none does. */
function scheduleTable(line) {
    const moves = plotted.filter((p) =>
            line.some((s) => p.cells[s.at] !== p.cells[line[0].at]),
        ),
        list = moves.length ? moves : plotted;
    return table(
        [
            "trial",
            "",
            "from step",
            "to step",
            "value",
            ...list.map((p) => p.name),
        ],
        line.map((s) => [
            s.trial,
            s.how,
            s.from_step,
            s.to_step,
            format(s.value),
            ...list.map((p) => cellText(p, s.at)),
        ]),
        () => false,
    );
}

function familySection() {
    const tree = new Chart({
        height: () => Math.min(900, Math.max(160, 16 * family.rows + 50)),
        paint: paintFamily,
        name: "family tree",
        margin: { left: 14 },
        minWidth: Math.min(6000, 9 * family.generations),
    });
    const lines = new Chart({
            height: 260,
            paint: paintSchedule,
            name: "schedules",
        }),
        place = el("div"),
        title = el("small");
    const draw = () => {
        const i = shownLine(),
            line = i < 0 ? [] : schedule(i);
        title.textContent =
            i < 0
                ? ""
                : selected >= 0
                  ? "trial " + T.id[i]
                  : "the best trial, " + T.id[i];
        const text = () =>
            JSON.stringify(
                line.map(({ at, ...rest }) => rest),
                null,
                2,
            );
        place.replaceChildren(
            ...(line.length ? [copyButton(text), scheduleTable(line)] : []),
        );
        tree.draw();
        lines.draw();
    };
    draw();
    on("trial", draw);
    return [
        el(
            "h2",
            null,
            "Family tree ",
            el(
                "small",
                null,
                "a row is a line of trials, each of which goes on from the one before; click on one for its line",
            ),
        ),
        legend([
            ["faint", "goes on with the same parameters"],
            ["stop", "clone of another"],
            ["best", "the line below"],
        ]),
        el("div", { class: "scroll" }, tree.node),
        el("h2", null, "Schedules"),
        el(
            "div",
            { class: "tools" },
            chooser(
                "schedule",
                "parameter",
                byShare(plotted).map((p) => [p.name, p.name]),
                () => lines.draw(),
            ),
        ),
        lines.node,
        el("h2", null, "Schedule of ", title),
        place,
    ];
}
