#!/bin/sh
# needs: node
# Files, watchers, processes, workers, sockets, streams and compression from Node.
set -eu
cd "$1"
cat > worker.js <<'J'
const { parentPort, workerData } = require('node:worker_threads');
parentPort.postMessage(workerData.reduce((a, b) => a + b, 0));
J
cat > session.js <<'J'
const fs = require('node:fs'), fsp = fs.promises, http = require('node:http'), net = require('node:net');
const { spawn, execFileSync, fork } = require('node:child_process'), zlib = require('node:zlib');
const { Worker } = require('node:worker_threads'), crypto = require('node:crypto'), os = require('node:os');
const { pipeline } = require('node:stream/promises'), { once } = require('node:events'), dns = require('node:dns').promises;
async function files() {
  await fsp.mkdir('tree/a/b', { recursive: true }); await fsp.writeFile('tree/a/f', 'text');
  await fsp.symlink('a', 'tree/link'); await fsp.cp('tree', 'copy', { recursive: true });
  console.log((await fsp.readdir('copy', { recursive: true })).sort().join(' '));
  await fsp.utimes('tree/a/f', 1, 2); await fsp.chmod('tree/a/f', 0o640);
  const s = await fsp.stat('tree/a/f'); console.log(s.mode.toString(8), s.mtimeMs, s.size);
  const h = await fsp.open('tree/a/f', 'r+'); await h.truncate(2); await h.datasync(); await h.close();
  console.log(fs.readFileSync('tree/a/f', 'utf8'), fs.existsSync('none')); fs.copyFileSync('tree/a/f', 'g');
  fs.renameSync('g', 'h'); await fsp.rm('copy', { recursive: true });
  const w = fs.watch('.'); const seen = once(w, 'change'); fs.writeFileSync('watched', 'x'); console.log((await seen)[1]); w.close();
}
async function processes() {
  console.log(execFileSync('sort', { input: 'b\na\n' }).toString());
  const p = spawn('sleep', ['30']); p.kill('SIGTERM'); console.log((await once(p, 'exit')).join());
  const c = fork('./child.js'); c.send({ n: 20 }); console.log((await once(c, 'message'))[0]); c.disconnect(); console.log((await once(c, 'exit')).join());
  const w = new Worker('./worker.js', { workerData: [1, 2, 3] }); console.log((await once(w, 'message'))[0]);
  console.log(os.cpus().length > 0, os.totalmem() > 0, process.resourceUsage().maxRSS > 0);
}
async function network() {
  const server = http.createServer((q, r) => r.end('hello ' + q.url)).listen(0, '127.0.0.1'); await once(server, 'listening');
  console.log(await (await fetch(`http://127.0.0.1:${server.address().port}/x`)).text()); server.closeAllConnections(); server.close();
  const u = net.createServer(s => s.pipe(s)).listen('./sock'); await once(u, 'listening');
  const c = net.connect('./sock'); c.write('unix'); console.log((await once(c, 'data'))[0].toString()); c.destroy(); u.close();
  console.log((await dns.lookup('127.0.0.1')).address);
}
async function data() {
  fs.writeFileSync('in', 'x'.repeat(100000));
  await pipeline(fs.createReadStream('in'), zlib.createGzip(), fs.createWriteStream('in.gz'));
  console.log(zlib.gunzipSync(fs.readFileSync('in.gz')).length, crypto.createHash('sha256').update('x').digest('hex').slice(0, 8), crypto.randomBytes(4).length);
  console.log(crypto.pbkdf2Sync('p', 's', 1000, 8, 'sha256').toString('hex'));
  const wasm = new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])); console.log(wasm instanceof WebAssembly.Module);
  let f = (a) => { let s = 0; for (let i = 0; i < a; i++) s += i % 7; return s; }; console.log(f(3e7));
}
(async () => { await files(); await processes(); await network(); await data();
  process.on('SIGUSR2', () => { console.log('signal'); process.exit(6); }); setInterval(() => {}, 1000); process.kill(process.pid, 'SIGUSR2'); })();
J
cat > child.js <<'J'
process.on('message', (m) => process.send({ twice: m.n * 2 }));
J
node session.js || echo "node ended $?"
node -e 'throw new Error("thrown")' 2>/dev/null || echo "node ended $?"
node --input-type=module -e 'import { readFile } from "node:fs/promises"; console.log((await readFile("in.gz")).length > 0)'
printf '{"name":"p","version":"1.0.0","scripts":{"t":"echo ran"}}' > package.json
if command -v npm >/dev/null; then npm run --silent t; fi
