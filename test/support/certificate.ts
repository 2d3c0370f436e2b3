// Creates a self-signed certificate for tests, as files.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeSelfSigned } from '../../src/simulator/hardware-fakes/self-signed.ts'
import type { Site } from './program.ts'

/** A self-signed certificate for 127.0.0.1 and its key. */
export function certificate(site: Pick<Site, 'dataDir'>, { lifetimeDays = 1 } = {}): { cert: string; key: string } {
  const { cert, key } = makeSelfSigned({ lifetimeDays })
  const files = { cert: join(site.dataDir, 'cert.pem'), key: join(site.dataDir, 'key.pem') }
  writeFileSync(files.cert, cert)
  writeFileSync(files.key, key, { mode: 0o600 })
  return files
}
