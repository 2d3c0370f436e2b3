// A gateway with the line drivers as a process of its own, which tests kill. Its arguments: address, folder, code.
import { GatewayFolder } from '../../../src/gateway/folder.ts'
import { runGateway } from '../../../src/gateway/gateway.ts'
import { parseRange, Reach } from '../../../src/gateway/reach.ts'
import { lineDriver } from './line-driver.ts'
import { lineSourceDriver } from './line-source-driver.ts'

const [url = '', folder = '', code] = process.argv.slice(2)
const end = new AbortController()
process.once('SIGTERM', () => end.abort())
await runGateway(
  {
    url,
    code,
    folder: GatewayFolder.open(folder),
    reach: new Reach([parseRange('127.0.0.1')]),
    version: '0.0.0-test',
    drivers: { roomos: lineDriver },
    sources: { 'neat-pulse': async () => lineSourceDriver },
    restartWithinMs: 10_000,
    log: (line) => process.stdout.write(`${line}\n`),
  },
  end.signal,
)
