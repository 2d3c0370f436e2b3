// A process that prepares a database as a server does at its start, whenever it is told to, without taking the server lock.
import { openServices } from '../../../src/server/context/open-services.ts'
import { systemClock } from '../../../src/server/core/clock.ts'
import { type FirstStart, firstStart } from '../../../src/server/first-start.ts'
import { SharedSettings } from '../../../src/server/journal/settings/stored-settings.ts'
import { makePartitions } from '../../../src/server/sensors/rollups/partitions.ts'

export interface StartPlace {
  readonly dataDir: string
  readonly databaseUrl: string
}

export interface StartReport {
  readonly error?: string
  readonly identity?: string
  readonly first?: FirstStart | undefined
}

async function start(place: StartPlace): Promise<StartReport> {
  const options = { isLocked: true, mustExist: false, onError() {} }
  const { services, close } = await openServices(place, options, systemClock, async () => [])
  try {
    await SharedSettings.load(services.db, {})
    const first = await firstStart(services, true)
    await makePartitions(services, new AbortController().signal)
    return { identity: services.secrets.identity, first }
  } finally {
    await close()
  }
}

process.on('message', (place: StartPlace) => {
  start(place).then(
    (report) => process.send?.(report),
    (error: Error) => process.send?.({ error: error.message }),
  )
})
process.send?.('ready')
