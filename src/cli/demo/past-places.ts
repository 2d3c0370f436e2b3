// The places and people of the demo, which exist since the beginning of its past week.

import type { Role } from '../../contract/people/permissions.ts'
import type { Org } from '../../server/auth/token-holder.ts'
import type { RequestContext } from '../../server/context/request-context.ts'
import type { Services } from '../../server/context/services.ts'
import { locationsCreate } from '../../server/fleet/locations/rules.ts'
import { roomNotesCreate } from '../../server/fleet/notes/rules.ts'
import { regionsCreate } from '../../server/fleet/regions/rules.ts'
import { roomsCreate } from '../../server/fleet/rooms/rules.ts'
import { signInContext, startUserSession } from '../../server/people/sessions/user-sessions.ts'
import { usersCreate } from '../../server/people/users/rules.ts'
import type { FleetPlan } from '../../simulator/plan.ts'

export interface DemoRoom {
  readonly id: number
  /** The enrolment code. */
  readonly dec: string
}

export interface DemoPlaces {
  readonly regionIds: readonly number[]
  /** In the order of the plan. */
  readonly rooms: readonly DemoRoom[]
  readonly basement: DemoRoom
  readonly canteen: DemoRoom
  /** The room whose Pad is away for repair. */
  readonly padRoom: number
}

const changeWindow = { days: ['mon', 'tue', 'wed', 'thu', 'fri'] as const, from: '20:00', to: '06:00' }

export async function makePlaces(ctx: RequestContext, plan: FleetPlan): Promise<DemoPlaces> {
  const regionIds: number[] = []
  for (const name of plan.regions) regionIds.push((await regionsCreate(ctx, { name })).body.id)
  const locationIds: number[] = []
  for (const { name, region, timezone } of plan.locations) {
    const place = { name, regionId: regionIds[region] as number, timezone }
    const window = { ...changeWindow, days: [...changeWindow.days] }
    locationIds.push((await locationsCreate(ctx, { ...place, changeWindow: window })).body.id)
  }
  const make = async (name: string, location: number, more: { capacity?: number; tags?: string[] } = {}) => {
    const { id, dec = '' } = (await roomsCreate(ctx, { name, locationId: locationIds[location] as number, ...more }))
      .body
    return { id, dec }
  }
  const rooms = await Promise.all(
    plan.rooms.map(({ name, location, seats }) =>
      make(name, location, { capacity: seats, tags: [seats > 8 ? 'large' : seats > 4 ? 'team' : 'huddle'] }),
    ),
  )
  const basement = await make('Basement', 0, { capacity: 6 })
  const canteen = await make('Canteen', plan.locations.length - 2, { capacity: 40, tags: ['large'] })
  const attic = await make('Attic', 0, { capacity: 10 })
  await roomNotesCreate(ctx, attic.id, 'Opens in spring. Enrol the first device with the code of this room.')
  const padRoom = rooms[0]?.id ?? attic.id
  return { regionIds, rooms, basement, canteen, padRoom }
}

export interface DemoPerson {
  readonly id: string
  readonly ctx: RequestContext
}
export type DemoPeople = Readonly<Record<'ada' | 'nora' | 'jonas', DemoPerson>>

/** Each of them has signed in once. */
export async function makePeople(
  services: Services,
  org: Org,
  ctx: RequestContext,
  { regionIds }: DemoPlaces,
): Promise<DemoPeople> {
  const make = async (name: string, role: Role, regions: readonly number[]): Promise<DemoPerson> => {
    const email = `${name.split(' ')[0]?.toLowerCase()}@example.org`
    const isEverywhere = role === 'owner' || regions.length === 0
    const body = { email, name, role, allRegions: isEverywhere, regionIds: isEverywhere ? [] : [...regions] }
    const { id } = (await usersCreate(ctx, body)).body
    const user = { id: Number(id), email, role }
    const own = signInContext(services, org, user, {})
    await startUserSession(own, user, { via: 'link' })
    return { id, ctx: own }
  }
  const ada = await make('Ada Berg', 'owner', [])
  const nora = await make('Nora Lind', 'admin', [])
  const jonas = await make('Jonas Weber', 'operator', regionIds.slice(0, 1))
  await make('Mia Tanaka', 'viewer', regionIds.slice(-1))
  return { ada, nora, jonas }
}
