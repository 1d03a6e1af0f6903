// SPDX-License-Identifier: MIT
// carry.js CASE 2.10|3.0: what the WebSocket carries, and how it is carried, in
// hard weather: `tunepipe -m nni` and a manager.  Prints why it fails.
'use strict';
const path = require('path');
const fs = require('fs');
const {spawn} = require('child_process');
const {Manager} = require('./server.js');

const SPACE = '{"x":{"_type":"uniform","_value":[0,1]}}';
const MIB = 1 << 20;

function check(ok, text) {
    if (!ok) throw new Error(text);
}

function same(got, want, what) {
    check(got === want, `${what}: ${got}, expected ${want}`);
}

function manager(generation) {
    return new Manager({generation, host: '127.0.0.1', path: '/pre/fix/tuner'});
}

function launch(m, tuner) {
    const params = Buffer.from(JSON.stringify({tuner: {name: tuner || 'Random'}}));
    const env = {
        ...process.env,
        NNI_TUNER_COMMAND_CHANNEL: m.url,
        NNI_LOG_DIRECTORY: 'log',
        NNI_MODE: 'start',
    };
    const child = spawn(path.join(process.env.TP_BUILD, 'tunepipe'),
                        ['-m', 'nni', '--exp_params', params.toString('base64')],
                        {env, stdio: ['ignore', 'ignore', 'pipe']});
    const p = {m, child, said: '', ended: null};
    child.stderr.on('data', (d) => {
        p.said += d;
        m.changed();
    });
    child.on('close', (status, signal) => {
        p.ended = signal || status;
        m.changed();
    });
    process.on('exit', () => child.kill('SIGKILL'));
    return p;
}

async function start(generation, tuner) {
    const m = manager(generation);
    await m.listen();
    const p = launch(m, tuner);
    await m.until(() => m.connections > 0, 'the connection');
    m.send('IN', SPACE);
    await m.until(() => m.count('ID') === 1, 'ID');
    return p;
}

async function ended(p, want) {
    await p.m.until(() => p.ended !== null, 'the end');
    same(p.ended, want, `exit status (${p.said.trim()})`);
    same(p.m.strange.length, 0, 'strange messages');
    check(!/Sanitizer|runtime error/.test(p.said), p.said);
}

async function stop(p) {
    same(await p.m.stop(), p.m.json ? 4000 : 1000, 'close code');
    await ended(p, 0);
}

// The parameter ids that have come, from 0 and without a gap: how many.
function trials(m) {
    const ids = m.got.filter((g) => g.code === 'TR')
                    .map((g) => JSON.parse(g.text).parameter_id);
    ids.forEach((id, i) => same(id, i, 'parameter id'));
    return ids.length;
}

async function ask(m, n) {
    const want = m.count('TR') + n;
    m.send('GE', String(n));
    await m.until(() => m.count('TR') === want, `${want} TR`);
}

function text(m, code, content) {
    return m.json ? JSON.stringify({type: code, content}) : code + content;
}

function records(n) {
    return JSON.stringify(Array.from({length: n}, (_, i) => (
        {parameter: {x: i / n}, value: String(i / n), trialJobId: 'ä' + i})));
}

function metric(i) {
    return JSON.stringify({parameter_id: 0, trial_job_id: 'a', sequence: i,
                           type: 'PERIODICAL', value: '0.5'});
}

function dispatcherOf(p) {
    const pid = p.child.pid;
    const list = fs.readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
    return Number(list.trim().split(' ')[0]);
}

