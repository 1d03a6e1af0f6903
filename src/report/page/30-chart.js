/* A chart: a canvas as wide as its place, drawn anew when that changes or the
 * colours do; another one over it for what the pointer is at. */

const tip = el("div", { id: "tip" });

function showTip(event, children) {
    tip.replaceChildren(...children);
    tip.style.display = "block";
    const w = tip.offsetWidth,
        h = tip.offsetHeight;
    tip.style.left =
        Math.max(4, Math.min(innerWidth - w - 8, event.clientX + 14)) + "px";
    tip.style.top =
        Math.max(
            4,
            event.clientY + 14 + h > innerHeight
                ? event.clientY - h - 10
                : event.clientY + 14,
        ) + "px";
}
const hideTip = () => {
    tip.style.display = "none";
};

function trialTip(i) {
    const list = byShare(plotted)
        .filter((p) => !Number.isNaN(p.cells[i]))
        .slice(0, 8);
    return [
        el("b", null, "trial " + T.id[i] + ", " + statusOf(i)),
        pairs([
            ["value", format(T.value[i])],
            ["latest", T.value[i] === null ? format(T.latest[i]) : ""],
            ["budget", format(T.budget[i])],
            ...list.map((p) => [p.name, cellText(p, i)]),
        ]),
    ];
}

const resized = new ResizeObserver((entries) =>
    entries.forEach((e) => e.target.chart.fit()),
);

class Chart {
    /* paint(chart) draws; name is read out in place of the picture. */
    constructor({ height, paint, name, margin, click, minWidth }) {
        Object.assign(this, { height, paint, click, minWidth: minWidth || 0 });
        this.margin = { left: 58, right: 22, top: 10, bottom: 36, ...margin };
        this.base = el("canvas", { role: "img", "aria-label": name });
        this.over = el("canvas", { "aria-hidden": "true" });
        this.node = el("div", { class: "chart" }, this.base, this.over);
        this.node.chart = this;
        this.hits = [];
        this.base.addEventListener("pointermove", (e) => this.move(e));
        this.base.addEventListener("pointerleave", () => this.leave());
        this.base.addEventListener("click", (e) => this.pick(e));
        resized.observe(this.node);
        on("draw", () => this.draw());
        on("trial", () => this.mark());
    }

    fit() {
        const width = Math.max(this.node.clientWidth, this.minWidth);
        if (width > 0 && width !== this.width) {
            this.width = width;
            this.draw();
        }
    }

    draw() {
        if (!this.width || this.node.offsetParent === null) return;
        const ratio = devicePixelRatio || 1;
        const height =
            typeof this.height === "function" ? this.height() : this.height;
        for (const c of [this.base, this.over]) {
            c.width = Math.round(this.width * ratio);
            c.height = Math.round(height * ratio);
            c.style.height = height + "px";
            c.style.width =
                this.minWidth > this.node.clientWidth ? this.width + "px" : "";
            c.getContext("2d").setTransform(ratio, 0, 0, ratio, 0, 0);
        }
        const m = this.margin;
        this.ctx = this.base.getContext("2d");
        this.ctx.font = "11.5px system-ui, 'DejaVu Sans', sans-serif";
        this.full = height;
        this.box = {
            x: m.left,
            y: m.top,
            w: Math.max(10, this.width - m.left - m.right),
            h: Math.max(10, height - m.top - m.bottom),
        };
        this.hits = [];
        this.paint(this);
        this.mark();
    }

    px(v) {
        return this.box.x + this.x.part(v) * this.box.w;
    }
    py(v) {
        return this.box.y + (1 - this.y.part(v)) * this.box.h;
    }
    /* Lines may leave the chart; what is drawn stays in it. */
    farY(v) {
        return Math.min(1e5, Math.max(-1e5, this.py(v)));
    }
    inside(paint) {
        const { x, y, w, h } = this.box;
        this.ctx.save();
        this.ctx.beginPath();
        this.ctx.rect(x, y, w, h);
        this.ctx.clip();
        paint();
        this.ctx.restore();
    }
    clampX(v) {
        return Math.min(
            this.box.x + this.box.w,
            Math.max(this.box.x, this.px(v)),
        );
    }
    clampY(v) {
        return Math.min(
            this.box.y + this.box.h,
            Math.max(this.box.y, this.py(v)),
        );
    }

    text(words, x, y, align, baseline, most) {
        this.ctx.textAlign = align || "left";
        this.ctx.textBaseline = baseline || "alphabetic";
        this.ctx.fillText(this.fitted(words, most), x, y);
    }

    fitted(words, most) {
        words = String(words);
        if (!most || this.ctx.measureText(words).width <= most) return words;
        let n = words.length;
        while (
            n > 1 &&
            this.ctx.measureText(words.slice(0, n) + "…").width > most
        )
            n--;
        return words.slice(0, n) + "…";
    }

