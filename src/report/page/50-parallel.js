/* Parallel coordinates: a line for each result, an axis for each parameter.
 * What a trial does not have lies under its axis.  Dragging along an axis
 * chooses a range, which the table shows, too. */

const FEW_AXES = 10,
    LINES_A_STROKE = 150,
    BINS = 24,
    TOP = 10;

function shownAxes() {
    const list =
        state.axes === "1" || plotted.length <= FEW_AXES
            ? plotted
            : byShare(plotted)
                  .slice(0, FEW_AXES)
                  .sort((a, b) => a.at - b.at);
    return [...list, resultAxis];
}

const atBudget = (i) =>
    state.budget === "" || budget[i] === Number(state.budget);
/* One that was paused at its budget has a result there. */
const judged = (i) =>
    Number.isFinite(result[i]) &&
    (counts(i) ||
        (statusOf(i) === "paused" && !(T.base[i] + T.reports[i] < budget[i])));
const withResult = () =>
    Array.from(T.id, (_, i) => i).filter((i) => judged(i) && atBudget(i));

class Parallel {
    constructor() {
        this.chart = new Chart({
            height: 400,
            paint: (c) => this.paint(c),
            name: "parallel coordinates",
            margin: { left: 40, right: 40, top: 30, bottom: 34 },
            minWidth: 0,
        });
        const base = this.chart.base;
        base.style.touchAction = "pan-y";
        base.addEventListener("pointerdown", (e) => this.begin(e));
        base.addEventListener("pointermove", (e) => this.drag(e));
        base.addEventListener("pointerup", (e) => this.end(e));
        on("brush", () => this.chart.draw());
    }

    axisX(k) {
        return (
            this.chart.box.x +
            (k * this.chart.box.w) / Math.max(1, this.list.length - 1)
        );
    }

    lineY(p, v) {
        const { box } = this.chart;
        return Number.isNaN(v)
            ? box.y + box.h + 14
            : box.y + (1 - Math.min(1, Math.max(0, axisOf(p).part(v)))) * box.h;
    }

    /* Those with the same choice lie beside each other. */
    trialY(p, i) {
        const s = axisOf(p),
            v = p.cells[i],
            beside = ((i * 0.618034) % 1) - 0.5;
        return (
            this.lineY(p, v) +
            (Number.isNaN(v)
                ? 8 * beside
                : s.band
                  ? beside * 0.5 * s.band * this.chart.box.h
                  : 0)
        );
    }

    stroke(trials, style, alpha) {
        const { ctx } = this.chart;
        ctx.strokeStyle = style;
        ctx.globalAlpha = alpha;
        for (let at = 0; at < trials.length; at += LINES_A_STROKE) {
            ctx.beginPath();
            for (const i of trials.slice(at, at + LINES_A_STROKE))
                this.list.forEach((p, k) => {
                    const x = this.axisX(k),
                        y = this.trialY(p, i);
                    if (k) ctx.lineTo(x, y);
                    else ctx.moveTo(x, y);
                });
            ctx.stroke();
        }
        ctx.globalAlpha = 1;
    }

    paint(c) {
        this.list = shownAxes();
        const trials = withResult(),
            place = places(trials);
        const kept =
            brushed === null ? trials : trials.filter((i) => brushed[i]);
        const bins = Array.from({ length: BINS }, () => []);
        for (const i of kept)
            bins[Math.min(BINS - 1, Math.floor(place.get(i) * BINS))].push(i);
        c.ctx.lineWidth = 1;
        c.ctx.lineJoin = "bevel";
        if (brushed !== null)
            this.stroke(
                trials,
                color("faint"),
                Math.min(0.4, 60 / trials.length),
            );
        for (let b = BINS - 1; b >= 0; b--) {
            this.stroke(
                bins[b],
                ramp(b / (BINS - 1)),
                Math.max(0.07, Math.min(0.85, 250 / kept.length)),
            );
        }
        this.stroke([...kept].sort(byResult).slice(0, TOP), ramp(0), 0.8);
        this.list.forEach((p, k) => this.axis(c, p, k));
        if (selected >= 0) {
            c.ctx.lineWidth = 3;
            this.stroke([selected], color("best"), 1);
        }
    }

