/* Parallel coordinates: a line for each result, an axis for each parameter.
 * Under an axis that some trials lack is a box for those.  Dragging along an
 * axis chooses a range, which the table shows, too. */

const FEW_AXES = 10,
    LINES_A_STROKE = 150,
    BINS = 24,
    TOP = 10,
    BOX = 40,
    BOX_GAP = 14;

const allAxes = () => [...plotted, ...M];
const usualAxes = () => [
    ...byShare(plotted)
        .slice(0, FEW_AXES)
        .map((p) => p.name),
    ...(several
        ? O.items
              .slice(1)
              .map((o) => valueNamed(o.name))
              .filter((m) => m !== null)
              .map((m) => m.name)
        : []),
];

function shownAxes() {
    const names = new Set(picked("axes", usualAxes()));
    return [...allAxes().filter((p) => names.has(p.name)), resultAxis];
}

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

    /* Of an axis; below it are the boxes, where there are any. */
    get high() {
        return this.chart.box.h - (this.lacked.size ? BOX + BOX_GAP : 0);
    }

    partY(part) {
        const { y, h } = this.chart.box;
        return part < 0 ? y + h - BOX / 2 : y + (1 - part) * this.high;
    }

    /* Those with the same choice, or none, lie beside each other. */
    trialY(p, i) {
        const part = partOf(p, i),
            room = part < 0 ? BOX : (axisOf(p).band || 0) * this.high;
        return this.partY(part) + beside(i) * room * (part < 0 ? 0.9 : 0.5);
    }

    stroke(trials, style, alpha) {
        const { ctx } = this.chart;
        ctx.strokeStyle = style;
        for (let at = 0; at < trials.length; at += LINES_A_STROKE) {
            const some = trials.slice(at, at + LINES_A_STROKE);
            this.strokeParts(some, alpha, false);
            if (this.lacked.size) this.strokeParts(some, alpha / 4, true);
        }
        ctx.globalAlpha = 1;
    }

    /* From box to box a line tells little: it is paler there. */
    strokeParts(trials, alpha, boxes) {
        const { ctx } = this.chart;
        ctx.globalAlpha = alpha;
        ctx.beginPath();
        for (const i of trials)
            this.list.forEach((p, k) => {
                const x = this.axisX(k),
                    y = this.trialY(p, i),
                    before = this.list[k - 1];
                const none =
                    k > 0 &&
                    Number.isNaN(p.cells[i]) &&
                    Number.isNaN(before.cells[i]);
                if (k > 0 && none === boxes) ctx.lineTo(x, y);
                else ctx.moveTo(x, y);
            });
        ctx.stroke();
    }

    paint(c) {
        this.list = shownAxes();
        const trials = withResult(),
            place = places(trials);
        this.lacked = new Set(
            this.list.filter((p) =>
                trials.some((i) => Number.isNaN(p.cells[i])),
            ),
        );
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
        ctx.lineTo(x, box.y + this.high);
        if (this.lacked.has(p)) ctx.rect(x - 4, box.y + box.h - BOX, 8, BOX);
        ctx.stroke();
        const last = k === this.list.length - 1;
        ctx.fillStyle = color("text");
        const wide = this.list.length > 8,
            name = c.fitted(p.title || p.name, wide ? 2 * room : room),
            half = ctx.measureText(name).width / 2 + 3;
        c.text(
            name,
            Math.min(c.width - half, Math.max(half, x)),
            wide && k % 2 ? 20 : 8,
            "center",
            "middle",
        );
        ctx.lineWidth = 3;
        const ticks = s
            .ticks(6)
            .map((t) => [this.partY(s.part(t)), s.label(t)]);
        if (this.lacked.has(p)) ticks.push([this.partY(-1), "not set"]);
        for (const [y, label] of ticks) {
            const words = c.fitted(label, room * 0.7);
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
        if (part[0] < 0) ctx.fillRect(x - 8, box.y + box.h - BOX, 16, BOX);
        if (part[1] >= 0) {
            const y = this.partY(part[1]);
            ctx.fillRect(
                x - 8,
                y,
                16,
                Math.max(3, this.partY(Math.max(0, part[0])) - y),
            );
        }
        ctx.globalAlpha = 1;
    }

    at(event) {
        const rect = this.chart.base.getBoundingClientRect(),
            { box } = this.chart;
        const x = event.clientX - rect.left,
            y = event.clientY - rect.top;
        const k = Math.round(((x - box.x) / box.w) * (this.list.length - 1));
        const near = this.list[k] && Math.abs(this.axisX(k) - x) < 24;
        const boxed =
            near &&
            this.lacked.has(this.list[k]) &&
            y > box.y + this.high + BOX_GAP / 2;
        return {
            p: near ? this.list[k] : null,
            part: boxed
                ? -1
                : Math.min(1, Math.max(0, 1 - (y - box.y) / this.high)),
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
        if (
            this.held &&
            Math.abs(this.at(event).part - this.held.part) < 0.01
        ) {
            const { p, part } = this.held;
            brush(p.name, part < 0 && !brushes[p.name] ? [-1, -1] : null);
        }
        this.held = null;
    }
}

function budgetChooser(changed) {
    if (budgets.length < 2) return null;
    return chooser(
        "budget",
        "budget",
        [["", "all"], ...budgets.map((b) => [String(b), format(b)])],
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
    on("controls", tellCount);
    const axes = picker(
        "axes",
        "axes",
        allAxes().map((p) => p.name),
        usualAxes(),
        redraw,
    );
    return [
        el("h2", null, "Parallel coordinates"),
        el(
            "p",
            { class: "note" },
            "Drag along an axis to choose a range; a click on it takes the range away. " +
                (dark.matches ? "The brighter" : "The darker") +
                " a line, the better its result; trials that lack a parameter go through the box under its axis, on which a click chooses them.",
        ),
        el("div", { class: "tools" }, axes, said, clear, show),
        el("div", { class: "scroll" }, plot.chart.node),
    ];
}
