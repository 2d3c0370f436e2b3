// The search box and the filters above the audit log. The server filters, so they find entries that are not loaded.
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { actionName } from '../../../contract/journal/action-names.ts'
import { auditTypes } from '../../../contract/journal/other-changes.ts'
import { compareText } from '../../../contract/search-text.ts'
import { operationQuery } from '../../api.ts'
import { personName } from '../../domain/people/person/person.ts'
import { type FilterChoice, ownLabel } from '../../parts/table/filter-choices.ts'
import { FilterBar, FilterSelect, type RareFilter, SearchBox } from '../../parts/table/list-filters.tsx'
import type { auditParams, FilterParams } from '../../parts/table/list-params.ts'
import type { AuditLogEntry, EntryFilter } from './audit-entries.ts'
import { actorTypeNames, categoryNames } from './audit-names.ts'
import { useJobName } from './job-names.ts'

/** The filters in the address of the audit log. */
export type AuditSearch = FilterParams<typeof auditParams>

const searchDelayMs = 300
const categories = Object.entries(categoryNames).map(([value, label]) => ({ value, label }))
const types: readonly FilterChoice[] = auditTypes()
  .map((value) => ({ value, label: actionName(value) }))
  .sort((a, b) => compareText(a.label, b.label))

const isCategory = (name: string | undefined): name is AuditLogEntry['category'] =>
  name !== undefined && Object.hasOwn(categoryNames, name)

/** A mistyped category filters nothing. The text follows a pause in typing. */
export function useEntryFilter({ q = '', category, type, actor, target, job }: AuditSearch): EntryFilter {
  const [text] = useDebouncedValue(q.trim(), searchDelayMs)
  return useMemo(
    () => ({
      ...(isCategory(category) && { category }),
      ...(type && { type }),
      ...(actor && { actor }),
      ...(target && { target }),
      ...(job && { jobId: job }),
      ...(text && { text }),
    }),
    [category, type, actor, target, job, text],
  )
}

interface AuditFiltersProps {
  readonly search: AuditSearch
  /** The loaded entries, which name the actors and the target. */
  readonly entries: readonly AuditLogEntry[]
  readonly onChange: (changes: { readonly [K in keyof AuditSearch]?: string | undefined }) => void
}

export function AuditFilters({ search, entries, onChange }: AuditFiltersProps) {
  const { category, type, actor, target, job } = search
  const actors = useActorChoices(entries)
  const nameOfJob = useJobName()
  // The links in the details of an entry set these: their numbers are nothing to choose from.
  const rare: readonly RareFilter[] = [
    {
      label: 'Target',
      isOffered: false,
      isSet: target !== undefined,
      chip: (
        <FilterSelect
          label="Target"
          value={target}
          choices={target === undefined ? [] : [{ value: target, label: targetLabel(target, entries) }]}
          onChange={(next) => onChange({ target: next })}
        />
      ),
    },
    {
      label: 'Job',
      isOffered: false,
      isSet: job !== undefined,
      chip: (
        <FilterSelect
          label="Job"
          value={job}
          choices={job === undefined ? [] : [{ value: job, label: nameOfJob(job) }]}
          onChange={(next) => onChange({ job: next })}
        />
      ),
    },
  ]
  return (
    <FilterBar
      rare={rare}
      search={
        <SearchBox
          label="Search"
          placeholder="Name, serial, action or IP address"
          value={search.q ?? ''}
          onChange={(q) => onChange({ q: q || undefined })}
        />
      }
    >
      <FilterSelect
        label="Category"
        value={category}
        choices={categories}
        onChange={(next) => onChange({ category: next })}
      />
      <FilterSelect
        label="Action"
        value={type}
        choices={types}
        missingLabel={actionName}
        onChange={(next) => onChange({ type: next })}
      />
      <FilterSelect
        label="Actor"
        value={actor}
        choices={actors}
        missingLabel={ownLabel}
        onChange={(next) => onChange({ actor: next })}
      />
    </FilterBar>
  )
}

/** All people, and what else has acted in the loaded entries. Devices are left out: there are too many. */
function useActorChoices(entries: readonly AuditLogEntry[]): readonly FilterChoice[] {
  const users = useQuery(operationQuery('usersList')).data?.body.users
  return useMemo(() => {
    const people = (users ?? []).map((user): [string, string] => [`USER:${user.id}`, personName(user)])
    const others = entries
      .filter(({ actor }) => actor.type !== 'DEVICE')
      .map(({ actor: { type, id, name } }): [string, string] => [`${type}:${id}`, `${name || id}, ${kindOf(type)}`])
    return [...new Map([...others, ...people])]
      .map(([value, label]) => ({ value, label }))
      .sort((a, b) => compareText(a.label, b.label))
  }, [users, entries])
}

const kindOf = (type: AuditLogEntry['actor']['type']): string =>
  type === 'KEY' ? actorTypeNames.KEY : actorTypeNames[type].toLowerCase()

/** An address can also have a name or a serial number. */
function targetLabel(text: string, entries: readonly AuditLogEntry[]): string {
  for (const { target, details } of entries) {
    const named = [target, ...(details?.affected ?? [])].find((one) => one && `${one.type}:${one.id}` === text)
    if (named?.name) return named.name
  }
  return text
}
