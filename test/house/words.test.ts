// The words of the code and the console: rules that a newcomer's reader would ask for, each with the way to follow it.
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
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

const withoutComment = (text: string) => (/^\s*(?:\/\/|\/?\*)/.test(text) ? '' : text.replace(/(?:^|\s)\/\/.*$/, ''))

const places = (lines: readonly Line[]) => lines.map(({ file, number, text }) => `${file}:${number} ${text.trim()}`)

test('a comment names its subject', () => {
  const riddle = /^\s*(?:\/\/|\/\*\*?) *(?:Who|What|Whoever|Whose|Whom|Nobody|Of|The same|Those|And|All of them)\b/
  const onlyClause = /^\s*(?:\/\/|\/\*\*?) *(?:Where\b[^,]*|Without(?: [^\s,]+){1,5})\.(?: \*\/)?$/
  const wrong = everywhere.flatMap(linesOf).filter(({ text }) => riddle.test(text) || onlyClause.test(text))
  expect(places(wrong), 'Say what the thing is: "Only single-row inserts are tracked: …"').toEqual([])
})

test('a comment names persons: it does not say somebody, nobody or whoever', () => {
  const unnamed = /(?:^\s*\/?\*|\/\/).*\b(?:somebody|nobody|whoever)\b/i
  const wrong = everywhere
    .filter((file) => file !== 'test/house/words.test.ts')
    .flatMap(linesOf)
    .filter(({ text }) => unnamed.test(text))
  expect(places(wrong), 'Say which person, device or node: "until a person resumes the job".').toEqual([])
})

test('comments and documents say "immediately" or "at the same time"', () => {
  const ambiguous = /\bat once\b/i
  /** This page quotes names of tests, which may have the phrase. */
  const exceptions = /^docs\/reliability\.md$/
  const documents = ['.', 'docs'].flatMap((folder) => readdirSync(join(root, folder)).map((name) => join(folder, name)))
  const wrong = [
    ...source.flatMap(linesOf).filter(({ text }) => ambiguous.test(text) && withoutComment(text) !== text),
    ...documents.filter((path) => path.endsWith('.md') && path !== 'CHANGELOG.md').flatMap(linesOf),
  ].filter(({ file, text }) => ambiguous.test(text) && !exceptions.test(file))
  expect(places(wrong), '"At once" has two meanings.').toEqual([])
})

test('a duration or a size carries its unit in its name', () => {
  const constant = /^\s*(?:export )?const ([a-z]\w*) = ([\d_]+(?: \* [\d_]+)*)$/
  /** Counts, ports, ids and HTTP statuses are no measures; a name may say so. */
  const hasUnit =
    /(?:Ms|Seconds|Minutes|Hours|Days|Bytes|[kK]iB|MiB|GiB|[bB]yte|Units|[cC]ount|Rows|Items|Entries|Endpoints|Number|Port|Key|Year|Percent|Hertz|Micros|Px|[cC]oncurrency|[sS]tatus|Version\d*)$|^max[A-Z]|Per[A-Z]|^(?:now|at)$/
  const withoutUnit = /\bconst (?:day|hour|minute|week) = \d|\b(?:patience|within|every|timeout|delay|pause) = \d/
  const wrong = everywhere.flatMap(linesOf).filter(({ text }) => {
    const [, name, value] = constant.exec(text) ?? []
    const factors = value?.split(' * ').map((factor) => Number(factor.replaceAll('_', ''))) ?? []
    const isLarge = factors.reduce((a, b) => a * b, 1) >= 60
    return (name !== undefined && isLarge && !hasUnit.test(name)) || withoutUnit.test(withoutComment(text))
  })
  expect(places(wrong), 'Call it retryAfterMs, maxBodyBytes, pageSizeRows …').toEqual([])
})

/** The package of the contract publishes its own declarations of these types, under the names that the source has. */
const publishedTypes = 'tools/packages/contract-types.ts'

/** A bench and a migration may have the same subject, after which both are named. */
const subjects = ['growth', 'history', 'nodes', 'people']

