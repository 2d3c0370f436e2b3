// Finds things that already are as a step would make them: a request of an interrupted run has made them, and its answer is lost.
import type { Client } from '../client/client.ts'
import type { OrganisationStep } from '../plan/plan.ts'
import type { Id, Values } from '../plan/things.ts'
import { mapInParallel } from './parallel.ts'
import { isTarget } from './step-target.ts'
import {
  channelValues,
  gatewayDeviceValues,
  locationFields,
  profileFields,
  regionFields,
  roomFields,
  silenceValues,
  userFields,
} from './values.ts'

/** A thing as its list shows it, which has its id and no secret. */
export interface ListedThing {
  readonly id: Id
}

/** The things that are equal as far as the service shows them, the newest last. `created` has the ids of what the plan made, by pointer. */
export async function findEqualThings(
  client: Client,
  step: OrganisationStep,
  created: ReadonlyMap<string, Id>,
): Promise<readonly ListedThing[]> {
  const equal = <T extends ListedThing>(items: readonly T[], valuesOf: (item: T) => Values): readonly T[] =>
    items.filter((item) => isTarget(step, valuesOf(item), created))
  switch (step.kind) {
    case 'region':
      return equal((await client.regionsList({})).body.regions, regionFields)
    case 'location':
      return equal((await client.locationsList({})).body.locations, locationFields)
    case 'room':
      return equal((await client.roomsList({})).body.rooms, roomFields)
    case 'profile': {
      const { profiles } = (await client.profilesList({})).body
      const named = profiles.filter(({ name }) => name === step.after.name)
      const read = await mapInParallel(named, async ({ id }) => ({ id, ...(await client.profilesGet({ id })).body }))
      return equal(read, (answer) => profileFields(answer, []))
    }
    case 'gatewayDevice': {
      const { devices } = (await client.gatewayDevicesList({ id: String(step.after.gateway) })).body
      return equal(devices, gatewayDeviceValues)
    }
    case 'user':
      return equal((await client.usersList({})).body.users, userFields)
    case 'silence':
      return equal((await client.silencesList({})).body.silences, silenceValues)
    case 'channel':
      return equal((await client.channelsList({})).body.channels, channelValues)
    case 'endpoint':
    case 'incidentRule':
      // No step makes one.
      return []
  }
}
