// Lets Node run TypeScript below node_modules, in an installed package. Each thread has to load it: hooks apply to one thread only.
import { readFileSync } from 'node:fs'
import * as module from 'node:module'
import { fileURLToPath } from 'node:url'

const source = new URL('../src/', import.meta.url).href
const { emitWarning } = process
process.emitWarning = () => {} // hides the one warning that stripTypeScriptTypes is experimental; engines pins the Node version
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
