// Reads the option `--region` of commands that limit a key or a user to regions.

import { StartupError } from '../server/core/failure.ts'
import { parseInt32 } from '../server/core/int32.ts'

/** The rules refuse a region that does not exist. */
export function parseRegionId(text: string): number {
  const id = parseInt32(text)
  if (id !== undefined) return id
  throw new StartupError('--region must be the id of a region such as 3. The operation regionsList shows the ids.')
}
