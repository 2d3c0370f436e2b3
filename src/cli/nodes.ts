// `roomkeeper nodes`: lists the servers on a database.
import { dayMs } from '../contract/durations.ts'
import { isoTime } from '../server/core/clock.ts'
import { type ProgramVersion, versionText } from '../server/core/program-files.ts'
import { listNodes } from '../server/nodes/node-list.ts'
import { type DatabaseCommandOptions, withExistingDatabase } from './database-command.ts'
import { printResult, type Terminal } from './terminal/terminal.ts'

export const nodesCommand = (terminal: Terminal, options: DatabaseCommandOptions) =>
  withExistingDatabase(options, async ({ db, clock }) => {
    const rows = await listNodes(db.system, { endedAfter: clock.now() - dayMs })
    const nodes = rows.map(({ id, name, version, state, started_at, ended_at, has_lock, devices }) => ({
      id,
      name,
      ...versionOf(version),
      // A node that is up without its lock was killed a moment ago, or all nodes were.
      state: state === 'up' && !has_lock ? 'silent' : state,
      since: isoTime(ended_at ?? started_at),
      devices: Number(devices),
    }))
    printResult(
      terminal,
      options.json,
      { nodes },
      nodes.length === 0
        ? ['No server has run on this database in the last day.']
        : nodes.map((n) => `${n.name}  ${n.id}  ${versionText(n)}  ${n.state} since ${n.since}  ${n.devices} devices`),
    )
  })

/** A node stores the text of its version. */
function versionOf(text: string): ProgramVersion {
  const [version = '', commit] = text.split('+')
  return { version, ...(commit !== undefined && { commit }) }
}
