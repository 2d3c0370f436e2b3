// The state diagrams and the tables of states in docs/contract.md say what the code says.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { deliveryStates } from '../../src/contract/channels/channels.ts'
import { endpointStates } from '../../src/contract/fleet/endpoints.ts'
import { incidentStates, openStates } from '../../src/contract/incidents/states.ts'
import { jobStates, openUnitStates, statesForStep, unitStates } from '../../src/contract/jobs/job-states.ts'

const contract = readFileSync(join(import.meta.dirname, '../../docs/contract.md'), 'utf8')

interface Edge {
  readonly from: string
  readonly to: string
  readonly label: string
}

const diagrams = [...contract.matchAll(/^```mermaid\nstateDiagram-v2\n([\s\S]*?)^```$/gm)].map(([, text = '']) =>
  text
    .trimEnd()
    .split('\n')
    .map((line): Edge => {
      const [, from = '', to = '', label = ''] = /^ {2}(\S+) --> ([A-Z_]+)(?:: (.+))?$/.exec(line) ?? []
      expect(to, line).not.toBe('')
      return { from, to, label }
    }),
)
const statesOf = (edges: readonly Edge[]) =>
  new Set(edges.flatMap(({ from, to }) => [from, to]).filter((name) => name !== '[*]'))

/** Returns the diagram that has no other states than these. */
function diagramOf(states: readonly string[]): readonly Edge[] {
  const [found = [], ...others] = diagrams.filter((edges) => statesOf(edges).isSubsetOf(new Set(states)))
  expect(others).toEqual([])
  return found
}
const sourcesOf = (edges: readonly Edge[], isWanted: (edge: Edge) => boolean) =>
  [...new Set(edges.filter(isWanted).map(({ from }) => from))].toSorted()

interface Row {
  readonly causes: readonly string[]
  readonly from: readonly string[]
  readonly to: readonly string[]
}
const capitals = (text: string) => text.match(/\b[A-Z][A-Z_]{3,}\b/g) ?? []
/** The rows of a table of causes: the words before a comma or a limit name a request. */
const rowsOf = (heading: string): Row[] => {
  const [, table = ''] = contract.split(`${heading}\n|---|---|---|\n`)
  return (table.split('\n\n')[0] ?? '').split('\n').map((line) => {
    const [, cause = '', from = '', to = ''] = line
      .split(' | ')
      .flatMap((cell, i) => (i === 0 ? ['', cell.slice(2)] : [cell]))
    return { causes: cause.split(', '), from: capitals(from), to: capitals(to) }
  })
}
const jobRows = rowsOf('| request or cause | from | to |')
const unitRows = rowsOf('| cause | from | to |')

describe.each([
  ['a device', endpointStates, []],
  ['an incident', incidentStates, []],
  ['a delivery', deliveryStates, []],
  ['a job', jobStates, jobRows],
  ['a unit', unitStates, unitRows],
] as const)('the states of %s', (_, states, rows) => {
  test('are those of the code, and each can be reached', () => {
    const edges = diagramOf(states)
    expect(edges.length + rows.length).toBeGreaterThan(states.length)
    const named = new Set([...statesOf(edges), ...rows.flatMap(({ from, to }) => [...from, ...to])])
    expect([...named].toSorted()).toEqual(states.toSorted())
    const reached = new Set([...edges.map(({ to }) => to), ...rows.flatMap(({ to }) => to)])
    expect([...reached].toSorted()).toEqual(states.toSorted())
  })
})

const words = {
  start: 'start',
  pause: 'pause',
  resume: 'resume',
  cancel: 'cancel',
  rollBack: 'roll back',
  retry: 'retry',
}

test.each(Object.entries(statesForStep))(
  'the step %s of a job is possible in the states of the table',
  (step, states) => {
    const word = words[step as keyof typeof words]
    const rows = jobRows.filter(({ causes }) => causes.includes(word))
    expect(rows.flatMap(({ from }) => from).toSorted()).toEqual(states.toSorted())
    const drawn = sourcesOf(diagramOf(jobStates), ({ label }) => label.split(', ')[0] === word)
    expect(drawn.length).toBeGreaterThan(0)
    expect(states).toEqual(expect.arrayContaining(drawn))
  },
)

test('a unit is cancelled while it is open', () => {
  const row = unitRows.find(({ to }) => to.includes('CANCELLED'))
  expect(row?.from.toSorted()).toEqual(openUnitStates.toSorted())
})

test.each(['RESOLVED', 'MERGED'])('an incident becomes %s while people can still do something about it', (end) => {
  expect(sourcesOf(diagramOf(incidentStates), ({ to }) => to === end)).toEqual(openStates.toSorted())
})

test('paragraphs and list items about incidents, people and jobs are short', () => {
  const sections = contract.slice(contract.indexOf('\n## 10. '), contract.indexOf('\n## 13. '))
  const paragraphs = sections.split(/\n(?=\s*(?:- |\d+\. |\||#|```|\n))/).map((text) => text.trim())
  const long = paragraphs.filter((text) => !/^(?:\||```mermaid)/.test(text) && text.length > 650)
  expect(long.map((text) => `${text.length}: ${text.slice(0, 80)}`)).toEqual([])
})
