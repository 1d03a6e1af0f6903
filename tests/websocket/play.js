// SPDX-License-Identifier: MIT
// play.js [-j N] RECORDING...: plays recorded sessions of NNI 2.10 and 3.0
// against `tunepipe`, a line for each.
//
// Causality: a message is sent once as many answers of each code have arrived
// as had been recorded before it; an EN carries the text of the TR received for
// the same parameter id.  Has to be the same: the count of each code (a KI for
// the same trial counts once), the parameter ids, keys and JSON types of each
// TR and NO, the set of trials killed; and, of a grid, every byte.
//
// What NNI's dispatcher or manager died of has its own line below, in `ends`.
'use strict';
const fs = require('fs');
const os = require('os');
const path = require('path');
const {spawn} = require('child_process');
const {Manager, WebSocket} = require('./server.js');

const ANSWERS = ['ID', 'TR', 'NO', 'KI'];
const build = process.env.TP_BUILD;

function check(ok, text) {
    if (!ok) throw new Error(text);
}

function same(got, want, what) {
    const a = JSON.stringify(got), b = JSON.stringify(want);
    check(a === b, `${what}: ${a}, expected ${b}`);
}

// ---- the recording ----

function load(base) {
    const lines = fs.readFileSync(base + '.jsonl', 'utf8').trim().split('\n');
    const events = lines.map((l) => JSON.parse(l)).filter((e) => !e.conn);
    for (const e of events) e.text = e.kind === 'text' || e.kind === 'binary';
    return {
        name: path.basename(base),
        meta: JSON.parse(fs.readFileSync(base + '.meta.json', 'utf8')),
        events,
        answers: events.filter((e) => e.text && e.dir === 'out' && !e.injected &&
                                      ANSWERS.includes(e.cmd)),
    };
}

function recordedCount(answers, code) {
    const those = answers.filter((a) => a.cmd === code);
    return code === 'KI' ? new Set(those.map((a) => a.data)).size
                         : those.length;
}

// ---- the program ----

function dispatcherOf(pid) {
    const children = fs.readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
    return Number(children.trim().split(' ')[0]);
}

function start(manager, meta, folder) {
    const params = Buffer.from(JSON.stringify(meta.exp_params)).toString('base64');
    const log = path.join(folder, 'log');
    const env = {
        ...process.env,
        ...meta.env,
        NNI_TUNER_COMMAND_CHANNEL: manager.url,
        NNI_CHECKPOINT_DIRECTORY: path.join(folder, 'checkpoint'),
        NNI_LOG_DIRECTORY: log,
        http_proxy: 'http://127.0.0.1:9', // nobody is there
    };
    fs.mkdirSync(log);
    fs.mkdirSync(env.NNI_CHECKPOINT_DIRECTORY);
    const child = spawn(path.join(build, 'tunepipe'),
                        ['-m', 'nni', '--exp_params', params],
                        {env, cwd: log, stdio: ['ignore', 'pipe', 'pipe']});
    const program = {pid: child.pid, said: '', ended: null};
    for (const from of [child.stdout, child.stderr])
        from.on('data', (d) => { program.said += d; });
    child.on('exit', (status, signal) => {
        program.ended = signal || status;
        manager.changed();
    });
    return program;
}

// ---- playing ----

class Play {
    constructor(recording, folder) {
        this.recording = recording;
        this.meta = recording.meta;
        this.folder = folder;
        this.died = false; // the dispatcher was killed: ER is expected
        this.grudging = recording.name in mended; // gives fewer than NNI
        this.notes = [];
        const url = this.meta.env.NNI_TUNER_COMMAND_CHANNEL;
        this.manager = new Manager({
            generation: this.meta.generation,
            host: recording.name.length % 2 === 0 ? '127.0.0.1' : '::1',
            path: url.replace(/^ws:\/\/[^/]*/, ''),
        });
    }

    parameters(id) {
        const found = this.manager.got.find(
            (g) => g.code === 'TR' && JSON.parse(g.text).parameter_id === id);
        return found === undefined ? null : found.text;
    }

    // EN as the manager would have sent it to us.
    text(event) {
        if (event.cmd !== 'EN') return event.data;
        const end = JSON.parse(event.data);
        const id = JSON.parse(end.hyper_params).parameter_id;
        end.hyper_params = this.parameters(id) || end.hyper_params;
        return JSON.stringify(end);
    }

    async answered(before) {
        const m = this.manager;
        for (const code of ANSWERS) {
            const n = recordedCount(before, code);
            await m.until(() => m.count(code) >= n || this.died ||
                                    (code === 'TR' && this.grudging),
                          `${code} number ${n} (${m.count(code)} have come)`);
        }
    }

