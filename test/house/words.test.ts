// The words of the code and the console: rules that a newcomer's reader would ask for, each with the way to follow it.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')

interface Line {
  readonly file: string
  readonly number: number
  readonly text: string
}

const filesIn = (folder: string) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path))
    .map((path) => join(folder, path))
const linesOf = (file: string): Line[] =>
  readFileSync(join(root, file), 'utf8')
    .split('\n')
    .map((text, i) => ({ file, number: i + 1, text }))
const isTest = (file: string) => file.endsWith('.test.ts')

const source = filesIn('src')
const everywhere = [...source, ...filesIn('test'), ...filesIn('bench'), ...filesIn('tools')]

const places = (lines: readonly Line[]) => lines.map(({ file, number, text }) => `${file}:${number} ${text.trim()}`)

test('a comment names its subject: it does not begin with Who, What, Whoever, Whose, Nobody, Of or The same', () => {
  const riddle = /^\s*(?:\/\/|\/\*\*?) *(?:Who|What|Whoever|Whose|Whom|Nobody|Of|The same)\b/
  const wrong = everywhere.flatMap(linesOf).filter(({ text }) => riddle.test(text))
  expect(places(wrong), 'Say what the thing is: "Only single-row inserts are tracked: …"').toEqual([])
})

test('a constant for a duration or a size carries its unit in its name', () => {
  const constant = /^(?:export )?const ([a-z]\w*) = ([\d_]+(?: \* [\d_]+)*)$/
  /** Counts, ports and ids are no measures; a name may say so. */
  const hasUnit =
    /(?:Ms|Seconds|Minutes|Hours|Days|Bytes|KiB|MiB|GiB|Units|Count|Rows|Items|Entries|Port|Key|Year|Percent|Hertz)$|^max[A-Z]|^(?:megabyte|gigabyte)$/
  const wrong = source
    .filter((file) => !isTest(file))
    .flatMap(linesOf)
    .filter(({ text }) => {
      const [, name, value] = constant.exec(text) ?? []
      const factors = value?.split(' * ').map((factor) => Number(factor.replaceAll('_', ''))) ?? []
      return name !== undefined && factors.reduce((a, b) => a * b, 1) >= 1000 && !hasUnit.test(name)
    })
  expect(places(wrong), 'Call it retryAfterMs, maxBodyBytes, pageSizeRows …').toEqual([])
})

test('no name is exported from two files', () => {
  const exported = /^export (?:abstract )?(?:async )?(?:function\*?|const|class|interface|type) (\w+)/
  const files = new Map<string, Set<string>>()
  for (const { file, text } of source.filter((path) => !isTest(path)).flatMap(linesOf)) {
    const [, name] = exported.exec(text) ?? []
    if (name) files.set(name, (files.get(name) ?? new Set()).add(file))
  }
  const twice = [...files]
    .filter(([, where]) => where.size > 1)
    .map(([name, where]) => `${name}: ${[...where].join(', ')}`)
  expect(twice, 'A search for a name must find one thing. Say what distinguishes them.').toEqual([])
})

test('the console says what happened and what to do, in the words of its users', () => {
  const unclear = /\b(?:somebody|nobody|meanwhile|is like that|of this time|at once)\b/i
  const isComment = /^\s*(?:\/\/|\/?\*)/
  const wrong = filesIn('src/console')
    .flatMap(linesOf)
    .filter(({ text }) => !isComment.test(text) && unclear.test(text.replace(/^import .*/, '').replace(/\/\/.*$/, '')))
  expect(places(wrong), 'Name the thing or "you".').toEqual([])
})

test('the glossary has at most 40 words', () => {
  const glossary = readFileSync(join(root, 'docs/glossary.md'), 'utf8')
  const words = [...glossary.matchAll(/^\| (?!word )(.+?) \|/gm)].map(([, word]) => word)
  expect(words.length).toBeGreaterThan(30)
  expect(words.length).toBeLessThanOrEqual(40)
})
