// The section of the README that a run replaces, between two markers.

const [beginMarker, endMarker] = ['<!-- measured: written by npm run bench -->', '<!-- measured: end -->'] as const

/** Returns the text between the markers. */
export function readSection(document: string): string {
  const [from, to] = findSection(document)
  return document.slice(from, to).trim()
}

/** Returns the document with another text between the markers. */
export function replaceSection(document: string, text: string): string {
  const [from, to] = findSection(document)
  return `${document.slice(0, from)}\n\n${text}\n\n${document.slice(to)}`
}

function findSection(document: string): [from: number, to: number] {
  const [from, to] = [document.indexOf(beginMarker), document.indexOf(endMarker)]
  if (from === -1 || to < from) throw new Error(`The document has no section between ${beginMarker} and ${endMarker}.`)
  return [from + beginMarker.length, to]
}
