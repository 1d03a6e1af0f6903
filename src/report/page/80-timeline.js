/* Timeline: each attempt at a trial as a bar, by device, or by slot where no
 * devices are managed. */

const bars = data.attempts
    .map(([trial, attempt, begin, end, device]) => ({
        trial,
        attempt,
        begin: begin || 0,
        device,
        end:
            end !== null
                ? end
                : Number.isNaN(ended[trial])
                  ? lastMoment
                  : ended[trial],
    }))
    .sort((a, b) => a.begin - b.begin);

/* Bars beside each other: the first row that is free; the rows' number. */
function stack(list, take) {
    const free = [];
    for (const b of list) {
        let k = free.findIndex((end) => end <= b.begin + 1e-6);
        if (k < 0) k = free.push(0) - 1;
        free[k] = b.end;
        take(b, k);
    }
    return free.length;
}

/* A bar of "0,1" is on two devices; a device may have several at a time. */
function lanes() {
    const names = [...new Set(data.devices.flatMap((d) => d.split(",")))].sort(
        (a, b) => a - b || (a < b ? -1 : 1),
    );
    const on = bars.map((b) =>
            b.device === null ? [""] : data.devices[b.device].split(","),
        ),
        out = [];
    bars.forEach((b) => {
        b.lanes = [];
    });
    for (const d of [...names, ""]) {
        const first = out.length,
            n = stack(
                bars.filter((_, i) => on[i].includes(d)),
                (b, k) => b.lanes.push(first + k),
            );
        for (let k = 0; k < n; k++)
            out.push(
                d !== ""
                    ? k
                        ? ""
                        : "device " + d
                    : names.length
                      ? k
                          ? ""
                          : "no device"
                      : "slot " + (k + 1),
            );
    }
    return out;
}

class Timeline {
    constructor() {
        this.names = lanes();
        this.whole();
        this.chart = new Chart({
            height: () =>
                Math.min(1400, Math.max(100, 22 * this.names.length + 46)),
            paint: (c) => this.paint(c),
            name: "timeline of trials",
            margin: { left: 84 },
            click: true,
        });
        const base = this.chart.base;
        base.style.touchAction = "pan-y";
        base.addEventListener("pointerdown", (e) => {
            this.from = this.timeAt(e);
        });
        base.addEventListener("pointerup", (e) => this.zoom(e));
        base.addEventListener("dblclick", () => {
            this.whole();
            this.chart.draw();
        });
        this.chart.nearest = (e) => this.under(e);
    }

    whole() {
        this.view = [
            0,
            Math.max(1e-3, elapsedEnd(), most(bars.map((b) => b.end))),
        ];
    }

    point(event) {
        const r = this.chart.base.getBoundingClientRect();
        return [event.clientX - r.left, event.clientY - r.top];
    }

    timeAt(event) {
        const part =
            (this.point(event)[0] - this.chart.box.x) / this.chart.box.w;
        return (
            this.view[0] +
            Math.min(1, Math.max(0, part)) * (this.view[1] - this.view[0])
        );
    }

    zoom(event) {
        const to = this.timeAt(event),
            span = this.view[1] - this.view[0];
        if (this.from !== undefined && Math.abs(to - this.from) > span / 100) {
            this.view = [Math.min(to, this.from), Math.max(to, this.from)];
            this.chart.dragged = true;
            this.chart.draw();
        }
        this.from = undefined;
    }

    /* Between two managers. */
    paintGap(c, gap) {
        const [x, end] = gap.map((t) => c.clampX(t));
        c.ctx.fillStyle = color("panel");
        c.ctx.fillRect(x, c.box.y, end - x, c.box.h);
        c.ctx.fillStyle = color("soft");
        if (end - x > 24)
            c.text(
                "no manager",
                (x + end) / 2,
                c.box.y + c.box.h / 2,
                "center",
                "middle",
                end - x - 8,
            );
    }

    laneHeight() {
        return this.chart.box.h / Math.max(1, this.names.length);
    }

