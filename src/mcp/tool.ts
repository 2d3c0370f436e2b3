// A tool of the Model Context Protocol: what it takes, which right it needs, and what it does through the operations of the API.
import type { Static, TObject } from 'typebox'
import type { Client } from '../client/client.ts'
import type { CallerScope } from '../contract/people/permissions.ts'

export interface ToolContext {
  /** Calls operations with the rights and regions of the caller. */
  readonly client: Client
  readonly now: () => number
}

interface ToolBase<S extends TObject> {
  readonly name: string
  readonly title: string
  readonly description: string
  /** Its fields are those of the operations that it calls. */
  readonly input: S
  /** The scope of its operations. A caller without it does not see the tool. */
  readonly needs: CallerScope
}

/** Reads, or makes a change that people can take back. */
interface DirectTool<S extends TObject> extends ToolBase<S> {
  readonly run: (context: ToolContext, args: Static<S>) => Promise<object>
}

/** Answers what would happen first, and does it when the call is confirmed. */
interface GuardedTool<S extends TObject> extends ToolBase<S> {
  readonly plan: (context: ToolContext, args: Static<S>) => Promise<ToolPlan>
}

export interface ToolPlan {
  /** The identifiers of everything that would change. A confirmation is valid for these only. */
  readonly ids: readonly string[]
  /** Describes to the person who confirms it what would happen. */
  readonly effect: object
  readonly carryOut: (confirmed: Confirmed) => Promise<object>
}

export interface Confirmed {
  /** A repeat of the confirmed call has the same key, and is not done again. */
  readonly idempotencyKey: string
  /** When the person was told what would happen, in milliseconds. */
  readonly plannedAt: number
}

export type McpTool = DirectTool<TObject> | GuardedTool<TObject>

/** Types the arguments of a tool by its input. */
export const directTool = <S extends TObject>(tool: DirectTool<S>): McpTool => tool as unknown as McpTool
export const guardedTool = <S extends TObject>(tool: GuardedTool<S>): McpTool => tool as unknown as McpTool

export const isGuarded = (tool: McpTool): tool is GuardedTool<TObject> => 'plan' in tool

/** A sentence for the model that called the tool, such as what it should call instead. */
export class ToolRefusal extends Error {}
