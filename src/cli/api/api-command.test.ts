// The commands that are derived from the table of operations: their names, options and help.
import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { testTerminal } from '../../../test/support/test-terminal.ts'
import { operationIds, operationList, operations } from '../../contract/operations.ts'
import { apiProgram } from './api-command.ts'
import { commandNameOf } from './command-name.ts'

const api = apiProgram(testTerminal(), 'roomkeeper').commands[0] as Command
const verbs = api.commands.flatMap((noun) => noun.commands.map((command) => ({ noun, command })))
const nameOf = (id: string) => {
  const operation = operationList.find((each) => each.id === id)
  if (!operation) throw new Error(`There is no operation ${id}.`)
  return Object.values(commandNameOf(operation)).join(' ')
}

test('every operation has a command, and no two have the same', () => {
  const names = verbs.map(({ noun, command }) => `${noun.name()} ${command.name()}`)
  expect(new Set(names).size).toBe(operationIds.length)
  expect(names.toSorted()).toEqual(operationIds.map(nameOf).toSorted())
  for (const name of names) expect(name).toMatch(/^[a-z]+(-[a-z]+)* [a-z]+(-[a-z]+)*$/)
})

test.each([
  ['regionsList', 'regions list'],
  ['endpointsBasicList', 'endpoints list'],
  ['roomsSensorHistory', 'rooms sensor-history'],
  ['roomNotesListAll', 'room-notes list-all'],
  ['bugReportsFileGet', 'bug-reports file-get'],
  ['auditLogs', 'audit-logs list'],
  ['meGet', 'me get'],
])('%s is "api %s"', (id, name) => {
  expect(nameOf(id)).toBe(name)
})

test('no option of a command means two things, and each has a help text', () => {
  for (const { noun, command } of verbs) {
    const flags = command.options.map(({ long }) => long)
    expect(new Set(flags).size, `${noun.name()} ${command.name()}: ${flags}`).toBe(flags.length)
    for (const { long, description } of command.options) {
      // These keys of a config have no text in the interface either.
      if (command.name() !== 'apply-config')
        expect(description, `${noun.name()} ${command.name()} ${long}`).not.toBe('')
    }
  }
})

test('the help of a command has the texts of its operation, its parameters and its scope', () => {
  const update = verbs.find(({ noun, command }) => `${noun.name()} ${command.name()}` === 'rooms update')?.command
  let text = ''
  const writeOut = (part: string) => {
    text += part
  }
  update?.configureOutput({ writeOut }).outputHelp()
  expect(text.replaceAll(/\s+/g, ' ')).toContain(
    `Usage: roomkeeper api rooms update [options] <id> ${operations.roomsUpdate.summary}. ${operations.roomsUpdate.description}`,
  )
  for (const flag of ['--name <text>', '--location-id <number>', '--tags <text>', '--file <file>', '--if-match <etag>'])
    expect(text).toContain(flag)
  expect(text).toContain('roomsUpdate: PUT /v1/orgs/{orgid}/rooms/{id}, with the scope write.')
})
