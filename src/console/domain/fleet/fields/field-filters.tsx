// Filters a list by a custom field: first its name, then its text.
import { useMemo } from 'react'
import type { CustomFields } from '../../../../contract/fleet/custom-fields.ts'
import { FilterSelect } from '../../../parts/table/list-filters.tsx'
import { customFieldNames, customFieldTexts, parseFieldFilter } from './custom-fields.ts'

interface FieldFiltersProps {
  readonly rows: readonly { readonly fields?: CustomFields }[]
  readonly value: string | undefined
  readonly onChange: (changes: { readonly field: string | undefined }) => void
}

/** Renders nothing while no row has a custom field, unless the address has the filter. */
export function FieldFilters({ rows, value, onChange }: FieldFiltersProps) {
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
  if (names.length === 0 && name === undefined) return null
  return (
    <>
      <FilterSelect label="Custom field" value={name} choices={names} onChange={choose.name} />
      {name !== undefined && <FilterSelect label={name} value={text} choices={texts} onChange={choose.text} />}
    </>
  )
}
