// For Node to import first: asked with SIGUSR2, it takes its garbage away, so that what is left is what is held.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect: NodeJS.GCFunction = runInNewContext('gc')

process.on('SIGUSR2', () => {
  // Pages that are empty now go back to the system, too.
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
  process.stdout.write('collected\n')
})
