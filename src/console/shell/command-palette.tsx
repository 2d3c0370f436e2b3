// The command palette: a few letters lead to any room, device or page.
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
import { navigationItems } from './navigation.ts'

interface Entry {
  readonly key: string
  readonly name: string
  /** What is searched in, folded. */
  readonly text: string
  /** Drawn for the few that are found, of tens of thousands. */
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
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState(0)
  const wanted = useDeferredValue(text)
  const id = useId()
  const field = useRef<HTMLInputElement>(null)
  // The dialog was there before its code was.
  useEffect(() => field.current?.focus(), [])

  const entries = useMemo<Entry[]>(
    () => [
      ...navigationItems.map(({ to, name, icon: Icon }) => ({
        key: to,
        name,
        text: normalizeText(name),
        detail: () => 'Page',
        icon: <Icon />,
        go: () => void navigate({ to }),
      })),
      ...(rooms ?? []).map((room) => ({
        key: `room ${room.id}`,
        name: room.name,
        text: normalizeText(`${room.name} ${room.location?.name ?? ''}`),
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
        text: normalizeText(`${deviceName(endpoint)} ${endpoint.roomName ?? ''}`),
        detail: () => endpoint.roomName ?? 'in no room',
        icon: deviceIcon,
        go: () => void navigate({ to: '/devices/$endpointId', params: { endpointId: endpoint.id } }),
      })),
    ],
    [rooms, endpoints, navigate],
  )
  const found = useMemo(() => findEntries(entries, wanted), [entries, wanted])
  const at = Math.min(chosen, found.length - 1)

  const open = (entry: Entry | undefined) => {
    if (!entry) return
    onClose()
    entry.go()
  }
  const handleKey = (event: KeyboardEvent) => {
    if (event.key === 'Enter') return open(found[at])
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (!step) return
    event.preventDefault()
    setChosen((at + step + found.length) % Math.max(1, found.length))
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
        aria-expanded={found.length > 0}
        aria-controls={`${id}-list`}
        aria-activedescendant={found[at] && `${id}-${at}`}
        leftSection={<SearchIcon />}
        variant="unstyled"
        size="lg"
        px="xs"
      />
      <Box id={`${id}-list`} role="listbox" aria-label="Found" className={classes.list}>
        {found.map((entry, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are the field's
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
      {found.length === 0 && (
        <Text p="md" c="dimmed" role="status">
          Nothing has “{wanted}” in its name. Try fewer letters, or a serial number.
        </Text>
      )}
    </>
  )
}

/** All words must occur; what begins with the first of them comes first. */
function findEntries(entries: readonly Entry[], wanted: string): Entry[] {
  const words = searchWords(wanted)
  const [first = ''] = words
  const begins: Entry[] = []
  const has: Entry[] = []
  for (const entry of entries) {
    if (!includesAll(entry.text, words)) continue
    if (entry.text.startsWith(first)) begins.push(entry)
    else has.push(entry)
    if (begins.length >= maxResults) break
  }
  return [...begins, ...has].slice(0, maxResults)
}
