// Stores the report of a device about an attempt: the reboot that waits moves in the same commit. [contract 12.when]

import { type CommandReport, inUseError } from '../../../../contract/device/protocol.ts'
import { commandDeadlineMs } from '../../../../contract/fleet/commands.ts'
import type { TelemetryTx } from '../../../db/handles.ts'
import { queueFinishedCommands } from '../../endpoints/endpoint-messages.ts'
import { type CommandRow, finishCommand } from '../store.ts'
import { commandView } from '../view.ts'
import {
  deleteRefusedAttempt,
  updateAttemptAcknowledged,
  updateDeferredAcknowledged,
  updateWaitsAgain,
} from './deferred-store.ts'

/** Returns the reboot if it changed. */
export async function storeAttemptReport(
  tx: TelemetryTx,
  { id, attempt_of }: Pick<CommandRow, 'id' | 'attempt_of'>,
  { state, error = null }: { readonly state: CommandReport['state']; readonly error?: string | null | undefined },
  at: number,
): Promise<CommandRow | undefined> {
  const reboot = attempt_of ?? ''
  if (state === 'ACKNOWLEDGED') {
    // The device now has as long as after a reboot that did not wait.
    const deadline = at + commandDeadlineMs
    await updateAttemptAcknowledged(tx, { id, at, deadline })
    return updateDeferredAcknowledged(tx, { id: reboot, at, deadline })
  }
  if (state === 'FAILED' && error === inUseError && (await deleteRefusedAttempt(tx, { id }))) {
    return updateWaitsAgain(tx, { id: reboot, at })
  }
  await finishCommand(tx, { id, state, error, at })
  const finished = await finishCommand(tx, { id: reboot, state, error, at })
  if (finished) await queueFinishedCommands(tx, [commandView(finished)])
  return finished
}
