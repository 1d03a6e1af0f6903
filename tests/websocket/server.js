// SPDX-License-Identifier: MIT
// server.js - the manager's side of the WebSocket, for tests, made with npm's
// `ws`: none of tunepipe's own code is in it.
//
//   const m = new Manager({generation: '3.0', host: '127.0.0.1', path: '/tuner'})
//   await m.listen(); m.send('GE', '2'); await m.until(() => m.count('TR') >= 2)
'use strict';
const http = require('http');
const net = require('net');
const {WebSocketServer, WebSocket} = require('ws');

const PATIENCE_MS = 30000;

class Manager {
    constructor({generation, host, path}) {
        this.json = generation === '3.0';
        this.host = host;
        this.path = path;
        this.port = 0;
        this.got = [];       // {code, text, raw, binary}, in order
        this.distinct = new Map();
        this.queue = [];     // what there was no connection for
        this.closes = [];    // codes of the client's close frames
        this.connections = 0;
        this.refused = 0;    // calls while there was no manager
        this.pings = this.pongs = 0;
        this.strange = [];   // what no dispatcher may send
        this.waiting = [];
        this.socket = null;
    }

    get url() { return `ws://localhost:${this.port}${this.path}`; }

    changed() {
        const waiting = this.waiting;
        this.waiting = [];
        for (const look of waiting) look();
    }

    // Waits for a condition; `what` is told when it does not come true.
    until(condition, what) {
        return new Promise((resolve, reject) => {
            const late = setTimeout(() => {
                this.waiting = this.waiting.filter((w) => w !== look);
                reject(new Error(`waited in vain for ${what}`));
            }, PATIENCE_MS);
            const look = () => {
                if (!condition()) {
                    this.waiting.push(look);
                    return;
                }
                clearTimeout(late);
                resolve();
            };
            look();
        });
    }

    // Like NNI's: a later connection takes the place of the one before it.
    connected(socket) {
        const before = this.socket;
        this.socket = socket;
        this.connections++;
        if (before !== null) {
            if (this.json) before.close(4001, 'new epoch start');
            else before.close(1001, 'Reconnected');
        }
        socket.on('message', (data, binary) => this.received(socket, data, binary));
        socket.on('pong', () => { this.pongs++; this.changed(); });
        socket.on('error', () => {});
        socket.on('close', (code) => {
            if (this.socket === socket) {
                this.socket = null;
                this.closes.push(code);
            }
            this.changed();
        });
        for (const text of this.queue.splice(0)) socket.send(text);
        this.changed();
    }

    received(socket, data, binary) {
        const raw = data.toString('utf8');
        let code = raw.slice(0, 2), text = raw.slice(2);
        if (this.json) {
            try {
                const m = JSON.parse(raw);
                code = m.type;
                text = m.content === undefined ? '' : m.content;
                const again = `{"type": ${JSON.stringify(code)}, "content": `;
                if (!raw.startsWith(again)) this.strange.push(raw);
            } catch (e) {
                this.strange.push(raw);
            }
        }
        if (!['ID', 'TR', 'NO', 'KI', 'ER'].includes(code) || binary)
            this.strange.push(raw);
        this.got.push({code, text, raw});
        if (!this.distinct.has(code)) this.distinct.set(code, {n: 0, texts: new Set()});
        this.distinct.get(code).n++;
        if (code === 'KI') this.distinct.get(code).texts.add(text);
        this.changed();
    }

    listen() {
        this.server = http.createServer();
        this.sockets = new Set();
        this.server.on('connection', (s) => {
            this.sockets.add(s);
            s.on('close', () => this.sockets.delete(s));
        });
        const ws = new WebSocketServer({server: this.server, path: this.path});
        ws.on('connection', (socket) => this.connected(socket));
        return this.bind(this.server);
    }

    bind(server) {
        return new Promise((resolve, reject) => {
            server.on('error', reject);
            server.listen(this.port, this.host, () => {
                this.port = server.address().port;
                resolve();
            });
        });
    }

    // Every connection is lost without a word and no new one is taken.
    cut() {
        this.socket = null;
        const closed = new Promise((resolve) => this.server.close(resolve));
        for (const s of this.sockets) s.destroy();
        return closed;
    }

    // Hangs up on n callers, one after the other.
    async refuse(n) {
        const until = this.refused + n;
        const deaf = net.createServer((s) => {
            this.refused++;
            s.on('error', () => {});
            s.destroy();
            this.changed();
        });
        await this.bind(deaf);
        await this.until(() => this.refused >= until, `${n} calls`);
        await new Promise((resolve) => deaf.close(resolve));
    }

    write(text) {
        if (this.socket === null) this.queue.push(text);
        else this.socket.send(text);
    }

    send(code, text) {
        if (!this.json) this.write(code + (text || ''));
        else this.write(JSON.stringify(
            text === null || text === undefined ? {type: code}
                                                : {type: code, content: text}));
    }

    ping() {
        if (this.socket === null) return;
        this.pings++;
        this.socket.ping();
    }

    // How many answers of this code; a KI for the same trial counts once.
    count(code) {
        const those = this.distinct.get(code);
        if (those === undefined) return 0;
        return code === 'KI' ? those.texts.size : those.n;
    }

    // As a user's stop does it.
    async stop() {
        this.send('TE');
        if (this.json) {
            this.write('{"type":"_bye_","reason":"TE command"}');
            if (this.socket !== null) this.socket.close(4000, 'TE command');
        }
        const n = this.closes.length;
        await this.until(() => this.socket === null, 'the end of the connection');
        return this.closes[n];
    }

    end() {
        if (this.server.listening) return this.cut();
        return Promise.resolve();
    }
}

module.exports = {Manager, WebSocket};
