// The record of the server: no password in it, and what a damaged one does.
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { readServerRecord, withoutPassword, withRecordedDatabase, writeServerRecord } from './server-record.ts'

function folderForTest(): string {
  const folder = mkdtempSync(join(tmpdir(), 'roomkeeper-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

const addresses = { url: 'http://127.0.0.1:8080', publicUrl: 'https://rooms.example.org' }

test.each([
  ['postgres://user:secret@host:5432/name', 'postgres://user@host:5432/name'],
  ['postgres://user:sec:r@t@host/name?sslmode=require', 'postgres://user@host/name?sslmode=require'],
  ['postgresql://user@/name?host=/run/postgresql', 'postgresql://user@/name?host=/run/postgresql'],
  ['postgres://user:secret@/name?host=/run/a:b@c', 'postgres://user@/name?host=/run/a:b@c'],
  [
    'postgres://host:5432/name?user=u&password=secret&sslmode=require',
    'postgres://host:5432/name?user=u&sslmode=require',
  ],
  ['postgres://host/name?sslpassword=secret', 'postgres://host/name'],
  ['postgres://:secret@host/name', 'postgres://@host/name'],
])('the recorded form of %s has no password', (url, recorded) => {
  expect(withoutPassword(url)).toBe(recorded)
})

test('the record is private, and commands without options take database and key from it', () => {
  const dataDir = folderForTest()
  const databaseUrl = 'postgres://user:secret@host/name'
  writeServerRecord({ dataDir, databaseUrl, secretKeyFile: '/keys/rooms.key' }, addresses)
  expect((statSync(join(dataDir, 'server.json')).mode & 0o777).toString(8)).toBe('600')
  expect(readServerRecord(dataDir)).toMatchObject(addresses)
  const recorded = { databaseUrl: 'postgres://user@host/name', secretKeyFile: '/keys/rooms.key' }
  expect(withRecordedDatabase({ dataDir })).toEqual({ dataDir, ...recorded })
  const given = { dataDir, databaseUrl: 'postgres://other/one' }
  expect(withRecordedDatabase(given), 'options come first').toEqual(given)
})

test('a start on SQLite replaces the record of one on PostgreSQL', () => {
  const dataDir = folderForTest()
  writeServerRecord({ dataDir, databaseUrl: 'postgres://user@host/name' }, addresses)
  writeServerRecord({ dataDir }, addresses)
  expect(withRecordedDatabase({ dataDir }).databaseUrl).toBeUndefined()
})

test('without a record nothing is filled in, and a damaged one is named', () => {
  const dataDir = folderForTest()
  expect(readServerRecord(dataDir)).toBeUndefined()
  for (const text of ['', '{"url":', 'null', '{"url":1}']) {
    writeFileSync(join(dataDir, 'server.json'), text)
    expect(() => readServerRecord(dataDir)).toThrow(/^Cannot read .*server\.json\. Delete it: /)
  }
})
