#!/bin/sh
# SPDX-License-Identifier: MIT
# The page that shows an experiment: what is in it, and what a browser makes of
# it where there is one (chromium).
# not under tsan
. "$(dirname "$0")/lib.sh"
MADE=$TP_BUILD/tests/tools/madeup

# browse FILE HASH: dom holds the page as it is when its script has run.
browse() {
    command -v chromium > /dev/null || { echo "no chromium"; return 77; }
    timeout 300 chromium --headless --no-sandbox --disable-gpu \
        --disable-dev-shm-usage --user-data-dir="$PWD/profile" \
        --virtual-time-budget=20000 --dump-dom "file://$PWD/$1#$2" \
        > dom 2> browser.err
    status=$?
    rm -rf profile
    [ $status = 0 ] || fail "chromium: $status: $(tail -n 2 browser.err)" &&
        has dom 'data-ready="1"'
}

small() {
    experiment 'maxTrialNumber: 12' 'trialConcurrency: 2' 'direction: maximize' \
        'searchSpace: {x: {_type: uniform, _value: [0, 1]}, "</script>": {_type: choice, _value: ["<b>", 2]}}' << 'E'
x=$(tunepipe trial param x)
tunepipe trial report "$x"
[ "$TUNEPIPE_TRIAL_ID" = 00003 ] && exit 1
tunepipe trial report --final "$x"
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
for i, value in enumerate(trials["value"]):
    assert value == (None if trials["id"][i] == "00003" else x[i])
assert data["best"]["value"] == max(v for v in trials["value"] if v is not None)
for i, (steps, values) in enumerate(data["curves"]):
    assert steps == [0] and values == [float("%.6g" % x[i])]
assert len(data["attempts"]) == 12 and all(a[3] >= a[2] for a in data["attempts"])
E
}
check "a report of a small experiment" small

drawn() {
    "$MADE" plain plain 200 && "$T" report plain > said || return 1
    browse plain/report.html 'tab=table&trial=00007&q=net/_name!=deep' ||
        return
    has dom '<td>&lt;/script&gt;&lt;b&gt;</td>' && lacks dom '<td>deep</td>' &&
        has dom 'Trial 00007'
}
check "a browser draws a table" drawn

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

refused() {
    "$MADE" plain plain 20 || return 1
    for words in '--json --watch' '--refresh 0' '--refresh 86401' --nonsense \
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
