// Checks that the stages of a job grow until they have all units. [contract 12.job]

import type { Violation } from '../../../contract/error.ts'
import { type JobActionType, jobActions } from '../../../contract/jobs/action-table.ts'
import { invalid } from '../../core/failure.ts'
import type { StageSettings } from '../rows.ts'
import { cumulativeCount } from '../units/units.ts'

type SentStage = {
  readonly rooms?: number | undefined
  readonly percent?: number | undefined
  readonly tags?: readonly string[] | undefined
}

export function stageViolations(stages: readonly SentStage[] | undefined, type: JobActionType): Violation[] {
  if (!stages) return []
  if (jobActions[type].stagesRefusedText !== null) {
    return [{ field: 'stages', error: `do not belong to the type ${type}. Leave them out` }]
  }
  const wrong = stages.flatMap(({ rooms, percent, tags }, i) =>
    [rooms, percent, tags].filter((value) => value !== undefined).length === 1
      ? []
      : [{ field: `stages.${i}`, error: 'must have one of rooms, percent and tags' }],
  )
  if (stages.at(-1)?.percent !== 100) {
    wrong.push({ field: `stages.${stages.length - 1}`, error: 'must be 100 percent, because it is the last one' })
  }
  return [...wrong, ...shrinkingViolations(stages, 'rooms'), ...shrinkingViolations(stages, 'percent')]
}

/** Stages of the same kind can be compared without knowing how many units there are. */
function shrinkingViolations(stages: readonly SentStage[], kind: 'rooms' | 'percent'): Violation[] {
  let largest = 0
  return stages.flatMap((stage, i) => {
    const size = stage[kind]
    if (size === undefined) return []
    if (size <= largest)
      return [{ field: `stages.${i}.${kind}`, error: `must be more than ${largest}, because stages grow` }]
    largest = size
    return []
  })
}

/**
 * Refuses a stage with fewer units than the one before it. With few units a percentage may give the same number: that stage is then empty,
 * which is allowed.
 */
export function requireGrowingStages(stages: readonly StageSettings[], unitCount: number): void {
  let largest = 0
  for (const [i, stage] of stages.entries()) {
    const count = cumulativeCount(stage, unitCount)
    if (count === undefined) continue
    if (count < largest) {
      throw invalid([
        { field: `stages.${i}`, error: `would have ${count} of ${unitCount} units, fewer than the stage before it` },
      ])
    }
    largest = count
  }
}
