// The window, places, tag and hours that the insights are about.
import { Button, Group, Input, SegmentedControl, TextInput } from '@mantine/core'
import { type FormEvent, useMemo, useState } from 'react'
import { useTagChoices } from '../../domain/fleet/room/room-tags.ts'
import { SiteFilters } from '../../domain/fleet/site/site-filters.tsx'
import { addDays } from '../../domain/reports/report-days.ts'
import { FilterBar, FilterSelect } from '../../parts/table/list-filters.tsx'
import { type InsightWindow, ofDays, windowMonths } from './insight-window.ts'
import classes from './insights.module.css'
import { allHours, type ChangeSearch, type InsightSearch } from './report-filter.ts'

interface InsightFiltersProps {
  readonly search: InsightSearch
  readonly window: InsightWindow
  readonly today: string
  readonly onChange: ChangeSearch
}

export function InsightFilters({ search, window, today, onChange }: InsightFiltersProps) {
  const tags = useTagChoices(search.tag)
  const periods = useMemo(() => {
    const months = windowMonths(today)
    const isOffered = window.choice === ofDays || months.some(({ value }) => value === window.choice)
    return [
      ...months,
      ...(isOffered ? [] : [{ value: window.choice, label: window.title }]),
      { value: ofDays, label: 'Other days…' },
    ]
  }, [today, window])
  const choosePeriod = (choice: string | undefined) => {
    if (choice !== ofDays) return onChange({ month: choice, from: undefined, to: undefined, behind: undefined })
    const to = window.to === undefined ? today : addDays(window.to, -1)
    onChange({ month: undefined, from: window.from, to, behind: undefined })
  }
  return (
    <>
      <FilterBar>
        <FilterSelect label="Period" value={window.choice} choices={periods} hasAny={false} onChange={choosePeriod} />
        <SiteFilters
          region={search.region}
          location={search.location}
          hasUnassigned={false}
          onChange={(changes) => onChange({ ...changes, behind: undefined })}
        />
        {tags.length > 0 && (
          <FilterSelect label="Tag" value={search.tag} choices={tags} onChange={(tag) => onChange({ tag })} />
        )}
        <div className={classes.hours}>
          <Input.Label component="span" id="insight-hours">
            Hours
          </Input.Label>
          <SegmentedControl
            aria-labelledby="insight-hours"
            value={search.hours === allHours ? allHours : ''}
            onChange={(hours) => onChange({ hours: hours || undefined, behind: undefined })}
            data={[
              { value: '', label: 'Working' },
              { value: allHours, label: 'All' },
            ]}
            size="xs"
          />
        </div>
      </FilterBar>
      {window.choice === ofDays && (
        <DaysForm key={`${window.from} ${window.to}`} window={window} today={today} onChange={onChange} />
      )}
    </>
  )
}

type DaysFormProps = Omit<InsightFiltersProps, 'search'>

function DaysForm({ window, today, onChange }: DaysFormProps) {
  const [from, setFrom] = useState(window.from)
  const [to, setTo] = useState(window.to === undefined ? today : addDays(window.to, -1))
  const isReversed = from !== '' && to !== '' && from > to
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (from && to && !isReversed) onChange({ from, to, behind: undefined })
  }
  return (
    <form onSubmit={submit} noValidate>
      <Group gap="sm" align="flex-start">
        <TextInput
          type="date"
          label="First day"
          value={from}
          onChange={(event) => setFrom(event.currentTarget.value)}
        />
        <TextInput
          type="date"
          label="Last day"
          value={to}
          error={isReversed && 'The last day must not be before the first.'}
          onChange={(event) => setTo(event.currentTarget.value)}
        />
        <Button type="submit" variant="default" mt={24} disabled={!from || !to || isReversed}>
          Show
        </Button>
      </Group>
    </form>
  )
}