    paint(c) {
        const s = scale(this.view[0], this.view[1], false);
        const [unit, name] = timeUnit(this.view[1]);
        s.ticks = (n) =>
            linearTicks(this.view[0] / unit, this.view[1] / unit, n).map(
                (v) => v * unit,
            );
        s.label = (v) => format(Number((v / unit).toPrecision(6))) + name;
        c.axes(
            s,
            { part: () => 0, ticks: () => [], label: String },
            null,
            null,
        );
        (data.gaps || []).forEach((gap) => this.paintGap(c, gap));
        const h = this.laneHeight(),
            every = Math.ceil(13 / h);
        c.ctx.fillStyle = color("soft");
        this.names.forEach((n, k) => {
            if (n !== "" && (k % every === 0 || data.devices.length > 0))
                c.text(
                    n,
                    c.box.x - 8,
                    c.box.y + (k + 0.5) * h,
                    "right",
                    "middle",
                    c.box.x - 12,
                );
        });
        this.drawn = [];
        for (const b of bars) {
            if (b.end < this.view[0] || b.begin > this.view[1]) continue;
            const x = Math.max(c.box.x, c.px(b.begin)),
                w = Math.max(1, Math.min(c.box.x + c.box.w, c.px(b.end)) - x);
            c.ctx.fillStyle = statusColor(statusOf(b.trial));
            for (const k of b.lanes || []) {
                const y = c.box.y + k * h + Math.min(2, h * 0.1),
                    tall = h - Math.min(4, h * 0.2);
                c.ctx.globalAlpha =
                    b.attempt + 1 < T.attempts[b.trial] ? 0.4 : 0.85;
                c.ctx.fillRect(x, y, w > 3 ? w - 1 : w, tall);
                this.drawn.push([x, y, w, tall, b]);
                c.hits.push([x + w / 2, y + tall / 2, b.trial]);
                if (w > 46 && tall > 11) {
                    c.ctx.globalAlpha = 1;
                    c.ctx.fillStyle = color("bg");
                    c.text(
                        T.id[b.trial],
                        x + 4,
                        y + tall / 2,
                        "left",
                        "middle",
                        w - 8,
                    );
                    c.ctx.fillStyle = statusColor(statusOf(b.trial));
                }
            }
        }
        c.ctx.globalAlpha = 1;
    }

    under(event) {
        const [x, y] = this.point(event);
        const hit = (this.drawn || []).find(
            ([a, b, w, h]) =>
                x >= a - 1 && x <= a + w + 1 && y >= b && y <= b + h,
        );
        if (!hit) return null;
        const [a, b, w, h, bar] = hit;
        return [
            a + w / 2,
            b + h / 2,
            bar.trial,
            [
                el(
                    "b",
                    null,
                    "trial " +
                        T.id[bar.trial] +
                        (bar.attempt ? ", attempt " + bar.attempt : ""),
                ),
                pairs([
                    ["status", statusOf(bar.trial)],
                    ["began", formatSeconds(bar.begin)],
                    ["ran", formatSeconds(bar.end - bar.begin)],
                    [
                        "device",
                        bar.device === null ? "" : data.devices[bar.device],
                    ],
                    ["value", format(T.value[bar.trial])],
                ]),
            ],
        ];
    }
}

const timeUnit = (span) =>
    span < 180
        ? [1, " s"]
        : span < 10800
          ? [60, " min"]
          : span < 259200
            ? [3600, " h"]
            : [86400, " d"];

function timeline() {
    if (bars.length === 0)
        return [
            el(
                "p",
                { class: "note" },
                "The log does not tell when trials ran.",
            ),
        ];
    const plot = new Timeline();
    const busy =
        bars.reduce((s, b) => s + b.end - b.begin, 0) /
        (Math.max(1, X.concurrency || plot.names.length) *
            Math.max(1e-9, elapsed));
    const again = bars.filter((b) => b.attempt > 0).length;
    return [
        el(
            "h2",
            null,
            "Timeline ",
            el(
                "small",
                null,
                plural(bars.length, "attempt") +
                    (again ? ", " + again + " of them repeated" : "") +
                    "; slots busy " +
                    Math.min(100, Math.round(100 * busy)) +
                    " % of the time",
            ),
        ),
        el(
            "p",
            { class: "note" },
            "Drag to look closer, double-click for the whole. Pale: an attempt that another one followed.",
        ),
        legend(statusLegend()),
        plot.chart.node,
    ];
}
