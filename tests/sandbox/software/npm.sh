#!/bin/sh
# needs: node npm
# A package that needs another by its tarball: installed from the lock file, run and tested.
set -eu
. "$(dirname "$0")/places.inc"
export npm_config_offline=true npm_config_audit=false npm_config_fund=false npm_config_update_notifier=false
mkdir -p dep app/test
cat > dep/package.json <<'J'
{"name": "dep", "version": "1.2.3", "main": "i.js", "bin": {"dep": "i.js"}, "scripts": {"install": "node made.js"}}
J
printf 'require("fs").writeFileSync("built", "x");\n' > dep/made.js
printf '#!/usr/bin/env node\nmodule.exports = () => 42;\nif (require.main === module) console.log("bin", module.exports());\n' > dep/i.js
(cd dep && npm pack --silent && mv dep-1.2.3.tgz ../app)
cd app
printf '{"name":"app","version":"1.0.0","scripts":{"start":"dep","test":"node --test test"},"dependencies":{"dep":"file:dep-1.2.3.tgz"}}\n' > package.json
npm install --silent --package-lock-only
npm ci --silent
npm ls | sed "s,$1,WORK,"
test -f node_modules/dep/built && echo "install script ran"
npm run --silent start
cat > test/a.test.js <<'J'
const test = require('node:test'), assert = require('node:assert'), http = require('node:http');
test('dependency', () => assert.equal(require('dep')(), 42));
test('server', async () => {
  const s = http.createServer((q, r) => r.end('x')).listen(0, '127.0.0.1'); await new Promise((r) => s.on('listening', r));
  assert.equal(await (await fetch(`http://127.0.0.1:${s.address().port}`)).text(), 'x'); s.closeAllConnections(); s.close();
});
J
node --test test 2>&1 | grep -E '^(# |ℹ )(tests|pass|fail)'
printf 'require("node:test")("fails", () => { throw 1 })\n' > test/b.test.js
node --test test >/dev/null 2>&1 || echo "failed with $?"
