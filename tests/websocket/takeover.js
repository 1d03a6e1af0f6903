// SPDX-License-Identifier: MIT
// takeover.js CASE 2.10|3.0: managers that are processes of their own, which
// start their dispatcher through a shell, as NNI's do; one ends, another goes on
// with its log.  Prints why it fails.
'use strict';
const fs = require('fs');
const path = require('path');
const readline = require('readline');
const {spawn, spawnSync} = require('child_process');
const {Manager} = require('./server.js');

const PROGRAM = path.join(process.env.TP_BUILD, 'tunepipe');
const SPACE = '{"x":{"_type":"uniform","_value":[0,1]}}';
const PATIENCE_MS = 60000;

// ---- the manager: a line of its input is a command, a line of its output an
// answer, or what it has done ----

function say(what) {
    console.log(JSON.stringify(what));
}

class Speaker extends Manager {
    received(socket, data, binary) {
        super.received(socket, data, binary);
        const {code, text} = this.got[this.got.length - 1];
        say({code, text});
    }

    connected(socket) {
        super.connected(socket);
        say({code: 'connected'});
    }
}

async function manage(generation, port, mode, tuner, name) {
    const m = new Speaker({generation, host: '127.0.0.1', path: '/tuner'});
    m.port = Number(port);
    await m.listen();
    const params = Buffer.from(`{"tuner":${tuner}}`).toString('base64');
    const env = {
        ...process.env,
        NNI_TUNER_COMMAND_CHANNEL: m.url,
        NNI_CHECKPOINT_DIRECTORY: 'checkpoint',
        NNI_LOG_DIRECTORY: name,
        NNI_MODE: mode,
        TUNEPIPE_PLUGIN_PATH: path.join(process.env.TP_BUILD, 'tests/plugins'),
    };
    const err = fs.openSync(`${name}.err`, 'w');
    const shell = mode === 'alone' ? {} : spawn('/bin/sh', ['-c', `"${PROGRAM}" -m nni --exp_params ${params}; exit $?`],
                        {env, stdio: ['ignore', 'ignore', err]});
    say({code: 'begun', port: m.port, shell: shell.pid});
    const lines = readline.createInterface({input: process.stdin});
    lines.on('line', (line) => {
        const [, code, text] = /^(\S+) ?(.*)$/.exec(line);
        if (code === 'cut') m.cut();
        else if (code === 'TE') m.stop();
        else m.send(code, text);
    });
    lines.on('close', () => process.exit(0));
}

// ---- the experiment ----

let managers = 0;

class Side {
    constructor(generation, {port, mode, tuner}) {
        this.name = `manager${++managers}`;
        this.got = [];
        this.look = () => {};
        this.process = spawn(process.execPath,
                             [__filename, '--manager', generation, port || 0,
                              mode || 'start',
                              JSON.stringify(tuner || {name: 'Random'}), this.name],
                             {stdio: ['pipe', 'pipe', 'inherit']});
        readline.createInterface({input: this.process.stdout}).on('line', (l) => {
            this.got.push(JSON.parse(l));
            this.look();
        });
        this.process.stdin.on('error', () => {});
        process.on('exit', () => this.end());
    }

    // What it has started outlives it, and a test that fails.
    end() {
        this.process.kill('SIGKILL');
        for (const pid of this.tree || [])
            if (!gone(pid)) try { process.kill(pid, 'SIGKILL'); } catch (e) { /* gone */ }
    }

    until(condition, what) {
        return new Promise((resolve, reject) => {
            const late = setTimeout(() => {
                let said = '';
                try { said = fs.readFileSync(`${this.name}.err`, 'utf8'); } catch (e) { /* none */ }
                reject(new Error(`${this.name} waited in vain for ${what}: ${said}`));
            }, PATIENCE_MS);
            this.look = () => {
                if (!condition()) return;
                clearTimeout(late);
                this.look = () => {};
                resolve();
            };
            this.look();
        });
    }

    count(code) { return this.got.filter((g) => g.code === code).length; }
    find(code) { return this.got.find((g) => g.code === code); }
    send(line) { this.process.stdin.write(line + '\n'); }

    async begin() {
        await this.until(() => this.count('connected') > 0, 'a connection');
        const {port, shell} = this.find('begun');
        this.port = port;
        this.tree = [shell, ...childrenOf(shell)];
        this.tree.push(...childrenOf(this.tree[1]));
        this.send('IN ' + SPACE);
    }

    async goOn() {
        await this.begin();
        await this.until(() => this.count('ID') + this.count('ER') > 0, 'ID');
        check(this.count('ER') === 0, `ER: ${(this.find('ER') || {}).text}`);
        this.send('FD []');
        this.send('AD []');
    }

