#!/bin/sh
# SPDX-License-Identifier: MIT
# The page that shows an experiment: what is in it, and what a browser makes of
# it where there is one (chromium).
# not under tsan
# takes long
. "$(dirname "$0")/lib.sh"
MADE=$TP_BUILD/tests/tools/madeup

# browse FILE HASH: dom holds the page as it is when its script has run.
browse() {
    command -v chromium > /dev/null || { echo "no chromium"; return 77; }
    case $TP_BUILD in
    */asan) echo "release shows the browser the same"; return 77 ;;
    esac
    timeout 300 chromium --headless --no-sandbox --disable-gpu \
        --disable-dev-shm-usage --user-data-dir="$PWD/profile" \
        --virtual-time-budget=20000 --dump-dom "file://$PWD/$1#$2" \
        > dom 2> browser.err
    status=$?
    rm -rf profile
    [ $status = 0 ] || fail "chromium: $status: $(tail -n 2 browser.err)" &&
        has dom 'data-ready="1"'
}

# asked FILE HASH EXPRESSION...: ./said holds a line for each, what it is in the
# page, as JSON.
asked() {
    page=$1 hash=$2
    shift 2
    {
        sed '/^<\/body>/,$d' "$page"
        echo '<script>'
        for one; do
            echo "document.body.append(el('pre', {class: 'said'},"
            echo "    JSON.stringify($one)));"
        done
        echo '</script></body></html>'
    } > asked.html
    browse asked.html "$hash" || return
    grep -o '<pre class="said">[^<]*' dom | sed 's/^[^>]*>//; s/&lt;/</g
        s/&gt;/>/g; s/&amp;/\&/g' > said
    [ "$(wc -l < said)" = $# ] || fail "$(cat said)"
}

# answers LINE...: those of ./said.
answers() {
    printf '%s\n' "$@" > expected
    diff expected said
}

small() {
    experiment 'maxTrialNumber: 12' 'trialConcurrency: 2' 'direction: maximize' \
        'searchSpace: {x: {_type: uniform, _value: [0, 1]}, "</script>": {_type: choice, _value: ["<b>", 2]}}' << 'E'
x=$(tunepipe trial param x)
tunepipe trial report "$x"
[ "$TUNEPIPE_TRIAL_ID" = 00003 ] && exit 1
tunepipe trial report --final '{"default": '"$x"', "</script> loss": 2}'
E
    run 0 && "$T" report "$dir" > said || return 1
    has said "$dir/report.html: 12 trials" || return 1
    case $(ls -l "$dir/report.html") in
    -rw-------*) ;;
    *) fail "$(ls -l "$dir/report.html")" || return 1 ;;
    esac
    [ "$(grep -o '</script>' "$dir/report.html" | wc -l)" = 2 ] ||
        fail "text ends a script" || return 1
    lacks "$dir/report.html" http: && lacks "$dir/report.html" https: || return 1
    "$T" report "$dir" --json > data.json &&
        "$T" report "$dir" --json --out data.2 || return 1
    [ "$(wc -c < data.json)" = "$(wc -c < data.2)" ] || fail "--out" || return 1
    ! command -v python3 > /dev/null || python3 - "$dir/report.html" << 'E'
import json, sys
from html.parser import HTMLParser

class Page(HTMLParser):
    data, inside = "", False
    def handle_starttag(self, tag, attrs):
        self.inside = dict(attrs).get("id") == "data"
        assert tag not in ("link", "img", "iframe", "b"), tag
        assert "src" not in dict(attrs), attrs
    def handle_endtag(self, tag):
        self.inside = False
    def handle_data(self, text):
        if self.inside:
            self.data += text

page = Page()
page.feed(open(sys.argv[1]).read())
data, same = json.loads(page.data), json.load(open("data.json"))
for d in (data, same):
    del d["experiment"]["read_us"]
