// The controls above a long list: search box, filters and number of results.
import { Button, CloseButton, Group, Select, Text, TextInput } from '@mantine/core'
import { memo, type ReactNode, useEffect, useMemo, useRef, useState } from 'react'
import { CrossIcon, SearchIcon } from '../page/icons.tsx'
import { plural } from '../text/words.ts'
import classes from './list-filters.module.css'

interface FilterBarProps {
  /** The search box, which is always shown. Without one the filters are too. */
  readonly search?: ReactNode
  /** How many filters are set. */
  readonly setCount?: number
  readonly children: ReactNode
}

/** Under 640 px the filters are behind one button. */
export function FilterBar({ search, setCount = 0, children }: FilterBarProps) {
  const [isOpen, setIsOpen] = useState(false)
  if (search === undefined) return <search className={classes.filters}>{children}</search>
  return (
    <search className={classes.filters} data-collapses data-open={isOpen || undefined}>
      {search}
      <Button
        className={classes.toggle ?? ''}
        variant="default"
        aria-expanded={isOpen}
        onClick={() => setIsOpen((before) => !before)}
      >
        {setCount > 0 ? `Filters (${setCount})` : 'Filters'}
      </Button>
      {children}
    </search>
  )
}

/** Parameters of an address that are not filters behind the button of a narrow window. */
const notCounted: ReadonlySet<string> = new Set(['q', 'sort', 'view', 'columns'])

/** Counts the filters that are set, without the search text. */
export const countFilters = (filter: object): number =>
  Object.entries(filter).filter(([name, value]) => value !== undefined && !notCounted.has(name)).length

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
      {...(value !== '' && { wrapperProps: { 'data-printed': `Search: ${value}` } })}
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
  /** The label of the choice that is not a filter. */
  readonly anyLabel?: string
  /** Whether there is a choice that is not a filter. */
  readonly hasAny?: boolean
  /** Called with undefined when the filter is cleared. */
  readonly onChange: (value: string | undefined) => void
}

const anyValue = '*'

/** Memoized because five selects take longer to render than all visible rows. */
export const FilterSelect = memo(function FilterSelect(props: FilterSelectProps) {
  const { label, value, choices, anyLabel = 'Any', hasAny = true, onChange } = props
  const options = useMemo(() => {
    const isKnown = value === undefined || choices.some((choice) => choice.value === value)
    // A bookmarked address can name something that has been deleted.
    const unknown = isKnown ? [] : [{ value, label: 'Deleted' }]
    return [...(hasAny ? [{ value: anyValue, label: anyLabel }] : []), ...choices, ...unknown]
  }, [choices, value, anyLabel, hasAny])
  const chosen = value === undefined ? undefined : options.find((option) => option.value === value)?.label
  return (
    <Select
      {...(chosen !== undefined && { wrapperProps: { 'data-printed': `${label}: ${chosen}` } })}
      label={label}
      value={value ?? anyValue}
      data={options}
      onChange={(next) => onChange(next === null || next === anyValue ? undefined : next)}
      allowDeselect={false}
      searchable={hasAny && choices.length > 8}
      limit={300}
      nothingFoundMessage="No matches"
      maxDropdownHeight={320}
      data-set={(hasAny && value !== undefined) || undefined}
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