test('no name is exported from two files', () => {
  const exported = /^export (?:abstract )?(?:async )?(?:function\*?|const|class|interface|type) (\w+)/
  const files = new Map<string, Set<string>>()
  for (const { file, text } of everywhere.filter((path) => !isTest(path) && path !== publishedTypes).flatMap(linesOf)) {
    const [, name] = exported.exec(text) ?? []
    if (name) files.set(name, (files.get(name) ?? new Set()).add(file))
  }
  const twice = [...files].filter(([, where]) => where.size > 1)
  const isBenchAndMigration = ([name, where]: [string, Set<string>]) =>
    subjects.includes(name) &&
    [...where].every((file) => /^(?:bench\/benches|src\/server\/db\/migrations)\//.test(file))
  const wrong = twice.filter((entry) => !isBenchAndMigration(entry))
  expect(
    wrong.map(([name, where]) => `${name}: ${[...where].join(', ')}`),
    'A search for a name must find one thing. Say what distinguishes them.',
  ).toEqual([])
})

const unclear = /\b(?:somebody|nobody|whoever|meanwhile|anew|is like that|of this time|at once)\b/i

test('the console says what happened and what to do, in the words of its users', () => {
  const wrong = filesIn('src/console')
    .flatMap(linesOf)
    .filter(({ text }) => unclear.test(withoutComment(text).replace(/^import .*/, '')))
  expect(places(wrong), 'Name the thing or "you".').toEqual([])
})

test('errors, logs, help and descriptions of the API say it in the words of their readers', () => {
  const literal = /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*(?:`|$)/g
  const wrong = ['src/server', 'src/cli', 'src/contract']
    .flatMap(filesIn)
    .filter((file) => !isTest(file))
    .flatMap(linesOf)
    .filter(({ text }) =>
      withoutComment(text)
        .match(literal)
        ?.some((words) => unclear.test(words)),
    )
  expect(places(wrong), 'Name the person or the thing; "immediately" or "at the same time".').toEqual([])
})

test('a description of the API is a phrase that stands alone', () => {
  const document: unknown = JSON.parse(readFileSync(join(root, 'openapi.json'), 'utf8'))
  const messages: unknown = JSON.parse(readFileSync(join(root, 'docs/device-messages.json'), 'utf8'))
  const descriptions = new Set<string>()
  JSON.stringify([document, messages], (key, value: unknown) => {
    if ((key === 'description' || key === 'summary') && typeof value === 'string') descriptions.add(value)
    return value
  })
  expect(descriptions.size).toBeGreaterThan(300)
  const dependent = /^(?:What|Who|How far|How bad|How often|As asked|However|Wherever|Where|And|Of|Those)\b/
  const wrong = [...descriptions].filter((description) => dependent.test(description))
  expect(wrong, 'Begin with a noun: "State of the unit.", "The command to the device."').toEqual([])
})

test('a sentence of a document names its subject', () => {
  const documents = [
    ...readdirSync(root),
    ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).map((name) => join('docs', name)),
  ].filter((path) => path.endsWith('.md') && path !== 'CHANGELOG.md')
  const riddle = /^(?:[-*] |\d+\. |\| )?(?:What|Whoever|Whose|Of|The same)\b[^?]*$/
  const unnamed = /\b(?:somebody|nobody|whoever|meanwhile|anew)\b/i
  const wrong = documents
    .flatMap(linesOf)
    .filter(({ text }) => riddle.test(text) || unnamed.test(text.replaceAll(/`[^`]*`/g, '')))
  expect(places(wrong), 'Say who or what: "A caller cannot grant what it lacks".').toEqual([])
})

test('the files in deploy/ use no vague words', () => {
  const files = readdirSync(join(root, 'deploy'), { recursive: true, encoding: 'utf8', withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(root, join(parentPath, name)))
  expect(files).toContain('deploy/prometheus/roomkeeper.rules.yml')
  const riddle =
    /(?:#|(?:summary|description|"title"|"description"):) *"?(?:Who|What|Whoever|Whose|Nobody|Of|The same)\b[^?]*$/
  const wrong = files.flatMap(linesOf).filter(({ text }) => unclear.test(text) || riddle.test(text))
  expect(places(wrong), 'Name the person or the thing.').toEqual([])
})

test('the name of a test is a sentence that names its subject', () => {
  const named = /^(?:test(?:\.\w+(?:\(.*\))?)?|\]\))\(['"`](?:what|who|whoever|whose|of|nobody|somebody)\b/i
  const unnamed = /^\s*(?:test\S*|describe\S*|\]\))\(?['"`(].*\b(?:somebody|nobody|whoever)\b.*(?:=> \{|,)$/i
  const wrong = everywhere
    .filter((file) => isTest(file) && file !== 'test/house/words.test.ts')
    .flatMap(linesOf)
    .filter(({ text }) => named.test(text) || unnamed.test(text))
  expect(
    places(wrong),
    'Say which client, device or value: "a client that sends without waiting is answered in order".',
  ).toEqual([])
})

test('the glossary has at most 40 words', () => {
  const glossary = readFileSync(join(root, 'docs/glossary.md'), 'utf8')
  const words = [...glossary.matchAll(/^\| (?!word )(.+?) \|/gm)].map(([, word]) => word)
  expect(words.length).toBeGreaterThan(30)
  expect(words.length).toBeLessThanOrEqual(40)
})
