// The logs of a computer for a bug report: where they come from, and how large they can be.
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { RecordedRoot } from '../../test/support/computer/recorded-root.ts'
import { collectLogs } from './logs.ts'

/** A root whose only programs are in its folder bin, and the shell of this machine for scripts. */
function newRoot(journalctl?: string): RecordedRoot {
  const root = new RecordedRoot()
  const folder = join(root.path, 'bin')
  mkdirSync(folder)
  if (journalctl !== undefined) {
    writeFileSync(join(folder, 'journalctl'), `#!/bin/sh\n${journalctl}\n`)
    chmodSync(join(folder, 'journalctl'), 0o755)
  }
  const { PATH } = process.env
  process.env.PATH = folder
  onTestFinished(() => {
    process.env.PATH = PATH
  })
  return root
}

const textOfLogs = async (root: RecordedRoot) => gunzipSync(await collectLogs(root.path)).toString()

test('the journal comes first', async () => {
  const root = newRoot('echo "Nov 17 08:00:00 room-4 kernel: usb 1-3: disconnected"')
  root.write('var/log', { syslog: 'from syslog' })
  expect(await textOfLogs(root)).toBe('Nov 17 08:00:00 room-4 kernel: usb 1-3: disconnected\n')
})

test.each([
  ['without journalctl', undefined],
  ['with an empty journal', 'exit 0'],
  ['with a journal that this user cannot read', 'echo "No journal files were opened" >&2; exit 1'],
])('syslog is the second choice, and messages the third: %s', async (_, journalctl) => {
  const root = newRoot(journalctl)
  root.write('var/log', { messages: 'from messages' })
  expect(await textOfLogs(root)).toBe('from messages\n')
  root.write('var/log', { syslog: 'from syslog' })
  expect(await textOfLogs(root)).toBe('from syslog\n')
})

test('a machine without logs says so', async () => {
  await expect(collectLogs(newRoot().path)).rejects.toThrow(/neither a journal nor \/var\/log\/syslog/)
})

test('logs that are too large lose their oldest lines: the newest 16 MiB are sent', async () => {
  const line = 'x'.repeat(1023)
  const root = newRoot(`i=0; while [ $i -lt 20000 ]; do echo ${line}; i=$((i+1)); done; echo "the newest line"`)
  const fromJournal = await textOfLogs(root)
  expect(fromJournal).toHaveLength(16 * 1024 * 1024)
  expect(fromJournal.endsWith('the newest line\n')).toBe(true)

  root.remove('bin/journalctl')
  root.write('var/log', { syslog: `${`${line}\n`.repeat(20_000)}the newest line` })
  const fromFile = await textOfLogs(root)
  expect(fromFile).toHaveLength(16 * 1024 * 1024)
  expect(fromFile.endsWith('the newest line\n')).toBe(true)
})
