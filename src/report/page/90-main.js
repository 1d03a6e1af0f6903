/* The page: its head, its tabs, the trial that was chosen. */

const tabs = [
    { key: "overview", name: "Overview", fill: overview },
    { key: "parameters", name: "Parameters", fill: parameters },
    ...(hasCurves ? [{ key: "curves", name: "Curves", fill: curves }] : []),
    ...(hasRungs ? [{ key: "rungs", name: "Rungs", fill: rungSection }] : []),
    ...(hasFrom && hasClones
        ? [{ key: "family", name: "Family", fill: familySection }]
        : []),
    { key: "timeline", name: "Timeline", fill: timeline },
    { key: "table", name: "Table", fill: tableSection },
];

function openTab(key) {
    state.tab = tabs.some((t) => t.key === key) ? key : "overview";
    for (const t of tabs) {
        const here = t.key === state.tab;
        t.button.setAttribute("aria-selected", String(here));
        t.panel.hidden = !here;
        if (here && t.panel.childElementCount === 0)
            t.panel.append(
                ...t
                    .fill()
                    .flat()
                    .filter((e) => e !== null),
            );
    }
    save();
    tell("draw");
}

function tabBar() {
    return el(
        "nav",
        { role: "tablist" },
        tabs.map((t) => {
            t.button = el(
                "button",
                {
                    role: "tab",
                    id: "tab-" + t.key,
                    "aria-controls": "panel-" + t.key,
                    onclick: () => openTab(t.key),
                },
                t.name,
            );
            t.panel = el("section", {
                role: "tabpanel",
                id: "panel-" + t.key,
                "aria-labelledby": "tab-" + t.key,
            });
            return t.button;
        }),
    );
}

/* ---- one trial ---- */

function trialPanel() {
    const box = el("aside", { "aria-label": "trial" });
    const fill = () => {
        box.hidden = selected < 0;
        if (selected < 0) return;
        const i = selected,
            text = () => JSON.stringify(parametersOf(i), null, 2),
            line = lineage(i);
        box.replaceChildren(
            el(
                "header",
                null,
                el("h2", null, "Trial " + T.id[i]),
                el(
                    "span",
                    null,
                    copyButton(text),
                    " ",
                    el(
                        "button",
                        { onclick: () => select(i), "aria-label": "close" },
                        "✕",
                    ),
                ),
            ),
            pairs([
                ["status", statusOf(i)],
                ["why", whyOf(i)],
                ["value", format(T.value[i])],
                ["latest", format(T.latest[i])],
                ...M.map((m) => [
                    m.name,
                    Number.isNaN(m.cells[i]) ? "" : format(m.cells[i]),
                ]),
                ["budget", format(T.budget[i])],
                ["reports", T.reports[i]],
                ["duration", formatSeconds(duration[i])],
                ["place", placeOf(i)],
                ["queued", placeOf(i) && formatSeconds(queued[i])],
                ["attempts", T.attempts[i] > 1 ? T.attempts[i] : null],
                ["parameter id", T.parameter_id[i]],
                [
                    "went on from",
                    line.length > 1
                        ? line
                              .slice(0, -1)
                              .map((k) => T.id[k])
                              .join(" → ") + (T.cloned[i] ? " (clone)" : "")
                        : null,
                ],
            ]),
            el("pre", null, text()),
        );
    };
    on("trial", fill);
    fill();
    return box;
}

/* ---- while it runs ---- */

function follow() {
    const seconds = Number(document.body.dataset.refresh);
    if (!(seconds > 0)) return null;
    const box = el("input", {
        type: "checkbox",
        onchange: () => {
            state.hold = box.checked ? "" : "1";
            save();
        },
    });
    box.checked = state.hold !== "1";
    /* Not while somebody chooses from a list, which would close. */
    const again = () => {
        state.y = String(Math.round(scrollY));
        save();
        const choosing = document.querySelector("details[open]");
        if (box.checked && !document.hidden && !choosing) location.reload();
    };
    setInterval(again, seconds * 1000);
    return el(
        "label",
        { class: "note" },
        box,
        " follow, every " + seconds + " s",
    );
}

function main() {
    applyBrushes();
    const kind =
        X.state === "running" ? "running" : X.state === "died" ? "died" : "";
    document
        .getElementById("app")
        .append(
            el(
                "header",
                null,
                el("h1", null, X.id),
                el("span", { class: "badge " + kind }, stateText()),
                X.reason ? el("span", { class: "note" }, X.reason) : null,
                follow(),
            ),
            tabBar(),
            ...tabs.map((t) => t.panel),
            trialPanel(),
        );
    document.body.append(tip);
    openTab(state.tab);
    dark.addEventListener("change", () => {
        styles = null;
        tell("draw");
    });
    addEventListener("hashchange", () => {
        const tab = new URLSearchParams(location.hash.slice(1)).get("tab");
        if (tab && tab !== state.tab) openTab(tab);
    });
    scrollTo(0, Number(state.y) || 0);
    document.body.dataset.ready = "1";
}

main();
