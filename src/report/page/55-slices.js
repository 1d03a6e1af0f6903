/* Slices: each parameter against the result. */

const SLICES = 24;

function sliceChart(p) {
    const paint = (c) => {
        const trials = withResult(),
            place = places(trials),
            log = state.logy === "1";
        c.axes(
            axisOf(p),
            padded(
                range(
                    trials.map((i) => result[i]),
                    state.clip === "1",
                    log,
                ),
                log,
            ),
        );
        const bins = Array.from({ length: 12 }, () => []);
        for (const i of trials) {
            if (Number.isNaN(p.cells[i])) continue;
            const spread =
                p.scale === "choice"
                    ? (((i * 0.618034 + 0.5) % 1) - 0.5) *
                      0.6 *
                      c.box.w *
                      c.x.band
                    : 0;
            bins[Math.min(11, Math.floor(place.get(i) * 12))].push([
                c.px(p.cells[i]) + spread,
                c.clampY(result[i]),
                i,
            ]);
        }
        c.ctx.globalAlpha = N > 2000 ? 0.6 : 0.85;
        for (let b = 11; b >= 0; b--) c.dots(bins[b], ramp(b / 11), dotSize(N));
        c.ctx.globalAlpha = 1;
    };
    return new Chart({
        height: 210,
        paint,
        name: p.name + " against the result",
        margin: { bottom: 22, left: 52 },
    });
}

function slices() {
    const list = byShare(plotted),
        grid = el("div", { class: "grid" }),
        charts = [];
    const add = (p) => {
        const chart = sliceChart(p);
        const share = p.share > 0 ? " · " + percent(p.share) : "";
        charts.push(chart);
        grid.append(
            el(
                "div",
                null,
                el("h3", { title: p.name }, p.name + share),
                chart.node,
            ),
        );
    };
    const more = addMore(list, SLICES, add);
    const draw = () => charts.forEach((c) => c.draw());
    return [
        el(
            "h2",
            null,
            "Slices ",
            el("small", null, "value by parameter, the most important first"),
        ),
        el(
            "div",
            { class: "tools" },
            checkbox("clip", "clip what is far off", draw),
            checkbox("logy", "logarithmic", draw),
        ),
        grid,
        more,
    ];
}

function parameters() {
    if (plotted.length === 0)
        return [
            el(
                "p",
                { class: "note" },
                "No trial has parameters that can be drawn.",
            ),
        ];
    const chosen = budgetChooser(() => {
        tell("brush");
        tell("draw");
    });
    return [
        chosen ? el("div", { class: "tools" }, chosen) : null,
        parallel(),
        slices(),
    ];
}
