// The facts of a job: its target, how it goes from room to room, its times and its starter. [contract 12.job]
import { useQuery } from '@tanstack/react-query'
import { modelOf } from '../../../contract/device/models.ts'
import { operationQuery } from '../../api.ts'
import { useRoomNames } from '../../domain/fleet/room/room-names.ts'
import { useSites } from '../../domain/fleet/site/sites.ts'
import type { JobDetails } from '../../domain/jobs/job.ts'
import { type Definition, DefinitionList } from '../../parts/text/definition-list.tsx'
import { DateTime } from '../../parts/text/time.tsx'
import { plural } from '../../parts/text/words.ts'

export function JobProperties({ job }: { readonly job: JobDetails }) {
  const describe = useTargetText()
  const { exclude, ...target } = job.target
  const definitions: readonly Definition[] = [
    ['Applies to', describe(target)],
    ['Except', exclude && describe(exclude)],
    ['Size', `${plural(job.endpointCount, 'device')} in ${plural(job.unitCount, 'room')}`],
    ['Started by', job.startedBy.name],
    ['Attempt', job.attempt > 1 && String(job.attempt)],
    ['Monitored', (job.soakMinutes ?? 0) > 0 && `${plural(job.soakMinutes ?? 0, 'minute')} for each room`],
    ['Too many failures', failuresText(job)],
    ['Waits for', waitsText(job)],
    ['Pace', paceText(job)],
    ['Settings locked by a profile', job.skipConflicts === true && 'Rooms are skipped'],
    ['New devices', job.includeNew === true && 'Join while the job runs'],
    ['Created', <DateTime key="created" at={job.createdAt} />],
    ['Starts', typeof job.startAt === 'string' && !job.startedAt && <DateTime at={job.startAt} />],
    ['Started', job.startedAt && <DateTime at={job.startedAt} />],
    ['Deadline', job.deadline && !job.endedAt && <DateTime at={job.deadline} />],
    ['Ended', job.endedAt && <DateTime at={job.endedAt} />],
  ]
  return <DefinitionList definitions={definitions} />
}

function failuresText({ failures, onFailure, stages }: JobDetails): string | false {
  // With 100 % no number of failures stops the job.
  if (stages === undefined || failures?.percent === 100) return false
  const limit = `More than ${failures?.percent ?? 5} %, at least ${failures?.atLeast ?? 1}`
  return `${limit}: ${onFailure === 'rollBack' ? 'the job stops and is rolled back' : 'the job stops'}`
}

const waitsText = ({ respect }: JobDetails): string | false =>
  [respect?.window && 'change windows', respect?.idle && 'empty rooms'].filter(Boolean).join(', ') || false

function paceText({ pace }: JobDetails): string | false {
  if (pace?.atOnce === undefined) return false
  const inLocation = pace.atOncePerLocation === undefined ? '' : `, ${pace.atOncePerLocation} in one location`
  return `${plural(pace.atOnce, 'room')} at a time${inLocation}`
}

type TargetKeys = Omit<JobDetails['target'], 'exclude'>

/** The list names at most this many things. */
const maxNames = 8

/** "Regions: Europe. Models: Bar, Pad.": all parts must hold, and any value of each. */
function useTargetText(): (keys: TargetKeys) => string {
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
