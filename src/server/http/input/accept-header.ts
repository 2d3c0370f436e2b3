// Parses the headers in which a client lists what it accepts: Accept and Accept-Encoding. [RFC 9110, 12.5]

/** Returns each item, in lower case, with whether it is accepted, which q=0 denies. */
export function acceptedItemsOf(header = ''): ReadonlyMap<string, boolean> {
  const items = header.toLowerCase().split(',')
  return new Map(
    items.map((item): [string, boolean] => {
      const [name = '', ...parameters] = item.split(';').map((part) => part.trim())
      return [name, !parameters.some((p) => /^q\s*=\s*0(\.0*)?$/.test(p))]
    }),
  )
}

/** An answer is CSV for clients that ask for it by name, unless they also accept JSON by name. */
export function acceptsCsv(accept: string | undefined): boolean {
  // Almost all requests ask for JSON or for anything.
  if (!accept || !/csv/i.test(accept)) return false
  const accepted = acceptedItemsOf(accept)
  return accepted.get('text/csv') === true && accepted.get('application/json') !== true
}
