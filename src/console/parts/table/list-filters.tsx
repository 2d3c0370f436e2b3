// The controls above a long list: the search box and the filters in one line, and the number of results.
import { Button, CloseButton, Combobox, Group, Menu, Text, TextInput, useCombobox } from '@mantine/core'
import {
  createContext,
  type FocusEvent,
  Fragment,
  memo,
  type ReactNode,
  type RefObject,
  useCallback,
  useContext,
  useEffect,
  useId,
  useMemo,
  useRef,
  useState,
} from 'react'
import { CheckIcon, CrossIcon, DownIcon, PlusIcon, SearchIcon } from '../page/icons.tsx'
import { plural } from '../text/words.ts'
import {
  chosenText,
  type FilterChoice,
  type MissingLabel,
  shownChoices,
  withMissing,
  withoutUnknown,
} from './filter-choices.ts'
import { type FilterValue, formatFilter, parseFilter, toggleValue } from './filter-value.ts'
import classes from './list-filters.module.css'

interface FilterBarProps {
  /** The search box, which is always shown. Without one the filters are too. */
  readonly search?: ReactNode
  /** Filters that are shown once they are set, or chosen in a menu: there is no room for all in one line. */
  readonly rare?: readonly RareFilter[]
  readonly children: ReactNode
}

export interface RareFilter {
  readonly label: string
  readonly isSet: boolean
  /** False for a filter that the menu does not have, because no row differs in it. Its chip is there once it is set. */
  readonly isOffered?: boolean
  readonly chip: ReactNode
}

/** The label of a filter that was chosen in the menu. Its chip opens when it joins the line. */
const JoiningFilter = createContext<RefObject<string | undefined> | undefined>(undefined)

/** Tells the bar whether the chip with that id has a choice: only the chip knows which values of an address it offers. */
type ReportChip = (id: string, isSet: boolean) => void
const ChipReports = createContext<ReportChip>(() => undefined)

