// Converts network addresses from the base64 that devices report to the usual notation. [contract 5.1.networks]

interface Address {
  readonly ipv4?: string
  readonly ipv6?: string
}

/** "192.168.1.20", "fe80::1", or both. */
export const addressTexts = ({ ipv4, ipv6 }: Address): string[] => [
  ...(ipv4 ? [decodeAddress(ipv4, 4, ipv4Text)] : []),
  ...(ipv6 ? [decodeAddress(ipv6, 16, ipv6Text)] : []),
]

/** "00:11:22:aa:bb:cc" */
export const macText = (base64: string): string =>
  decodeAddress(base64, 6, (bytes) => bytes.map((byte) => byte.toString(16).padStart(2, '0')).join(':'))

/** Text that is not an address in base64 is returned unchanged. */
function decodeAddress(base64: string, length: number, write: (bytes: readonly number[]) => string): string {
  try {
    const bytes = [...atob(base64)].map((char) => char.charCodeAt(0))
    return bytes.length === length ? write(bytes) : base64
  } catch {
    return base64
  }
}

const ipv4Text = (bytes: readonly number[]) => bytes.join('.')

/** The longest run of zeros, the first of equals, becomes "::"; a single zero does not. [RFC 5952] */
function ipv6Text(bytes: readonly number[]): string {
  const groups = Array.from({ length: 8 }, (_, i) =>
    (((bytes[2 * i] ?? 0) << 8) | (bytes[2 * i + 1] ?? 0)).toString(16),
  )
  let run = { at: 0, length: 1 }
  for (let at = 0; at < 8; at++) {
    let length = 0
    while (groups[at + length] === '0') length++
    if (length > run.length) run = { at, length }
  }
  if (run.length < 2) return groups.join(':')
  return `${groups.slice(0, run.at).join(':')}::${groups.slice(run.at + run.length).join(':')}`
}
