// The table of docs/minimum-functions.md names fields, commands and pages that exist.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { commandTypes } from '../../src/contract/fleet/commands.ts'
import { BasicEndpoint, Endpoint } from '../../src/contract/fleet/endpoints.ts'
import { Network } from '../../src/contract/fleet/reported-status.ts'
import { jobActions } from '../../src/contract/jobs/action-table.ts'
import { sourceFiles } from '../house/source-files.ts'

const document = readFileSync(join(import.meta.dirname, '../../docs/minimum-functions.md'), 'utf8')
const points = [...document.matchAll(/^\| ([\d.]+) \| (.*?) \| (.*?) \| (.*?) \|$/gm)].map(
  ([, section = '', , carriers = '', shown = '']) => ({
    section,
    fields: [...carriers.matchAll(/`(\w+)`/g)].map(([, name = '']) => name),
    commands: carriers.match(/\b[A-Z_]{4,}\b/g) ?? [],
    isMissing: carriers === 'none yet',
    places: shown.split(', '),
  }),
)

const sources = sourceFiles('src')
/** Whether the sources of pages have the name as a word. */
const isNamedIn = (pages: string, name: string) =>
  sources.some(({ path, text }) => path.startsWith(`console/pages/${pages}`) && new RegExp(`\\b${name}\\b`).test(text))

type Point = (typeof points)[number]
const isOnPage = ({ fields, commands }: Point) => [...fields, ...commands].every((name) => isNamedIn('device/', name))
const isInList = ({ fields }: Point) => fields.some((name) => name in BasicEndpoint.properties)
const isIn: Readonly<Record<string, (point: Point) => boolean>> = {
  'page of the device': isOnPage,
  'list of devices': isInList,
  'list and page of devices': (point) => isInList(point) && isOnPage(point),
  'filter by gateway': ({ fields }) => fields.every((name) => isNamedIn('devices/device-filters.tsx', name)),
  jobs: ({ commands }) => commands.length > 0 && commands.every((name) => name in jobActions),
  '–': ({ isMissing }) => isMissing,
}

test('every field and command of the table exists', () => {
  for (const { section, fields, commands, isMissing } of points) {
    expect(fields.length + commands.length > 0, section).toBe(!isMissing)
    for (const name of fields) expect({ ...Endpoint.properties, ...Network.properties }, section).toHaveProperty(name)
    for (const name of commands) expect(commandTypes, section).toContain(name)
  }
})

test('every place of the table shows what the row names', () => {
  for (const point of points) {
    for (const place of point.places) expect(isIn[place]?.(point), `${point.section}: ${place}`).toBe(true)
  }
})

test('the table has 20 points, and the text counts those that have a field or a command', () => {
  expect(points).toHaveLength(20)
  const count = points.filter(({ isMissing }) => !isMissing).length
  expect(document).toContain(`${count} of the 20 points have a field or a command.`)
})
