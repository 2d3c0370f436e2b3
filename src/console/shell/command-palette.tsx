// The command palette: finds any room, device or page as the user types.
import { Box, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import {
  type KeyboardEvent,
  type ReactNode,
  useDeferredValue,
  useEffect,
  useId,
  useMemo,
  useRef,
  useState,
} from 'react'
import { operationQuery } from '../api.ts'
import { deviceName } from '../domain/device/device.ts'
import { RoomStateLabel } from '../domain/room/room-state.tsx'
import { DeviceIcon, RoomIcon, SearchIcon } from '../parts/page/icons.tsx'
import { includesAll, normalizeText, searchWords } from '../parts/text/search-text.ts'
import classes from './command-palette.module.css'
import { useNavigationItems } from './navigation.ts'

interface Entry {
  readonly key: string
  readonly name: string
  /** The normalized text that the search looks in. */
  readonly searchText: string
  /** A function, so that only the few entries that are found are rendered, out of tens of thousands. */
  readonly detail: () => ReactNode
  readonly icon: ReactNode
  readonly go: () => void
}

const maxResults = 12
const [roomIcon, deviceIcon] = [<RoomIcon key="room" />, <DeviceIcon key="device" />]

export function CommandPalette({ onClose }: { readonly onClose: () => void }) {
  const navigate = useNavigate()
  const rooms = useQuery(operationQuery('roomsList')).data?.body.rooms
  const endpoints = useQuery(operationQuery('endpointsBasicList')).data?.body.endpoints
  const navigationItems = useNavigationItems()
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState(0)
  const query = useDeferredValue(text)
  const id = useId()
  const field = useRef<HTMLInputElement>(null)
  // The dialog opens before this code is loaded, so it cannot set the focus itself.
  useEffect(() => field.current?.focus(), [])

  const entries = useMemo<Entry[]>(
    () => [
      ...navigationItems.map(({ to, name, icon: Icon }) => ({
        key: to,
        name,
        searchText: normalizeText(name),
        detail: () => 'Page',
        icon: <Icon />,
        go: () => void navigate({ to }),
      })),
      ...(rooms ?? []).map((room) => ({
        key: `room ${room.id}`,
        name: room.name,
        searchText: normalizeText(`${room.name} ${room.location?.name ?? ''}`),
        detail: () => (
          <>
            {room.location?.name} <RoomStateLabel state={room.state} />
          </>
        ),
        icon: roomIcon,
        go: () => void navigate({ to: '/rooms/$roomId', params: { roomId: String(room.id) } }),
      })),
      ...(endpoints ?? []).map((endpoint) => ({
        key: endpoint.id,
        name: deviceName(endpoint),
        searchText: normalizeText(`${deviceName(endpoint)} ${endpoint.roomName ?? ''}`),
        detail: () => endpoint.roomName ?? 'Unassigned',
        icon: deviceIcon,
        go: () => void navigate({ to: '/devices/$endpointId', params: { endpointId: endpoint.id } }),
      })),
    ],
    [navigationItems, rooms, endpoints, navigate],
  )
  const results = useMemo(() => findEntries(entries, query), [entries, query])
  const at = Math.min(chosen, results.length - 1)

  const open = (entry: Entry | undefined) => {
    if (!entry) return
    onClose()
    entry.go()
  }
  const handleKey = (event: KeyboardEvent) => {
    if (event.key === 'Enter') return open(results[at])
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
        placeholder="Rooms, devices, pages"
        aria-label="Search rooms, devices and pages"
        role="combobox"
        aria-expanded={results.length > 0}
        aria-controls={`${id}-list`}
        aria-activedescendant={results[at] && `${id}-${at}`}
        leftSection={<SearchIcon />}
        variant="unstyled"
        size="lg"
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
          No results for “{query}”. Search for the name of a room or page, or a serial number.
        </Text>
      )}
    </>
  )
}

/** Finds the entries that contain all words; those that begin with the first word come first. */
function findEntries(entries: readonly Entry[], query: string): Entry[] {
  const words = searchWords(query)
  const [first = ''] = words
  const begins: Entry[] = []
  const has: Entry[] = []
  for (const entry of entries) {
    if (!includesAll(entry.searchText, words)) continue
    if (entry.searchText.startsWith(first)) begins.push(entry)
    else has.push(entry)
    if (begins.length >= maxResults) break
  }
  return [...begins, ...has].slice(0, maxResults)
}
