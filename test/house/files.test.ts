// Rules for every file: its first line, its length, its name, and what it may touch.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sourceFiles } from './source-files.ts'

const files = sourceFiles('src')

test('only main.ts reads the environment or ends the process', () => {
  const wrong = files
    .filter((f) => f.path !== 'main.ts' && /process\.(env|exit|exitCode)\b/.test(f.text))
    .map((f) => f.path)
  expect(wrong).toEqual([])
})

test('rules throw when to try again in seconds, and only http/ writes the header for it', () => {
  const wrong = files
    .filter(({ path, text }) => /^server\/(?!http\/)/.test(path) && /headers: \{[^}]*'Retry-After'/i.test(text))
    .map(({ path }) => `${path}: new Failure(…, { retryAfterSeconds })`)
  expect(wrong).toEqual([])
})

test('every file says its job in its first line and stays under 300 lines', () => {
  for (const { path, text } of files) {
    expect(text, `${path}: begin with a comment that says its job`).toMatch(/^\/\/ \S.{10,}/)
    expect(text.split('\n').length, `${path}: split it by verb`).toBeLessThanOrEqual(300)
  }
})

test('no folder or file has a name that says nothing: utils, common, shared, helper, manager', () => {
  expect(files.map((f) => f.path).filter((p) => /util|common|shared|helper|manager/i.test(p))).toEqual([])
})

test('no folder holds more than 25 files', () => {
  const crowded = ['src', 'bench', 'test', 'tools'].flatMap((root) => {
    const top = join(import.meta.dirname, '../..', root)
    const folders = readdirSync(top, { recursive: true, withFileTypes: true }).filter((entry) => entry.isDirectory())
    return [top, ...folders.map((entry) => join(entry.parentPath, entry.name))]
      .map((folder) => ({
        folder,
        files: readdirSync(folder, { withFileTypes: true }).filter((e) => e.isFile()).length,
      }))
      .filter(({ files }) => files > 25)
      .map(({ folder, files }) => `${folder} has ${files} files. Make folders by subject.`)
  })
  expect(crowded).toEqual([])
})
