// The path /mcp: tools of the Model Context Protocol for API keys. Each tool calls operations of this server with the key of its caller. [contract 17.mcp]
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { largeBodyBytes } from '../../../contract/operation.ts'
import { scopes } from '../../../contract/people/permissions.ts'
import type { McpCaller } from '../../../mcp/mcp-server.ts'
import type { Caller } from '../../auth/keyring.ts'
import type { Services } from '../../context/services.ts'
import { Failure } from '../../core/failure.ts'
import type { Log } from '../../core/log.ts'
import { programVersion, versionText } from '../../core/program-files.ts'
import type { CountRefusal, IdentifyCaller } from '../gate.ts'
import type { ApiRequest } from './messages.ts'
import { ToolThread } from './tool-thread.ts'

export interface McpRouteOptions {
  readonly services: Services
  readonly log: Log
  readonly identify: IdentifyCaller
  readonly refuse: CountRefusal
  /** Pages of these origins may call, besides those of this server. */
  readonly corsOrigins: readonly string[]
}

export function mcpRoute(app: FastifyInstance, options: McpRouteOptions): void {
  const { services, identify, log } = options
  const key = services.secrets.mac('tool confirmation', 'key')
  const thread = new ToolThread({ key, version: versionText(programVersion()) }, log)
  app.addHook('onClose', () => thread.close())
  app.post(
    '/mcp',
    {
      bodyLimit: largeBodyBytes,
      onRequest: async (request, reply) => {
        const problem = originProblem(request, options) ?? tokenProblem(request, options)
        if (problem) throw problem
        const caller = await identify(request, reply)
        if (caller instanceof Failure) throw caller
      },
    },
    async (request, reply) => {
      if (Array.isArray(request.body)) throw batchRefused
      const caller = request.caller as Caller
      const answer = await thread.run(
        {
          headers: passedHeaders(request),
          body: request.body,
          caller: mcpCallerOf(caller),
          org: caller.org.id,
          now: services.clock.now(),
        },
        (sent) => sendToApi(app, request, sent),
      )
      return reply
        .code(answer.status)
        .headers({ 'cache-control': 'no-store', ...answer.headers })
        .send(answer.body)
    },
  )
}

/** A page of another site must not use a server that only its visitor reaches. Programs send no Origin. */
function originProblem(
  { headers: { origin } }: FastifyRequest,
  { services, corsOrigins }: McpRouteOptions,
): Failure | undefined {
  if (origin === undefined) return undefined
  const allowed = [new URL(services.publicUrl()).origin, ...corsOrigins]
  return allowed.includes(origin.toLowerCase()) ? undefined : otherOrigin
}

const otherOrigin = new Failure(
  'PERMISSION_DENIED',
  'Pages of this origin may not use /mcp. If they should, name the origin in --cors-origin.',
)

/** A cookie is sent by any page that a browser shows, so it is not accepted here. */
const tokenProblem = (request: FastifyRequest, { refuse }: McpRouteOptions): Failure | undefined =>
  request.headers.authorization === undefined ? refuse(request, noKey) : undefined

const noKey = new Failure('UNAUTHENTICATED', 'A key is needed. Send the header "Authorization: Bearer <API key>".', {
  needsToken: true,
})

const batchRefused = new Failure('INVALID_ARGUMENT', 'the body is a list. Send each message in a request of its own.')

const mcpCallerOf = ({ org, actor, key, permissions }: Caller): McpCaller => ({
  id: `${org.id} ${key ? `KEY ${key.id}` : `${actor.type} ${actor.id}`}`,
  scopes: scopes.filter((scope) => permissions[scope]),
})

/** The headers of the protocol. The key stays in this thread. */
const passedHeaders = ({ headers }: FastifyRequest): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      typeof value === 'string' && /^(?:accept|content-type|mcp-.*)$/.test(name) ? [[name, value]] : [],
    ),
  )

/** Sends a request of a tool through the same hooks, checks and routes as one from outside: rate limit, regions and audit log are the caller's. */
async function sendToApi(
  app: FastifyInstance,
  { headers: { authorization, host }, id, ip }: FastifyRequest,
  { method, url, headers, body }: ApiRequest,
) {
  const reply = await app.inject({
    method: method as 'GET',
    url,
    headers: { ...headers, authorization, host, 'x-request-id': id },
    ...(body !== undefined && { payload: body }),
    remoteAddress: ip,
    payloadAsStream: true,
  })
  const texts = Object.entries(reply.headers).map(([name, value]) => [name, String(value)] as const)
  return { status: reply.statusCode, headers: Object.fromEntries(texts), body: reply.stream() }
}
