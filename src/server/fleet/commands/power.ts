// Decides from the reported power whether a device has carried out POWER. [contract 8.power]
import type { PowerState } from '../../../contract/fleet/reported-status.ts'
import type { TelemetryTx } from '../../db/handles.ts'
import { queueFinishedCommands } from '../endpoints/endpoint-messages.ts'
import { type CommandRow, finishCommand, listOpenPowerCommands } from './store.ts'
import { commandView } from './view.ts'

/** The payload of a POWER command as it is stored. Statements compare it with `switchesOff` (db/queries/on-purpose.ts). */
export const powerPayload = (on: boolean) => ({ on })

/** The power CHANGING shows neither on nor off. */
export function showsPower({ payload }: Pick<CommandRow, 'payload'>, power: PowerState | undefined): boolean {
  const { on }: ReturnType<typeof powerPayload> = JSON.parse(payload)
  return on ? power === 'ON' : power === 'STANDBY' || power === 'OFF'
}

/** Ends the commands that the reported power shows as carried out, and returns them. */
export async function finishPowerCommands(
  tx: TelemetryTx,
  endpoint: string,
  power: PowerState | undefined,
  at: number,
): Promise<CommandRow[]> {
  if (power === undefined || power === 'CHANGING') return []
  const shown = (await listOpenPowerCommands(tx, { endpoint })).filter((command) => showsPower(command, power))
  const finished: CommandRow[] = []
  for (const { id } of shown) {
    const command = await finishCommand(tx, { id, state: 'SUCCEEDED', error: null, at })
    if (command) finished.push(command)
  }
  await queueFinishedCommands(tx, finished.map(commandView))
  return finished
}
