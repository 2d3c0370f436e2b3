// Shows the progress of an action on many incidents in a notification, with Stop, and then the result. It stays on every page.
import { Button, Group, List, Progress, Stack, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { queryClient } from '../../../api.ts'
import { plural } from '../../../parts/text/words.ts'
import { type OneByOneResult, oneByOne } from './one-by-one.ts'

const noticeMs = 8000
const maxRefusedShown = 10
let noticeCount = 0

export interface BulkRun<T> {
  readonly items: readonly T[]
  readonly nameOf: (item: T) => string
  readonly send: (item: T) => Promise<unknown>
  /** "incident". */
  readonly noun: string
  /** "acknowledged". */
  readonly outcome: string
}

/** Returns what was done, so that the rest can stay selected. */
export async function runWithNotice<T>(run: BulkRun<T>): Promise<OneByOneResult<T>> {
  const { items, send, noun, outcome } = run
  const id = `incidents-${++noticeCount}`
  const stop = new AbortController()
  const showProgress = (count: number) => ({
    id,
    color: 'fjord',
    autoClose: false as const,
    withCloseButton: false,
    message: <RunProgress count={count} all={items.length} noun={noun} onStop={() => stop.abort()} />,
  })
  notifications.show(showProgress(0))
  const onProgress = (count: number) => void notifications.update(showProgress(count))
  const result = await oneByOne(items, send, { onProgress, signal: stop.signal })
  await queryClient.invalidateQueries()
  const isWhole = result.done.length === items.length
  notifications.update({
    id,
    color: isWhole ? 'green' : 'red',
    autoClose: isWhole && noticeMs,
    withCloseButton: true,
    title: `${plural(result.done.length, noun)} ${outcome}`,
    message: <RunResult run={run} result={result} />,
  })
  return result
}

interface RunProgressProps {
  readonly count: number
  readonly all: number
  readonly noun: string
  readonly onStop: () => void
}

const RunProgress = ({ count, all, noun, onStop }: RunProgressProps) => (
  <Stack gap={4}>
    <Group justify="space-between">
      <Text fz="sm">
        {count.toLocaleString('en-GB')} of {plural(all, noun)}
      </Text>
      <Button variant="subtle" size="compact-sm" onClick={onStop}>
        Stop
      </Button>
    </Group>
    <Progress value={(100 * count) / all} aria-label="Progress" />
  </Stack>
)

interface RunResultProps<T> {
  readonly run: BulkRun<T>
  readonly result: OneByOneResult<T>
}

function RunResult<T>({ run: { items, nameOf, noun, outcome }, result: { done, refused } }: RunResultProps<T>) {
  const stopped = items.length - done.length - refused.length
  const unshown = refused.length - maxRefusedShown
  return (
    <>
      {stopped > 0 && <Text fz="sm">Stopped: {notDone(stopped, noun, outcome)}</Text>}
      {refused.length > 0 && (
        <>
          <Text fz="sm">{notDone(refused.length, noun, outcome)}</Text>
          <List fz="sm">
            {refused.slice(0, maxRefusedShown).map(({ item, reason }) => (
              <List.Item key={nameOf(item)}>
                {nameOf(item)}: {reason}
              </List.Item>
            ))}
            {unshown > 0 && <List.Item>and {unshown.toLocaleString('en-GB')} more</List.Item>}
          </List>
        </>
      )}
    </>
  )
}

const notDone = (count: number, noun: string, outcome: string) =>
  `${plural(count, noun)} ${count === 1 ? 'was' : 'were'} not ${outcome}.`
