// Compares answers of the API: whether one says nothing that the other does not say too.

/** Returns where `part` says something that `whole` does not; undefined if nowhere. Each item of a list needs an item of its own. */
export function findExcess(part: unknown, whole: unknown, path = ''): string | undefined {
  if (Array.isArray(part)) {
    if (!Array.isArray(whole)) return `${path} is a list`
    const left = [...whole]
    for (const [i, item] of part.entries()) {
      const at = left.findIndex((other) => findExcess(item, other) === undefined)
      if (at < 0) return `${path}[${i}] = ${JSON.stringify(item)}`
      left.splice(at, 1)
    }
    return undefined
  }
  if (typeof part === 'object' && part !== null) {
    if (typeof whole !== 'object' || whole === null) return `${path} is an object`
    for (const [key, value] of Object.entries(part)) {
      const excess = findExcess(value, (whole as Record<string, unknown>)[key], `${path}.${key}`)
      if (excess !== undefined) return excess
    }
    return undefined
  }
  return part === whole ? undefined : `${path} = ${JSON.stringify(part)} instead of ${JSON.stringify(whole)}`
}
