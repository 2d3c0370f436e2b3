// Checks docs/reliability.md against the tests that it names, and the facts about outgoing requests and packages that it states.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sourceFiles } from './source-files.ts'

const root = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

const lines = read('docs/reliability.md').split('\n')
/** The rows of promises: number, promise, what was reached; then, in the same order: number, tests, what was measured. */
const numbered = lines.flatMap((line) => {
  const [, number = '', first = '', second = ''] = /^\| ([A-Z]\d+) \| (.+) \| (.+) \|$/.exec(line) ?? []
  return number === '' ? [] : [{ number, first, second }]
})
const promises = numbered.slice(0, numbered.length / 2)
const evidence = numbered.slice(numbered.length / 2)
const risks = lines.filter((line) => line.startsWith('| API')).map((line) => line.slice(2, -2).split(' | '))

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
  expect(promises.length).toBeGreaterThan(20)
  expect(evidence.map(({ number }) => number)).toEqual(promises.map(({ number }) => number))
  expect(new Set(promises.map(({ number }) => number)).size).toBe(promises.length)
  const subjects = [...evidence.map(({ number, first }) => [number, first]), ...risks]
  for (const [subject, tests = ''] of subjects) expect(testsIn(tests), `${subject} has no test`).not.toEqual([])
  const missing = subjects.flatMap(([, tests = '']) => testsIn(tests)).filter((named) => !hasTest(named))
  expect(missing).toEqual([])
})

test('docs/reliability.md has a figure for each promise, with its date and command, or says that it is not measured yet', () => {
  for (const [i, { number, second: figure }] of evidence.entries()) {
    expect(figure, number).toMatch(/20\d\d-\d\d-\d\d.*`.+`|not measured yet|^passes$/)
    const reached = promises[i]?.second ?? ''
    expect(reached === 'passes', number).toBe(figure === 'passes')
    // A number that the table of promises shows is one of the figure.
    for (const value of reached.match(/\d[\d,.]*\d|\d/g) ?? []) expect(figure, number).toContain(value)
  }
})

test('docs/reliability.md has every line of the OWASP API Security Top 10 of 2023', () => {
  const names = risks.map(([risk = '']) => risk.split(' ')[0])
  expect(names).toEqual(Array.from({ length: 10 }, (_, i) => `API${i + 1}:2023`))
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
