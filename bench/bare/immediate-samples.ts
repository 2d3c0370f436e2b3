// The baseline of samples at a fixed rate: our server, but samples do not wait for others to share their commit. Arguments: data folder, database address, key file.
import { pino } from 'pino'
import { startService } from '../../src/server/app.ts'
import { timeLimits } from '../../src/server/core/time-limits.ts'

const [dataDir = '', databaseUrl = '', secretKeyFile = ''] = process.argv.slice(2)
const host = '127.0.0.1'
const service = await startService(
  {
    dataDir,
    databaseUrl,
    secretKeyFile,
    host,
    port: 0,
    healthHost: host,
    healthPort: 'off',
    mqttHost: host,
    mqttPort: 0,
    mqttTlsPort: 'off',
    rateLimit: 1_000_000,
    authFailureLimit: 1_000_000,
    logLevel: 'error',
    logRequests: 'off',
  },
  pino({ level: 'error' }, pino.destination(2)),
  { sampleGatherMs: 0, limits: { ...timeLimits, deviceReleaseMs: 0 } },
)
process.once('SIGTERM', () => void service.close().then(() => process.exit(0)))
process.stdout.write(`listening on ${service.mqttPort}\n`)
