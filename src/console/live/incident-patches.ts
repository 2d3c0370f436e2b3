// Puts changed incidents into the cached lists of incidents, and reads only the incidents that have changed. [contract 10.states]
import type { Query } from '@tanstack/react-query'
import type { CallInput } from '../../client/client.ts'
import type { Event } from '../../contract/journal/events.ts'
import { queryClient } from '../api.ts'
import { isOpenIncident, type ListedIncident } from '../domain/incidents/incident.ts'
import { client } from '../session.ts'
import { invalidateThrottled } from './refetch.ts'

type IncidentFilter = CallInput<'incidentsList'>

/** One change makes an event for each region, so the first read waits a moment for the others. */
const firstReadMs = 200
/** In an outage devices join an incident every second; it is read this often at most. */
const minIntervalMs = 2000
/** With more changed incidents than this, whole lists are cheaper to read. */
const maxIncidentReads = 12

const changed = new Set<string>()
let lastReadMs = Number.NEGATIVE_INFINITY
let timer: ReturnType<typeof setTimeout> | undefined

const cachedLists = (): Query<readonly ListedIncident[]>[] =>
  queryClient.getQueryCache().findAll({ queryKey: ['incidentsList'] }) as unknown as Query<readonly ListedIncident[]>[]

const readLists = () => invalidateThrottled('incidentsList', () => true, '')

export function patchIncidents({ incident }: Event): void {
  if (!incident || cachedLists().length === 0) return
  changed.add(incident.id)
  if (timer !== undefined) return
  const waitMs = Math.max(firstReadMs, lastReadMs + minIntervalMs - performance.now())
  timer = setTimeout(() => {
    timer = undefined
    lastReadMs = performance.now()
    void readChanged()
  }, waitMs)
}

async function readChanged(): Promise<void> {
  const ids = [...changed]
  changed.clear()
  if (ids.length > maxIncidentReads) return readLists()
  try {
    const read = await Promise.all(ids.map(async (id) => listedPart((await client().incidentsGet({ id })).body)))
    for (const query of cachedLists()) patchList(query, read)
  } catch {
    readLists()
  }
}

/** A fetch in flight may have read the state before the event, so its answer is changed when it arrives. */
function patchList(query: Query<readonly ListedIncident[]>, read: readonly ListedIncident[]): void {
  const { state, queryKey } = query
  // A list entry does not name its devices, so these lists are read again.
  if (isOfPlace(filterOf(query))) {
    invalidateThrottled('incidentsList', isOfPlace, 'places')
    return
  }
  const patch = () =>
    queryClient.setQueryData<readonly ListedIncident[]>(
      queryKey,
      (list) => list && read.reduce((incidents, one) => withIncident(incidents, one, filterOf(query)), list),
    )
  if (state.fetchStatus === 'fetching') void query.promise?.then(patch, () => {})
  // A change would make a stale answer look fresh.
  else if (!state.isInvalidated) patch()
  else if (query.isActive()) readLists()
}

const filterOf = ({ queryKey }: Pick<Query, 'queryKey'>): IncidentFilter => (queryKey[1] ?? {}) as IncidentFilter

const isOfPlace = ({ roomId, endpointId }: IncidentFilter): boolean => roomId !== undefined || endpointId !== undefined

/** An incident that was read is a list's entry with its subjects and its timeline. */
function listedPart({ subjects, timeline, ...listed }: ListedIncident & { subjects: unknown; timeline: unknown }) {
  return listed
}

/** Replaces, adds or removes the incident, as the list's filter says. Returns the same list if it has something newer. */
export function withIncident(
  list: readonly ListedIncident[],
  read: ListedIncident,
  filter: IncidentFilter,
): readonly ListedIncident[] {
  const at = list.findIndex(({ id }) => id === read.id)
  const known = list[at]
  if (known && known.updatedAt > read.updatedAt) return list
  if (!isWanted(read, filter)) return known ? list.toSpliced(at, 1) : list
  return known ? list.with(at, read) : [read, ...list]
}

/** The other lists of the console are filtered by these parameters only. */
function isWanted(incident: ListedIncident, filter: IncidentFilter): boolean {
  const { state = 'open', from, to, resolvedFrom, rule, regionId, locationId } = filter
  const { resolvedAt } = incident
  if (rule !== undefined && incident.rule !== rule) return false
  if (regionId !== undefined && !incident.regionIds.includes(regionId)) return false
  if (locationId !== undefined && !incident.locationIds.includes(locationId)) return false
  if (to !== undefined && Date.parse(incident.openedAt) >= Number(to)) return false
  if (resolvedFrom !== undefined && !(resolvedAt && Date.parse(resolvedAt) >= Number(resolvedFrom))) return false
  if (from !== undefined && Date.parse(incident.openedAt) < Number(from)) return false
  if (state === 'all') return true
  return state === 'open' ? isOpenIncident(incident) : incident.state === state
}
