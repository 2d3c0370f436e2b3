// Writes a long answer in windows: each is written after the one before it was sent.
import type { ServerResponse } from 'node:http'

/** Node copies text when it writes it, so a window of text is small. */
export const textWindowBytes = 256 * 1024

/**
 * Each window is encoded when it is written. When the client stops taking them, the rest becomes a buffer: long texts in the heap of V8
 * let the heap grow to several times their size before a collection frees those that were sent.
 */
export function endWithText(
  response: ServerResponse,
  text: string,
  encoding: 'latin1' | 'utf8',
  windowBytes: number,
): void {
  // A UTF-16 code unit has three bytes in UTF-8 at most.
  const windowUnits = encoding === 'latin1' ? textWindowBytes : Math.floor(textWindowBytes / 3)
  for (let at = 0; at < text.length; ) {
    const start = at
    at = Math.min(start + windowUnits, text.length)
    // A window must not split a surrogate pair: half of one cannot be encoded.
    if (isHighSurrogate(text.charCodeAt(at - 1)) && at < text.length) at++
    const canTakeMore = writeCorked(response, () => response.write(text.slice(start, at), encoding))
    if (canTakeMore || at === text.length) continue
    const rest = Buffer.from(text.slice(at), encoding)
    response.once('drain', () => endWithPieces(response, [rest], windowBytes))
    return
  }
  response.end()
}

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff

export function endWithPieces(response: ServerResponse, pieces: readonly Buffer[], windowBytes: number): void {
  let [index, offset] = [0, 0]
  endInWindows(response, () => {
    let roomBytes = windowBytes
    let canTakeMore: boolean | undefined
    for (let piece = pieces[index]; piece && roomBytes > 0; piece = pieces[index]) {
      const part = offset === 0 && piece.length <= roomBytes ? piece : piece.subarray(offset, offset + roomBytes)
      canTakeMore = response.write(part)
      roomBytes -= part.length
      offset += part.length
      if (offset === piece.length) [index, offset] = [index + 1, 0]
    }
    return canTakeMore
  })
}

/** `writeWindow` returns the result of `response.write`, and undefined when nothing is left to write. */
function endInWindows(response: ServerResponse, writeWindow: () => boolean | undefined): void {
  const writeWindows = () => {
    for (;;) {
      const canTakeMore = writeCorked(response, writeWindow)
      if (canTakeMore === undefined) break
      if (canTakeMore) continue
      response.once('drain', writeWindows)
      return
    }
    response.end()
  }
  writeWindows()
}

/** Returns whether the client can be sent more now; undefined if nothing was written. */
function writeCorked(response: ServerResponse, write: () => boolean | undefined): boolean | undefined {
  // A corked window is passed to the operating system in one call, and writableLength then says whether all of it was sent.
  response.cork()
  const canTakeMore = write()
  response.uncork()
  return canTakeMore === undefined ? undefined : canTakeMore || response.writableLength === 0
}
