// The effect of each action on the endpoints of a unit, and how a rollback reverts it. [contract 12.job]
import type { JobActionType, ReversibleActionType } from '../../../../contract/jobs/action-table.ts'
import type { RequestContext } from '../../../context/request-context.ts'
import type { Action } from '../../rows.ts'
import type { TargetedEndpoint } from '../../units/target-store.ts'
import { type RollbackOutcome, rollBackEndpoint } from '../rollback/roll-back-endpoint.ts'
import { rollBackMoves } from '../rollback/roll-back-moves.ts'
import { sendLogRequest, sendMessage, sendPower, sendReboot } from './commands.ts'
import { sendConfig } from './config.ts'
import type { EffectInput, SendOptions } from './effect.ts'
import { sendMove } from './move.ts'
import { sendProfile } from './profile.ts'

/** Returns the outcome of each touched endpoint of the unit. */
type RollBack = (
  ctx: RequestContext,
  of: { readonly job: number; readonly unit: number },
  endpoints: readonly string[],
) => Promise<ReadonlyMap<string, RollbackOutcome>>

interface Effect {
  readonly send: (input: EffectInput, options: SendOptions) => Promise<void>
  /** Whether it would change nothing, for a plan. */
  readonly isAlreadyDone: (action: Action, endpoint: TargetedEndpoint) => boolean
  readonly rollBack?: RollBack
}

const never = () => false

const rollBackEach: RollBack = async (ctx, { job }, endpoints) => {
  const outcomes = new Map<string, RollbackOutcome>()
  for (const id of endpoints) outcomes.set(id, await rollBackEndpoint(ctx, job, id))
  return outcomes
}

/** The compiler asks for a line for each action, and for `rollBack` if the action can be rolled back. */
export const effects: { readonly [T in JobActionType]: T extends ReversibleActionType ? Required<Effect> : Effect } = {
  // A plan compares configs key by key (plan/present-values.ts).
  CONFIG: { send: sendConfig, isAlreadyDone: never, rollBack: rollBackEach },
  ASSIGN_PROFILE: {
    send: sendProfile,
    isAlreadyDone: ({ profileId }, { profile_id }) => profile_id === profileId,
    rollBack: rollBackEach,
  },
  REBOOT: { send: sendReboot, isAlreadyDone: never },
  MESSAGE: { send: sendMessage, isAlreadyDone: never },
  MOVE: {
    send: sendMove,
    isAlreadyDone: (action, { roomId }) => roomId === action.roomId,
    rollBack: rollBackMoves,
  },
  COLLECT_LOGS: { send: sendLogRequest, isAlreadyDone: never },
  POWER: { send: sendPower, isAlreadyDone: never },
}