    async kill(before) {
        if (this.died) return;
        await this.answered(before);
        this.died = true;
        process.kill(dispatcherOf(this.program.pid), 'SIGKILL');
        await this.manager.until(() => this.manager.count('ER') === 1, 'ER');
        const text = this.manager.got.find((g) => g.code === 'ER').text;
        check(/SIGKILL/.test(text), `ER says '${text}'`);
        check(this.manager.socket !== null, 'closed after ER');
        this.notes.push('the dispatcher was killed: ER, and it stays for TE');
    }

    async fault(text, before) {
        const m = this.manager;
        const cut = /cut both.* (\d+) s$/.exec(text);
        if (/^kill -9/.test(text)) {
            await this.kill(before);
        } else if (cut) {
            const n = m.connections;
            await this.answered(before);
            await this.ponged();
            await m.cut();
            await new Promise((r) => setTimeout(r, cut[1] * 1000));
            await m.listen();
            this.notes.push(`connected again after ${cut[1]} s`);
            this.reconnected = n + 1;
        } else if (/^second client/.test(text)) {
            const n = m.connections;
            await this.ponged();
            const second = new WebSocket(
                `ws://${m.host === '::1' ? '[::1]' : m.host}:${m.port}${m.path}`);
            await m.until(() => m.connections >= n + 2, 'the first client again');
            second.on('error', () => {});
            second.terminate();
            this.notes.push('took its place again from a second client');
        }
    }

    async injected(event, before) {
        if (event.cmd === 'ER') await this.kill(before);
    }

    async play() {
        const before = [];
        for (const e of this.recording.events) {
            if (e.kind === '!fault') await this.fault(e.data, before);
            else if (e.injected) await this.injected(e, before);
            else if (e.dir === 'in' && e.kind === 'ping') await this.ping();
            else if (!e.text || e.cmd === '_bye_') continue;
            else if (e.dir === 'out') before.push(e);
            else if (e.cmd === 'TE') break;
            else await this.say(e, before);
        }
        if (this.reconnected)
            await this.manager.until(
                () => this.manager.connections >= this.reconnected, 'reconnect');
        await this.answered(before);
        await this.ponged();
    }

    async say(e, before) {
        await this.answered(before);
        if (e.cmd === '_nop_') this.manager.write(e.raw);
        else this.manager.send(e.cmd, this.text(e));
    }

    ponged() {
        const m = this.manager;
        return m.until(() => m.pongs >= m.pings, 'a pong');
    }

    // A pong may answer several pings; NNI's are 5 s apart.
    async ping() {
        await this.ponged();
        this.manager.ping();
    }

    // Where NNI's dispatcher died ours is asked for more.
    async goOn() {
        const asked = this.recording.events.filter(
            (e) => e.text && e.dir === 'in' && e.cmd === 'GE');
        const n = asked.reduce((sum, e) => sum + Number(e.data), 0);
        await this.manager.until(() => this.manager.count('TR') === n,
                                 `${n} TR where NNI died`);
        this.manager.send('GE', '1');
        await this.manager.until(() => this.manager.count('TR') > n,
                                 'a TR where NNI died');
        this.asked = n + 1;
        this.notes.push('goes on where NNI\'s dispatcher died');
    }

    // A manager that is gone: callers find nobody, then one who is told no.
    async gone() {
        const m = this.manager;
        await m.cut();
        await m.refuse(1);
        await m.listen();
        const n = m.connections;
        await m.until(() => m.connections > n, 'another call');
        m.socket.close(4080, 'Timeout');
        await m.until(() => this.program.ended !== null, 'the end');
        check(this.program.ended !== 0, 'exit status 0');
        this.notes.push('NNI\'s manager died: called again, told that it is ' +
                        'late, ended');
    }

    async stop() {
        const m = this.manager;
        same(await m.stop(), m.json ? 4000 : 1000, 'close code');
        await m.until(() => this.program.ended !== null, 'the end');
        if (this.died) check(this.program.ended !== 0, 'exit status 0');
        else same(this.program.ended, 0, 'exit status');
    }

    async run() {
        const end = ends[this.recording.name] || 'stop';
        await this.manager.listen();
        this.program = start(this.manager, this.meta, this.folder);
        await this.play();
        if (end === 'more') await this.goOn();
        if (end === 'gone') await this.gone();
        else await this.stop();
        this.compare();
    }

    // ---- comparing ----

