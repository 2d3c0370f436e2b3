// Makes the rows of new commands, and skips devices that cannot carry them out. [contract 5.1.actions]
import { randomUUID } from 'node:crypto'
import type { DeviceAction } from '../../../contract/device/models.ts'
import type { CommandType } from '../../../contract/fleet/commands.ts'
import { canDo, type DescribedDevice, inabilityTexts } from '../endpoints/device-actions.ts'
import type { NewCommand } from './store.ts'

/** The state of a new command, and the reason if it is SKIPPED. */
export type NewCommandState = Pick<NewCommand, 'state' | 'error'>
export const queued: NewCommandState = { state: 'QUEUED', error: null }
export const skippedOffline: NewCommandState = { state: 'SKIPPED', error: null }

/** A device that sleeps cannot be switched on over the network. */
export const asleepText = 'The device is asleep and cannot be reached.'
export const skippedAsleep: NewCommandState = { state: 'SKIPPED', error: asleepText }

/** The action that a device must have for each command. */
const actionOfCommand: Readonly<Record<CommandType, DeviceAction>> = {
  REBOOT: 'reboot',
  MESSAGE: 'message',
  COLLECT_LOGS: 'logs',
  POWER: 'power',
}

/** Makes a row for each endpoint. Clients expect no error for one whose device cannot do it: its command is SKIPPED. [contract 5.1.actions] */
export const newCommandRows = <E extends DescribedDevice & { readonly id: string }>(
  type: CommandType,
  endpoints: readonly E[],
  stateOf: (endpoint: E) => NewCommandState = () => queued,
): NewCommand[] => {
  const action = actionOfCommand[type]
  return endpoints.map((e) => ({
    id: randomUUID(),
    endpoint_id: e.id,
    ...(canDo(e, action) ? stateOf(e) : { state: 'SKIPPED', error: inabilityTexts[action] }),
  }))
}