assert data == same
trials = data["trials"]
assert sorted(trials["id"]) == ["%05d" % i for i in range(12)]
assert [trials["statuses"][s] for s in trials["status"]].count("failed") == 1
assert [p["name"] for p in data["parameters"]] == ["x", "</script>"]
assert data["parameters"][1]["values"] == ["<b>", "2"]
x = data["parameters"][0]["cells"]
assert [m["name"] for m in data["metrics"]] == ["</script> loss"]
for i, value in enumerate(trials["value"]):
    assert (value is None) == (data["metrics"][0]["cells"][i] is None)
    assert value == (None if trials["id"][i] == "00003" else x[i])
assert data["best"]["value"] == max(v for v in trials["value"] if v is not None)
for i, (steps, values) in enumerate(data["curves"]):
    assert steps == [0] and values == [float("%.6g" % x[i])]
assert len(data["attempts"]) == 12 and all(a[3] >= a[2] for a in data["attempts"])
E
}
check "a report of a small experiment" small

# A trial reports a name that is a parameter's and one that is a column's.
named() {
    experiment 'maxTrialNumber: 3' << 'E'
tunepipe trial report --final \
    "{\"default\": 1, \"x\": 1$TUNEPIPE_TRIAL_ID, \"value\": 2, \"<b>\": 0.25}"
E
    run 0 && "$T" report "$dir" > said || return 1
    asked "$dir/report.html" 'tab=parameters&measure=%3Cb%3E' \
        'M.map((m) => m.name)' 'measured().name' 'usualColumns.slice(0, 6)' \
        'M[0].cells[1]' || return
    answers '["x (reported)","value (reported)","<b>"]' '"<b>"' \
        '["trial","status","value","x (reported)","value (reported)","<b>"]' \
        100001
}
check "named values are axes and columns" named

# What is beyond a limit is never the best, whatever its value.
limits() {
    experiment 'maxTrialNumber: 5' 'direction: minimize' 'resultConstraints: [ms <= 5]' << 'E'
n=$((1$TUNEPIPE_TRIAL_ID - 100000))
tunepipe trial report --final default=$((n < 2 ? n : 9 - n)) ms=$((n < 2 ? 9 - n : 5))
E
    run 0 && "$T" report "$dir" > said || return 1
    asked "$dir/report.html" tab=overview bestTrial \
        'Array.from(T.id.keys()).sort(bestFirst)' \
        '((line) => (paintHistory({axes() {}, dots() {}, px: (x) => x,
            clampY: (y) => y, ctx: {beginPath() {}, stroke() {},
            moveTo: (x, y) => line.push(y), lineTo: (x, y) => line.push(y)}}),
            line))([])' || return
    answers 4 '[4,3,2,1,0]' '[7,7,6,6,5,5]'
}
check "the best within the limits" limits

# Of 24 results 4 are far off: the axes show the others.
far() {
    experiment 'maxTrialNumber: 24' 'direction: maximize' << 'E'
n=$((1$TUNEPIPE_TRIAL_ID - 100000))
v=0.9$((76 + n % 16))
[ $((n % 6)) != 5 ] || v=0.1$n
tunepipe trial report --final "$v"
E
    run 0 && "$T" report "$dir" > said || return 1
    far='[0.97, 0.976, 0.1].map((v) => v >= axisOf(resultAxis).low)'
    border='/\d+ at the border/.exec(document.body.textContent)?.[0]'
    asked "$dir/report.html" tab=parameters "$far" "$border" \
        'axisOf(resultAxis).high > 0.991' || return
    answers '[false,true,false]' '"4 at the border"' true || return 1
    asked "$dir/report.html" 'tab=overview&clip=0' "$far" \
        "$border ?? null" 'historyScale().low < 0.1' || return
    answers '[true,true,true]' null true || return 1
    # The best result has the least share, at the right since it is the greatest.
    spread="document.querySelector('[aria-label^=\"how many results\"]')"
    asked "$dir/report.html" tab=overview \
        "($spread.parentNode.chart.fit(), $spread.parentNode.chart.hits.length)" \
        "((h) => [h[0][0] > h.at(-1)[0], h[0][1] > h.at(-1)[1]])(
            $spread.parentNode.chart.hits)" || return
    answers 24 '[true,true]'
}
check "what is far off is clipped, and told" far

