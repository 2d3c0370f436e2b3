// A gateway that mirrors as a process of its own, which tests kill. Its arguments: address, folder, code.
import { GatewayFolder } from '../../../src/gateway/folder.ts'
import { runGateway } from '../../../src/gateway/gateway.ts'
import { parseRange, Reach } from '../../../src/gateway/reach.ts'
import { neatPulse, neatPulseWith } from '../../../src/gateway/sources/neat-pulse/neat-pulse.ts'

const [url = '', folder = '', code] = process.argv.slice(2)
const quick = {
  twoWithinMs: 10,
  listMs: 250,
  roundMs: { min: 500, max: 500 },
  readingMs: 1,
  retryMs: 100,
  giveUpMs: 1_000,
}
const end = new AbortController()
process.once('SIGTERM', () => end.abort())
await runGateway(
  {
    url,
    code,
    folder: GatewayFolder.open(folder),
    reach: new Reach([parseRange('127.0.0.1')]),
    version: '0.0.0-test',
    drivers: {},
    sources: { 'neat-pulse': async () => (process.env.PULSE_TIMES === 'usual' ? neatPulse : neatPulseWith(quick)) },
    restartWithinMs: 10_000,
    log: (line) => process.stdout.write(`${line}\n`),
  },
  end.signal,
)
