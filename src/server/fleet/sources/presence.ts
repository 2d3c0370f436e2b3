// Tells readers of events when a source is away, and when it returns: the states of its devices change. [contract 15.presence]
import type { OrgReader } from '../../db/handles.ts'
import type { OrgEventPublisher } from '../../events/publisher.ts'
import { listIdsOfSource } from '../endpoints/device-store.ts'

export async function publishDevicesOfSource(on: OrgReader, events: OrgEventPublisher, source: string): Promise<void> {
  const devices = await listIdsOfSource(on, { source })
  events.publish(devices.map(({ id }) => ({ type: 'status', endpointId: id })))
}
