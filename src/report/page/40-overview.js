/* The first tab: how it stands, the best so far, what matters. */

function stateText() {
    if (X.state === "running") return X.paused ? "paused" : "running";
    if (X.state === "forked") return "forked, not started";
    return X.state === "died"
        ? "manager died"
        : X.over
          ? "ended"
          : "interrupted";
}

/* Until its end, its last sign of life, or the writing of the page. */
const most = (list) => list.reduce((m, v) => (v > m ? v : m), 0);
const elapsedEnd = () =>
    Math.max(most(ended), most(data.attempts.map((a) => a[3] || a[2])));
const lastMoment =
    X.state === "running" ? (X.read_us - X.began_us) / 1e6 : elapsedEnd();

/* Of a gap between two managers, the part in which no trial ran either. */
function nobodys([from, to]) {
    const ran = data.attempts
        .map((a) => [a[2], a[3] === null ? lastMoment : a[3]])
        .sort((a, b) => a[0] - b[0]);
    let sum = 0;
    to = Math.min(to, lastMoment);
    for (const [begin, end] of ran) {
        sum += Math.max(0, Math.min(begin, to) - from);
        from = Math.max(from, end);
    }
    return sum + Math.max(0, to - from);
}
const elapsed =
    data.gaps !== undefined
        ? lastMoment - data.gaps.reduce((sum, gap) => sum + nobodys(gap), 0)
        : X.duration_s !== null
          ? X.duration_s
          : lastMoment;

function countStatuses() {
    const counted = new Map();
    for (let i = 0; i < N; i++)
        counted.set(statusOf(i), (counted.get(statusOf(i)) || 0) + 1);
    return [...counted].sort((a, b) => b[1] - a[1]);
}

function card(name, text, note) {
    return el(
        "div",
        { class: "card" },
        el("span", null, name),
        el("b", null, text),
        note ? el("span", null, note) : null,
    );
}

function statusBar() {
    const all = countStatuses();
    return [
        el(
            "div",
            {
                class: "split",
                role: "img",
                "aria-label": "trials by how they ended",
            },
            all.map(([s, n]) =>
                el("i", {
                    style:
                        "flex:" +
                        n +
                        ";background:var(--" +
                        (statusColors[s] || "soft") +
                        ")",
                    title: s,
                }),
            ),
        ),
        el(
            "div",
            { class: "legend" },
            all.map(([s, n]) =>
                el(
                    "span",
                    null,
                    el("i", {
                        style:
                            "background:var(--" +
                            (statusColors[s] || "soft") +
                            ")",
                    }),
                    n.toLocaleString("en") + " " + s,
                ),
            ),
        ),
    ];
}

/* ---- the best so far ---- */

/* Trials in the order of their ends. */
const endOrder = Array.from(T.id, (_, i) => i).sort((a, b) => {
    const x = Number.isNaN(ended[a]) ? Infinity : ended[a],
        y = Number.isNaN(ended[b]) ? Infinity : ended[b];
    return x === y ? a - b : x - y;
});

/* The axis is that of results: values of trials that were stopped early lie
 * elsewhere. */
const historyScale = () =>
    valueScale(
        result,
        result.filter((_, i) => judged(i)),
        goodSide,
    );

function paintHistory(c) {
    const byTime = state.time === "1" && ended.some(Number.isFinite);
    const place = (i, k) =>
        byTime ? (Number.isNaN(ended[i]) ? lastMoment : ended[i]) : k + 1;
    const last = byTime ? Math.max(elapsedEnd(), 1e-3) : Math.max(2, N);
    c.axes(
        byTime ? scale(0, last, false) : countScale(1, last),
        historyScale(),
        byTime
            ? "seconds since the beginning"
            : "trials, in the order of their ends",
        resultTitle("value"),
    );
    const groups = new Map(),
        line = [];
    let best = NaN;
    endOrder.forEach((i, k) => {
        const x = c.px(place(i, k)),
            key = statusOf(i) + (counts(i) ? "" : "/");
        if (!Number.isNaN(result[i])) {
            if (!groups.has(key)) groups.set(key, []);
            groups.get(key).push([x, c.clampY(result[i]), i]);
        }
        if (
            counts(i) &&
            withinLimits(i) &&
            !Number.isNaN(value[i]) &&
            (Number.isNaN(best) || better(value[i], best))
        ) {
            if (line.length) line.push([x, c.clampY(best)]);
            best = value[i];
            line.push([x, c.clampY(best)]);
        }
    });
    for (const [key, list] of groups) {
        c.ctx.globalAlpha = N > 2000 ? 0.55 : 0.85;
        c.dots(
            list,
            statusColor(key.replace("/", "")),
            dotSize(N),
            key.endsWith("/"),
        );
    }
    c.ctx.globalAlpha = 1;
    if (line.length === 0) return;
    line.push([c.px(last), c.clampY(best)]);
    c.ctx.strokeStyle = color("best");
    c.ctx.lineWidth = 2;
    c.ctx.beginPath();
    line.forEach(([x, at], k) =>
        k ? c.ctx.lineTo(x, at) : c.ctx.moveTo(x, at),
    );
    c.ctx.stroke();
}

