/* Slices: each parameter against the result, or what else was reported. */

const SLICES = 24;
const measured = () => M.find((m) => m.name === state.measure) || resultAxis;

function sliceChart(p) {
    const paint = (c) => {
        const trials = withResult(),
            place = places(trials),
            m = measured();
        c.axes(axisOf(p), axisOf(m));
        const bins = Array.from({ length: 12 }, () => []);
        for (const i of trials) {
            if (Number.isNaN(p.cells[i]) || Number.isNaN(m.cells[i])) continue;
            const spread = beside(i) * 0.6 * c.box.w * (c.x.band || 0);
            bins[Math.min(11, Math.floor(place.get(i) * 12))].push([
                c.px(p.cells[i]) + spread,
                c.clampY(m.cells[i]),
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
        grid = el("div", { class: "grid" });
    const add = (p) => {
        const chart = sliceChart(p);
        const share = p.share > 0 ? " · " + percent(p.share) : "";
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
    return [
        el(
            "h2",
            null,
            "Slices ",
            el("small", null, "value by parameter, the most important first"),
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
    const draw = () => tell("draw"),
        tools = valueTools(draw),
        tellBeyond = () => tools.tellBeyond(axisOf(measured()));
    on("controls", tellBeyond);
    tellBeyond();
    return [
        el(
            "div",
            { class: "tools" },
            budgetChooser(draw),
            M.length > 0
                ? chooser(
                      "measure",
                      "value",
                      [
                          ["", resultTitle("result")],
                          ...M.map((m) => [m.name, m.name]).filter(
                              ([name]) => name !== resultTitle("result"),
                          ),
                      ],
                      draw,
                  )
                : null,
            tools.node,
        ),
        parallel(),
        contour(),
        slices(),
    ];
}
