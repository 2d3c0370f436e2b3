// Filters a list by a custom field: first its name, then its text. Both are rare filters of a FilterBar.
import { useMemo } from 'react'
import type { CustomFields } from '../../../../contract/fleet/custom-fields.ts'
import { ownLabel } from '../../../parts/table/filter-choices.ts'
import { FilterSelect, type RareFilter } from '../../../parts/table/list-filters.tsx'
import { customFieldNames, customFieldTexts, parseFieldFilter } from './custom-fields.ts'

interface FieldFiltersProps {
  readonly rows: readonly { readonly fields?: CustomFields }[]
  readonly value: string | undefined
  readonly onChange: (changes: { readonly field: string | undefined }) => void
}

/** The filter is not offered while no row has a custom field. */
export function useFieldFilters({ rows, value, onChange }: FieldFiltersProps): readonly RareFilter[] {
  const { name, text } = parseFieldFilter(value)
  const names = useMemo(() => customFieldNames(rows).map((one) => ({ value: one, label: one })), [rows])
  const texts = useMemo(
    () => (name === undefined ? [] : customFieldTexts(rows, name).map((one) => ({ value: one, label: one }))),
    [rows, name],
  )
  const choose = useMemo(
    () => ({
      name: (field: string | undefined) => onChange({ field }),
      text: (next: string | undefined) => onChange({ field: next === undefined ? name : `${name}:${next}` }),
    }),
    [onChange, name],
  )
  return [
    {
      label: 'Custom field',
      isSet: name !== undefined,
      isOffered: names.length > 0,
      chip: (
        <>
          <FilterSelect
            label="Custom field"
            value={name}
            choices={names}
            missingLabel={ownLabel}
            onChange={choose.name}
          />
          {name !== undefined && (
            <FilterSelect label={name} value={text} choices={texts} missingLabel={ownLabel} onChange={choose.text} />
          )}
        </>
      ),
    },
  ]
}
