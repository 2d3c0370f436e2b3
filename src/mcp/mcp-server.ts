// Serves the table of tools to one caller, over any transport of the Model Context Protocol.
import { createHash } from 'node:crypto'
import { Server } from '@modelcontextprotocol/server'
import Type, { type TObject } from 'typebox'
import { Check, Errors } from 'typebox/value'
import { ApiError, type Client } from '../client/client.ts'
import type { CallerScope } from '../contract/people/permissions.ts'
import type { Confirmations } from './confirmation.ts'
import { isGuarded, type McpTool, type ToolContext, ToolRefusal } from './tool.ts'
import { tools } from './tool-table.ts'

export interface McpCaller {
  /** Names the caller in confirmations; no other caller has the same text. */
  readonly id: string
  readonly scopes: readonly CallerScope[]
}

export interface McpServerOptions {
  readonly client: Client
  readonly caller: McpCaller
  readonly confirmations: Confirmations
  readonly now: () => number
  readonly version: string
}

/** A longer answer would fill the memory of the model that reads it. */
const maxAnswerCharacters = 100_000
const maxShownErrors = 5

const instructions =
  'Roomkeeper manages the devices in meeting rooms. Start with overview, list_places or find_rooms to learn identifiers. ' +
  'A tool that disturbs people or is hard to take back answers what would happen and a confirmation: show that to the person, and call the tool again with the same arguments and the confirmation only if they agree.'

export function makeMcpServer(options: McpServerOptions): Server {
  const { caller, version } = options
  const server = new Server(
    { name: 'roomkeeper', title: 'Roomkeeper', version },
    { capabilities: { tools: {} }, instructions },
  )
  const allowed = tools.filter(({ needs }) => mayUse(caller, needs))
  server.setRequestHandler('tools/list', () => ({ tools: allowed.map(listed) as never }))
  server.setRequestHandler('tools/call', async ({ params: { name, arguments: args = {} } }) => {
    const tool = allowed.find((one) => one.name === name)
    try {
      if (!tool)
        throw new ToolRefusal(
          `There is no tool ${name}, or this key may not use it. tools/list has all tools of this key.`,
        )
      return textAnswer(await callTool(tool, args, options))
    } catch (error) {
      return { content: [{ type: 'text', text: sentenceOf(error) }], isError: true }
    }
  })
  return server
}

const mayUse = ({ scopes }: McpCaller, needs: CallerScope): boolean =>
  scopes.includes(needs) || (needs === 'operate' && scopes.includes('write'))

const confirmation = Type.Optional(
  Type.String({
    maxLength: 100,
    description: 'The confirmation that the same call answered within the last 5 minutes.',
  }),
)

/** TypeBox marks shapes with keys that JSON leaves out. */
const listed = (tool: McpTool) => ({
  name: tool.name,
  title: tool.title,
  description: tool.description,
  inputSchema: JSON.parse(JSON.stringify(inputOf(tool), (key, value) => (key.startsWith('~') ? undefined : value))),
  annotations: {
    title: tool.title,
    readOnlyHint: tool.needs === 'read',
    destructiveHint: isGuarded(tool),
    openWorldHint: false,
  },
})

const inputOf = (tool: McpTool): TObject =>
  Type.Object(isGuarded(tool) ? { ...tool.input.properties, confirmation } : tool.input.properties, {
    additionalProperties: false,
  })

async function callTool(tool: McpTool, sent: object, { client, caller, confirmations, now }: McpServerOptions) {
  const input = inputOf(tool)
  if (!Check(input, sent)) throw new ToolRefusal(problemsOf(input, sent))
  const context: ToolContext = { client, now }
  if (!isGuarded(tool)) return tool.run(context, sent as never)
  const { confirmation: token, ...args } = sent as { confirmation?: string }
  const plan = await tool.plan(context, args as never)
  const call = { caller: caller.id, tool: tool.name, args, ids: plan.ids }
  if (token === undefined) {
    const { token: confirmation, validUntil } = confirmations.make(call)
    return {
      done: false,
      wouldHappen: plan.effect,
      confirmation,
      confirmBefore: new Date(validUntil).toISOString(),
      next: 'Nothing has been done. Show this to the person. If they agree, call the tool again with the same arguments and this confirmation.',
    }
  }
  const verdict = confirmations.check(call, token)
  if (verdict !== 'valid') throw new ToolRefusal(refusals[verdict])
  const idempotencyKey = createHash('sha256').update(token).digest('hex')
  return { done: true, ...(await plan.carryOut({ idempotencyKey, plannedAt: confirmations.plannedAt(token) })) }
}

const refusals = {
  'too late': 'This confirmation is older than 5 minutes. Call the tool without it to see what would happen now.',
  'another call':
    'This confirmation is not for this call: its arguments, the caller, or the rooms and devices that it means are others now. Call the tool without it to see what would happen now.',
} as const

function problemsOf(input: TObject, sent: object): string {
  const problems = Errors(input, sent)
    .slice(0, maxShownErrors)
    .map(({ instancePath, message }) => `${instancePath.slice(1).replaceAll('/', '.') || 'arguments'}: ${message}`)
  return `Invalid arguments: ${problems.join('; ')}. The tool takes: ${Object.keys(input.properties).join(', ') || 'nothing'}.`
}

function textAnswer(answer: object) {
  const text = JSON.stringify(answer)
  if (text.length > maxAnswerCharacters) {
    throw new ToolRefusal('The answer is too long. Name one room or device, a shorter time, or a smaller limit.')
  }
  return { content: [{ type: 'text' as const, text }] }
}

/** Only sentences that are written for callers leave the process. */
function sentenceOf(error: unknown): string {
  if (error instanceof ToolRefusal) return error.message
  if (error instanceof ApiError) return `${error.message} (${error.status})`
  return 'The tool failed. Try again, or look into the log of the server.'
}
