// Our server on a folder with a house in it, whose devices could all connect.
import type { Ending } from '../cleanup.ts'
import type { Identity } from '../load/mqtt-load.ts'
import { type Server, startServer } from './roomkeeper.ts'

export interface Housed {
  readonly dataDir: string
  readonly org: string
  readonly key: string
  readonly devices: readonly Identity[]
}

/** `node` are flags for Node itself. */
export async function serveHouse(
  ending: Ending,
  { dataDir, org, key }: Housed,
  node: readonly string[] = [],
): Promise<Server> {
  const server = await startServer(dataDir, node)
  ending.add(() => server.child.stop())
  return { ...server, org, key }
}
