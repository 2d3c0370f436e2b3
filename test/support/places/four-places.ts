// An organisation with one of everything in each of four places, and ids that nothing has.

import { type NewEndpoint, newEndpoint, newGatewayDevice } from '../fixture.ts'
import type { Harness, TestOrg } from '../harness.ts'
import { newIncident } from '../incidents.ts'
import { newJobs, weekdayIn } from '../jobs.ts'
import { firstIds, setFirstIds } from './first-ids.ts'

/** The ids that a request can name. All ids of a kind are equally long, so that answers that name them are too. */
export interface Place extends Omit<NewEndpoint, 'serial' | 'credential'> {
  readonly region: number
  readonly location: number
  readonly room: number
  readonly note: string
  readonly user: string
  /** Open, about the endpoint. */
  readonly incident: string
  /** Silences the room for a day. */
  readonly silence: string
  /** A draft about the endpoint. */
  readonly job: string
  /** Restarts the endpoint every week. */
  readonly recurringJob: string
  /** An item of the endpoint, which is a gateway too, and in its room. */
  readonly gatewayDevice: string
}

/** Nothing has these ids. */
export const unknownPlace: Place = {
  region: firstIds.region + 99_999,
  location: firstIds.location + 99_999,
  room: firstIds.room + 99_999,
  note: String(firstIds.note + 99_999),
  user: String(firstIds.user + 99_999),
  incident: String(firstIds.incident + 99_999),
  silence: String(firstIds.silence + 99_999),
  job: String(firstIds.job + 99_999),
  recurringJob: String(firstIds.recurringJob + 99_999),
  endpoint: '00000000-0000-4000-8000-000000000000',
  operation: '00000000-0000-4000-8000-000000000001',
  supportId: 'ZZZZ-ZZZZ',
  gatewayDevice: '00000000-0000-4000-8000-000000000002',
}

export interface FourPlaces extends TestOrg {
  readonly own: Place
  /** In a region of its own. */
  readonly foreign: Place
  /** Its location is in no region. */
  readonly withoutRegion: Place
  /** Its room is in no location. */
  readonly withoutLocation: Place
  readonly profile: number
  /** A bug report of the endpoints of all places. */
  readonly mixedSupportId: string
}

export async function newFourPlaces(harness: Harness): Promise<FourPlaces> {
  const org = await harness.newOrg()
  await setFirstIds(harness, org)
  const make = async (path: string, body: unknown) => (await org.call('POST', path, { body })).body
  const newPlace = async (name: string, has: { region?: true; location?: true }): Promise<Place> => {
    const region = has.region && (await make('/regions', { name: `${name} region` })).id
    const location = has.location && (await make('/locations', { name: `${name} location`, regionId: region })).id
    const room = (await make('/rooms', { name: `${name} room`, locationId: location })).id
    const note = (await make(`/rooms/${room}/notes`, { note: `${name} note` })).id
    const regionIds = region ? [region] : []
    const user = (await make('/users', { email: `${name}@example.org`, role: 'admin', regionIds })).id
    const { serial: _, credential: __, ...device } = await newEndpoint(harness, org, room, { sampleCount: 3 })
    const gatewayDevice = await newGatewayDevice(org, device.endpoint, room)
    const incident = await newIncident(harness, org, { endpoints: [device.endpoint] })
    const to = new Date(harness.clock.now() + 86_400_000).toISOString()
    const silence = (await make('/silences', { place: { roomId: room }, reason: `${name} silence`, to })).id
    const [job = ''] = await newJobs(harness, org, [{ state: 'DRAFT', room, endpoint: device.endpoint }])
    const schedule = { days: [weekdayIn(harness, 4)], at: '03:00' }
    const weekly = { name: `${name} weekly`, target: { roomIds: [room] }, action: { type: 'REBOOT' }, schedule }
    const recurringJob = (await make('/recurring_jobs', weekly)).id
    // A place without a region or location has ids there that nothing else has.
    const [noRegion, noLocation] = [
      firstIds.region + room - firstIds.room + 1000,
      firstIds.location + room - firstIds.room + 1000,
    ]
    const places = { region: region ?? noRegion, location: location ?? noLocation, room }
    return { ...places, note, user, incident, silence, job, recurringJob, gatewayDevice, ...device }
  }
  const own = await newPlace('own', { region: true, location: true })
  // Its incidents have more than one page.
  await newIncident(harness, org, { rooms: [own.room] })
  const foreign = await newPlace('foreign', { region: true, location: true })
  const withoutRegion = await newPlace('regionless', { location: true })
  const withoutLocation = await newPlace('homeless', {})
  const profile = (await make('/profiles', { name: 'Quiet', config: { nightMode: true } })).profile.id
  const all = [own, foreign, withoutRegion, withoutLocation].map(({ endpoint }) => endpoint)
  const { supportId: mixedSupportId } = await make('/endpoints/generate_bug_report', all)
  return { ...org, own, foreign, withoutRegion, withoutLocation, profile, mixedSupportId }
}
