// The rooms of a job in their order, filtered by state and stage; a row expands to its devices. [contract 12.states]

import { Button, Group, Stack, Text } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { type UnitState, unitStates } from '../../../contract/jobs/job-states.ts'
import { capitalised } from '../../../contract/words.ts'
import { queryKeyOf } from '../../api.ts'
import type { JobDetails, JobUnit } from '../../domain/jobs/job.ts'
import { UnitStateLabel, unitStateName } from '../../domain/jobs/job-state.tsx'
import { reasonText, waitText } from '../../domain/jobs/job-texts.ts'
import { DisclosureButton } from '../../parts/page/disclosure-button.tsx'
import { EmptyState, ErrorPanel, Loading } from '../../parts/page/page.tsx'
import type { Column } from '../../parts/table/column.ts'
import { DataTable } from '../../parts/table/data-table.tsx'
import { FilterSelect } from '../../parts/table/list-filters.tsx'
import { useSearchParamsUpdate } from '../../parts/table/search-params.ts'
import { DateTime } from '../../parts/text/time.tsx'
import { plural } from '../../parts/text/words.ts'
import { client } from '../../session.ts'
import classes from './jobs.module.css'

const route = getRouteApi('/jobs/$jobId')
type Search = ReturnType<typeof route.useSearch>

const pageSizeRows = 100

/** The key begins with the operation and the job, so that an event of the job invalidates the query. */
function useUnits(filter: { readonly id: string; readonly state?: UnitState; readonly stage?: number }) {
  return useInfiniteQuery({
    queryKey: [...queryKeyOf('jobsRoomsList', filter), 'pages'],
    queryFn: async ({ pageParam, signal }) =>
      (
        await client().jobsRoomsList(
          { ...filter, pageSize: pageSizeRows, ...(pageParam && { pageToken: pageParam }) },
          { signal },
        )
      ).body,
    initialPageParam: '',
    getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined,
    placeholderData: (previous) => previous,
  })
}

export function JobRooms({ job }: { readonly job: JobDetails }) {
  const search = route.useSearch()
  const change = useSearchParamsUpdate<Search>(route.useNavigate())
  const state = unitStates.find((one) => one === search.state)
  const stage = stageNumber(search.stage, job.stageCount)
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useUnits({
    id: job.id,
    ...(state && { state }),
    ...(stage && { stage }),
  })
  const isFiltered = state !== undefined || stage !== undefined
  return (
    <Stack gap="sm">
      <Group gap="sm">
        <FilterSelect
          label="State"
          value={state}
          choices={stateChoices(job)}
          onChange={(value) => change({ state: value })}
        />
        {job.stageCount > 1 && (
          <FilterSelect
            label="Stage"
            value={stage === undefined ? undefined : String(stage)}
            choices={stageChoices(job)}
            onChange={(value) => change({ stage: value })}
          />
        )}
      </Group>
      {data === undefined && error === null && <Loading />}
      {data === undefined && error !== null && <ErrorPanel error={error} onRetry={() => void refetch()} />}
      {data && (
        <UnitsTable
          units={data.pages.flatMap(({ rooms }) => rooms)}
          hasStages={job.stageCount > 1}
          isFiltered={isFiltered}
        />
      )}
      {hasNextPage && (
        <Button variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Show more rooms
        </Button>
      )}
    </Stack>
  )
}

const stageNumber = (text: string | undefined, count: number): number | undefined => {
  const stage = Number(text)
  return Number.isInteger(stage) && stage >= 1 && stage <= count ? stage : undefined
}

const stateChoices = ({ counts }: JobDetails) =>
  unitStates
    .filter((state) => (counts[state] ?? 0) > 0)
    .map((state) => ({ value: state, label: `${unitStateName(state)} (${counts[state]?.toLocaleString('en-GB')})` }))

const stageChoices = ({ stageCounts }: JobDetails) =>
  stageCounts.map((_, index) => ({ value: String(index + 1), label: `Stage ${index + 1}` }))

interface UnitsTableProps {
  readonly units: readonly JobUnit[]
  readonly hasStages: boolean
  readonly isFiltered: boolean
}

function UnitsTable({ units, hasStages, isFiltered }: UnitsTableProps) {
  if (units.length === 0) return <EmptyState title={isFiltered ? 'No rooms match these filters' : 'No rooms yet'} />
  return (
    <DataTable
      label="Rooms of the job"
      rows={units}
      columns={hasStages ? columns : columns.filter(({ id }) => id !== 'stage')}
      keyOf={({ number }) => number}
      details={(unit) => <UnitEndpoints unit={unit} />}
      minWidthPx={300}
    />
  )
}

/** The server has more rooms than these, so they cannot be sorted here. */
const columns: readonly Column<JobUnit>[] = [
  { id: 'room', title: 'Room', breaksWords: true, cell: (unit) => <RoomNameLink unit={unit} /> },
  { id: 'stage', title: 'Stage', cell: ({ stage }) => stage },
  {
    id: 'state',
    title: 'State',
    breaksWords: true,
    cell: ({ state, reason, soaksUntil }) => (
      <>
        <UnitStateLabel state={state} />
        <Text fz="sm">
          {reason !== undefined && (state === 'WAITING' ? waitText : reasonText)(reason)}
          {state === 'SOAKING' && soaksUntil !== undefined && (
            <>
              Until <DateTime at={soaksUntil} />
            </>
          )}
        </Text>
      </>
    ),
  },
  {
    id: 'started',
    title: 'Started',
    cell: ({ beganAt }) => beganAt !== undefined && <DateTime at={beganAt} />,
  },
  {
    id: 'devices',
    title: 'Devices',
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
  ROLLED_BACK: 'undone',
  KEPT: 'not undone',
}

/** "failed, version 2 to 3. The device refused the key." */
function endpointText({ state, versionBefore, versionAfter, error }: UnitEndpoint): string {
  const versions = versionAfter === undefined ? '' : `, settings version ${versionBefore ?? 0} to ${versionAfter}`
  return `${endpointStates[state]}${versions}${error === undefined ? '' : `. ${capitalised(error)}`}`
}
