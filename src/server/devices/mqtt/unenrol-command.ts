// The command that tells a device that its endpoint was deleted. It is in no table, because the endpoint has none any more.
import { randomUUID } from 'node:crypto'
import type { DeviceCommandMessage } from '../../../contract/device/protocol.ts'
import { isoTime } from '../../core/clock.ts'

const deadlineMs = 60_000

export const unenrolCommand = (now: number): DeviceCommandMessage => ({
  id: randomUUID(),
  type: 'UNENROL',
  deadline: isoTime(now + deadlineMs),
})
