// Addresses as devices report them, in base64 of their bytes, written as people know them. [contract 5.1.networks]

interface Address {
  readonly ipv4?: string
  readonly ipv6?: string
}

/** "192.168.1.20", "fe80::1", or both. */
export const addressTexts = ({ ipv4, ipv6 }: Address): string[] => [
  ...(ipv4 ? [decoded(ipv4, 4, dotted)] : []),
  ...(ipv6 ? [decoded(ipv6, 16, coloned)] : []),
]

/** "00:11:22:aa:bb:cc" */
export const macText = (base64: string): string =>
  decoded(base64, 6, (bytes) => bytes.map((byte) => byte.toString(16).padStart(2, '0')).join(':'))

/** What is no such address is shown as it came: somebody may know it. */
function decoded(base64: string, length: number, write: (bytes: readonly number[]) => string): string {
  try {
    const bytes = [...atob(base64)].map((char) => char.charCodeAt(0))
    return bytes.length === length ? write(bytes) : base64
  } catch {
    return base64
  }
}

const dotted = (bytes: readonly number[]) => bytes.join('.')

/** The longest run of zeros, the first of equals, becomes "::"; a single zero does not. [RFC 5952] */
function coloned(bytes: readonly number[]): string {
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
