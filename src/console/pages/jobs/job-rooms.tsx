// The rooms of a job, those that failed or wait first, with search and filters; a row expands to its devices. [contract 12.rooms]

import { Stack, Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useCallback, useMemo } from 'react'
import type { CallInput } from '../../../client/client.ts'
import { type UnitState, unitStates } from '../../../contract/jobs/job-states.ts'
import { capitalised } from '../../../contract/words.ts'
import { queryKeyOf } from '../../api.ts'
import type { JobDetails, JobUnit } from '../../domain/jobs/job.ts'
import { UnitStateLabel, unitStateName } from '../../domain/jobs/job-state.tsx'
import { reasonText, waitText } from '../../domain/jobs/job-texts.ts'
import { DisclosureButton } from '../../parts/page/disclosure-button.tsx'
import { EmptyState, ErrorPanel } from '../../parts/page/page.tsx'
import { Loading } from '../../parts/page/skeleton.tsx'
import type { Column } from '../../parts/table/column.ts'
import { DataTable } from '../../parts/table/data-table.tsx'
import { FilterBar, FilterSelect, SearchBox } from '../../parts/table/list-filters.tsx'
import { longTable } from '../../parts/table/long-table.tsx'
import { useSearchParamsUpdate } from '../../parts/table/search-params.ts'
import { DateTime } from '../../parts/text/time.tsx'
import { plural } from '../../parts/text/words.ts'
import { client } from '../../session.ts'
import classes from './jobs.module.css'

const route = getRouteApi('/jobs/$jobId')
type Search = ReturnType<typeof route.useSearch>

const pageSizeRows = 200
/** The height of the error below the table, with the margin of the page. */
const errorHeightPx = 170
/** A search asks the server, once the user stops typing. */
const searchDelayMs = 250

type UnitFilter = Omit<CallInput<'jobsRoomsList'>, 'pageSize' | 'pageToken'>

/** The key begins with the operation and the job, so that an event of the job invalidates the query. */
function useUnits(filter: UnitFilter) {
  return useInfiniteQuery({
    queryKey: [...queryKeyOf('jobsRoomsList', filter), 'pages'],
    queryFn: async ({ pageParam, signal }) =>
      (
        await client().jobsRoomsList(
          { ...filter, order: 'attention', pageSize: pageSizeRows, ...(pageParam && { pageToken: pageParam }) },
          { signal },
        )
      ).body,
    initialPageParam: '',
    getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined,
    placeholderData: (previous) => previous,
  })
}

/** Rooms that failed stay among them after a rollback, so the filter asks for their mark and not for their state. */
const stateFilter = (state: UnitState | undefined): Pick<UnitFilter, 'failed' | 'state'> =>
  state === 'FAILED' ? { failed: true } : state ? { state } : {}

export function JobRooms({ job }: { readonly job: JobDetails }) {
  const search = route.useSearch()
  const change = useSearchParamsUpdate<Search>(route.useNavigate())
  const state = unitStates.find((one) => one === search.state)
  const stage = stageNumber(search.stage, job.stageCount)
  const { q = '' } = search
  const [text] = useDebouncedValue(q.trim(), searchDelayMs)
  const query = useUnits({
    ...stateFilter(state),
    id: job.id,
    ...(stage && { stage }),
    ...(text !== '' && { text }),
  })
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetching, isFetchNextPageError } = query
  const units = useMemo(() => uniqueUnits(data?.pages.flatMap(({ rooms }) => rooms) ?? []), [data])
  // Reading a page would cancel a read of those that are loaded. A page that could not be read is asked for by the user.
  const readMore = useCallback(() => {
    if (hasNextPage && !isFetching && !isFetchNextPageError) void fetchNextPage()
  }, [hasNextPage, isFetching, isFetchNextPageError, fetchNextPage])
  const isFiltered = state !== undefined || stage !== undefined || q !== ''
  const hasStages = job.stageCount > 1
  return (
    <Stack gap="sm">
      <FilterBar
        search={
          <SearchBox
            label="Search rooms"
            placeholder="Room or location"
            value={q}
            onChange={(value) => change({ q: value || undefined })}
          />
        }
      >
        <FilterSelect
          label="State"
          value={state}
          choices={stateChoices(job, state)}
          onChange={(value) => change({ state: value })}
        />
        {hasStages && (
          <FilterSelect
            label="Stage"
            value={stage === undefined ? undefined : String(stage)}
            choices={stageChoices(job)}
            onChange={(value) => change({ stage: value })}
          />
        )}
      </FilterBar>
      {data === undefined && error === null && <Loading />}
      {data === undefined && error !== null && <ErrorPanel error={error} onRetry={() => void refetch()} />}
      {data && (
        <DataTable
          label="Rooms of the job"
          rows={units}
          columns={hasStages ? columns : columns.filter(({ id }) => id !== 'stage')}
          keyOf={unitKey}
          details={(unit) => <UnitEndpoints unit={unit} />}
          minWidthPx={720}
          long={longTable({
            ...{ minHeightPx: 240, onEnd: readMore },
            ...(isFetchNextPageError && { belowPx: errorHeightPx }),
          })}
          empty={<EmptyState title={isFiltered ? 'No rooms match these filters' : 'No rooms yet'} />}
        />
      )}
      {isFetchNextPageError && <ErrorPanel error={error} onRetry={() => void fetchNextPage()} />}
    </Stack>
  )
}

