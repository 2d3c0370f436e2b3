// Shows the search box and the filters above the work list.
import { useMemo } from 'react'
import { useBody } from '../../api.ts'
import { locationLabel, useSites } from '../../domain/fleet/site/sites.ts'
import { ruleChoices } from '../../domain/incidents/rule-choices.ts'
import { severityChoices } from '../../domain/incidents/severity-label.tsx'
import { personName } from '../../domain/people/person/person.ts'
import { countFilters, FilterBar, type FilterChoice, FilterSelect, SearchBox } from '../../parts/table/list-filters.tsx'
import { useSession } from '../../session.ts'
import { handlerMe, handlerNone, isStateChoice, stateChoices, type WorkListFilter } from './incident-rows.ts'

interface IncidentFiltersProps {
  readonly filter: WorkListFilter
  readonly onChange: (changes: { readonly [K in keyof WorkListFilter]: string | undefined }) => void
}

type FilterValue = string | undefined
const states: readonly FilterChoice[] = Object.entries(stateChoices).map(([value, label]) => ({ value, label }))

export function IncidentFilters({ filter, onChange }: IncidentFiltersProps) {
  const { regions, locations } = useSites()
  const { users } = useBody('usersList')
  const ownId = useSession().user?.id
  const siteChoices = useMemo<FilterChoice[]>(
    () => [
      ...regions.map(({ id, name }) => ({ value: `region ${id}`, label: `${name} (region)` })),
      ...locations.map((one) => ({ value: `location ${one.id}`, label: locationLabel(one) })),
    ],
    [regions, locations],
  )
  const handlerChoices = useMemo<FilterChoice[]>(
    () => [
      ...(ownId === undefined ? [] : [{ value: handlerMe, label: 'Me' }]),
      { value: handlerNone, label: 'Unassigned' },
      ...users.filter(({ id }) => id !== ownId).map((user) => ({ value: user.id, label: personName(user) })),
    ],
    [users, ownId],
  )
  const set = useMemo(
    () => ({
      q: (q: string) => onChange({ q: q || undefined }),
      state: (state: FilterValue) => onChange({ state }),
      severity: (severity: FilterValue) => onChange({ severity }),
      rule: (rule: FilterValue) => onChange({ rule }),
      site: (site: FilterValue) => {
        const [kind = '', id] = site?.split(' ') ?? []
        onChange({ region: undefined, location: undefined, ...(id !== undefined && { [kind]: id }) })
      },
      handler: (handler: FilterValue) => onChange({ handler }),
    }),
    [onChange],
  )
  return (
    <FilterBar
      setCount={countFilters(filter)}
      search={
        <SearchBox
          label="Search incidents"
          placeholder="Title, room, site or person"
          value={filter.q ?? ''}
          onChange={set.q}
        />
      }
    >
      <FilterSelect
        label="State"
        anyLabel="Open"
        value={isStateChoice(filter.state) ? filter.state : undefined}
        choices={states}
        onChange={set.state}
      />
      <FilterSelect label="Severity" value={filter.severity} choices={severityChoices} onChange={set.severity} />
      <FilterSelect label="Rule" value={filter.rule} choices={ruleChoices} onChange={set.rule} />
      <FilterSelect label="Site" value={siteValue(filter)} choices={siteChoices} onChange={set.site} />
      <FilterSelect label="Assignee" value={filter.handler} choices={handlerChoices} onChange={set.handler} />
    </FilterBar>
  )
}

/** The address names a region or a location; one select chooses either. */
function siteValue({ region, location }: WorkListFilter): string | undefined {
  if (location !== undefined) return `location ${location}`
  return region === undefined ? undefined : `region ${region}`
}
