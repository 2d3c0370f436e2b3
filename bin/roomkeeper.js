#!/usr/bin/env node
// Starts Roomkeeper. Plain JavaScript without new syntax, so that an old Node can read it and say what it needs.
import { readFileSync } from 'node:fs'
import * as module from 'node:module'
import { fileURLToPath } from 'node:url'

const major = Number(process.versions.node.split('.')[0])
if (major < 24) {
  process.stderr.write(
    `Roomkeeper needs Node 24 or newer; this is ${process.version}. In a checkout, "npm ci" brings it (as a dev dependency), and "npm start" and "npm run roomkeeper" use it.\n`,
  )
  process.exit(1)
}

// Node runs our TypeScript as it is, except in an installed package (below node_modules): there we strip the types ourselves.
const source = new URL('../src/', import.meta.url).href
if (source.includes('/node_modules/')) {
  const { emitWarning } = process
  process.emitWarning = () => {} // stripTypeScriptTypes is announced as experimental once; engines pins what we use
  module.stripTypeScriptTypes('')
  process.emitWarning = emitWarning
  module.registerHooks({
    load: (url, context, next) =>
      url.startsWith(source) && url.endsWith('.ts')
        ? {
            format: 'module',
            shortCircuit: true,
            source: module.stripTypeScriptTypes(readFileSync(fileURLToPath(url), 'utf8')),
          }
        : next(url, context),
  })
} else {
  // What was stripped and compiled is kept for the next start, which takes half as long. Beside the code itself: whoever could write
  // there could just as well change the code; whoever runs it may not be able to, and then nothing is kept.
  module.enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/roomkeeper', import.meta.url)))
}

await import('../src/main.ts')
