// The commands and options that texts of the console name: they exist, and a start with such an option is not refused.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { program } from '../../src/cli/program.ts'
import { sharedOptions } from '../../src/server/config/stored-options.ts'
import { testTerminal } from '../support/test-terminal.ts'
import { sourceFiles } from './source-files.ts'

const root = program(testTerminal())
const { scripts } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'))
/** Without comments and the names of CSS variables. */
const textOf = ({ text }: { readonly text: string }) =>
  text.replaceAll(/^\s*(?:\/\/|\/?\*).*$/gm, '').replaceAll(/--(?:rk|mantine)-[\w-]+/g, '')
const texts = sourceFiles('src')
  .filter(({ path }) => path.startsWith('console/'))
  .map((file) => ({ path: file.path, text: textOf(file) }))
const optionsIn = (text: string) => [...text.matchAll(/(?<![\w-])--([a-z]+(?:-[a-z]+)*)/g)].map(([, name = '']) => name)

test('every command of a text can be run in a checkout: its script, its subcommand and its options exist', () => {
  const commands = texts.flatMap(({ path, text }) =>
    [...text.matchAll(/npm run (\S+?)(?: -- ([^`'<\n]*))?(?=[`'<\n])/g)].map(([, script = '', args = '']) => {
      const [first = '', ...rest] = `${script === 'roomkeeper' ? '' : `${script} `}${args}`.trim().split(' ')
      return { path, script, subcommand: first, options: optionsIn(rest.join(' ')) }
    }),
  )
  expect(commands.map(({ subcommand }) => subcommand)).toEqual(expect.arrayContaining(['simulate', 'demo']))
  for (const { path, script, subcommand, options } of commands) {
    expect(Object.keys(scripts), path).toContain(script)
    const command = root.commands.find((each) => each.name() === subcommand)
    const known = command?.options.map(({ long }) => long?.slice(2))
    for (const option of options) expect(known, `${path}: ${subcommand} --${option}`).toContain(option)
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
