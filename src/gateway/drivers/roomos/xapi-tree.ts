// The values of a codec that the driver knows, by path, kept up to date from answers and feedback.

/** More than any codec has of the paths that the driver keeps: a usual one has 110 values with 4,000 characters. */
const maxValues = 1_000
const maxTotalCharacters = 100_000
const maxCharacters = 300

interface Branch {
  readonly isList: boolean
  readonly children: ReadonlyMap<string, Branch>
}

/** Holds the values of the given paths and drops all others, so a codec cannot make it grow. */
export class XapiTree<Path extends string> {
  readonly #root: Branch
  readonly #values = new Map<string, string>()
  #characterCount = 0

  constructor(paths: readonly Path[]) {
    this.#root = branchOf(paths)
  }

  /** The value at a path, with the ids of its items in place of `[n]`. Undefined if the codec has none. */
  text(path: Path, ...ids: readonly string[]): string | undefined {
    return this.#values.get(withIds(path, ids))
  }

  number(path: Path, ...ids: readonly string[]): number | undefined {
    const text = this.text(path, ...ids)
    return text === undefined || text.trim() === '' || !Number.isFinite(Number(text)) ? undefined : Number(text)
  }

  /** The ids of the items of a list, such as `Network[n]` or, in item 1, `Network[1] DNS Server[n]`, in the order of numbers. */
  ids(list: string): string[] {
    const [before = ''] = list.split('[n]')
    const found = new Set<string>()
    for (const key of this.#values.keys()) {
      if (key.startsWith(`${before}[`)) found.add(key.slice(before.length + 1, key.indexOf(']', before.length)))
    }
    return [...found].sort((a, b) => Number(a) - Number(b) || a.localeCompare(b))
  }

  set(path: string, value: string): void {
    const text = value.length <= maxCharacters ? value : startOf(value)
    this.#characterCount += text.length - (this.#values.get(path)?.length ?? 0)
    this.#values.set(path, text)
    if (this.#values.size > maxValues || this.#characterCount > maxTotalCharacters) throw new TooManyValues()
  }

  /** Replaces a subtree with the answer to a question about it. */
  replace(parts: readonly (string | number)[], value: unknown): void {
    // A list of which all items were asked for has no id in its path.
    const path = parts.reduce<string>(
      (text, part) => (typeof part === 'number' ? `${text}[${part}]` : `${text} ${part}`),
      '',
    )
    this.#delete(path.slice(1))
    this.merge(
      parts.reduceRight(
        (inner, part) => (typeof part === 'number' ? [{ ...asObject(inner), id: part }] : { [part]: inner }),
        value,
      ),
    )
  }

  /** Takes what a codec says has changed, from the root: items of lists are known by their id, and a ghost is an item that is gone. */
  merge(change: unknown): void {
    this.#walk(this.#root, change, '')
  }

  #walk(branch: Branch, value: unknown, path: string): void {
    if (branch.children.size === 0) {
      const text = textOf(value)
      if (text !== undefined) this.set(path, text)
      return
    }
    for (const [name, child] of branch.children) {
      const part = asObject(value)[name]
      if (part === undefined || part === null) continue
      const below = path === '' ? name : `${path} ${name}`
      if (!child.isList) this.#walk(child, part, below)
      else for (const item of Array.isArray(part) ? part : [part]) this.#item(child, item, below)
    }
  }

  #item(list: Branch, item: unknown, path: string): void {
    const fields = asObject(item)
    const id = textOf(fields.id)
    if (id === undefined || !/^[\w.-]{1,40}$/.test(id)) return
    if (textOf(fields.ghost)?.toLowerCase() === 'true') this.#delete(`${path}[${id}]`)
    else this.#walk(list, item, `${path}[${id}]`)
  }

  #delete(path: string): void {
    for (const [key, text] of this.#values) {
      if (key !== path && !key.startsWith(`${path} `) && !key.startsWith(`${path}[`)) continue
      this.#values.delete(key)
      this.#characterCount -= text.length
    }
  }
}

/** The codec sends more values than the driver keeps. */
export class TooManyValues extends Error {}

function branchOf(paths: readonly string[]): Branch {
  const root: { isList: boolean; children: Map<string, Branch> } = { isList: false, children: new Map() }
  for (const path of paths) {
    let at = root
    for (const part of path.split(' ')) {
      const name = part.replace('[n]', '')
      const next = (at.children.get(name) as typeof root | undefined) ?? { isList: part !== name, children: new Map() }
      at.children.set(name, next)
      at = next
    }
  }
  return root
}

/** A copy: a slice of a long text would keep the whole text in memory. */
const startOf = (text: string) => Buffer.from(text.slice(0, maxCharacters)).toString()

const withIds = (path: string, ids: readonly string[]) => {
  let next = 0
  return path.replaceAll('[n]', () => `[${ids[next++]}]`)
}

const asObject = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}

/** A value is a word or a number, or has the form of the terminal: `{"Value": …}`. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  const { Value } = asObject(value)
  return typeof Value === 'string' || typeof Value === 'number' ? String(Value) : undefined
}
