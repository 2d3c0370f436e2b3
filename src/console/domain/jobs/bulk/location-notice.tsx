// Changes the location of rooms while a notification shows the progress, with Stop; then it shows the result, with Undo. It stays on every page.
import { Button, Group, List, Progress, Stack, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { queryClient } from '../../../api.ts'
import { plural } from '../../../parts/text/words.ts'
import { changeLocations, type LocationChange, type LocationResult, reversed } from './room-locations.ts'

const noticeMs = 30_000
const maxFailuresShown = 10

let noticeCount = 0

interface RoomsMove {
  readonly changes: readonly LocationChange[]
  /** "moved to Boston (Europe)". */
  readonly outcome: string
  readonly canUndo: boolean
}

export async function moveRooms(changes: readonly LocationChange[], to: string): Promise<void> {
  const id = `location-change-${++noticeCount}`
  notifications.show({ id, message: '' })
  await run(id, { changes, outcome: `moved to ${to}`, canUndo: true })
}

/** A change that was undone can be found in the audit log, and is not offered again. */
const undo = (id: string, changed: readonly LocationChange[]) =>
  run(id, { changes: reversed(changed), outcome: 'moved back', canUndo: false })

async function run(id: string, move: RoomsMove): Promise<void> {
  const { changes, outcome, canUndo } = move
  const stop = new AbortController()
  const onProgress = (done: number) =>
    notifications.update({
      id,
      color: 'fjord',
      autoClose: false,
      withCloseButton: false,
      title: 'Changing locations',
      message: <MoveProgress done={done} all={changes.length} onStop={() => stop.abort()} />,
    })
  onProgress(0)
  const result = await changeLocations(changes, { onProgress, signal: stop.signal })
  await queryClient.invalidateQueries()
  const { changed, failed } = result
  notifications.update({
    id,
    color: failed.length > 0 ? 'red' : 'green',
    autoClose: failed.length === 0 && noticeMs,
    withCloseButton: true,
    title: `${plural(changed.length, 'room')} ${outcome}`,
    message: (
      <MoveResult
        move={move}
        result={result}
        onUndo={canUndo && changed.length > 0 ? () => void undo(id, changed) : undefined}
      />
    ),
  })
}

interface MoveProgressProps {
  readonly done: number
  readonly all: number
  readonly onStop: () => void
}

const MoveProgress = ({ done, all, onStop }: MoveProgressProps) => (
  <Stack gap={4}>
    <Group justify="space-between">
      <Text fz="sm">
        {done.toLocaleString('en-GB')} of {plural(all, 'room')}
      </Text>
      <Button variant="subtle" size="compact-sm" onClick={onStop}>
        Stop
      </Button>
    </Group>
    <Progress value={(100 * done) / all} aria-label="Rooms changed" />
  </Stack>
)

interface MoveResultProps {
  readonly move: RoomsMove
  readonly result: LocationResult
  readonly onUndo: (() => void) | undefined
}

function MoveResult({ move: { changes, outcome }, result: { changed, failed }, onUndo }: MoveResultProps) {
  const stopped = changes.length - changed.length - failed.length
  const unshown = failed.length - maxFailuresShown
  return (
    <>
      {stopped > 0 && <Text fz="sm">Stopped: {notMoved(stopped, outcome)}</Text>}
      {failed.length > 0 && (
        <>
          <Text fz="sm">{notMoved(failed.length, outcome)}</Text>
          <List fz="sm">
            {failed.slice(0, maxFailuresShown).map(({ change: { id, name }, reason }) => (
              <List.Item key={id}>
                {name}: {reason}
              </List.Item>
            ))}
            {unshown > 0 && <List.Item>and {plural(unshown, 'more room')}</List.Item>}
          </List>
        </>
      )}
      {onUndo && (
        <Button variant="subtle" size="compact-sm" onClick={onUndo}>
          Undo
        </Button>
      )}
    </>
  )
}

const notMoved = (count: number, outcome: string) =>
  `${plural(count, 'room')} ${count === 1 ? 'was' : 'were'} not ${outcome}.`