function history_() {
    const chart = new Chart({
        height: 320,
        paint: paintHistory,
        name: "the value of each trial, and the best so far",
    });
    const spread = new Chart({
        height: 220,
        paint: paintDistribution,
        name: "how many results are at least as good as a value",
    });
    const draw = () => {
        chart.draw();
        spread.draw();
    };
    const tools = valueTools(draw),
        tellBeyond = () => tools.tellBeyond(historyScale());
    on("controls", tellBeyond);
    tellBeyond();
    return [
        el("h2", null, "Optimisation history"),
        el(
            "div",
            { class: "tools" },
            checkbox("time", "over time", draw),
            tools.node,
        ),
        legend([
            ["best", "best so far" + (O?.violation ? ", within limits" : "")],
            ...statusLegend(),
            ["soft", "hollow: latest value, no result", true],
        ]),
        chart.node,
        el(
            "h2",
            null,
            "Distribution ",
            el("small", null, "of the results of trials that have ended"),
        ),
        distributionGroups().length > 1
            ? legend(
                  distributionGroups().map(({ budget: b, name }) => [
                      name,
                      "budget " + format(b),
                  ]),
              )
            : null,
        spread.node,
    ];
}

/* ---- how the results are distributed ---- */

/* Results with different budgets are not compared; the greatest first. */
function distributionGroups() {
    const names = ["accent", "stop", "pause", "run", "bad"],
        all = budgets.length > 1 ? budgets.slice(0, names.length) : [null];
    return all.map((b, k) => ({
        budget: b,
        name: names[k],
        trials: T.id
            .map((_, i) => i)
            .filter((i) => judged(i) && (b === null || budget[i] === b))
            .sort(byNumber),
    }));
}

function paintDistribution(c) {
    const groups = distributionGroups(),
        all = groups.flatMap((g) => g.trials).map((i) => result[i]),
        x = valueScale(all, all, goodSide);
    c.axes(
        x,
        { ...scale(0, 1, false), label: (v) => Math.round(100 * v) + " %" },
        resultTitle("value"),
        "at least as good",
    );
    for (const { name, trials } of groups) {
        c.ctx.strokeStyle = color(name);
        c.ctx.lineWidth = 2;
        c.ctx.beginPath();
        trials.forEach((i, k) => {
            const at = c.clampX(result[i]),
                y = c.py((k + 1) / trials.length);
            c.ctx.lineTo(at, c.py(k / trials.length));
            c.ctx.lineTo(at, y);
            c.hits.push([at, y, i]);
        });
        c.ctx.stroke();
    }
}

/* ---- what matters ---- */

const BARS = 15;

/* The parameters with their shares of the objective that was chosen. */
function sharesChosen() {
    const at = O ? O.items.findIndex((o) => o.name === state.share) : 0;
    if (at < 1) return plotted;
    return plotted.map((p) => ({
        ...p,
        share: number(O.shares[at - 1][p.at]),
    }));
}

function importance() {
    const box = el("div"),
        fill = () =>
            box.replaceChildren(
                ...importanceOf(sharesChosen())
                    .flat()
                    .filter((e) => e !== null),
            );
    fill();
    return several
        ? [
              chooser(
                  "share",
                  "importance for ",
                  O.items.map((o, k) => [k ? o.name : "", o.name]),
                  fill,
              ),
              box,
          ]
        : box;
}

