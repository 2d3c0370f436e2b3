// Writes a long answer in windows: each is written after the one before it was sent.
import type { ServerResponse } from 'node:http'

/** Each window is encoded when it is written. Encoding the whole text in one step would hold it in memory twice. */
export function endWithText(
  response: ServerResponse,
  text: string,
  encoding: 'latin1' | 'utf8',
  windowBytes: number,
): void {
  let at = 0
  // A UTF-16 code unit has three bytes in UTF-8 at most.
  const windowUnits = encoding === 'latin1' ? windowBytes : Math.floor(windowBytes / 3)
  endInWindows(response, () => {
    if (at === text.length) return undefined
    const start = at
    at = Math.min(start + windowUnits, text.length)
    // A window must not split a surrogate pair: half of one cannot be encoded.
    if (isHighSurrogate(text.charCodeAt(at - 1)) && at < text.length) at++
    return response.write(text.slice(start, at), encoding)
  })
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
      // A corked window is passed to the operating system in one call, and writableLength then says whether all of it was sent.
      response.cork()
      const canTakeMore = writeWindow()
      response.uncork()
      if (canTakeMore === undefined) break
      if (canTakeMore || response.writableLength === 0) continue
      response.once('drain', writeWindows)
      return
    }
    response.end()
  }
  writeWindows()
}
