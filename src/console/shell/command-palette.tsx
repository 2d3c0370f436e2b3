// The command palette: finds any room, device, site, profile or page as the user types.
import { Box, Text, TextInput } from '@mantine/core'
import { type KeyboardEvent, useDeferredValue, useEffect, useId, useMemo, useRef, useState } from 'react'
import { includesAll, searchWords } from '../../contract/search-text.ts'
import { SearchIcon } from '../parts/page/icons.tsx'
import classes from './command-palette.module.css'
import { type PaletteEntry, usePaletteEntries } from './palette-entries.tsx'

const maxResults = 12

interface CommandPaletteProps {
  readonly onClose: () => void
  readonly onShowKeys: () => void
}

export function CommandPalette({ onClose, onShowKeys }: CommandPaletteProps) {
  const entries = usePaletteEntries(onShowKeys)
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState(0)
  const query = useDeferredValue(text)
  const id = useId()
  const field = useRef<HTMLInputElement>(null)
  // The dialog opens before this code is loaded, so it cannot set the focus itself.
  useEffect(() => field.current?.focus(), [])

  const results = useMemo(() => findEntries(entries, query), [entries, query])
  const at = Math.min(chosen, results.length - 1)

  const open = (entry: PaletteEntry | undefined) => {
    if (!entry) return
    onClose()
    entry.go()
  }
  const handleKey = (event: KeyboardEvent) => {
    // The list follows the text a moment later.
    if (event.key === 'Enter') return open(text === query ? results[at] : findEntries(entries, text)[0])
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (!step) return
    event.preventDefault()
    setChosen((at + step + results.length) % Math.max(1, results.length))
  }

  return (
    <>
      <TextInput
        ref={field}
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value)
          setChosen(0)
        }}
        onKeyDown={handleKey}
        placeholder="Rooms, devices, addresses, sites, profiles, pages"
        aria-label="Search rooms, devices, sites, profiles and pages"
        role="combobox"
        aria-expanded={results.length > 0}
        aria-controls={`${id}-list`}
        aria-activedescendant={results[at] && `${id}-${at}`}
        leftSection={<SearchIcon />}
        variant="unstyled"
        size="md"
        px="xs"
      />
      <Box id={`${id}-list`} role="listbox" aria-label="Results" className={classes.list}>
        {results.map((entry, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the input handles the keys
          <div
            key={entry.key}
            id={`${id}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === at}
            className={classes.entry}
            onMouseMove={() => setChosen(index)}
            onClick={() => open(entry)}
          >
            {entry.icon}
            <span className={classes.name}>{entry.name}</span>
            <Text span fz="sm" c="dimmed" className={classes.detail}>
              {entry.detail()}
            </Text>
          </div>
        ))}
      </Box>
      {results.length === 0 && (
        <Text p="md" c="dimmed" role="status">
          No results for “{query}”. Search for the name of a room, site, profile or page, or for a serial number, IP or
          MAC address.
        </Text>
      )}
    </>
  )
}

/** Finds the entries that contain all words; those that begin with the first word come first. */
function findEntries(entries: readonly PaletteEntry[], query: string): PaletteEntry[] {
  const words = searchWords(query)
  const [first = ''] = words
  const begins: PaletteEntry[] = []
  const has: PaletteEntry[] = []
  for (const entry of entries) {
    if (!includesAll(entry.searchText, words)) continue
    if (entry.searchText.startsWith(first)) begins.push(entry)
    else has.push(entry)
    if (begins.length >= maxResults) break
  }
  return [...begins, ...has].slice(0, maxResults)
}