    compare() {
        const m = this.manager, want = this.recording.answers;
        same(m.strange, [], 'sent what no manager wants');
        check(!/Sanitizer|runtime error/.test(this.program.said), 'a sanitizer spoke');
        for (const code of ['ID', 'TR', 'NO'])
            if (!this.grudging)
                same(m.count(code), (code === 'TR' && this.asked) ||
                                        recordedCount(want, code),
                     `number of ${code}`);
        this.compareKills();
        if (!this.grudging)
            for (const code of ['TR', 'NO']) this.compareRecords(code);
    }

    compareKills() {
        const kills = (list) => [...new Set(list)];
        const got = kills(this.manager.got.filter((g) => g.code === 'KI')
                              .map((g) => g.text));
        const want = kills(this.recording.answers.filter((a) => a.cmd === 'KI')
                               .map((a) => a.data));
        if (this.recording.name in knowing) {
            same(want.filter((id) => !got.includes(id)), [], 'kills missing');
            return;
        }
        // NNI's Curvefitting is many values behind when a session ends.
        const assessor = (this.meta.exp_params.assessor || {}).name;
        if (assessor === 'Curvefitting')
            same(got.slice(0, want.length), want, 'first kills');
        else
            same(got.sort(), want.sort(), 'kills');
    }

    compareRecords(code) {
        const got = this.manager.got.filter((g) => g.code === code)
                        .map((g) => g.text);
        const want = this.recording.answers.filter((a) => a.cmd === code)
                         .map((a) => a.data);
        const grid = this.meta.exp_params.tuner.name === 'GridSearch';
        for (let i = 0; i < want.length; i++) {
            if (grid) same(got[i], want[i], `${code} ${i}`);
            const a = JSON.parse(got[i]), b = JSON.parse(want[i]);
            same(Object.keys(a), Object.keys(b), `keys of ${code} ${i}`);
            same(a.parameter_id, b.parameter_id, `id of ${code} ${i}`);
            same(Object.keys(a.parameters), Object.keys(b.parameters),
                 `parameters of ${code} ${i}`);
            this.compareTypes(a.parameters, b.parameters, `${code} ${i}`);
        }
    }

    // A choice may hold anything.
    compareTypes(a, b, what) {
        const space = JSON.parse(this.recording.events.find(
            (e) => e.text && e.cmd === 'IN').data);
        for (const key of Object.keys(a))
            if (space[key] && space[key]._type !== 'choice')
                same(typeof a[key], typeof b[key], `type of ${key} in ${what}`);
    }
}

// How a session ends whose recording has no TE; `more`: NNI's dispatcher died,
// `gone`: its manager.
const ends = {
    v3_cut8: 'more',
    v3_tpe_swap_crash: 'more',
    v210_customized_crash: 'more',
    v3_bad_json: 'gone',
    v3_bye_only: 'gone',
    v210_hold_pong: 'gone',
};
// Where NNI's answers are wrong.
const mended = {
    v3_resume_grid_b_resumed: 'no point of the grid is tried twice',
};
// Where NNI's assessor knew less.
const knowing = {
    v210_resume_b_resumed: 'the assessor knows of the resumed trials',
};
async function playOne(base) {
    const recording = load(base);
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'ws-'));
    const play = new Play(recording, folder);
    try {
        await play.run();
        const counts = ANSWERS.map((c) => `${play.manager.count(c)} ${c}`);
        const notes = [...play.notes, mended[recording.name],
                       knowing[recording.name]].filter((n) => n);
        return `ok recording ws/${recording.name}: ${counts.join(', ')}` +
               notes.map((n) => `; ${n}`).join('');
    } catch (e) {
        const said = play.program ? play.program.said : '';
        return `FAILED recording ws/${recording.name}: ${e.message}\n` +
               said.trim().split('\n').slice(-15).map((l) => `# ${l}`).join('\n');
    } finally {
        if (play.program && play.program.ended === null)
            process.kill(play.program.pid, 'SIGKILL');
        await play.manager.end();
        fs.rmSync(folder, {recursive: true});
    }
}

async function main(args) {
    const jobs = args[0] === '-j' ? Number(args.splice(0, 2)[1]) : 1;
    const total = args.length;
    let failed = 0;
    const work = async () => {
        while (args.length > 0) {
            const line = await playOne(args.shift());
            console.log(line);
            if (/^FAILED/.test(line)) failed++;
        }
    };
    await Promise.all(Array.from({length: jobs}, work));
    console.log(`${total} recordings of ws/, ${failed} failed`);
    process.exitCode = failed > 0 ? 1 : 0;
}

main(process.argv.slice(2));