drawn() {
    "$MADE" plain plain 200 && "$T" report plain > said || return 1
    browse plain/report.html 'tab=table&trial=00007&q=net/_name!=deep' ||
        return
    has dom '<td>&lt;/script&gt;&lt;b&gt;</td>' && lacks dom '<td>deep</td>' &&
        has dom 'Trial 00007'
}
check "a browser draws a table" drawn

# What the filter's hint says holds for some trials; a trial without a parameter
# lies on its axis, too, apart from those that have it; trials that an assessor
# stops are on no rung.
hinted() {
    "$MADE" plain plain 200 && "$T" report plain > said || return 1
    none='T.id.filter((_, i) => Number.isNaN(P[4].cells[i])).length'
    asked plain/report.html 'tab=parameters&brush={"net/layers":[-1,-1]}' \
        "$none > 40 && brushed.reduce((n, b) => n + b) === $none" \
        'contourTrials(P[0], P[4], resultAxis).every((i) => P[4].cells[i] > 0)' \
        '(clearBrushes(), state.q = filterHint().slice(8))' \
        'filtered().length > 0 && filtered().length < N' \
        "(state.q = '\"net/_name\"=\"\\u003c/script><b>\"', filtered().length) === $none" \
        'tabs.map((t) => t.key)' || return
    answers true true '"status=running lr<0.0015"' true true \
        '["overview","parameters","curves","timeline","table"]'
}
check "a filter's hint, parameters that are not set, no rungs" hinted

# One trial colours what is near it, and nothing else.
contour() {
    "$MADE" plain plain 1 && "$T" report plain > said || return 1
    grid='(() => {
        const grid = contourGrid([0], [P[0], P[1], resultAxis], 100, 100),
            here = [partOf(P[0], 0), partOf(P[1], 0)].map((v) =>
                Math.floor(v * 100));
        const weight = (x, y) => grid.weights[(here[1] + y) * 100 + here[0] + x];
        return [weight(0, 0) > 0.9, weight(0, 9) > 0, weight(0, 20) || 0];
    })()'
    asked plain/report.html tab=parameters "$grid" || return
    answers '[true,true,0]'
}
check "a contour is blank where no trial is near" contour

large() {
    "$MADE" plain plain 10000 && "$T" report plain > said &&
        has said '10000 trials' || return 1
    size=$(wc -c < plain/report.html)
    [ "$size" -lt 10000000 ] || fail "$size bytes" || return 1
    browse plain/report.html tab=parameters && has dom 'Slices'
}
check "a browser draws 10,000 trials" large

# Trials of 6 s, in each of which a manager dies, to be resumed half a minute
# behind its end: that time is nobody's.
crashed() {
    "$MADE" crashed crashed 2 && "$T" report crashed --json > data.json &&
        has data.json '"attempts":[[0,0,0,6,null],[1,0,40,46,null]]' &&
        has data.json '"ended":[6,46]' &&
        has data.json '"gaps":[[5,38],[45,78]]' || return 1
    "$T" report crashed > said && browse crashed/report.html tab=timeline ||
        return
    has dom 'slots busy 11 % of the time' # 12 s of 8 slots' 14 s
}
check "nobody ran in the time between a crash and the resumption" crashed

# 27 with budget 1, of which 9 go on, of which 3, of which 1.
rungs() {
    "$MADE" rungs rungs 240 && "$T" report rungs > said || return 1
    browse rungs/report.html tab=rungs || return
    row='<td>0-3</td><td class="n">1</td><td class="n">27</td>'
    last='<td>5-3</td><td class="n">27</td><td class="n">1</td>'
    has dom 'bracket 0-3' && has dom "$row" && has dom "$last"
}
check "a browser draws rungs" rungs

