// The controls above a long list: search box, filters and number of results.
import { Button, CloseButton, Group, Select, Text, TextInput } from '@mantine/core'
import { memo, type ReactNode, useEffect, useMemo, useRef, useState } from 'react'
import { CrossIcon, SearchIcon } from '../page/icons.tsx'
import { plural } from '../text/words.ts'
import classes from './list-filters.module.css'

export const FilterBar = ({ children }: { readonly children: ReactNode }) => (
  <search className={classes.filters}>{children}</search>
)

interface SearchBoxProps {
  readonly label: string
  readonly placeholder: string
  /** The value in the search parameters. */
  readonly value: string
  readonly onChange: (text: string) => void
}

/** Shows typed text immediately. The search parameter follows, and is taken over when the user navigates back. */
export function SearchBox({ label, placeholder, value, onChange }: SearchBoxProps) {
  const [text, setText] = useState(value)
  const lastSent = useRef(value)
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (value === lastSent.current) return
    lastSent.current = value
    setText(value)
  }, [value])
  const write = (next: string) => {
    setText(next)
    lastSent.current = next
    onChange(next)
  }
  return (
    <TextInput
      ref={field}
      className={classes.search}
      label={label}
      placeholder={placeholder}
      value={text}
      maxLength={200}
      autoComplete="off"
      spellCheck={false}
      leftSection={<SearchIcon />}
      onChange={(event) => write(event.currentTarget.value)}
      rightSection={
        text !== '' && (
          <CloseButton
            size="sm"
            aria-label="Clear search"
            onClick={() => {
              write('')
              field.current?.focus()
            }}
          />
        )
      }
    />
  )
}

export interface FilterChoice {
  readonly value: string
  readonly label: string
}

interface FilterSelectProps {
  readonly label: string
  readonly value: string | undefined
  readonly choices: readonly FilterChoice[]
  /** Called with undefined when the filter is cleared. */
  readonly onChange: (value: string | undefined) => void
}

const anyValue = '*'

/** Memoized because five selects take longer to render than all visible rows. */
export const FilterSelect = memo(function FilterSelect({ label, value, choices, onChange }: FilterSelectProps) {
  const options = useMemo(() => {
    const isKnown = value === undefined || choices.some((choice) => choice.value === value)
    // A bookmarked address may name something that has been deleted.
    const unknown = isKnown ? [] : [{ value, label: 'Deleted' }]
    return [{ value: anyValue, label: 'Any' }, ...choices, ...unknown]
  }, [choices, value])
  return (
    <Select
      label={label}
      value={value ?? anyValue}
      data={options}
      onChange={(next) => onChange(next === null || next === anyValue ? undefined : next)}
      allowDeselect={false}
      searchable={choices.length > 8}
      limit={300}
      nothingFoundMessage="No matches"
      maxDropdownHeight={320}
      data-set={value !== undefined || undefined}
      classNames={selectClasses}
    />
  )
})
const selectClasses = { input: classes.select ?? '' }

interface ResultCountProps {
  readonly shown: number
  readonly all: number
  readonly one: string
  /** Undefined if no filter is set. */
  readonly onClear: (() => void) | undefined
}

/** "43 of 1,204 rooms" */
export const ResultCount = ({ shown, all, one, onClear }: ResultCountProps) => (
  <Group gap="sm" mih={30}>
    <Text fz="sm" c="dimmed" role="status">
      {shown === all ? plural(all, one) : `${shown.toLocaleString('en-GB')} of ${plural(all, one)}`}
    </Text>
    {onClear && (
      <Button variant="subtle" size="compact-sm" leftSection={<CrossIcon size={14} />} onClick={onClear}>
        Clear filters
      </Button>
    )}
  </Group>
)
