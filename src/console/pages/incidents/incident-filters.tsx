// Shows the search box and the filters above the work list.
import { useMemo } from 'react'
import { useBody } from '../../api.ts'
import { useTagChoices } from '../../domain/fleet/room/room-tags.ts'
import { SiteFilters } from '../../domain/fleet/site/site-filters.tsx'
import { ruleChoices } from '../../domain/incidents/rule-choices.ts'
import { severityChoices } from '../../domain/incidents/severity-label.tsx'
import { personName } from '../../domain/people/person/person.ts'
import { deletedLabel, type FilterChoice } from '../../parts/table/filter-choices.ts'
import { FilterBar, FilterSelect, type RareFilter, SearchBox } from '../../parts/table/list-filters.tsx'
import { useSession } from '../../session.ts'
import {
  assigneeMe,
  assigneeNone,
  isStateChoice,
  stateChoices,
  stateChoicesOfPeriod,
  type WorkListFilter,
} from './incident-rows.ts'
import { openedPeriodOf } from './opened-period.ts'

interface IncidentFiltersProps {
  readonly filter: WorkListFilter
  /** The name of the cause in the address. */
  readonly causeName: string | undefined
  readonly onChange: (changes: { readonly [K in keyof WorkListFilter]?: string | undefined }) => void
}

type FilterValue = string | undefined
const choicesOf = (names: Readonly<Record<string, string>>): readonly FilterChoice[] =>
  Object.entries(names).map(([value, label]) => ({ value, label }))
const states = choicesOf(stateChoices)
const statesOfPeriod = choicesOf(stateChoicesOfPeriod)

export function IncidentFilters({ filter, causeName, onChange }: IncidentFiltersProps) {
  const { org } = useSession()
  const period = openedPeriodOf(filter, org.timezone)
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
      tag: (tag: FilterValue) => onChange({ tag }),
      cause: (cause: FilterValue) => onChange({ cause }),
      opened: () => onChange({ from: undefined, to: undefined }),
    }),
    [onChange],
  )
  const tags = useTagChoices(filter.tag)
  const rare: readonly RareFilter[] = [
    {
      label: 'Tag',
      isSet: filter.tag !== undefined,
      isOffered: tags.length > 0,
      chip: <FilterSelect label="Tag" value={filter.tag} choices={tags} onChange={set.tag} />,
    },
    ofLink('Opened', period && 'days', period?.title, set.opened),
    ofLink('Cause', filter.cause, causeName ?? 'Unknown', set.cause),
  ]
  return (
    <FilterBar
      rare={rare}
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
        choices={period ? statesOfPeriod : states}
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

/** A filter that a link sets; it can be cleared, and there is nothing else to choose. */
const ofLink = (
  label: string,
  value: FilterValue,
  title: string | undefined,
  onClear: (value: FilterValue) => void,
): RareFilter => ({
  label,
  isSet: value !== undefined,
  isOffered: false,
  chip: (
    <FilterSelect
      label={label}
      value={value}
      choices={value === undefined ? [] : [{ value, label: title ?? value }]}
      onChange={onClear}
    />
  ),
})
