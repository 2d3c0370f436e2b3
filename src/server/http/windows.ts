// Sends a long answer window by window, the next one when the one before it was taken.
import type { ServerResponse } from 'node:http'

/** Text stays text until it is written: as bytes it would be in memory twice. */
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
    // Half of a surrogate pair has no encoding.
    if (isHighSurrogate(text.charCodeAt(at - 1)) && at < text.length) at++
    return response.write(text.slice(start, at), encoding)
  })
}

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff

export function endWithPieces(response: ServerResponse, pieces: readonly Buffer[], windowBytes: number): void {
  let [index, offset] = [0, 0]
  endInWindows(response, () => {
    let room = windowBytes
    let wantsMore: boolean | undefined
    for (let piece = pieces[index]; piece && room > 0; piece = pieces[index]) {
      const part = offset === 0 && piece.length <= room ? piece : piece.subarray(offset, offset + room)
      wantsMore = response.write(part)
      room -= part.length
      offset += part.length
      if (offset === piece.length) [index, offset] = [index + 1, 0]
    }
    return wantsMore
  })
}

/** `writeWindow` says whether the response wants more at once, and undefined when nothing was left to write. */
function endInWindows(response: ServerResponse, writeWindow: () => boolean | undefined): void {
  const go = () => {
    for (;;) {
      // Corked, a window goes to the system in one call, and it is known afterwards whether all of it was taken.
      response.cork()
      const wantsMore = writeWindow()
      response.uncork()
      if (wantsMore === undefined) break
      if (wantsMore || response.writableLength === 0) continue
      response.once('drain', go)
      return
    }
    response.end()
  }
  go()
}