    axis(c, p, k) {
        const { ctx, box } = c,
            x = Math.round(this.axisX(k)) + 0.5,
            s = axisOf(p);
        const room = box.w / this.list.length - 8;
        ctx.strokeStyle = color("soft");
        ctx.lineWidth = 1;
        ctx.beginPath();
        ctx.moveTo(x, box.y);
        ctx.lineTo(x, box.y + box.h);
        ctx.stroke();
        const last = k === this.list.length - 1;
        ctx.fillStyle = color("text");
        const wide = this.list.length > 8,
            name = c.fitted(p.name, wide ? 2 * room : room),
            half = ctx.measureText(name).width / 2 + 3;
        c.text(
            name,
            Math.min(c.width - half, Math.max(half, x)),
            wide && k % 2 ? 20 : 8,
            "center",
            "middle",
        );
        ctx.lineWidth = 3;
        for (const t of s.ticks(6)) {
            const y = this.lineY(p, t),
                words = c.fitted(s.label(t), room * 0.7);
            ctx.strokeStyle = color("bg");
            ctx.textAlign = last ? "right" : "left";
            ctx.textBaseline = "middle";
            ctx.strokeText(words, last ? x - 5 : x + 5, y);
            ctx.fillStyle = color("text");
            ctx.fillText(words, last ? x - 5 : x + 5, y);
        }
        const part = brushes[p.name];
        if (!part) return;
        ctx.fillStyle = color("best");
        ctx.globalAlpha = 0.3;
        ctx.fillRect(
            x - 8,
            box.y + (1 - part[1]) * box.h,
            16,
            Math.max(3, (part[1] - part[0]) * box.h),
        );
        ctx.globalAlpha = 1;
    }

    at(event) {
        const rect = this.chart.base.getBoundingClientRect(),
            { box } = this.chart;
        const x = event.clientX - rect.left,
            y = event.clientY - rect.top;
        const k = Math.round(((x - box.x) / box.w) * (this.list.length - 1));
        const near = this.list[k] && Math.abs(this.axisX(k) - x) < 24;
        return {
            p: near ? this.list[k] : null,
            part: Math.min(1, Math.max(0, 1 - (y - box.y) / box.h)),
        };
    }

    begin(event) {
        const { p, part } = this.at(event);
        if (p === null) return;
        this.chart.base.setPointerCapture(event.pointerId);
        this.held = { p, part };
    }

    drag(event) {
        const here = this.at(event);
        this.chart.base.style.cursor = here.p || this.held ? "ns-resize" : "";
        if (!this.held || Math.abs(here.part - this.held.part) < 0.01) return;
        brush(this.held.p.name, [
            Math.min(here.part, this.held.part),
            Math.max(here.part, this.held.part),
        ]);
    }

    end(event) {
        if (this.held && Math.abs(this.at(event).part - this.held.part) < 0.01)
            brush(this.held.p.name, null);
        this.held = null;
    }
}

function budgetChooser(changed) {
    if (!hasBudgets) return null;
    const all = [...new Set(budget.filter(Number.isFinite))].sort(
        (a, b) => b - a,
    );
    return chooser(
        "budget",
        "budget",
        [["", "all"], ...all.map((b) => [String(b), format(b)])],
        changed,
    );
}

function parallel() {
    const plot = new Parallel(),
        said = el("span");
    const tellCount = () => {
        const trials = withResult(),
            n =
                brushed === null
                    ? trials.length
                    : trials.filter((i) => brushed[i]).length;
        said.textContent =
            brushed === null
                ? plural(n, "result")
                : n.toLocaleString("en") +
                  " of " +
                  plural(trials.length, "result") +
                  " chosen";
        clear.hidden = show.hidden = brushed === null;
    };
    const clear = el(
        "button",
        {
            onclick: clearBrushes,
        },
        "Clear",
    );
    const show = el(
        "button",
        { onclick: () => openTab("table") },
        "Show in the table",
    );
    on("brush", tellCount);
    on("trial", () => plot.chart.draw());
    const redraw = () => {
        plot.chart.minWidth = 85 * (shownAxes().length - 1);
        plot.chart.width = 0;
        plot.chart.fit();
        tellCount();
    };
    redraw();
    const more =
        plotted.length > FEW_AXES
            ? checkbox("axes", "all " + plotted.length + " parameters", redraw)
            : null;
    return [
        el("h2", null, "Parallel coordinates"),
        el(
            "p",
            { class: "note" },
            "Drag along an axis to choose a range; a click on it takes the range away. " +
                (dark.matches ? "The brighter" : "The darker") +
                " a line, the better its result; what a trial does not have lies under the axis.",
        ),
        el("div", { class: "tools" }, more, said, clear, show),
        el("div", { class: "scroll" }, plot.chart.node),
    ];
}
