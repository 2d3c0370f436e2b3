// Shows the search box and the filters above the work list.
import { useMemo } from 'react'
import { useBody } from '../../api.ts'
import { SiteFilters } from '../../domain/fleet/site/site-filters.tsx'
import { ruleChoices } from '../../domain/incidents/rule-choices.ts'
import { severityChoices } from '../../domain/incidents/severity-label.tsx'
import { personName } from '../../domain/people/person/person.ts'
import { deletedLabel, type FilterChoice } from '../../parts/table/filter-choices.ts'
import { FilterBar, FilterSelect, SearchBox } from '../../parts/table/list-filters.tsx'
import { useSession } from '../../session.ts'
import { assigneeMe, assigneeNone, isStateChoice, stateChoices, type WorkListFilter } from './incident-rows.ts'

interface IncidentFiltersProps {
  readonly filter: WorkListFilter
  readonly onChange: (changes: { readonly [K in keyof WorkListFilter]?: string | undefined }) => void
}

type FilterValue = string | undefined
const states: readonly FilterChoice[] = Object.entries(stateChoices).map(([value, label]) => ({ value, label }))

export function IncidentFilters({ filter, onChange }: IncidentFiltersProps) {
  const { users } = useBody('usersList')
  const ownId = useSession().user?.id
  const assigneeChoices = useMemo<FilterChoice[]>(
    () => [
      ...(ownId === undefined ? [] : [{ value: assigneeMe, label: 'Me' }]),
      { value: assigneeNone, label: 'Unassigned' },
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
      assignee: (assignee: FilterValue) => onChange({ assignee }),
    }),
    [onChange],
  )
  return (
    <FilterBar
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
      <FilterSelect
        label="Severity"
        value={filter.severity}
        choices={severityChoices}
        isMulti
        onChange={set.severity}
      />
      <FilterSelect label="Rule" value={filter.rule} choices={ruleChoices} isMulti onChange={set.rule} />
      <SiteFilters
        region={filter.region}
        location={filter.location}
        hasUnassigned={false}
        isMulti
        onChange={onChange}
      />
      <FilterSelect
        label="Assignee"
        value={filter.assignee}
        choices={assigneeChoices}
        missingLabel={deletedLabel}
        isMulti
        onChange={set.assignee}
      />
    </FilterBar>
  )
}