# All have the greatest budget; rungs are where they were stopped.
stopping() {
    "$MADE" asha stopping 90 && "$T" report asha > said || return 1
    browse asha/report.html tab=rungs || return
    has dom '<td>all</td><td class="n">1</td><td class="n">90</td>' &&
        has dom '<td>all</td><td class="n">9</td>'
}
check "a browser draws rungs of stopped trials" stopping

population() {
    "$MADE" pop population 100 && "$T" report pop > said || return 1
    browse pop/report.html tab=family || return
    has dom 'Family tree' && has dom '<td>cloned</td>' &&
        has dom '<td>went on</td>' && has dom 'to step'
}
check "a browser draws a family" population

# The table has room for what was searched: the folders that a population is told
# are columns on demand.
told() {
    experiment 'maxTrialNumber: 4' 'direction: maximize' \
        'tuner: {name: pbt, classArgs: {population_size: 2}}' << 'E'
tunepipe trial report --final "$(tunepipe trial param x)"
E
    run 0 && "$T" report "$dir" > said || return 1
    asked "$dir/report.html" tab=table \
        'usualColumns.filter((n) => /^x$|_dir/.test(n))' \
        'tableColumns.filter((c) => /_dir/.test(c.name)).length' || return
    answers '["x"]' 2
}
check "folders of a population are no usual columns" told

# Who is promoted goes on with a greater budget, from where it was paused; what
# explains it names bracket, rung, rank and cut.
promoted() {
    experiment 'maxTrialNumber: 16' 'direction: maximize' \
        'tuner: {name: asha, classArgs: {type: promotion, max_budget: 9}}' << 'E'
while tunepipe trial checkpoint save "$TUNEPIPE_TRIAL_DIR/parameters.json" &&
    tunepipe trial report --sync "$(tunepipe trial param x)"; do :; done
exit 0
E
    run 0 && "$T" report "$dir" --json > data.json || return 1
    "$T" trial ls "$dir" > ls
    last=$(grep -o '"trial": "[0-9]*"' "$dir/results.jsonl" | tail -n 1 |
        tr -dc 0-9)
    "$T" explain "$dir" "$last" > why || return 1
    has why 'promoted from trial 000' && has why 'bracket 1 of 1' &&
        has why 'it goes on to rung ' && has why ': rank ' &&
        lacks why NaN && lacks why "the manager's word alone" || return 1
    for trial in 0 1 2 3; do "$T" explain "$dir" "$trial"; done > why
    has why 'the cut is at 0.' || return 1
    ! command -v python3 > /dev/null || python3 - << 'E'
import json
data = json.load(open("data.json"))
t = data["trials"]
sources = [f for f in t["from"] if f is not None]
assert len(sources) >= 3 and len(set(sources)) == len(sources), sources
for i, f in enumerate(t["from"]):
    steps = data["curves"][i][0]
    assert t["budget"][i] == (1 if f is None else 3 * t["budget"][f])
    assert steps[0] == t["base"][i] and steps[-1] + 1 == t["budget"][i], (i, steps)
    if f is not None:
        assert t["cloned"][i] == 0
        assert [p["cells"][i] for p in data["parameters"]] == [
            p["cells"][f] for p in data["parameters"]]
E
}
check "a report and an explanation of promotions" promoted