    axes(x, y, xName, yName) {
        const { ctx, box } = this,
            low = box.y + box.h;
        this.x = x;
        this.y = y;
        ctx.lineWidth = 1;
        ctx.strokeStyle = color("grid");
        ctx.fillStyle = color("soft");
        ctx.beginPath();
        for (const t of y.ticks(Math.max(2, box.h / 45))) {
            const at = Math.round(this.py(t)) + 0.5;
            if (at < box.y - 1 || at > low + 1) continue;
            ctx.moveTo(box.x, at);
            ctx.lineTo(box.x + box.w, at);
            this.text(y.label(t), box.x - 6, at, "right", "middle", box.x - 18);
        }
        const ticks = x.ticks(Math.max(2, box.w / (x.band ? 44 : 60))),
            room = box.w / Math.max(1, ticks.length) - 6;
        for (const t of ticks) {
            const at = Math.round(this.px(t)) + 0.5;
            if (at < box.x - 1 || at > box.x + box.w + 1) continue;
            if (!x.band) {
                ctx.moveTo(at, box.y);
                ctx.lineTo(at, low);
            }
            this.text(
                x.label(t),
                at,
                low + 5,
                "center",
                "top",
                Math.max(room, 24),
            );
        }
        ctx.stroke();
        if (xName)
            this.text(
                xName,
                box.x + box.w / 2,
                this.full - 2,
                "center",
                "bottom",
                box.w,
            );
        if (yName) {
            ctx.save();
            ctx.translate(11, box.y + box.h / 2);
            ctx.rotate(-Math.PI / 2);
            this.text(yName, 0, 0, "center", "middle", box.h);
            ctx.restore();
        }
    }

    /* Dots of one colour in one go; each can be pointed at. */
    dots(list, fill, size, hollow) {
        const { ctx } = this;
        ctx.fillStyle = ctx.strokeStyle = fill;
        ctx.lineWidth = 1.2;
        ctx.beginPath();
        for (const [x, y, i] of list) {
            if (size < 2 && !hollow) {
                ctx.rect(x - size, y - size, 2 * size, 2 * size);
            } else {
                ctx.moveTo(x + size, y);
                ctx.arc(x, y, size, 0, 7);
            }
            this.hits.push([x, y, i]);
        }
        if (hollow) ctx.stroke();
        else ctx.fill();
    }

    nearest(event) {
        const box = this.base.getBoundingClientRect();
        const x = event.clientX - box.left,
            y = event.clientY - box.top;
        let best = null,
            least = 14 * 14;
        for (const hit of this.hits) {
            const d = (hit[0] - x) ** 2 + (hit[1] - y) ** 2;
            if (d < least) [best, least] = [hit, d];
        }
        return best;
    }

    move(event) {
        const hit = this.nearest(event);
        this.base.style.cursor = hit ? "pointer" : "";
        if (hit) showTip(event, hit[3] || trialTip(hit[2]));
        else hideTip();
        this.mark(hit);
    }

    leave() {
        hideTip();
        this.mark();
    }

    /* The click that ends a drag chooses nothing. */
    pick(event) {
        const dragged = this.dragged;
        this.dragged = false;
        if (dragged) return;
        const hit = this.nearest(event);
        if (hit && hit[2] >= 0) select(hit[2]);
    }

    /* Rings about the selected trial and what is pointed at. */
    mark(hit) {
        const ctx = this.over.getContext("2d");
        ctx.clearRect(0, 0, this.over.width, this.over.height);
        const ring = (x, y, name) => {
            ctx.strokeStyle = color(name);
            ctx.lineWidth = 2;
            ctx.beginPath();
            ctx.arc(x, y, 7, 0, 7);
            ctx.stroke();
        };
        if (selected >= 0)
            for (const [x, y, i] of this.hits)
                if (i === selected) ring(x, y, "best");
        if (hit) ring(hit[0], hit[1], "text");
    }
}

/* No dot hides the others: the more there are, the smaller. */
const dotSize = (n) => (n > 4000 ? 1.4 : n > 800 ? 2 : 3);

function legend(items) {
    return el(
        "div",
        { class: "legend" },
        items.map(([name, text, hollow]) =>
            el(
                "span",
                null,
                el("i", {
                    style: hollow
                        ? "border:2px solid var(--" + name + ")"
                        : "background:var(--" + name + ")",
                }),
                text,
            ),
        ),
    );
}

function statusLegend() {
    const seen = [...new Set(T.id.map((_, i) => statusOf(i)))].filter(
        (s) => s !== "",
    );
    return seen.map((s) => [statusColors[s] || "soft", s]);
}
