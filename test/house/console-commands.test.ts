// The commands and options that texts of the console name: they exist, and a start with such an option is not refused.
import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { program } from '../../src/cli/program.ts'
import {
  demoCommands,
  gatewayCommands,
  gatewayOfServer,
  keyCommands,
  simulateCommands,
} from '../../src/console/parts/page/program-commands.ts'
import { sharedOptions } from '../../src/server/config/stored-options.ts'
import { testTerminal } from '../support/test-terminal.ts'
import { sourceFiles } from './source-files.ts'

const root = program(testTerminal())
/** Without comments and the names of CSS variables. */
const textOf = ({ text }: { readonly text: string }) =>
  text.replaceAll(/^\s*(?:\/\/|\/?\*).*$/gm, '').replaceAll(/--(?:rk|mantine)-[\w-]+/g, '')
const texts = sourceFiles('src')
  .filter(({ path }) => path.startsWith('console/'))
  .map((file) => ({ path: file.path, text: textOf(file) }))
const optionsIn = (text: string) => [...text.matchAll(/(?<![\w-])--([a-z]+(?:-[a-z]+)*)/g)].map(([, name = '']) => name)

const shown = {
  gateway: gatewayCommands({ url: 'https://rooms.example.org', code: 'ROOM-CODE', reach: ['10.20.0.0/16'] }),
  'keys create': keyCommands('wiL66VP'),
  simulate: simulateCommands('wiL66VP', 'https://rooms.example.org'),
  demo: demoCommands(true),
}

test.each(Object.entries(shown))(
  'the command %s exists with its options, for a package and for a checkout',
  (name, ways) => {
    const path = name.split(' ')
    const command = path.reduce<Command | undefined>(
      (parent, word) => parent?.commands.find((c) => c.name() === word),
      root,
    )
    const known = command?.options.map(({ long }) => long?.slice(2))
    const required = command?.options.filter(({ mandatory }) => mandatory).map(({ long }) => long?.slice(2))
    const programs: Record<string, string> = {
      package: 'node_modules/.bin/roomkeeper',
      checkout: 'npm run roomkeeper --',
      container: 'roomkeeper',
    }
    expect(ways.map(({ id }) => id)).toEqual(expect.arrayContaining(['package', 'checkout']))
    for (const { id, command: text } of ways) {
      const [before = '', options = ''] = text.split(` ${name} `)
      expect(before.endsWith(programs[id] ?? '?'), text).toBe(true)
      expect(known, text).toEqual(expect.arrayContaining(optionsIn(options)))
      expect(optionsIn(options), text).toEqual(expect.arrayContaining(required ?? ['?']))
    }
  },
)

test('the server that starts a gateway itself knows the options that the console shows', () => {
  const serve = root.commands.find((command) => command.name() === 'serve')
  const { command } = gatewayOfServer('wiL66VP', '7', ['10.20.0.0/16'])
  expect(command).toMatch(/^roomkeeper serve --gateway wiL66VP\/7 --gateway-reach /)
  expect(serve?.options.map(({ long }) => long?.slice(2))).toEqual(expect.arrayContaining(optionsIn(command)))
})

test('the other texts name no command of a checkout, which a package and a container do not have', () => {
  const wrong = texts.filter(
    ({ path, text }) => !path.endsWith('/program-commands.ts') && /\bnp[mx] (?:run|start)\b/.test(text),
  )
  expect(wrong.map(({ path }) => path)).toEqual([])
  const named = texts.flatMap(({ text }) => [...text.matchAll(/<code>roomkeeper ([a-z-]+)([^<]*)/gi)])
  expect(named.length).toBeGreaterThan(0)
  for (const [text, name, options = ''] of named) {
    const known = root.commands.find((command) => command.name() === name)?.options.map(({ long }) => long?.slice(2))
    expect(known, text).toEqual(expect.arrayContaining(optionsIn(options)))
  }
})

test('no text asks to start the server with an option that the database stores: such a start is refused', () => {
  const stored = sharedOptions.map(({ name }) => name)
  const wrong = texts.flatMap(({ path, text }) =>
    optionsIn(text)
      .filter((name) => stored.includes(name))
      .map((name) => `${path}: --${name}`),
  )
  expect(wrong).toEqual([])
})
