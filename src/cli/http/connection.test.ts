// Where the commands over HTTP find their server, and what they say when there is none.
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { testTerminal } from '../../../test/support/test-terminal.ts'
import { connectToServer } from './connect.ts'
import { connectionOf } from './connection.ts'
import { contextFileOf, readContexts, writeContexts } from './context-file.ts'

const configFolder = mkdtempSync(join(tmpdir(), 'roomkeeper-contexts-'))
afterAll(() => rmSync(configFolder, { recursive: true }))
beforeEach(() => rmSync(join(configFolder, 'roomkeeper'), { recursive: true, force: true }))

const terminalWith = (variables: Record<string, string> = {}) =>
  testTerminal({ configFolder, variable: (name) => variables[name] })
const terminal = terminalWith()
const office = { baseUrl: 'https://rooms.example.org', org: 'LXJ45kN', key: 'rk_office' }
const lab = { baseUrl: 'http://127.0.0.1:8080', org: 'qA72', key: 'rk_lab' }
const variables = { ROOMKEEPER_URL: 'http://127.0.0.1:9/prefix/', ROOMKEEPER_ORG: 'o', ROOMKEEPER_KEY: 'rk_variable' }

test('--context comes before the variables, and they come before the current context', () => {
  writeContexts(terminal, { current: 'office', contexts: { office, lab } })
  expect(connectionOf(terminal, {})).toEqual(office)
  expect(connectionOf(terminalWith(variables), {})).toEqual({
    baseUrl: 'http://127.0.0.1:9/prefix',
    org: 'o',
    key: 'rk_variable',
  })
  expect(connectionOf(terminalWith(variables), { context: 'lab' })).toEqual(lab)
})

test('without a context and variables, the error says how to make them', () => {
  expect(() => connectionOf(terminal, {})).toThrow(/^No server is known\. Add one with "context add/)
  expect(() => connectionOf(terminal, { context: 'lab' })).toThrow(/^No such context: lab\..*"context add"/)
  writeContexts(terminal, { contexts: { office } })
  expect(() => connectionOf(terminal, { context: 'toString' })).toThrow(
    /^No such context: toString\. There are office;/,
  )
})

test('one or two of the three variables are refused: a key goes to its own server only', () => {
  writeContexts(terminal, { current: 'office', contexts: { office } })
  const { ROOMKEEPER_URL, ROOMKEEPER_ORG, ROOMKEEPER_KEY } = variables
  expect(() => connectionOf(terminalWith({ ROOMKEEPER_URL }), {})).toThrow(
    'ROOMKEEPER_ORG and ROOMKEEPER_KEY are not set, but ROOMKEEPER_URL is.',
  )
  expect(() => connectionOf(terminalWith({ ROOMKEEPER_ORG, ROOMKEEPER_KEY }), {})).toThrow(
    'ROOMKEEPER_URL is not set, but ROOMKEEPER_ORG and ROOMKEEPER_KEY are.',
  )
})

test.each(['rooms.example.org', 'ftp://rooms.example.org', 'https://user@rooms.example.org', 'https://a.example/?x=1'])(
  'the address %s is refused',
  (ROOMKEEPER_URL) => {
    expect(() => connectionOf(terminalWith({ ...variables, ROOMKEEPER_URL }), {})).toThrow(/^ROOMKEEPER_URL must be/)
  },
)

test('the file of contexts is written at once, for its owner only', () => {
  const file = contextFileOf(terminal)
  mkdirSync(dirname(file))
  writeFileSync(file, '{"contexts":{}}', { mode: 0o644 })
  chmodSync(file, 0o644)
  writeContexts(terminal, { current: 'office', contexts: { office } })
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(readdirSync(dirname(file))).toEqual(['contexts.json'])
  expect(readContexts(terminal)).toEqual({ current: 'office', contexts: { office } })
})

test.each(['', '[]', '{', '{"contexts":{"office":{"org":"o"}}}', '{"contexts":null}'])(
  'a damaged file is an error that says what to do: %j',
  (text) => {
    mkdirSync(dirname(contextFileOf(terminal)))
    writeFileSync(contextFileOf(terminal), text)
    expect(() => readContexts(terminal)).toThrow(/contexts\.json is not a file of contexts\. Delete it/)
  },
)

test('a server that cannot be reached is an error that names it', async () => {
  const { client } = connectToServer(terminalWith(variables), {})
  await expect(client.regionsList()).rejects.toThrow(
    /^Cannot reach http:\/\/127\.0\.0\.1:9\/prefix \(.+\)\. Check the address/,
  )
})