function importanceOf(parameters_) {
    const list = byShare(parameters_).filter((p) => p.share > 0);
    const head = el(
        "h2",
        null,
        "Parameter importance ",
        el("small", null, "PED-ANOVA"),
    );
    const basis =
        plural(data.importance.trials, "trial") +
        (data.importance.budget === null
            ? ""
            : " at budget " + format(data.importance.budget));
    if (list.length === 0)
        return [
            head,
            el(
                "p",
                { class: "note" },
                "Too few of them to tell (" +
                    basis +
                    ", at least 10 are needed).",
            ),
        ];
    const bars = el("div", { class: "bars" });
    const add = (p) => {
        const width = (100 * p.share) / list[0].share;
        bars.append(
            el("span", { title: p.name }, p.name),
            el(
                "div",
                null,
                el("div", { style: "width:" + width.toFixed(2) + "%" }),
            ),
            el("em", null, percent(p.share)),
        );
    };
    const more = addMore(list, BARS, add);
    return [
        head,
        el(
            "p",
            { class: "note" },
            "How much the best tenth differs from all, by parameter; from " +
                basis +
                ".",
        ),
        bars,
        more,
    ];
}

function bestSection() {
    if (data.best === null)
        return [
            el("h2", null, "Best parameters"),
            el("p", { class: "note" }, "No trial has a result yet."),
        ];
    const text = () => JSON.stringify(data.best.parameters, null, 2);
    return [
        el(
            "h2",
            null,
            several ? "Parameters of the knee " : "Best parameters ",
            el("small", null, "trial " + T.id[bestTrial] + " "),
        ),
        copyButton(text),
        el("pre", null, text()),
        pairs([["checkpoint", data.best.checkpoint]]),
        el(
            "button",
            {
                onclick: () => {
                    if (selected !== bestTrial) select(bestTrial);
                },
            },
            "Show this trial",
        ),
    ];
}

/* What this page does not show of many trials, and who does. */
function leftOut() {
    const others = X.every
        ? "one in " + X.every + " of the others"
        : "page " + X.page + " of all";

    return X.left_out
        ? X.left_out.toLocaleString("en") +
              " trials: here are those that run, the best, those that were the best when they ended, and " +
              others +
              "; tunepipe report --page 1 to --page " +
              X.pages +
              " have all"
        : null;
}

function details() {
    return [
        el("h2", null, "Experiment"),
        pairs([
            ["folder", X.folder],
            ["configuration", X.config],
            ["direction", O ? null : X.optimize_mode],
            ["objectives", O ? O.items.map(objectiveText).join("; ") : null],
            ["limits on results", O ? O.limits.join("; ") : null],
            ["tuner", X.tuner],
            ["assessor", X.assessor],
            ["concurrency", X.concurrency || null],
            ["trials at most", X.max_trials || null],
            ["seed", X.seed],
            ["began", new Date(X.began_us / 1000).toLocaleString()],
            ["state", stateText() + (X.reason ? ": " + X.reason : "")],
            ["as of", new Date(X.read_us / 1000).toLocaleString()],
            [
                "note",
                X.log_lacks
                    ? "The first segments of the log are gone: times, curves and named values of old trials are not known."
                    : null,
            ],
            ["not shown", leftOut()],
        ]),
    ];
}

function overview() {
    const done = T.id.filter((_, i) => counts(i)).length;
    return [
        el(
            "div",
            { class: "cards" },
            several
                ? card("front", plural(O.front.length, "trial"), volumeNote())
                : card(
                      "best value",
                      data.best === null ? "none" : format(data.best.value),
                      data.best === null
                          ? X.optimize_mode
                          : "trial " +
                                T.id[bestTrial] +
                                (data.best.budget
                                    ? " of those with budget " +
                                      data.best.budget
                                    : "") +
                                ", " +
                                X.optimize_mode,
                  ),
            card(
                "trials",
                (N + (X.left_out || 0)).toLocaleString("en"),
                plural(done, "result") + (X.left_out ? " shown" : ""),
            ),
            card(
                "duration",
                formatSeconds(elapsed),
                done > 0 && elapsed > 0
                    ? format(Number(((3600 * N) / elapsed).toPrecision(3))) +
                          " trials an hour"
                    : null,
            ),
            card(
                "tuner",
                X.tuner || "?",
                X.assessor ? "assessor " + X.assessor : null,
            ),
        ),
        statusBar(),
        frontSection(),
        history_(),
        el(
            "div",
            { class: "columns" },
            el("div", null, importance()),
            el("div", null, bestSection()),
        ),
        details(),
    ];
}