const cases = {
    // No extension, no subprotocol, no proxy, the path as it is given.
    async handshake(generation) {
        process.env.http_proxy = 'http://127.0.0.1:9';
        const m = manager(generation);
        await m.listen();
        let seen;
        m.server.on('upgrade', (request) => { seen = request; });
        const p = launch(m);
        await m.until(() => m.connections > 0, 'the connection');
        same(seen.url, '/pre/fix/tuner', 'path');
        same(seen.headers.host, `localhost:${m.port}`, 'Host');
        same(seen.headers['sec-websocket-version'], '13', 'version');
        same(seen.headers['sec-websocket-extensions'], undefined, 'extensions');
        same(seen.headers['sec-websocket-protocol'], undefined, 'protocol');
        m.send('IN', SPACE);
        await stop(p);
    },

    // As a resume of a long experiment does it: one message.
    async large(generation) {
        const p = await start(generation);
        p.m.send('FD', records(40000));
        await ask(p.m, 1);
        await p.m.until(() => /40000 of 40000 results imported/.test(p.said),
                        'a line');
        await stop(p);
    },

    // Parts with a ping between them; a binary message.
    async fragments(generation) {
        const p = await start(generation);
        const s = p.m.socket, ge = text(p.m, 'GE', '1');
        for (let i = 0; i < ge.length - 1; i++) {
            s.send(ge[i], {fin: false});
            p.m.ping();
        }
        s.send(ge[ge.length - 1], {fin: true});
        await p.m.until(() => p.m.count('TR') === 1, 'TR');
        await p.m.until(() => p.m.pongs > 0, 'a pong');
        s.send(Buffer.from(ge), {binary: true});
        await p.m.until(() => p.m.count('TR') === 2, 'TR');
        await stop(p);
    },

    // Over the dispatcher's limit: its own line goes to the manager.
    async over(generation) {
        const p = await start(generation);
        p.m.write(text(p.m, 'FD', 'x'.repeat(65 * MIB)));
        await p.m.until(() => p.m.count('ER') === 1, 'ER');
        const er = p.m.got.find((g) => g.code === 'ER').text;
        check(/FD with a payload of 68157440 bytes, over the limit/.test(er), er);
        await p.m.stop();
        await ended(p, 4);
    },

    // Nothing a manager says can end the bridge.
    async strange(generation) {
        const p = await start(generation);
        const json = ['', '{', '[]', '{}', 'GE1', '{"type":"GE","content":"1"',
                      '{"type":5}', '{"type":"_what_"}', '\u0000', '{"type":"g"}',
                      '{"type":"GE","content":"\\ud800"}x', '['.repeat(10000)];
        const plain = ['', 'G', 'ge1', '{"type":"GE","content":"1"}', '12', ' GE1'];
        for (const t of p.m.json ? json : plain) p.m.write(t);
        p.m.write(Buffer.from([0xff, 0xfe, 0x00]));
        await ask(p.m, 1);
        const n = (p.m.json ? json : plain).length + 1;
        await p.m.until(() => (p.said.match(/: ignored/g) || []).length === n,
                        `${n} lines`);
        await stop(p);
    },

    // A code that is none: the dispatcher says its line, as on a pipe.
    async unknown(generation) {
        const p = await start(generation);
        p.m.send('XX', 'what');
        await ask(p.m, 1);
        await p.m.until(() => /XX/.test(p.said), 'a line');
        await stop(p);
    },

    // While the dispatcher does nothing, no more is taken than fits, and 2.10
    // still gets its pongs; then nothing is lost.
    async held(generation) {
        const p = await start(generation);
        const child = dispatcherOf(p);
        await ask(p.m, 1);
        process.kill(child, 'SIGSTOP');
        p.m.send('FD', records(1000));
        const big = text(p.m, 'FD', ' '.repeat(MIB) + '[]');
        for (let i = 0; i < 32; i++) p.m.write(big);
        const before = p.m.pongs;
        await p.m.until(() => p.m.pongs >= before + 2, 'pongs nobody asked for');
        check(p.m.socket.bufferedAmount > 12 * MIB, 'it took all');
        process.kill(child, 'SIGCONT');
        await ask(p.m, 1);
        await p.m.until(() => (p.said.match(/results imported/g) || []).length === 33,
                        '33 imports');
        await stop(p);
    },

    // A manager that does not read for a while.
    async deaf(generation) {
        const p = await start(generation);
        const socket = p.m.socket._socket;
        socket.pause();
        for (let i = 0; i < 10; i++) p.m.send('GE', '6000');
        setTimeout(() => socket.resume(), 500);
        await p.m.until(() => p.m.count('TR') === 60000, '60000 TR');
        same(trials(p.m), 60000, 'trials');
        await stop(p);
    },

    // The manager closes in order, but without a TE: the state is kept.
    async closed(generation) {
        const p = await start(generation);
        await ask(p.m, 3);
        p.m.socket.close(1000);
        await p.m.until(() => p.m.connections === 2, 'the next connection');
        await ask(p.m, 2);
        same(trials(p.m), 5, 'trials');
        same(p.m.count('ID'), 1, 'ID');
        await stop(p);
    },

    // Lost in the middle of answers: none comes twice; the rest comes over the
    // next connection.
    async lost(generation) {
        const p = await start(generation);
        const m = p.m;
        let taken = false; // what is not is lost with the connection
        m.socket.on('pong', (data) => { taken ||= `${data}` === 'all'; });
        for (let i = 0; i < 20; i++) m.send('GE', '1000');
        m.socket.ping('all');
        await m.until(() => taken && m.count('TR') > 100, 'some TR');
        m.socket._socket.destroy();
        await m.until(() => m.connections === 2, 'the next connection');
        m.send('GE', '1'); // all before it may have been on the way
        await m.until(() => /"parameter_id\W+20000,/.test(m.got[m.got.length - 1].raw),
                      'the last TR');
        const ids = m.got.filter((g) => g.code === 'TR')
                        .map((g) => JSON.parse(g.text).parameter_id);
        let gaps = 0;
        for (let i = 1; i < ids.length; i++) {
            check(ids[i] > ids[i - 1], `id ${ids[i]} after ${ids[i - 1]}`);
            if (ids[i] !== ids[i - 1] + 1) gaps++;
        }
        check(gaps <= 1, `${gaps} gaps`);
        await stop(p);
    },

    // Half a message when the connection is lost: it is sent again, whole.
    async half(generation) {
        const p = await start(generation);
        const ge = text(p.m, 'GE', '1');
        p.m.socket.send(ge.slice(0, 2), {fin: false});
        await p.m.cut();
        await p.m.listen();
        await p.m.until(() => p.m.connections === 2, 'the next connection');
        await ask(p.m, 1);
        same(trials(p.m), 1, 'trials');
        await stop(p);
    },

    // Both processes are stopped for a while, as a laptop's lid does it.
    async asleep(generation) {
        const p = await start(generation);
        const pids = [dispatcherOf(p), p.child.pid];
        for (const pid of pids) process.kill(pid, 'SIGSTOP');
        p.m.ping();
        p.m.send('GE', '2');
        await new Promise((resolve) => setTimeout(resolve, 1000));
        for (const pid of pids) process.kill(pid, 'SIGCONT');
        await p.m.until(() => p.m.pongs === 1 && p.m.count('TR') === 2, 'TR');
        await stop(p);
    },

    // The manager is there a little later than we are.
    async late(generation) {
        const m = manager(generation);
        await m.listen();
        await m.cut();
        const p = launch(m);
        await m.refuse(3);
        await m.listen();
        await m.until(() => m.connections === 1, 'the connection');
        m.send('IN', SPACE);
        await ask(m, 1);
        await stop(p);
    },

    // There never is a manager: ten seconds, one line.
    async nobody(generation) {
        const m = manager(generation);
        await m.listen();
        await m.cut();
        const p = launch(m), began = Date.now();
        await ended(p, 4);
        const ms = Date.now() - began;
        check(ms >= 9900, `gave up after ${ms} ms`);
        const lines = p.said.split('\n').filter((l) => /error/.test(l));
        same(lines.length, 1, 'lines');
        check(/no manager could be reached within 10 seconds/.test(lines[0]),
              lines[0]);
    },
};

cases[process.argv[2]](process.argv[3]).then(() => process.exit(0), (e) => {
    console.log(e.message);
    process.exit(1);
});
