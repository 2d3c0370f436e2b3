// Sends a long answer window by window, the next one when the one before it was taken.
import type { ServerResponse } from 'node:http'

/**
 * The system reports a write when all of it was taken. So this is also how little a reader may take in 30 seconds before it counts
 * as one that takes nothing. [contract 7.22]
 */
export const windowBytes = 256 * 1024

export function endWithPieces(response: ServerResponse, pieces: readonly Buffer[]): void {
  let [index, offset] = [0, 0]
  /** Writes one window, and says whether the response wants to be waited for. */
  const writeWindow = (): boolean => {
    let [room, isFull] = [windowBytes, false]
    response.cork()
    for (let piece = pieces[index]; piece && room > 0; piece = pieces[index]) {
      const part = offset === 0 && piece.length <= room ? piece : piece.subarray(offset, offset + room)
      isFull = !response.write(part)
      room -= part.length
      offset += part.length
      if (offset === piece.length) [index, offset] = [index + 1, 0]
    }
    response.uncork()
    return isFull && response.writableLength > 0
  }
  const go = () => {
    while (index < pieces.length) {
      if (!writeWindow()) continue
      response.once('drain', go)
      return
    }
    response.end()
  }
  go()
}
