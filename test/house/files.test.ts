// Rules for every file: its first line, its name, and what it may touch.
import { expect, test } from 'vitest'
import { sourceFiles } from './source-files.ts'

const files = sourceFiles('src')

test('only the files main.ts and the terminal of a process read the environment or end the process', () => {
  const allowed = ['main.ts', 'cli/remote/main.ts', 'cli/terminal/process-terminal.ts']
  const wrong = files
    .filter((f) => !allowed.includes(f.path) && /process\.(env|exit|exitCode)\b/.test(f.text))
    .map((f) => f.path)
  expect(wrong).toEqual([])
})

test('rules throw when to try again in seconds, and only http/ writes the header for it', () => {
  const wrong = files
    .filter(({ path, text }) => /^server\/(?!http\/)/.test(path) && /headers: \{[^}]*'Retry-After'/i.test(text))
    .map(({ path }) => `${path}: new Failure(…, { retryAfterSeconds })`)
  expect(wrong).toEqual([])
})

test('every file says its job in its first line', () => {
  for (const { path, text } of files) {
    expect(text, `${path}: begin with a comment that says its job`).toMatch(/^\/\/ \S.{10,}/)
  }
})

test('no folder or file has a name that says nothing: utils, common, shared, helper, manager', () => {
  expect(files.map((f) => f.path).filter((p) => /util|common|shared|helper|manager/i.test(p))).toEqual([])
})
