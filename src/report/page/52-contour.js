/* Contour: the value over two parameters.  What is drawn at a spot is the mean
 * of the trials near it, weighed by a Gaussian of their distance, so that it
 * lies between what was seen; where none is near nothing is drawn.  A category
 * has only its own trials. */

/* The Gaussian's deviation, as a part of an axis; it ends after REACH of them.
 * A cell is so many pixels wide. */
const NEAR = 0.05,
    REACH = 3,
    CELL = 4,
    SHADES = 12;

function contourAxes() {
    const list = byShare(plotted),
        find = (key, usual) => list.find((p) => p.name === state[key]) || usual;
    return [find("across", list[0]), find("up", list[1])];
}

const contourTrials = (p, q, m) =>
    withResult().filter((i) =>
        [p, q, m].every((axis) => !Number.isNaN(axis.cells[i])),
    );

/* The weights of the cells along an axis for a trial: [cell, weight]. */
function cellWeights(part, n, band) {
    if (band) return [[Math.min(n - 1, Math.floor(part * n)), 1]];
    const first = Math.max(0, Math.floor((part - REACH * NEAR) * n)),
        last = Math.min(n - 1, Math.floor((part + REACH * NEAR) * n)),
        weights = [];
    for (let k = first; k <= last; k++)
        weights.push([
            k,
            Math.exp(-0.5 * (((k + 0.5) / n - part) / NEAR) ** 2),
        ]);
    return weights;
}

/* Of each cell the sum of the weights, and that of the values. */
function contourGrid(trials, [p, q, m], columns, rows) {
    const weights = new Float64Array(columns * rows),
        sums = new Float64Array(columns * rows);
    for (const i of trials) {
        const value = partOf(m, i),
            across = cellWeights(partOf(p, i), columns, axisOf(p).band),
            up = cellWeights(partOf(q, i), rows, axisOf(q).band);
        for (const [y, b] of up)
            for (const [x, a] of across) {
                weights[y * columns + x] += a * b;
                sums[y * columns + x] += a * b * value;
            }
    }
    return { weights, sums };
}

/* 0 is the best result; of what has no good side, the highest value. */
const levelColor = (m, part) => {
    const rank = m.isResult && minimize ? part : 1 - part;
    return ramp(Math.min(SHADES - 1, Math.floor(rank * SHADES)) / (SHADES - 1));
};

function paintContour(c) {
    const [p, q] = contourAxes(),
        m = measured(),
        trials = contourTrials(p, q, m),
        { box } = c;
    const cells = (axis, room) =>
        axisOf(axis).band
            ? axisOf(axis).high
            : Math.max(1, Math.round(room / CELL));
    const columns = cells(p, box.w),
        rows = cells(q, box.h),
        w = box.w / columns,
        h = box.h / rows,
        least = Math.exp(-0.5 * 2 ** 2); /* one trial, two deviations away */
    c.axes(axisOf(p), axisOf(q), p.name, q.name);
    const { weights, sums } = contourGrid(trials, [p, q, m], columns, rows);
    for (let y = 0; y < rows; y++)
        for (let x = 0; x < columns; x++) {
            const at = y * columns + x;
            if (weights[at] < least) continue;
            c.ctx.fillStyle = levelColor(m, sums[at] / weights[at]);
            const left = Math.round(box.x + x * w),
                low = Math.round(box.y + box.h - y * h);
            c.ctx.fillRect(
                left,
                low,
                Math.round(box.x + (x + 1) * w) - left,
                Math.round(box.y + box.h - (y + 1) * h) - low,
            );
        }
    const dots = trials.map((i) => [
        c.px(p.cells[i]) + beside(i) * 0.6 * (axisOf(p).band || 0) * box.w,
        c.py(q.cells[i]) + beside(i * i) * 0.6 * (axisOf(q).band || 0) * box.h,
        i,
    ]);
    const size = dotSize(trials.length);
    if (size > 2) c.dots(dots, color("bg"), size + 1);
    c.hits = [];
    c.ctx.globalAlpha = size > 2 ? 1 : 0.5;
    c.dots(dots, color("text"), size);
    c.ctx.globalAlpha = 1;
    contourKey(c, m);
}

/* Which colour is which value, over the chart. */
function contourKey(c, m) {
    const s = axisOf(m),
        wide = Math.min(160, c.box.w / 3),
        x = c.box.x + c.box.w / 2 - wide / 2;
    for (let k = 0; k < SHADES; k++) {
        c.ctx.fillStyle = levelColor(m, (k + 0.5) / SHADES);
        c.ctx.fillRect(x + (k * wide) / SHADES, 6, wide / SHADES + 0.5, 10);
    }
    c.ctx.fillStyle = color("soft");
    c.text(s.label(s.low), x - 6, 11, "right", "middle");
    c.text(s.label(s.high), x + wide + 6, 11, "left", "middle");
}

function contour() {
    if (plotted.length < 2) return [];
    const said = el("span"),
        names = byShare(plotted).map((p) => [p.name, p.name]);
    const chart = new Chart({
        height: 420,
        paint: paintContour,
        name: "contour of two parameters",
        margin: { top: 26, left: 76 },
    });
    const draw = () => {
        const [p, q] = contourAxes();
        said.textContent =
            plural(contourTrials(p, q, measured()).length, "trial") +
            " with both";
        chart.draw();
    };
    on("controls", draw);
    draw();
    return [
        el("h2", null, "Contour ", el("small", null, "of two parameters")),
        el(
            "p",
            { class: "note" },
            "The mean of the trials near each spot, the nearer the weightier; blank where none is near, within about a tenth of the axes. Dots are trials; a category has only its own.",
        ),
        el(
            "div",
            { class: "tools" },
            chooser("across", "across", names, () => {}),
            chooser(
                "up",
                "up",
                [names[1], names[0], ...names.slice(2)],
                () => {},
            ),
            said,
        ),
        chart.node,
    ];
}
