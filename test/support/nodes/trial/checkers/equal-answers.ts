// Checks that all nodes give the same bytes to the same read once everything has come to rest.

export interface NodeAnswer {
  readonly node: string
  readonly path: string
  readonly status: number | undefined
  readonly etag: string | undefined
  readonly text: string
}

export function checkEqualAnswers(answers: readonly NodeAnswer[]): string[] {
  return [...Map.groupBy(answers, ({ path }) => path)].flatMap(([path, all]) => {
    const [first, ...others] = all as [NodeAnswer, ...NodeAnswer[]]
    if (first.status !== 200) return [`${path} at ${first.node} is ${first.status}, not 200.`]
    return others
      .filter((other) => other.status !== first.status || other.etag !== first.etag || other.text !== first.text)
      .map((other) => `${path} differs: ${first.node} says ${excerpt(first)}, ${other.node} says ${excerpt(other)}.`)
  })
}

const excerpt = ({ status, etag, text }: NodeAnswer) => `${status} ${etag} ${text.slice(0, 200)}`
