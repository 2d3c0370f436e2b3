// The file of --config: the lines that it accepts, and its messages for mistakes.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { readConfigFile } from './config-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'roomkeeper-config-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const file = join(folder, 'roomkeeper.conf')
const known = ['ROOMKEEPER_PORT', 'ROOMKEEPER_HOST', 'ROOMKEEPER_DATABASE_URL']
const read = (text: string) => {
  writeFileSync(file, text)
  return Object.fromEntries(readConfigFile(file, known))
}

test('comments, empty lines, spaces, quotes and Windows line ends are accepted, and a # in a value stays', () => {
  expect(read('\uFEFF# Roomkeeper\r\n\r\n  ROOMKEEPER_PORT = 8081 \r\nROOMKEEPER_HOST="::1"\r\n')).toEqual({
    ROOMKEEPER_PORT: '8081',
    ROOMKEEPER_HOST: '::1',
  })
  const url = 'postgres://a:p#=w@db/roomkeeper?x=1'
  expect(read(`ROOMKEEPER_DATABASE_URL=${url}`)).toEqual({ ROOMKEEPER_DATABASE_URL: url })
  expect(read('')).toEqual({})
})

test.each([
  ['ROOMKEEPER_PROT=1', 'line 1: ROOMKEEPER_PROT is not a setting. The nearest setting is ROOMKEEPER_PORT.'],
  ['\nport=1', 'line 2: port is not a setting. The nearest setting is ROOMKEEPER_PORT.'],
  ['ROOMKEEPER_DATABSE_URL=x', 'The nearest setting is ROOMKEEPER_DATABASE_URL.'],
  ['PATH_TO_SOMETHING_ELSE=x', '"roomkeeper serve --help" lists.'],
  ['ROOMKEEPER_PORT', 'line 1: write NAME=value'],
  ['ROOMKEEPER_PORT: 80', 'line 1: write NAME=value'],
  ['ROOMKEEPER_PORT=1\nROOMKEEPER_PORT=2', 'line 2: ROOMKEEPER_PORT is there twice.'],
])('%j is refused with its line', (text, why) => {
  expect(() => read(text)).toThrow(why)
})

test('a file that is not there is refused with the name of the option, and no message repeats a value', () => {
  expect(() => readConfigFile(join(folder, 'none'), known)).toThrow(/none \(ENOENT\)\. Check --config/)
  expect(() => read('ROOMKEEPER_PASWORD=hunter2')).toThrow(/^(?!.*hunter2)/)
})
