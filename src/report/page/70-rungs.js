/* Rungs: trials by budget and bracket, and which of them went on. */

const BRACKETS = 6;

/* "0-3_1_5" is of bracket 0-3; other ids tell none. */
function bracketOf(i) {
    const id = T.parameter_id[i], match = typeof id === "string" ? /^(.+)_\d+_\d+$/.exec(id) : null;
    return match ? match[1] : "";
}

function rungs() {
    const brackets = new Map();
    for (let i = 0; i < N; i++) {
        if (Number.isNaN(budget[i])) continue;
        const b = bracketOf(i);
        if (!brackets.has(b)) brackets.set(b, new Map());
        const rung = brackets.get(b);
        if (!rung.has(budget[i])) rung.set(budget[i], []);
        rung.get(budget[i]).push(i);
    }
    return [...brackets].map(([name, map]) => ({
        name, rungs: [...map].sort((a, b) => a[0] - b[0]).map(([b, trials]) => ({ budget: b, trials })),
    }));
}

const wentOn = (i) => children[i].length > 0;
const known = (i) => Number.isFinite(result[i]);

function paintBracket(c, bracket) {
    const list = bracket.rungs, all = list.flatMap((r) => r.trials);
    const names = list.map((r) => "budget " + format(r.budget));
    c.axes(bandScale(names), padded(range(all.map((i) => result[i]), true, false), false));
    const at = new Map();
    list.forEach((r, k) => r.trials.filter(known).forEach((i, n) => {
        const spread = ((n * 0.618034 + 0.5) % 1 - 0.5) * 0.5 * c.box.w * c.x.band;
        at.set(i, [c.px(k) + spread, c.clampY(result[i]), i]);
    }));
    c.ctx.strokeStyle = color("accent");
    c.ctx.globalAlpha = Math.max(0.15, Math.min(0.6, 60 / all.length));
    c.ctx.lineWidth = 1;
    c.ctx.beginPath();
    for (const i of all) {
        const a = from[i] === null ? null : at.get(from[i]), b = at.get(i);
        if (!a || !b) continue;
        c.ctx.moveTo(a[0], a[1]);
        c.ctx.lineTo(b[0], b[1]);
    }
    c.ctx.stroke();
    c.ctx.globalAlpha = 0.9;
    const dots = (f) => all.filter((i) => at.has(i) && f(i)).map((i) => at.get(i)), size = dotSize(all.length);
    c.dots(dots((i) => !wentOn(i) && statusOf(i) !== "failed"), color("faint"), size);
    c.dots(dots((i) => statusOf(i) === "failed"), color("bad"), size);
    c.dots(dots((i) => statusOf(i) === "running"), color("run"), size);
    c.dots(dots(wentOn), color("accent"), size);
    const top = list[list.length - 1];
    c.dots(dots((i) => top.trials.includes(i) && counts(i)), color("best"), size + 0.5);
    c.ctx.globalAlpha = 1;
    c.ctx.fillStyle = color("soft");
    list.forEach((r, k) => c.text(r.trials.length + (k + 1 < list.length ? " → " + r.trials.filter(wentOn).length : ""),
        c.px(k), c.box.y - 6, "center", "alphabetic", c.box.w * c.x.band));
}

/* The worst result with which one went on. */
function cut(r) {
    const list = r.trials.filter((i) => wentOn(i) && known(i)).sort(byResult);
    return list.length ? format(result[list[list.length - 1]]) : "";
}

function rungTable(all) {
    const heads = ["bracket", "budget", "trials", "running", "failed", "with a result", "went on", "best", "cut"];
    return el("div", { class: "scroll" }, el("table", null,
        el("thead", null, el("tr", null, heads.map((h, k) => el("th", { class: k ? "n" : false }, h)))),
        el("tbody", null, all.flatMap((b) => b.rungs.map((r) => {
            const n = (f) => r.trials.filter(f).length, list = r.trials.filter(known).sort(byResult);
            return el("tr", null, [b.name || "all", format(r.budget), r.trials.length, n((i) => statusOf(i) === "running"),
                n((i) => ["failed", "lost", "out of memory"].includes(statusOf(i))), list.length, n(wentOn),
                list.length ? format(result[list[0]]) : "", cut(r)].map((v, k) => el("td", { class: k ? "n" : false }, v)));
        })))));
}

function rungSection() {
    const all = rungs(), grid = el("div", { class: "grid wide" });
    let shown = 0;
    const add = (n) => {
        for (; shown < Math.min(n, all.length); shown++) {
            const bracket = all[shown];
            const chart = new Chart({ height: 260, paint: (c) => paintBracket(c, bracket), margin: { top: 24, bottom: 22 },
                name: "results by budget " + bracket.name });
            grid.append(el("div", null, el("h3", null, bracket.name === "" ? "all brackets" : "bracket " + bracket.name), chart.node));
        }
    };
    add(BRACKETS);
    const more = all.length > BRACKETS ? el("button", { onclick: () => { add(all.length); more.remove(); } }, "All " + all.length + " brackets") : null;
    return [el("h2", null, "Rungs and survivors ", el("small", null, "value by budget; above: trials → how many went on")),
        legend([["accent", "went on"], ["faint", "did not"], ["best", "greatest budget"], ["run", "running"], ["bad", "failed"]]),
        grid, more, el("h2", null, "Counts ", el("small", null, "cut: the worst result with which a trial went on")), rungTable(all)];
}
