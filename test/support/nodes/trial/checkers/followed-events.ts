// Checks a follower that changes node all the time: between resets it gets every audit entry once and in order.
import type { FollowedItem } from '../histories.ts'

export interface FollowedRange {
  /** The number of the last audit entry when the stream was opened for the first time. */
  readonly firstEntry: number
  /** The number of the last audit entry when everything had come to rest. */
  readonly lastEntry: number
  readonly maxResets: number
}

export function checkFollowedEvents(
  items: readonly FollowedItem[],
  { firstEntry, lastEntry, maxResets }: FollowedRange,
): string[] {
  const problems: string[] = []
  /** Undefined after a reset: the follower reads everything again, and may go on anywhere. */
  let last: number | undefined = firstEntry
  let resets = 0
  for (const item of items) {
    if (item.kind === 'reset') {
      resets++
      last = undefined
      continue
    }
    const { entry, node } = item
    if (last !== undefined && entry <= last) problems.push(`Entry ${entry} came at ${node} after entry ${last}.`)
    else if (last !== undefined && entry > last + 1) {
      problems.push(`Entries ${last + 1} to ${entry - 1} are missing: ${node} went on with ${entry}.`)
    }
    last = entry
  }
  if (last !== undefined && last !== lastEntry)
    problems.push(`The last entry is ${lastEntry}, but the follower got ${last}.`)
  if (resets > maxResets) problems.push(`The follower got ${resets} resets, but there were ${maxResets} reasons.`)
  return problems
}