    async trials(n) {
        this.send(`GE ${n}`);
        const want = this.count('TR') + n;
        await this.until(() => this.count('TR') + this.count('ER') >= want, `${want} TR`);
        return this.got.filter((g) => g.code === 'TR')
                   .map((g) => JSON.parse(g.text).parameter_id);
    }

    kill() {
        this.process.kill('SIGKILL');
    }
}

function check(ok, text) {
    if (!ok) throw new Error(text);
}

function childrenOf(pid) {
    const list = fs.readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
    return list.trim().split(' ').filter((w) => w).map(Number);
}

function gone(pid) {
    try {
        return / Z /.test(fs.readFileSync(`/proc/${pid}/stat`, 'utf8'));
    } catch (e) {
        return true;
    }
}

async function allGone(side) {
    const limit = Date.now() + PATIENCE_MS;
    while (!side.tree.every(gone)) {
        check(Date.now() < limit, `${side.name}'s dispatcher has not ended`);
        await new Promise((resolve) => setTimeout(resolve, 20));
    }
}

// The log is whole, and says what the two said.
function replays() {
    const r = spawnSync(PROGRAM, ['replay', '--verify', 'checkpoint', '--plugin-path',
                                  path.join(process.env.TP_BUILD, 'tests/plugins')]);
    check(r.status === 0, `replay: ${r.stdout}${r.stderr}`);
}

async function stop(side) {
    side.send('TE');
    await allGone(side);
    replays();
}

const cases = {
    // On the same port, at once: the first one's dispatcher is never seen there.
    async killed(generation) {
        const a = new Side(generation, {});
        await a.begin();
        await a.trials(3);
        a.kill();
        const b = new Side(generation, {port: a.port, mode: 'resume'});
        await b.goOn();
        const ids = await b.trials(2);
        check(ids.every((id) => id >= 3), `ids ${ids}`);
        await allGone(a);
        check(b.count('connected') === 1, 'another dispatcher has connected');
        check(b.count('ID') === 1 && b.count('ER') === 0, 'it was not alone');
        await stop(b);
    },

    // Nobody has asked for the log yet: who listens there now is another manager.
    async port(generation) {
        const a = new Side(generation, {});
        await a.begin();
        await a.trials(1);
        a.kill();
        const b = new Side(generation, {port: a.port, mode: 'alone'});
        await b.until(() => b.count('begun') === 1, 'its beginning');
        await allGone(a);
        check(b.count('connected') === 0, 'another manager was called');
        const said = fs.readFileSync(`${a.name}.err`, 'utf8');
        check(/the manager's process has ended/.test(said), said);
        replays();
    },

    // The grace is the plugin's, and nobody else's: then the log is gone on from.
    async computing(generation) {
        const tuner = {name: 'hangs', classArgs: {id: 1, once: path.resolve('hung')}};
        const a = new Side(generation, {tuner});
        await a.begin();
        await a.trials(1);
        a.send('GE 1');
        await a.until(() => a.count('TR') === 1, 'a trial');
        while (!fs.existsSync('hung')) await new Promise((r) => setTimeout(r, 10));
        a.kill();
        const b = new Side(generation, {port: a.port, mode: 'resume', tuner});
        await b.goOn();
        check((await b.trials(1)).length === 1, 'more than one trial');
        check(b.count('connected') === 1, 'another dispatcher has connected');
        await stop(b);
    },

    // The connection is lost, though the manager's process is there: it goes
    // when it is asked.
    async asked(generation) {
        const a = new Side(generation, {});
        await a.begin();
        await a.trials(1);
        a.send('cut');
        const b = new Side(generation, {mode: 'resume'});
        await b.goOn();
        await b.trials(1);
        await allGone(a);
        await stop(b);
    },

    // It is asked, and stays.
    async lives(generation) {
        const a = new Side(generation, {});
        await a.begin();
        await a.trials(1);
        const b = new Side(generation, {mode: 'resume'});
        await b.begin();
        await b.until(() => b.count('ER') > 0, 'ER');
        const [, pid] = /command\.lock: locked by process (\d+), expected one writer; its manager is there: stop that experiment, or the process \(kill \1\)/
            .exec(b.find('ER').text) || [];
        check(Number(pid) === a.tree[2], `ER: ${b.find('ER').text}, expected ${a.tree[2]}`);
        b.send('TE');
        await allGone(b);
        const ids = await a.trials(2);
        check(ids.join() === '0,1,2', `ids ${ids}`);
        await stop(a);
    },
};

const [what, generation] = process.argv.slice(2);
if (what === '--manager')
    manage(...process.argv.slice(3));
else
    cases[what](generation).then(() => process.exit(0), (e) => {
        console.log(e.message);
        process.exit(1);
    });
