// The button and dialog that change the location of all selected rooms, with progress and Undo.
import { Button, Group, List, Modal, Progress, Stack, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useRef, useState } from 'react'
import { queryClient } from '../../../api.ts'
import { plural } from '../../../parts/text/words.ts'
import { usePermissions } from '../../../session.ts'
import { LocationSelect } from '../../fleet/site/location-select.tsx'
import { locationLabel, useSites } from '../../fleet/site/sites.ts'
import { changeLocations, type LocationChange, type LocationResult, reversed } from './room-locations.ts'

interface SelectedRoom {
  readonly id: number
  readonly name: string
  readonly location?: { readonly id: number } | undefined
}

interface ChangeLocationProps {
  readonly rooms: readonly SelectedRoom[]
  readonly onDone: () => void
}

export function ChangeLocation({ rooms, onDone }: ChangeLocationProps) {
  const { write } = usePermissions()
  /** The rooms as they were when the dialog opened: the list changes while it is open. */
  const [opened, setOpened] = useState<readonly SelectedRoom[] | undefined>()
  if (!write) return null
  return (
    <>
      <Button variant="subtle" size="compact-sm" style={{ flex: 'none' }} onClick={() => setOpened(rooms)}>
        Change location
      </Button>
      {opened && <ChangeLocationDialog rooms={opened} onClose={() => setOpened(undefined)} onDone={onDone} />}
    </>
  )
}

type Phase =
  | { readonly name: 'choosing' }
  | { readonly name: 'running'; readonly done: number; readonly all: number }
  | { readonly name: 'failed'; readonly result: LocationResult }

interface DialogProps extends ChangeLocationProps {
  readonly onClose: () => void
}

function ChangeLocationDialog({ rooms, onClose, onDone }: DialogProps) {
  const [locationId, setLocationId] = useState<number | null>(null)
  const [phase, setPhase] = useState<Phase>({ name: 'choosing' })
  const stop = useRef<AbortController>(undefined)
  const { locationById } = useSites()
  const location = locationId === null ? undefined : locationById.get(locationId)
  const to = location ? locationLabel(location) : ''
  const changes = rooms
    .map(({ id, name, location: present }): LocationChange => ({ id, name, from: present?.id ?? null, to: locationId }))
    .filter(({ from }) => from !== locationId)

  const run = async () => {
    stop.current = new AbortController()
    const show = (done: number) => setPhase({ name: 'running', done, all: changes.length })
    show(0)
    const result = await changeLocations(changes, { onProgress: show, signal: stop.current.signal })
    await queryClient.invalidateQueries()
    if (result.changed.length > 0) showChangedNotice(result.changed, to)
    if (result.failed.length > 0) return setPhase({ name: 'failed', result })
    onClose()
    if (result.changed.length === changes.length) onDone()
  }
  const isRunning = phase.name === 'running'
  return (
    <Modal
      opened
      onClose={onClose}
      title={`Change location: ${plural(rooms.length, 'room')}`}
      size="lg"
      closeOnClickOutside={!isRunning}
      closeOnEscape={!isRunning}
      withCloseButton={!isRunning}
    >
      <Stack>
        {phase.name === 'choosing' && (
          <>
            <LocationSelect value={locationId} onChange={setLocationId} isRequired />
            <Text fz="sm" role="status">
              {location ? summaryOf(changes.length, rooms.length - changes.length, to) : 'Choose a location.'}
            </Text>
            <Group justify="flex-end" gap="xs">
              <Button variant="default" onClick={onClose}>
                Cancel
              </Button>
              <Button disabled={!location || changes.length === 0} onClick={() => void run()}>
                {location && changes.length > 0 ? `Move ${plural(changes.length, 'room')} to ${to}` : 'Change location'}
              </Button>
            </Group>
          </>
        )}
        {phase.name === 'running' && (
          <>
            <Text fz="sm" role="status">
              {phase.done.toLocaleString('en-GB')} of {plural(phase.all, 'room')}
            </Text>
            <Progress value={(100 * phase.done) / phase.all} aria-label="Rooms changed" />
            <Group justify="flex-end">
              <Button variant="default" onClick={() => stop.current?.abort()}>
                Stop
              </Button>
            </Group>
          </>
        )}
        {phase.name === 'failed' && (
          <>
            <FailedRooms result={phase.result} verb="changed" />
            <Group justify="flex-end">
              <Button variant="default" onClick={onClose}>
                Close
              </Button>
            </Group>
          </>
        )}
      </Stack>
    </Modal>
  )
}

function summaryOf(changing: number, present: number, to: string): string {
  const there = `${plural(present, 'room')} ${present === 1 ? 'is' : 'are'} already there.`
  if (changing === 0) return there
  const effect = `The rooms get the region, time zone and change window of ${to}. The devices stay in their rooms.`
  return present === 0 ? effect : `${there} ${effect}`
}

const maxFailuresShown = 10

function FailedRooms({
  result: { changed, failed },
  verb,
}: {
  readonly result: LocationResult
  readonly verb: string
}) {
  const rest = failed.length - maxFailuresShown
  return (
    <div>
      <Text fz="sm" fw={600} role="alert">
        {plural(failed.length, 'room')} {failed.length === 1 ? 'was' : 'were'} not {verb}
        {changed.length > 0 && `, ${changed.length.toLocaleString('en-GB')} ${changed.length === 1 ? 'was' : 'were'}`}.
      </Text>
      <List fz="sm">
        {failed.slice(0, maxFailuresShown).map(({ change: { id, name }, reason }) => (
          <List.Item key={id}>
            {name}: {reason}
          </List.Item>
        ))}
        {rest > 0 && <List.Item>and {plural(rest, 'more room')}</List.Item>}
      </List>
    </div>
  )
}

const noticeMs = 30_000
const noticeId = 'changed-locations'

/** Only the last change can be undone here; the audit log has the others. */
function showChangedNotice(changed: readonly LocationChange[], to: string): void {
  notifications.hide(noticeId)
  notifications.show({
    id: noticeId,
    color: 'green',
    autoClose: noticeMs,
    title: `${plural(changed.length, 'room')} moved to ${to}`,
    message: (
      <Button variant="subtle" size="compact-sm" onClick={() => void undo(changed)}>
        Undo
      </Button>
    ),
  })
}

async function undo(changed: readonly LocationChange[]): Promise<void> {
  const show = (done: number) =>
    notifications.update({
      id: noticeId,
      autoClose: false,
      withCloseButton: false,
      title: 'Undoing',
      message: `${done.toLocaleString('en-GB')} of ${plural(changed.length, 'room')}`,
    })
  show(0)
  const result = await changeLocations(reversed(changed), { onProgress: show })
  await queryClient.invalidateQueries()
  const isWhole = result.failed.length === 0
  notifications.update({
    id: noticeId,
    color: isWhole ? 'green' : 'red',
    autoClose: isWhole ? 5000 : false,
    withCloseButton: true,
    title: isWhole ? `${plural(changed.length, 'room')} moved back` : 'Undone in part',
    message: isWhole ? undefined : <FailedRooms result={result} verb="moved back" />,
  })
}
