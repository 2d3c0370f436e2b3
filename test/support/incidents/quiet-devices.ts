// Devices that are only rows of a service with a fixed clock: they connect and report, and days pass in seconds.
import { afterAll, beforeAll } from 'vitest'
import { dayMs, hourMs, minuteMs } from '../../../src/contract/durations.ts'
import { tokenHash } from '../../../src/server/auth/token.ts'
import { endLongSleep } from '../../../src/server/fleet/endpoints/oversleep.ts'
import { markConnected, markDisconnected, storeStatus } from '../../../src/server/fleet/endpoints/presence.ts'
import { locationsCreate } from '../../../src/server/fleet/locations/rules.ts'
import { roomsCreate } from '../../../src/server/fleet/rooms/rules.ts'
import { incidentsList } from '../../../src/server/incidents/rules.ts'
import { findOrg } from '../../../src/server/journal/orgs/store.ts'
import { deviceOfRow, putEndpoints } from '../database/endpoint-rows.ts'
import { openQuietService, type QuietService } from '../reboots/quiet-service.ts'

export type QuietDevice = Awaited<ReturnType<typeof putEndpoints>>[number]
type Connection = Parameters<typeof markDisconnected>[1]

/** The row of the node has the real time of its start, and the first day is later. */
export const firstDay = Math.ceil(Date.now() / dayMs) * dayMs

/** Opens a service for the tests of a file, at 8:00 of the first day. */
export function quietDevices() {
  const stack = new AsyncDisposableStack()
  let { signal } = new AbortController()
  const connections = new Map<string, Connection>()
  let service: QuietService
  let locations = 0
  beforeAll(async () => {
    service = await openQuietService(stack, firstDay + 8 * hourMs)
  })
  afterAll(() => stack.disposeAsync())

  const report = ({ id }: Pick<QuietDevice, 'id'>, status: Record<string, unknown>) =>
    storeStatus(service.services, connections.get(id) as Connection, status)

  return {
    get service(): QuietService {
      return service
    },
    report,

    /** Makes a location with rooms, and this many devices in each. */
    async newLocation(rooms: number, devicesPerRoom: number, regionId?: number) {
      const { ctx } = service
      const name = `Location ${++locations}`
      const locationId = (await locationsCreate(ctx, { name, ...(regionId !== undefined && { regionId }) })).body.id
      const roomIds: number[] = []
      for (let i = 0; i < rooms; i++) roomIds.push((await roomsCreate(ctx, { name: `Room ${i}`, locationId })).body.id)
      const devices = await putEndpoints(
        service,
        ctx,
        roomIds.flatMap((room_id) => Array.from({ length: devicesPerRoom }, () => ({ room_id, model: 'PX-900' }))),
      )
      await service.services.db.systemTransaction(({ kysely }) =>
        kysely
          .insertInto('credential_directory')
          .values(devices.map(({ id, org }) => ({ hash: tokenHash(id), org, endpoint_id: id })))
          .execute(),
      )
      return { locationId, roomIds, devices }
    },

    async connect(row: QuietDevice, status: Record<string, unknown> = {}) {
      const { services, ctx } = service
      const { id } = row
      const device = deviceOfRow(ctx.org, row)
      const since = services.clock.now()
      const begin = { device, since, credentialHash: tokenHash(id).toString('hex'), nodeId: 0, number: 0 }
      const presence = await markConnected(services, begin)
      if (!presence) throw new Error('the device has no credential')
      connections.set(id, { ...begin, nodeId: presence.nodeId, number: presence.number })
      if (Object.keys(status).length > 0) await report({ id }, status)
    },

    /** The connection of a device, with which a test stores what the device reports. */
    connectionOf: ({ id }: Pick<QuietDevice, 'id'>) => connections.get(id) as Connection,

    disconnect: ({ id }: QuietDevice) => markDisconnected(service.services, connections.get(id) as Connection, 'LOST'),

    /** Runs the tasks as the service does, in larger steps. */
    async pass(ms: number, stepMs = minuteMs) {
      const { services, ctx, clock, incidents } = service
      const org = await findOrg(services.db.system, { id: ctx.org.id })
      if (!org) throw new Error('the organisation is gone')
      for (const end = clock.now() + ms; clock.now() < end; ) {
        clock.advance(Math.min(stepMs, end - clock.now()))
        await endLongSleep(services, org.key, 336 * hourMs)
        await incidents.run(services, org, signal)
      }
    },

    /** From now on another node runs the rules: it knows only what is stored. */
    changeNode() {
      signal = new AbortController().signal
    },

    open: async () => (await incidentsList(service.ctx, {})).incidents,
    all: async () => (await incidentsList(service.ctx, { state: 'all' })).incidents,
  }
}
