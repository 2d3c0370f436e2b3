// Preloaded into a server with --import: collects all garbage on SIGUSR2, so that resident memory is what is still in use.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collectGarbage: NodeJS.GCFunction = runInNewContext('gc')

process.on('SIGUSR2', () => {
  // This flavor also returns empty pages to the operating system.
  collectGarbage({ type: 'major', execution: 'sync', flavor: 'last-resort' })
  process.stdout.write('collected\n')
})
