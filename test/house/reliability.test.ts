// Checks docs/reliability.md against the tests that it names, and the facts about outgoing requests and packages that it states.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sourceFiles } from './source-files.ts'

const root = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

/** The cells of every row of a table, without the headings. */
const rows = read('docs/reliability.md')
  .split('\n')
  .filter((line) => line.startsWith('| ') && !/^\| (Promise|Risk) \|/.test(line))
  .map((line) => line.slice(2, -2).split(' | '))

/** A test is named as `path`: `name`. */
const testsIn = (text: string) =>
  [...text.matchAll(/`([\w./-]+\.test\.ts)`: `([^`]+)`/g)].map(([, path = '', name = '']) => ({ path, name }))

/** The name must be the whole text of a string that follows a parenthesis or begins a line. */
const hasTest = ({ path, name }: { path: string; name: string }) =>
  existsSync(join(root, path)) &&
  ["'", '"', '`'].some((quote) => {
    const literal = `${quote}${name}${quote}`
    return read(path)
      .split('\n')
      .some((line) => line.includes(`(${literal}`) || line.trimStart().startsWith(literal))
  })

test('docs/reliability.md names a test for each promise and each risk, and each of them exists', () => {
  expect(rows.length).toBeGreaterThan(20)
  for (const [subject, tests = ''] of rows) expect(testsIn(tests), `${subject} has no test`).not.toEqual([])
  const missing = rows.flatMap(([, tests = '']) => testsIn(tests)).filter((named) => !hasTest(named))
  expect(missing).toEqual([])
})

test('docs/reliability.md has a figure for each promise, with its date and command, or says that it is not measured yet', () => {
  const promises = rows.filter((cells) => cells.length === 3)
  expect(promises.length).toBeGreaterThan(10)
  for (const [promise, , figure = ''] of promises) {
    expect(figure, promise).toMatch(/20\d\d-\d\d-\d\d.*`.+`|not measured yet|^passes$/)
  }
})

test('docs/reliability.md has every line of the OWASP API Security Top 10 of 2023', () => {
  const risks = rows.filter((cells) => cells.length === 2).map(([risk = '']) => risk.split(' ')[0])
  expect(risks).toEqual(Array.from({ length: 10 }, (_, i) => `API${i + 1}:2023`))
})

test('only the outbound guard sends HTTP requests, so nothing that a caller gives opens an address that it refuses', () => {
  const senders = sourceFiles('src')
    .filter(({ path }) => path.startsWith('server/'))
    .filter(
      ({ text }) =>
        /\bfetch\(|from 'undici'|\b(?:http|https|net|tls)\.(?:request|get|connect)\(/.test(text) ||
        /import \{[^}]*\b(?:request|get|connect)\b[^}]*\} from 'node:(?:http|https|http2|net|tls)'/.test(text),
    )
  expect(senders.map(({ path }) => path)).toEqual(['server/outbound/outbound-fetch.ts'])
  // These functions of libraries send requests by themselves, unless they are given the guard.
  const callers = sourceFiles('src').filter(({ text }) => /\b(?:discovery|createRemoteJWKSet)\(/.test(text))
  expect(callers.filter(({ text }) => !text.includes('[customFetch]:')).map(({ path }) => path)).toEqual([])
})

test('no package that runs with the server has an install script', () => {
  const { packages } = JSON.parse(read('package-lock.json')) as {
    packages: Record<string, { dev?: boolean; hasInstallScript?: boolean }>
  }
  const scripts = Object.entries(packages).filter(
    ([name, { dev, hasInstallScript }]) => name && !dev && hasInstallScript,
  )
  expect(scripts.map(([name]) => name)).toEqual([])
})
