// Shows a plan to a person, or as JSON to a program.
import { groupBy } from '../../contract/group-by.ts'
import { kindTable } from '../../plan/kinds.ts'
import type { Change, OrganisationPlan, OrganisationStep, Problem, ShownValue } from '../../plan/plan.ts'
import { filePlaceText } from './read-file.ts'

export const planLines = (file: string, plan: OrganisationPlan): string[] => [
  ...plan.steps.flatMap((step) => stepLines(file, step)),
  ...notComparedLines(file, plan),
  ...[...plan.hints, ...plan.unreadable].map((hint) => problemLine(file, hint)),
  summaryLine(plan),
]

export const problemLine = (file: string, { message, place }: Problem): string =>
  `${filePlaceText(file, place)} ${message}`

function stepLines(file: string, step: OrganisationStep): string[] {
  const { noun } = kindTable[step.kind]
  const id = step.id === undefined || step.kind === 'incidentRule' ? '' : ` (${step.id})`
  const where = step.place ? `  [${file}:${step.place.line}]` : ''
  const count = step.endpointCount ?? 0
  const endpoints = `${count} ${count === 1 ? 'endpoint' : 'endpoints'}`
  return [
    `${sign(step)} ${noun} ${step.path.join(' / ')}${id}${where}`,
    ...step.changes.map((change) => `    ${changeText(change)}`),
    ...(step.needs === 'rollout' ? [`    changes ${endpoints} at the same time: needs --allow-rollout`] : []),
    ...(step.needs === 'unenrol' ? [`    unenrols ${endpoints}: needs --allow-unenrol`] : []),
    ...(step.forbidden === undefined ? [] : [`    cannot be done: ${step.forbidden}`]),
  ]
}

const sign = ({ operation }: OrganisationStep): string => {
  if (operation.endsWith('Create')) return '+'
  return operation.endsWith('Delete') ? '-' : '~'
}

export const changeText = ({ field, from, to }: Change): string =>
  from === undefined ? `${field}: ${valueText(to)}` : `${field}: ${valueText(from)} -> ${valueText(to)}`

function valueText(value: ShownValue | undefined): string {
  if (value === undefined) return '(none)'
  return typeof value === 'string' ? value.replaceAll('\n', ', ') : JSON.stringify(value)
}

function notComparedLines(file: string, { entries }: OrganisationPlan): string[] {
  const named = entries.filter(({ notCompared }) => notCompared.length > 0)
  if (named.length === 0) return []
  const fields = named.reduce((sum, { notCompared }) => sum + notCompared.length, 0)
  const isPlural = fields !== 1
  return [
    `${file}: ${fields} ${isPlural ? 'secrets are' : 'secret is'} not compared; --set-secrets sends ${isPlural ? 'them' : 'it'}.`,
  ]
}

export function summaryLine({ steps }: OrganisationPlan): string {
  if (steps.length === 0) return 'Nothing to do.'
  const counts = groupBy(steps, sign)
  const count = (of: string) => counts.get(of)?.length ?? 0
  return `Plan: ${count('+')} to create, ${count('~')} to change, ${count('-')} to delete.`
}

/** The output for programs: the steps without the values that only `apply` needs. */
export const planJson = ({ steps, hints, unreadable, entries }: OrganisationPlan) => ({
  steps: steps.map(({ before: _, after: __, rank: ___, ...step }) => step),
  hints,
  unreadable,
  entries,
})
