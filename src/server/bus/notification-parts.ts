// Cuts the text of a batch of messages into notifications that PostgreSQL accepts, and puts them together again.

/** PostgreSQL refuses 8,000 bytes and more. */
const maxNotificationBytes = 7_900

/** The first words of a notification take at most this much: process, node, number, part, parts. */
const maxHeadBytes = 80

export interface BatchHead {
  /** Names the process that sent the batch. */
  readonly process: string
  /** The id of its row, or undefined for a command. */
  readonly nodeId: number | undefined
  /** Counts the batches of the process, from 1. */
  readonly number: number
}

export interface Part extends BatchHead {
  readonly part: number
  readonly parts: number
  readonly text: string
}

/** JSON in which every character is one byte, so that it can be cut anywhere. */
export const asciiJson = (value: unknown): string =>
  JSON.stringify(value).replaceAll(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

/** The text must be ASCII. */
export function cutIntoParts({ process, nodeId, number }: BatchHead, text: string): string[] {
  const size = maxNotificationBytes - maxHeadBytes
  const parts = Math.max(1, Math.ceil(text.length / size))
  return Array.from(
    { length: parts },
    (_, i) => `${process} ${nodeId ?? '-'} ${number} ${i + 1} ${parts} ${text.slice(i * size, (i + 1) * size)}`,
  )
}

/** Returns undefined for a notification that is none of ours. */
export function readPart(notification: string): Part | undefined {
  const match = /^(\S{1,32}) (\d+|-) (\d+) (\d+) (\d+) /.exec(notification)
  if (!match) return undefined
  const [head, process = '', nodeId, number, part, parts] = match
  return {
    process,
    nodeId: nodeId === '-' ? undefined : Number(nodeId),
    number: Number(number),
    part: Number(part),
    parts: Number(parts),
    text: notification.slice(head.length),
  }
}

/** Puts the parts of one sender together, and notices which are missing. */
export class PartReader {
  /** The number of the last batch that is complete or was given up. */
  #last: number | undefined
  /** The batch of which some parts have arrived. */
  #incomplete: { readonly number: number; readonly texts: string[] } | undefined
  #mayHaveGap = true

  /** After a break of the session, the next batch may have any higher number. */
  allowGap(): void {
    this.#mayHaveGap = true
    this.#incomplete = undefined
  }

  /** Returns the text of a batch with its last part. `isGap` says that something before this part is missing. */
  add({ number, part, parts, text }: Part): { readonly text?: string; readonly isGap: boolean } {
    // A sender that lost its session sends its last batch again, because it cannot know whether that arrived.
    if (this.#last !== undefined && number <= this.#last) return { isGap: false }
    let isGap = false
    if (part === 1) {
      isGap = !this.#mayHaveGap && (this.#incomplete !== undefined || number !== (this.#last ?? 0) + 1)
      this.#incomplete = { number, texts: [] }
      this.#mayHaveGap = false
      this.#last = number - 1
    }
    const batch = this.#incomplete
    if (batch?.number !== number || part !== batch.texts.length + 1) {
      this.#last = number
      this.#incomplete = undefined
      return { isGap: true }
    }
    batch.texts.push(text)
    if (part < parts) return { isGap }
    this.#last = number
    this.#incomplete = undefined
    return { text: batch.texts.join(''), isGap }
  }
}
