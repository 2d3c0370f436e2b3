// Reboots and messages of a computer: only with the permission of its owner, by programs that are started without a shell.
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { RecordedRoot } from '../../test/support/computer/recorded-root.ts'
import { rebootComputer, showMessage, usualMessage } from './owner-commands.ts'

function script(name: string, lines: string): string {
  const file = join(new RecordedRoot().path, name)
  writeFileSync(file, `#!/bin/sh\n${lines}\n`)
  chmodSync(file, 0o755)
  return file
}
const never = new AbortController().signal

test('without the option a reboot and a message are refused, with the name of the option', async () => {
  await expect(rebootComputer({}, never)).rejects.toThrow(/has not allowed reboots \(--allow-reboot\)/)
  await expect(showMessage({}, 'Hello.', 60_000)).rejects.toThrow(/has not allowed messages \(--allow-message\)/)
})

test('a program that fails, or that does not exist, is the reason of the failure', async () => {
  const failing = script('restart', 'echo "starting" >&2; echo "Interactive authentication required." >&2; exit 1')
  await expect(rebootComputer({ reboot: [failing] }, never)).rejects.toThrow(
    'The computer could not be restarted: Interactive authentication required.',
  )
  await expect(rebootComputer({ reboot: [script('silent', 'exit 3')] }, never)).rejects.toThrow(/: exit code 3/)
  await expect(showMessage({ message: ['/nowhere/show'] }, 'Hello.', 60_000)).rejects.toThrow(
    'The message could not be shown: there is no program /nowhere/show',
  )
})

test('a reboot that was accepted ends with the program, and nothing is reported then', async () => {
  const stop = new AbortController()
  const rebooting = rebootComputer({ reboot: [script('restart', 'exit 0')] }, stop.signal)
  stop.abort()
  await expect(rebooting).rejects.toThrow('aborted')
})

test('notify-send gets the text as plain text, after the end of its options', async () => {
  const file = script('notify-send', 'printf "%s|" "$@" > "$0.args"')
  const { PATH } = process.env
  process.env.PATH = `${join(file, '..')}:${PATH}`
  onTestFinished(() => {
    process.env.PATH = PATH
  })
  await showMessage({ message: usualMessage }, '--help <b>A & B</b>\n$(reboot)', 60_000)
  expect(readFileSync(`${file}.args`, 'utf8')).toBe(
    '--expire-time=60000|--|Roomkeeper|--help &lt;b&gt;A &amp; B&lt;/b&gt;\n$(reboot)|',
  )
})

test('a program that does not read the message is no error', async () => {
  await showMessage({ message: [script('show', 'exit 0')] }, 'Hello. '.repeat(20_000), 60_000)
})