/** Under 640 px the filters are behind one button, which says how many are set. */
export function FilterBar({ search, rare = [], children }: FilterBarProps) {
  const [isOpen, setIsOpen] = useState(false)
  const [setChips, setSetChips] = useState<ReadonlySet<string>>(noChips)
  const report = useCallback<ReportChip>(
    (id, isSet) =>
      setSetChips((before) => (before.has(id) === isSet ? before : before.symmetricDifference(new Set([id])))),
    [],
  )
  const [added, setAdded] = useState<readonly string[]>([])
  const joining = useRef<string>(undefined)
  const isShown = ({ label }: RareFilter) => added.includes(label)
  const notShown = rare.filter((filter) => !isShown(filter))
  const hidden = notShown.filter(({ isOffered = true }) => isOffered)
  // A filter that is set, and is then cleared, stays in the line: the focus is on it.
  const set = notShown.filter(({ isSet }) => isSet)
  if (set.length > 0) setAdded([...added, ...set.map(({ label }) => label)])
  return (
    <search
      className={classes.filters}
      data-collapses={search !== undefined || undefined}
      data-open={isOpen || undefined}
    >
      {search}
      {search !== undefined && (
        <Button
          className={classes.toggle ?? ''}
          variant="default"
          size="xs"
          aria-expanded={isOpen}
          onClick={() => setIsOpen((before) => !before)}
        >
          {setChips.size > 0 ? `Filters (${setChips.size})` : 'Filters'}
        </Button>
      )}
      <ChipReports value={report}>
        {children}
        <JoiningFilter value={joining}>
          {rare.filter(isShown).map(({ label, chip }) => (
            <Fragment key={label}>{chip}</Fragment>
          ))}
        </JoiningFilter>
      </ChipReports>
      {hidden.length > 0 && (
        <Menu position="bottom-start">
          <Menu.Target>
            <Button variant="subtle" size="compact-sm" leftSection={<PlusIcon size={14} />}>
              Filter
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            {hidden.map(({ label }) => (
              <Menu.Item
                key={label}
                onClick={() => {
                  joining.current = label
                  setAdded([...added, label])
                }}
              >
                {label}
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
      )}
    </search>
  )
}

const noChips: ReadonlySet<string> = new Set()

const searchClasses = { input: classes.searchInput ?? '' }

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
      aria-label={label}
      size="xs"
      classNames={searchClasses}
      placeholder={placeholder}
      value={text}
      maxLength={200}
      autoComplete="off"
      spellCheck={false}
      leftSection={<SearchIcon size={16} />}
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

interface FilterSelectProps {
  readonly label: string
  /** The filter in the address. */
  readonly value: string | undefined
  readonly choices: readonly FilterChoice[]
  /** The list is fixed if this is not given: a chosen value that is not among the choices filters nothing. */
  readonly missingLabel?: MissingLabel | undefined
  /** Several choices can be made, and excluded: the address has a FilterValue. */
  readonly isMulti?: boolean
  /** The name of the choice without a filter, if it does not mean all rows. */
  readonly anyLabel?: string
  /** Whether the chip can be without a choice. */
  readonly hasAny?: boolean
  /** Called with undefined when the filter is cleared. */
  readonly onChange: (value: string | undefined) => void
}

/** A chip with the filter's name and what is chosen, and a list of choices. Memoized because the chips take longer to render than all visible rows. */
export const FilterSelect = memo(function FilterSelect(props: FilterSelectProps) {
  const { label, value, isMulti = false, anyLabel, hasAny = true, onChange } = props
  const [query, setQuery] = useState('')
  const { filter, choices } = useChosen(props)
  const isSearched = props.choices.length > 8
  const combobox = useCombobox({
    onDropdownOpen: () => {
      combobox.updateSelectedOptionIndex('active')
      if (isSearched) combobox.focusSearchInput()
    },
    onDropdownClose: () => {
      combobox.resetSelectedOption()
      setQuery('')
    },
  })
  const listId = useId()
  const joining = useContext(JoiningFilter)
  useEffect(() => {
    if (joining?.current !== label) return
    joining.current = undefined
    // The button says that the list is open once it knows the list, which is not in the page yet.
    combobox.setListId(listId)
    combobox.openDropdown()
    if (!isSearched) combobox.focusTarget()
  })
  /** The list stays open if no other element gets the focus: then the window has lost it, or a click outside closes the list. */
  const closeOnBlur = ({ relatedTarget }: FocusEvent) => {
    const { targetRef, searchRef } = combobox
    if (relatedTarget === null || relatedTarget === targetRef.current || relatedTarget === searchRef.current) return
    combobox.closeDropdown()
  }
  const isSet = filter.values.length > 0
  useChipReport(hasAny && isSet)
  const text = useMemo(() => chosenText(filter, choices), [filter, choices]) ?? anyLabel
  const pick = (picked: string) => {
    if (picked === notValue) return onChange(formatFilter({ ...filter, isNot: !filter.isNot }))
    if (isMulti) return onChange(formatFilter(toggleValue(filter, picked)))
    combobox.closeDropdown()
    combobox.focusTarget()
    onChange(hasAny && (picked === anyValue || picked === value) ? undefined : picked)
  }
  return (
    <Combobox store={combobox} onOptionSubmit={pick} position="bottom-start" width="max-content" size="sm">
      <span
        className={classes.chip}
        data-set={(hasAny && isSet) || undefined}
        {...(isSet && { 'data-printed': `${label}: ${text}` })}
      >
        <Combobox.Target targetType="button" withExpandedAttribute>
          <button
            type="button"
            className={classes.choose}
            aria-label={text === undefined ? label : `${label}: ${text}`}
            title={text}
            onClick={() => combobox.toggleDropdown()}
            onBlur={closeOnBlur}
          >
            {label}
            {text !== undefined && <span className={classes.chosen}>{text}</span>}
            <DownIcon size={14} />
          </button>
        </Combobox.Target>
        {hasAny && isSet && (
          <button
            type="button"
            className={classes.clear}
            aria-label={`Clear ${label}`}
            title={`Clear ${label}`}
            onClick={() => {
              onChange(undefined)
              combobox.focusTarget()
            }}
          >
            <CrossIcon size={14} />
          </button>
        )}
      </span>
      <Combobox.Dropdown className={classes.dropdown ?? ''}>
        {isSearched && (
          <Combobox.Search
            value={query}
            onChange={(event) => {
              setQuery(event.currentTarget.value)
              combobox.updateSelectedOptionIndex()
            }}
            onKeyDown={({ key }) => {
              // The list is at the end of the document: Tab goes on from the button, and Escape goes back to it.
              if (key === 'Tab' || key === 'Escape') combobox.targetRef.current?.focus()
            }}
            onBlur={closeOnBlur}
            placeholder={`Find in ${label.toLowerCase()}`}
            aria-label={`Find in ${label.toLowerCase()}`}
          />
        )}
        <Combobox.Options
          id={listId}
          className={classes.options ?? ''}
          aria-label={label}
          aria-multiselectable={isMulti}
        >
          {combobox.dropdownOpened && (
            <Choices {...{ filter, choices, isMulti, query }} anyLabel={hasAny ? anyLabel : undefined} />
          )}
        </Combobox.Options>
      </Combobox.Dropdown>
    </Combobox>
  )
})

function useChipReport(isSet: boolean): void {
  const id = useId()
  const report = useContext(ChipReports)
  useEffect(() => {
    report(id, isSet)
    return () => report(id, false)
  }, [report, id, isSet])
}

/** The chosen values, and the choices with chosen ones that are missing among them. */
function useChosen({ value, choices, missingLabel, isMulti = false }: FilterSelectProps) {
  return useMemo(() => {
    const filter = isMulti ? parseFilter(value) : { values: value === undefined ? [] : [value], isNot: false }
    const all = withMissing(choices, filter, missingLabel)
    return { filter: withoutUnknown(filter, all), choices: all }
  }, [value, choices, missingLabel, isMulti])
}

// No tag and no name contains these characters.
const anyValue = '\u0000any'
const notValue = '\u0000not'

interface ChoicesProps extends Pick<FilterSelectProps, 'choices' | 'isMulti'> {
  readonly filter: FilterValue
  readonly query: string
  readonly anyLabel: string | undefined
}

function Choices({ filter, choices, isMulti = false, query, anyLabel }: ChoicesProps) {
  const shown = shownChoices(choices, filter, query)
  return (
    <>
      {anyLabel !== undefined && <Choice value={anyValue} label={anyLabel} isChosen={filter.values.length === 0} />}
      {shown.map((choice) => (
        <Choice key={choice.value} {...choice} isChosen={filter.values.includes(choice.value)} />
      ))}
      {shown.length === 0 && <Combobox.Empty>No matches</Combobox.Empty>}
      {isMulti && filter.values.length > 0 && (
        <Choice value={notValue} label="Show all but these" isChosen={filter.isNot} isApart />
      )}
    </>
  )
}

interface ChoiceProps extends FilterChoice {
  readonly isChosen: boolean
  readonly isApart?: boolean
}

const Choice = ({ value, label, isChosen, isApart }: ChoiceProps) => (
  <Combobox.Option
    value={value}
    active={isChosen}
    aria-selected={isChosen}
    className={classes.option ?? ''}
    data-apart={isApart || undefined}
  >
    <span className={classes.tick}>{isChosen && <CheckIcon size={16} />}</span>
    {label}
  </Combobox.Option>
)

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
