// Checks that no command is executed twice, that SUCCEEDED means executed once, and that every command ends.
import type { CommandDelivery } from '../histories.ts'

export interface StoredCommand {
  readonly id: string
  readonly type: string
  readonly state: string
}

const openStates = ['QUEUED', 'SENT', 'ACKNOWLEDGED']

export interface ExecutionHistory {
  readonly executions: readonly CommandDelivery[]
  readonly deliveries: readonly CommandDelivery[]
  /** Commands whose final report was acknowledged, with the time. */
  readonly finished: ReadonlyMap<string, number>
}

/** `stored` are the commands in the database, after everything has come to rest. `requested` are ids that were answered with 200. */
export function checkExecutions(
  { executions, deliveries, finished }: ExecutionHistory,
  stored: readonly StoredCommand[],
  requested: readonly string[],
): string[] {
  const problems: string[] = []
  const counts = new Map<string, number>()
  for (const { commandId } of executions) counts.set(commandId, (counts.get(commandId) ?? 0) + 1)
  const commands = new Map(stored.map((command) => [command.id, command]))
  for (const [id, count] of counts) {
    if (count > 1) problems.push(`Command ${id} was executed ${count} times.`)
    if (!commands.has(id)) problems.push(`Command ${id} was executed, but is not in the database.`)
  }
  for (const { id, type, state } of stored) {
    const count = counts.get(id) ?? 0
    if (state === 'SUCCEEDED' && count !== 1)
      problems.push(`${type} ${id} is SUCCEEDED, but was executed ${count} times.`)
    if (openStates.includes(state)) problems.push(`${type} ${id} is still ${state}.`)
    if (finished.has(id) && state !== 'SUCCEEDED') {
      problems.push(`The success of ${type} ${id} was acknowledged, but it is ${state}.`)
    }
  }
  for (const id of requested)
    if (!commands.has(id)) problems.push(`Command ${id} was acknowledged, but is not in the database.`)
  for (const { commandId, at } of deliveries) {
    const finishedAt = finished.get(commandId)
    if (finishedAt !== undefined && at > finishedAt) {
      problems.push(`Command ${commandId} was sent again after its success was acknowledged.`)
    }
  }
  return problems
}
