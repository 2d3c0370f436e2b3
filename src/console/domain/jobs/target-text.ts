// Says which devices a job is for, with the names of places and profiles. [contract 12.job]
import { useQuery } from '@tanstack/react-query'
import { modelOf } from '../../../contract/device/models.ts'
import { operationQuery } from '../../api.ts'
import { plural } from '../../parts/text/words.ts'
import { useRoomNames } from '../fleet/room/room-names.ts'
import { useSites } from '../fleet/site/sites.ts'
import type { JobDraft } from './job.ts'

type TargetKeys = Omit<JobDraft['target'], 'exclude'>

/** The list names at most this many things. */
const maxNames = 8

/** "Regions: Europe. Models: Bar, Pad.": all parts must hold, and any value of each. */
export function useTargetText(): (keys: TargetKeys) => string {
  const { regions, locations } = useSites()
  const roomNameOf = useRoomNames()
  const profiles = useQuery(operationQuery('profilesList')).data?.body.profiles
  const nameIn = (items: readonly { readonly id: number; readonly name: string }[] | undefined) => (id: number) =>
    items?.find((item) => item.id === id)?.name ?? `#${id}`
  return (keys) =>
    [
      keys.all && 'All devices.',
      part('Regions', keys.regionIds?.map(nameIn(regions))),
      part('Locations', keys.locationIds?.map(nameIn(locations))),
      part(
        'Rooms',
        keys.roomIds?.map((id) => roomNameOf(id)),
      ),
      keys.endpointIds && `${plural(keys.endpointIds.length, 'chosen device')}.`,
      part(
        'Models',
        keys.models?.map((model) => modelOf(model).name),
      ),
      part('Profiles', keys.profileIds?.map(nameIn(profiles))),
      part('Firmware', keys.firmwareVersions),
      part('Tags', keys.tags),
      part('Time zones', keys.timezones),
    ]
      .filter(Boolean)
      .join(' ')
}

function part(title: string, names: readonly string[] | undefined): string | undefined {
  if (names === undefined) return undefined
  const rest = names.length - maxNames
  const list = names.slice(0, maxNames).join(', ')
  return `${title}: ${list}${rest > 0 ? ` and ${rest.toLocaleString('en-GB')} more` : ''}.`
}