# The second trial waits for a page that shows the first one's end; the last
# page, behind the end of the experiment, is not loaded anew.
watched() {
    experiment 'maxTrialNumber: 2' << 'E'
d=$TUNEPIPE_EXPERIMENT_DIR
[ "$TUNEPIPE_TRIAL_ID" = 00000 ] ||
    until grep -q '"succeeded"' "$d/report.html" 2> /dev/null; do
        sleep 0.02
    done
[ "$TUNEPIPE_TRIAL_ID" = 00000 ] || cp "$d/report.html" "$HERE/then.html"
until [ -e "$HERE/watching" ]; do sleep 0.02; done
tunepipe trial report --final 5
E
    {
        until [ -s "$(ls tunepipe-experiments/*/command.log 2>&-)" ]; do
            sleep 0.02
        done
        : > watching
        exec "$T" report "$(ls -d tunepipe-experiments/*)" --refresh 1 \
            > watch 2>&1
    } &
    run 0 || return 1
    wait $! || fail "$(cat watch)" || return 1
    has then.html 'data-refresh="1"' && has then.html '"state": "running"' &&
        has "$dir/report.html" 'data-refresh="0"' &&
        has "$dir/report.html" '"state": "ended"' || return 1
    [ "$(wc -l < watch)" = 1 ] || fail "$(cat watch)"
}
check "a report follows a running experiment" watched

resumed_with_more() {
    echo 'tunepipe trial report --final 1' | experiment 'maxTrialNumber: 1'
    run 0 && resume 0 --max-trials 2 && "$T" report "$dir" > said &&
        has "$dir/report.html" '"max_trials": 2,'
}
check "it tells the limit that counted" resumed_with_more

# Trials of which the log tells nothing: lines of results alone.
of_many() {
    "$MADE" many plain 20 && rm many/command*log || return 1
    line=$(sed -n '1 {
        s/"value": [^,]*/"value": %g/
        s/"trial": "[0-9]*"/"trial": "%05d"/
        s/"status": "[a-z]*"/"status": "succeeded"/
        p
    }' many/results.jsonl)
    awk -v line="$line" 'BEGIN {
        for (i = 0; i < 100001; i++)
            printf line "\n", i, i == 99991 ? 1 : i == 77 ? 2 : 1000 + i / 1000
    }' > many/results.jsonl
    "$T" report many > said && "$T" report many --page 3 >> said &&
        has said "many/report.html: 33341 of 100001 trials; all: --page 1 to 3" &&
        has said "many/report-3.html: " || return 1
    for one in '"left_out": 66660, "page": null, "pages": 3, "every": 3' \
        '"best":{"trial":33337,"value":1,' '"00077"' '"99999"'; do
        has many/report.html "$one" || return 1
    done
    lacks many/report.html '"99998"' && has many/report-3.html '"100000"' &&
        has many/report-3.html '"99991"' && lacks many/report-3.html '"99999"' &&
        "$T" report many --json --out all && lacks all left_out || return 1
    [ "$(wc -c < many/report.html)" -lt 20000000 ] || fail "too long" || return 1
    "$T" report many --page 4 2> err
    [ $? = 2 ] && has err 'there are 3 of 50000 trials each, not 4' || return 1
    sed -i 's/"intermediates": [0-9]*/"intermediates": 0/
        s/"parameters": {.*/"parameters": {}}/' many/results.jsonl
    "$T" report many > said && has said 'report.html: 100001 trials' && lacks said page
}
check "of many trials some are shown, and all by pages" of_many

refused() {
    "$MADE" plain plain 20 || return 1
    for words in '--json --watch' '--page 0' '--refresh 0' '--refresh 86401' --nonsense \
        'a b'; do
        # shellcheck disable=SC2086 # words
        "$T" report $words > out 2> err
        [ $? = 2 ] || fail "$words: $(cat err)" || return 1
    done
    "$T" report nowhere 2> err
    [ $? = 3 ] || fail "nowhere: $(cat err)" || return 1
    "$T" report plain --out nowhere/x.html 2> err
    [ $? = 1 ] && has err nowhere/x.html || fail "$(cat err)" || return 1
    printf garbage | dd of=plain/command.log bs=1 seek=2000 conv=notrunc 2> dd
    "$T" report plain 2> err
    [ $? = 5 ] || fail "damaged: $(cat err)"
}
check "what a report cannot be of" refused

finish
