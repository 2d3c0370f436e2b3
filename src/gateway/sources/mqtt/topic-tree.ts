// Finds what belongs to a topic among many topic filters, in the time of its levels.

interface Node<T> {
  readonly children: Map<string, Node<T>>
  /** The values of the filters that end here. */
  readonly values: Set<T>
}

const newNode = <T>(): Node<T> => ({ children: new Map(), values: new Set() })

export class TopicTree<T> {
  readonly #root: Node<T> = newNode()
  readonly #sizes = new Map<string, number>()

  /** Returns whether the filter is new. */
  add(filter: string, value: T): boolean {
    let node = this.#root
    for (const level of filter.split('/')) {
      const child = node.children.get(level) ?? newNode<T>()
      node.children.set(level, child)
      node = child
    }
    node.values.add(value)
    const size = this.#sizes.get(filter) ?? 0
    this.#sizes.set(filter, node.values.size)
    return size === 0
  }

  /** Returns whether the filter has no value left. */
  delete(filter: string, value: T): boolean {
    const path: [Node<T>, string][] = []
    let node: Node<T> | undefined = this.#root
    for (const level of filter.split('/')) {
      path.push([node, level])
      node = node.children.get(level)
      if (!node) return false
    }
    if (!node.values.delete(value)) return false
    if (node.values.size > 0) {
      this.#sizes.set(filter, node.values.size)
      return false
    }
    this.#sizes.delete(filter)
    for (const [parent, level] of path.reverse()) {
      const child = parent.children.get(level) as Node<T>
      if (child.values.size > 0 || child.children.size > 0) break
      parent.children.delete(level)
    }
    return true
  }

  get size(): number {
    return this.#sizes.size
  }

  match(topic: string): T[] {
    const levels = topic.split('/')
    const found: T[] = []
    // A filter that begins with a wildcard does not match topics of the broker itself, such as $SYS.
    const visit = (node: Node<T>, depth: number) => {
      const mayBeAny = depth > 0 || !topic.startsWith('$')
      if (mayBeAny) for (const value of node.children.get('#')?.values ?? []) found.push(value)
      const level = levels[depth]
      if (level === undefined) {
        found.push(...node.values)
        return
      }
      const exact = node.children.get(level)
      if (exact && level !== '+' && level !== '#') visit(exact, depth + 1)
      const any = node.children.get('+')
      if (any && mayBeAny) visit(any, depth + 1)
    }
    visit(this.#root, 0)
    return found
  }
}

/** Whether a text can be subscribed to: wildcards stand alone in their level, and # is the last one. */
export function isTopicFilter(text: string, maxCharacters: number): boolean {
  if (text.length === 0 || text.length > maxCharacters || /\p{Cc}/u.test(text)) return false
  const levels = text.split('/')
  return levels.every((level, i) => {
    if (level === '+') return true
    if (level === '#') return i === levels.length - 1
    return !/[+#]/.test(level)
  })
}
