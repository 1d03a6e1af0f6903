// SPDX-License-Identifier: MIT
// partings.js CASE: how `tunepipe -m nni` and a manager part, of two processes:
// one line, "" when all was as it should be.
'use strict';
const fs = require('fs');
const path = require('path');
const {spawn} = require('child_process');
const {Manager} = require('./server.js');

const build = process.env.TP_BUILD;
const SPACE = '{"x":{"_type":"uniform","_value":[0,1]}}';

function check(ok, text) {
    if (!ok) throw new Error(text);
}

// The program with its manager, connected.
async function start(generation, tuner, mode, space) {
    const m = new Manager({generation, host: '127.0.0.1', path: '/tuner'});
    await m.listen();
    const params = Buffer.from(JSON.stringify({tuner}));
    const env = {
        ...process.env,
        NNI_TUNER_COMMAND_CHANNEL: m.url,
        NNI_CHECKPOINT_DIRECTORY: 'checkpoint',
        NNI_LOG_DIRECTORY: 'log',
        NNI_MODE: mode || 'start',
        TUNEPIPE_PLUGIN_PATH: path.join(build, 'tests/plugins'),
    };
    const child = spawn(path.join(build, 'tunepipe'),
                        ['-m', 'nni', '--exp_params', params.toString('base64')],
                        {env, stdio: ['ignore', 'ignore', 'pipe']});
    const p = {m, child, said: '', ended: null};
    child.stderr.on('data', (d) => { p.said += d; });
    child.on('close', (status, signal) => {
        p.ended = signal || status;
        m.changed();
    });
    await m.until(() => m.connections > 0, 'the connection');
    m.send('IN', space || SPACE);
    return p;
}

async function ended(p, want) {
    await p.m.until(() => p.ended !== null, 'the end');
    check(p.ended === want, `ended with ${p.ended}, expected ${want}: ${p.said}`);
    check(p.m.strange.length === 0, `strange: ${p.m.strange}`);
    await p.m.end();
}

