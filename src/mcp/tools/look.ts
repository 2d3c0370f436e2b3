// Tools that show what there is: the organisation, its places, rooms and devices, and how they are now.
import Type, { type Static } from 'typebox'
import { dayMs } from '../../contract/durations.ts'
import { roomStates } from '../../contract/fleet/rooms.ts'
import { groupBy } from '../../contract/group-by.ts'
import type { Incident as IncidentShape } from '../../contract/incidents/incidents.ts'
import { RoomTag } from '../../contract/jobs/job-request.ts'
import type { SensorData } from '../../contract/sensors/sensors.ts'
import { OneOf } from '../../contract/shape.ts'
import { directTool } from '../tool.ts'
import { deviceFilterFields, listDevices, shownDevice } from './devices.ts'
import { contains, endpointIdField, firstOf, limitField, placeFields, roomIdField } from './fields.ts'

type Incident = Static<typeof IncidentShape>

const countBy = <T>(entries: readonly T[], keyOf: (entry: T) => string) =>
  Object.fromEntries([...groupBy(entries, keyOf)].map(([key, group]) => [key, group.length]))

const search = Type.Optional(
  Type.String({ minLength: 1, maxLength: 100, description: 'Part of a name, in upper or lower case.' }),
)

export const lookTools = [
  directTool({
    name: 'whoami',
    title: 'Who am I',
    description: 'The organisation, its time zone, and the rights and regions of the key that is used.',
    needs: 'read',
    input: Type.Object({}),
    run: async ({ client }) => (await client.meGet()).body,
  }),
  directTool({
    name: 'overview',
    title: 'Overview',
    description:
      'How many rooms and devices are in each state, how many people are in rooms now, and the worst open incidents. For questions such as "is everything all right?".',
    needs: 'read',
    input: Type.Object(placeFields),
    async run({ client }, place) {
      const rooms = (await client.roomsList(place)).body.rooms
      const devices = await listDevices(client, place)
      const { incidents } = (await client.incidentsList({ ...place, pageSize: 1000 })).body
      const worst = incidents.toSorted((a, b) => rank(b.severity) - rank(a.severity))
      return {
        rooms: { total: rooms.length, ...countBy(rooms, ({ state }) => state) },
        devices: { total: devices.length, ...countBy(devices, (device) => shownDevice(device).state) },
        people: rooms.reduce((sum, { people, peopleIs }) => sum + (peopleIs ? 0 : (people ?? 0)), 0),
        roomsInUse: rooms.filter(({ people = 0 }) => people > 0).length,
        openIncidents: countBy(incidents, ({ severity }) => severity),
        worst: worst.slice(0, 10).map(({ id, severity, title, since }) => ({ id, severity, title, since })),
      }
    },
  }),
  directTool({
    name: 'list_places',
    title: 'Regions and locations',
    description:
      'The regions and locations that the key sees, with their identifiers and how many rooms each location has.',
    needs: 'read',
    input: Type.Object({}),
    async run({ client }) {
      const [regions, locations, rooms] = await Promise.all([
        client.regionsList(),
        client.locationsList(),
        client.roomsList(),
      ])
      const counts = countBy(rooms.body.rooms, ({ location }) => String(location?.id ?? 'none'))
      return {
        regions: regions.body.regions.map(({ id, name }) => ({ id, name })),
        locations: locations.body.locations.map(({ id, name, region, timezone }) => ({
          ...{ id, name, regionId: region?.id, regionName: region?.name, timezone, rooms: counts[String(id)] ?? 0 },
        })),
        roomsWithoutLocation: counts.none ?? 0,
      }
    },
  }),
  directTool({
    name: 'find_rooms',
    title: 'Find rooms',
    description:
      'Rooms by name, place, tag or state, each with its state, its devices and the people in it now. `search` also finds the names of locations.',
    needs: 'read',
    input: Type.Object({
      search,
      ...placeFields,
      state: Type.Optional(OneOf(roomStates, 'Only rooms in this state.')),
      tag: Type.Optional(RoomTag),
      occupied: Type.Optional(Type.Boolean({ description: 'Only rooms with people now, or only rooms without.' })),
      limit: limitField,
    }),
    async run({ client }, { search, state, occupied, limit, ...query }) {
      const { rooms } = (await client.roomsList(query)).body
      const found = rooms.filter(
        (room) =>
          (state === undefined || room.state === state) &&
          (occupied === undefined || (room.people !== undefined && room.people > 0 === occupied)) &&
          (search === undefined || contains(room.name, search) || contains(room.location?.name, search)),
      )
      const { total, shown } = firstOf(found, limit)
      return { total, rooms: shown }
    },
  }),
  directTool({
    name: 'get_room',
    title: 'One room',
    description: 'A room with its devices, its latest air and people, its open incidents and its notes.',
    needs: 'read',
    input: Type.Object({ roomId: roomIdField }),
    async run({ client }, { roomId }) {
      // The code with which devices enrol is no answer for a model.
      const {
        dec: _,
        decUsed: __,
        decTimeout: ___,
        enrolmentUrl: ____,
        endpoints: _____,
        ...room
      } = (await client.roomsGet({ id: roomId })).body
      const devices = await listDevices(client, { roomId })
      const { incidents } = (await client.incidentsList({ roomId })).body
      const { notes } = (await client.roomNotesList({ roomId })).body
      const sample = await client.roomsSensorData({ id: roomId }).catch(() => undefined)
      return {
        ...room,
        devices: devices.map(shownDevice),
        sample: sample && measuredOf(sample.body.roomData),
        openIncidents: incidents.map(shownIncident),
        notes: notes.slice(0, 20),
      }
    },
  }),
  directTool({
    name: 'explain_room',
    title: 'Why is a room offline or degraded',
    description:
      'Why a room is offline or not well: the state of each device and since when, how its connections ended in the last days, and the open incidents with their advice. For questions such as "why is Fjord offline?".',
    needs: 'read',
    input: Type.Object({
      roomId: roomIdField,
      days: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 30, description: 'How many days to look back; default 7.' }),
      ),
    }),
    async run({ client, now }, { roomId, days = 7 }) {
      const { id, name, state, location } = (await client.roomsGet({ id: roomId })).body
      const devices = (await listDevices(client, { roomId })).map(shownDevice)
      const names = new Map(devices.map((device) => [device.id, device.name]))
      const from = now() - days * dayMs
      const { spans, endpoints, onlineShare, outages, longestOutageSeconds } = (
        await client.roomsConnections({ id: roomId, from })
      ).body
      const { incidents } = (await client.incidentsList({ roomId })).body
      const ended = spans.filter(({ to, why }) => to !== undefined && why !== undefined)
      return {
        room: { id, name, state, location },
        devices,
        lastDays: { days, onlineShare, outages, longestOutageSeconds },
        devicesInThatTime: endpoints.map(({ endpointId, ...numbers }) => ({
          device: names.get(endpointId),
          ...numbers,
        })),
        endsOfConnections: ended
          .toSorted((a, b) => (String(a.to) < String(b.to) ? 1 : -1))
          .slice(0, 30)
          .map(({ endpointId, to, why, followedBy }) => ({ device: names.get(endpointId), at: to, why, followedBy })),
        openIncidents: incidents.map(shownIncident),
      }
    },
  }),
  directTool({
    name: 'find_devices',
    title: 'Find devices',
    description:
      'Devices by name, serial number, address, place, kind, model or state, with firmware and since when they are in their state.',
    needs: 'read',
    input: Type.Object({ search, ...deviceFilterFields, limit: limitField }),
    async run({ client }, { limit, ...filter }) {
      const { total, shown } = firstOf(await listDevices(client, filter), limit)
      return { total, devices: shown.map(shownDevice) }
    },
  }),
  directTool({
    name: 'get_device',
    title: 'One device',
    description:
      'Everything that is known about a device: what it reports about itself, its networks, faults and peripherals, its latest sample and its last operations.',
    needs: 'read',
    input: Type.Object({ endpointId: endpointIdField }),
    async run({ client }, { endpointId: id }) {
      const device = (await client.endpointsGet({ id })).body
      const { operations } = (await client.endpointsOperationsList({ id })).body
      const sample = await client.endpointsSensorData({ id }).catch(() => undefined)
      return { ...device, sample: sample && measuredOf(sample.body.endpointData), operations: operations.slice(0, 10) }
    },
  }),
]

const rank = (severity: string): number => ['INFO', 'WARNING', 'CRITICAL'].indexOf(severity)

/** The values of a sample that were measured; the API has 0 for the others. */
function measuredOf({ data: [sample], measured = [] }: SensorData) {
  if (!sample) return undefined
  return {
    at: new Date(Number(sample.timestamp) * 1000).toISOString(),
    ...Object.fromEntries(measured.map((sensor) => [sensor, sample[sensor]])),
  }
}

/** The values of an incident that answer a question about it. */
export const shownIncident = ({
  id,
  severity,
  state,
  title,
  hint,
  since,
  occurrences,
  roomIds,
  assignee,
}: Incident) => ({
  ...{ id, severity, state, title, hint, since, occurrences, roomIds, assignee: assignee?.name },
})