const unitKey = ({ number }: JobUnit) => number

/** A room whose state changed between two pages can be on both. */
const uniqueUnits = (units: readonly JobUnit[]): readonly JobUnit[] => [
  ...new Map(units.map((unit) => [unit.number, unit])).values(),
]

const stageNumber = (text: string | undefined, count: number): number | undefined => {
  const stage = Number(text)
  return Number.isInteger(stage) && stage >= 1 && stage <= count ? stage : undefined
}

/** The states that rooms are in. The chosen state stays among them when its last room leaves it. */
const stateChoices = ({ counts, failedCount }: JobDetails, chosen: UnitState | undefined) =>
  unitStates
    .map((state) => ({ state, count: state === 'FAILED' ? failedCount : (counts[state] ?? 0) }))
    .filter(({ state, count }) => count > 0 || state === chosen)
    .map(({ state, count }) => ({ value: state, label: `${unitStateName(state)} (${count.toLocaleString('en-GB')})` }))

const stageChoices = ({ stageCounts }: JobDetails) =>
  stageCounts.map((_, index) => ({ value: String(index + 1), label: `Stage ${index + 1}` }))

/** The server has more rooms than these, so they cannot be sorted here. */
const columns: readonly Column<JobUnit>[] = [
  { id: 'room', title: 'Room', width: 'minmax(160px, 2fr)', cell: (unit) => <RoomNameLink unit={unit} /> },
  { id: 'stage', title: 'Stage', width: '64px', cell: ({ stage }) => stage },
  {
    id: 'state',
    title: 'State',
    width: '150px',
    inCard: 'corner',
    cell: ({ state }) => <UnitStateLabel state={state} />,
  },
  {
    id: 'reason',
    title: 'Reason',
    hasValue: (unit) => unit.soaksUntil !== undefined || unitReason(unit) !== '',
    width: 'minmax(180px, 3fr)',
    cell: (unit) =>
      unit.state === 'SOAKING' && unit.soaksUntil !== undefined ? (
        <>
          Until <DateTime at={unit.soaksUntil} />
        </>
      ) : (
        unitReason(unit) !== '' && <span title={unitReason(unit)}>{unitReason(unit)}</span>
      ),
  },
  {
    id: 'started',
    title: 'Started',
    hasValue: ({ beganAt }) => beganAt !== undefined,
    width: '130px',
    from: 'medium',
    cell: ({ beganAt }) => beganAt !== undefined && <DateTime at={beganAt} />,
  },
  {
    id: 'devices',
    title: 'Devices',
    width: '90px',
    cell: ({ endpoints, name }, { isOpen, id, toggle }) => (
      <DisclosureButton
        isOpen={isOpen}
        aria-controls={id}
        aria-label={`${plural(endpoints.length, 'device')} of ${name}`}
        onClick={toggle}
      >
        {endpoints.length}
      </DisclosureButton>
    ),
  },
]

/** "Failed: no screen" stays when the room was rolled back. */
function unitReason({ state, reason, failure }: JobUnit): string {
  if (failure !== undefined && state !== 'FAILED') return `Failed: ${reasonText(failure)}`
  return reason === undefined ? '' : (state === 'WAITING' ? waitText : reasonText)(reason)
}

/** A unit of several rooms leads to the first of them; its name has them all. */
const RoomNameLink = ({ unit: { roomIds, name } }: { readonly unit: JobUnit }) =>
  roomIds[0] === undefined ? (
    name
  ) : (
    <Link to="/rooms/$roomId" params={{ roomId: String(roomIds[0]) }}>
      {name}
    </Link>
  )

const UnitEndpoints = ({ unit: { endpoints } }: { readonly unit: JobUnit }) => (
  <ul className={classes.endpoints}>
    {endpoints.map((endpoint) => (
      <li key={endpoint.endpointId}>
        <Link to="/devices/$endpointId" params={{ endpointId: endpoint.endpointId }}>
          {endpoint.name}
        </Link>
        <Text span inherit>
          : {endpointText(endpoint)}
        </Text>
      </li>
    ))}
  </ul>
)

type UnitEndpoint = JobUnit['endpoints'][number]

const endpointStates: Readonly<Record<UnitEndpoint['state'], string>> = {
  PENDING: 'not started',
  SENT: 'sent',
  DONE: 'done',
  FAILED: 'failed',
  SKIPPED: 'skipped',
  ROLLED_BACK: 'rolled back',
  KEPT: 'not rolled back',
}

/** "failed, version 2 to 3. The device refused the key." */
function endpointText({ state, versionBefore, versionAfter, error }: UnitEndpoint): string {
  const versions = versionAfter === undefined ? '' : `, settings version ${versionBefore ?? 0} to ${versionAfter}`
  return `${endpointStates[state]}${versions}${error === undefined ? '' : `. ${capitalised(error)}`}`
}