// The dispatcher has ended of an error: ER says why, and the connection stays
// until the manager parts.
async function failed(p, words, status) {
    await p.m.until(() => p.m.count('ER') > 0, 'ER');
    const text = p.m.got.find((g) => g.code === 'ER').text;
    check(words.test(text), `ER '${text}', expected ${words}`);
    check(p.m.socket !== null && p.ended === null, 'it did not stay');
    const log = fs.readFileSync('log/dispatcher.log', 'utf8');
    check(words.test(log) && / ERROR \(/.test(log), `dispatcher.log: ${log}`);
    await p.m.stop();
    await ended(p, status);
    check(words.test(p.said), `stderr lacks it: ${p.said}`);
}

// One of the Python classes that tests have.
function pythonClass(name, classArgs) {
    const folder = path.join(process.env.TP_SOURCE, 'tests/data/nni-classes');
    return {className: `cases.${name}`, codeDirectory: folder, classArgs};
}

function childOf(pid) {
    const list = fs.readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
    return Number(list.trim().split(' ')[0]);
}

const cases = {
    async stop(generation) {
        const p = await start(generation, {name: 'Random'});
        p.m.send('GE', '2');
        await p.m.until(() => p.m.count('TR') === 2, 'two trials');
        await p.m.stop();
        await ended(p, 0);
    },

    async unknown(generation) {
        const p = await start(generation, {name: 'TEP'});
        await failed(p, /no tuner 'TEP' \(did you mean 'tpe'\?\)/, 3);
    },

    async nearest(generation) {
        const p = await start(generation, {name: 'NetworkMorphism'});
        await failed(p, /not among tunepipe's; the nearest: regularized_evo/, 3);
    },

    async class_good(generation) {
        const p = await start(generation, pythonClass('Recorder', {}));
        p.m.send('GE', '2');
        await p.m.until(() => p.m.count('TR') === 2, 'two trials');
        await p.m.stop();
        await ended(p, 0);
    },

    async class_wrong(generation) {
        const p = await start(generation,
                              pythonClass('Moody', {mood: 'constructor'}));
        await failed(p, /tuner cases\.Moody: making it failed: ValueError: no/,
                     3);
    },

    // A manager that asks for trials, and gets none, would say RUNNING for ever.
    async space(generation) {
        const bad = '{"x":{"_type":"uniform","_value":[1,0]},"y":1}';
        const p = await start(generation, {name: 'Random'}, 'start', bad);
        p.m.send('GE', '2');
        await failed(p, /command 1 \(IN\): search space: x\._value: .*and 1 more/,
                     3);
    },

    async space_of_tuner(generation) {
        const p = await start(generation, {name: 'space_fails'});
        await failed(p, /command 1 \(IN\): tuner space_fails: /, 3);
    },

    // The log has a space; the manager that goes on with it brings another.
    async space_again(generation) {
        const tuner = {name: 'Random'};
        await cases.stop(generation);
        const p = await start(generation, tuner, 'resume', '{"x":1}');
        await failed(p, /command \d+ \(IN\): search space: x: /, 3);
    },

    async crash(generation) {
        const p = await start(generation,
                              {name: 'crashes', classArgs: {id: 1}});
        p.m.send('GE', '1');
        await p.m.until(() => p.m.count('TR') === 1, 'a trial');
        p.m.send('GE', '1');
        await failed(p, new RegExp('the dispatcher was ended by SIGSEGV; ' +
                                   'the tuner crashes was at command 3'), 139);
    },

    // A process that the plugin forked keeps copies of all descriptors.
    async forked(generation) {
        const p = await start(generation,
                              {name: 'lingers', classArgs: {id: 1, pid: 'pid'}});
        try {
            p.m.send('GE', '2');
            await failed(p, /the dispatcher was ended by SIGABRT/, 134);
        } finally {
            process.kill(Number(fs.readFileSync('pid', 'utf8')), 'SIGKILL');
        }
    },

    // It has said all, and does not end: the connection does all the same.
    async undestroyed(generation) {
        const p = await start(generation, {name: 'lingers'});
        await p.m.until(() => p.m.count('ID') === 1, 'ID');
        const child = childOf(p.child.pid);
        await p.m.stop();
        process.kill(child, 'SIGKILL');
        await ended(p, 137);
    },

    // Who goes on with its log is not ended by the same command again.
    async resumed(generation) {
        const tuner = {name: 'crashes', classArgs: {id: 1}};
        await cases.crash(generation);
        check(fs.readFileSync('checkpoint/command.crash', 'utf8') === 't:3\n',
              'the crash is not noted');
        const p = await start(generation, tuner, 'resume');
        p.m.send('FD', '[]');
        p.m.send('AD', '[]');
        p.m.send('GE', '1');
        await p.m.until(() => p.m.count('TR') === 1, 'a trial');
        check(!fs.existsSync('checkpoint/command.crash'), 'it is still noted');
        await p.m.stop();
        await ended(p, 0);
    },

    async killed(generation) {
        const p = await start(generation, {name: 'Random'});
        await p.m.until(() => p.m.count('ID') === 1, 'ID');
        process.kill(childOf(p.child.pid), 'SIGKILL');
        await failed(p, /the dispatcher was ended by SIGKILL/, 137);
    },

    // Who wants it to stop need not wait for the manager to part.
    async terminated(generation) {
        const p = await start(generation, {name: 'Random'});
        await p.m.until(() => p.m.count('ID') === 1, 'ID');
        p.child.kill('SIGTERM');
        await p.m.until(() => p.m.count('ER') > 0, 'ER');
        check(/stopped by SIGTERM/.test(p.m.got[1].text), p.m.got[1].text);
        p.child.kill('SIGTERM');
        await ended(p, 143);
    },

    // Neither outlives the other.
    async orphan(generation) {
        const p = await start(generation, {name: 'Random'});
        await p.m.until(() => p.m.count('ID') === 1, 'ID');
        p.child.kill('SIGKILL');
        // The child has stderr, too: `close` comes when both have ended.
        await ended(p, 'SIGKILL');
    },

    // However long a tuner computes, the connection stays and pings are
    // answered; the grace ends it.
    async computing(generation) {
        const p = await start(generation, {name: 'hangs'});
        await p.m.until(() => p.m.count('ID') === 1, 'ID');
        p.m.send('GE', '1');
        for (let i = 1; i <= 3; i++) {
            p.m.ping();
            await p.m.until(() => p.m.pongs === i, 'a pong');
        }
        p.child.kill('SIGKILL');
        await ended(p, 'SIGKILL');
    },
};

const run = cases[process.argv[2]];
run(process.argv[3]).then(() => process.exit(0), (e) => {
    console.log(e.message);
    process.exit(1);
});
