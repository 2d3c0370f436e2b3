// The jobs page lists the jobs, newest first. The address holds the search and the state. [contract 12.job]
import { Button, Stack, Tabs } from '@mantine/core'
import { useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { includesAll, normalizeText, searchWords } from '../../../contract/search-text.ts'
import { useActionText } from '../../domain/jobs/action-name.ts'
import { hasJobEnded, jobsQuery } from '../../domain/jobs/job.ts'
import { jobStateChoices } from '../../domain/jobs/job-state.tsx'
import { ViewsMenu } from '../../domain/people/view/views-menu.tsx'
import { PlusIcon } from '../../parts/page/icons.tsx'
import { EmptyState, LoadingBoundary, Page } from '../../parts/page/page.tsx'
import { useColumnsInAddress } from '../../parts/table/column-choice.ts'
import { DataTable } from '../../parts/table/data-table.tsx'
import { FilterBar, FilterSelect, ResultCount, SearchBox } from '../../parts/table/list-filters.tsx'
import { longTable } from '../../parts/table/long-table.tsx'
import { useSearchParamsUpdate } from '../../parts/table/search-params.ts'
import { usePermissions } from '../../session.ts'
import { jobColumns } from './job-columns.tsx'
import { RecurringList } from './recurring/recurring-list.tsx'

const route = getRouteApi('/jobs')
type Search = ReturnType<typeof route.useSearch>

/** Jobs that are not final. */
const openState = 'open'
const recurringTab = 'recurring'
const stateChoices = [{ value: openState, label: 'Not ended' }, ...jobStateChoices]

export function JobsPage() {
  const { operate } = usePermissions()
  const { tab } = route.useSearch()
  const navigate = route.useNavigate()
  const isRecurring = tab === recurringTab
  return (
    <Page
      title="Jobs"
      actions={
        operate && (
          <Button
            renderRoot={(props) => <Link {...props} to="/jobs/new" search={isRecurring ? { recurring: 'yes' } : {}} />}
            leftSection={<PlusIcon />}
          >
            {isRecurring ? 'New recurring job' : 'New job'}
          </Button>
        )
      }
    >
      <Tabs
        value={isRecurring ? recurringTab : 'list'}
        onChange={(next) => void navigate({ search: next === recurringTab ? { tab: next } : {}, replace: true })}
        keepMounted={false}
      >
        <Tabs.List mb="md" aria-label="Jobs">
          <Tabs.Tab value="list">Jobs</Tabs.Tab>
          <Tabs.Tab value={recurringTab}>Recurring</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="list">
          <LoadingBoundary>
            <JobList />
          </LoadingBoundary>
        </Tabs.Panel>
        <Tabs.Panel value={recurringTab}>
          <LoadingBoundary>
            <RecurringList />
          </LoadingBoundary>
        </Tabs.Panel>
      </Tabs>
    </Page>
  )
}

function JobList() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const change = useSearchParamsUpdate<Search>(navigate)
  const jobs = useSuspenseQuery(jobsQuery()).data
  const textOf = useActionText(useMemo(() => jobs.map(({ action }) => action), [jobs]))
  const { q = '' } = search
  const state = stateChoices.find(({ value }) => value === search.state)?.value
  const shown = useMemo(() => {
    const words = searchWords(q)
    return jobs.filter(
      (job) =>
        (state === undefined || (state === openState ? !hasJobEnded(job.state) : job.state === state)) &&
        includesAll(normalizeText(`${job.name} ${textOf(job.action)} ${job.startedBy.name}`), words),
    )
  }, [jobs, q, state, textOf])
  const columns = useMemo(() => jobColumns(textOf), [textOf])
  const isFiltered = q !== '' || state !== undefined
  return (
    <Stack gap="xs">
      <FilterBar
        search={
          <SearchBox
            label="Search"
            placeholder="Name, setting or person"
            value={q}
            onChange={(text) => change({ q: text || undefined })}
          />
        }
      >
        <FilterSelect
          label="State"
          value={state}
          choices={stateChoices}
          onChange={(value) => change({ state: value })}
        />
      </FilterBar>
      <DataTable
        label="Jobs"
        rows={shown}
        columns={columns}
        keyOf={({ id }) => id}
        columnsInAddress={useColumnsInAddress(search, change)}
        minWidthPx={760}
        long={longTable({
          list: 'jobs',
          buttons: (chosen) => <ViewsMenu page="jobs" chosenColumns={chosen} />,
          rowHeight: 60,
          growsAbove: true,
          summary: (
            <ResultCount
              shown={shown.length}
              all={jobs.length}
              one="job"
              onClear={isFiltered ? () => void navigate({ search: {}, replace: true }) : undefined}
            />
          ),
        })}
        empty={
          isFiltered ? (
            <EmptyState title="No jobs match these filters">Change the search or clear the filters.</EmptyState>
          ) : (
            <EmptyState title="No jobs">
              A job changes many rooms: all together, or in stages with a check after each.
            </EmptyState>
          )
        }
      />
    </Stack>
  )
}
