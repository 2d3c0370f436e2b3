// Reads the first packet that a client of PostgreSQL sends.

/** The code of version 3.0 of the protocol; cancel and TLS requests have other codes and no parameters. */
const protocolVersion3 = 196_608
const headerBytes = 8

/** Returns undefined while the packet is incomplete, and an empty text if it has no application name. */
export function applicationNameOf(received: Buffer): string | undefined {
  if (received.length < headerBytes) return undefined
  const length = received.readInt32BE(0)
  if (received.readInt32BE(4) !== protocolVersion3) return ''
  if (received.length < length) return undefined
  const texts = received.toString('utf8', headerBytes, length).split('\0')
  for (let i = 0; i + 1 < texts.length; i += 2) if (texts[i] === 'application_name') return texts[i + 1]
  return ''
}
