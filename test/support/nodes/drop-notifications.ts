// Takes notifications out of what PostgreSQL sends to a client.

const notificationResponse = 'A'.charCodeAt(0)
/** A letter for the type, and a length that counts itself. */
const headerBytes = 5

/** Works on chunks that begin with a message. After a message that is split between two chunks, the second one would be misread. */
export function withoutNotifications(bytes: Buffer): Buffer {
  const kept: Buffer[] = []
  let at = 0
  while (at < bytes.length) {
    const end = at + headerBytes <= bytes.length ? at + 1 + bytes.readUInt32BE(at + 1) : bytes.length
    if (bytes[at] !== notificationResponse || end > bytes.length) kept.push(bytes.subarray(at, end))
    at = end
  }
  return Buffer.concat(kept)
}
