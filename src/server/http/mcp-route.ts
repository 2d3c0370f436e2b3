// The path /mcp: tools of the Model Context Protocol for API keys. Each tool calls operations of this server with the key of its caller. [contract 17.mcp]
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { largeBodyBytes } from '../../contract/operation.ts'
import { scopes } from '../../contract/people/permissions.ts'
import type { McpCaller } from '../../mcp/mcp-server.ts'
import type { Caller } from '../auth/keyring.ts'
import type { Services } from '../context/services.ts'
import { Failure } from '../core/failure.ts'
import { programVersion, versionText } from '../core/program-files.ts'
import type { CountRefusal, IdentifyCaller } from './gate.ts'

export interface McpRouteOptions {
  readonly services: Services
  readonly identify: IdentifyCaller
  readonly refuse: CountRefusal
  /** Pages of these origins may call, besides those of this server. */
  readonly corsOrigins: readonly string[]
}

export function mcpRoute(app: FastifyInstance, options: McpRouteOptions): void {
  const { services, identify } = options
  let loading: Promise<Handle> | undefined
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
      // The code is loaded with the first request: most servers have none.
      loading ??= load(services)
      const handle = await loading
      const { headers } = request
      const caller = request.caller as Caller
      const response = await handle({
        headers: Object.fromEntries(
          Object.entries(headers).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
        ),
        body: request.body,
        caller: mcpCallerOf(caller),
        org: caller.org.id,
        fetch: apiOf(app, request),
      })
      reply.code(response.status).header('cache-control', 'no-store')
      for (const name of ['content-type', 'allow']) {
        const value = response.headers.get(name)
        if (value !== null) reply.header(name, value)
      }
      return reply.send(response.body ? Readable.fromWeb(response.body as never) : '')
    },
  )
}

type Handle = Awaited<ReturnType<typeof load>>

async function load({ secrets, clock }: Services) {
  const [{ makeMcpHandler }, { Confirmations }] = await Promise.all([
    import('../../mcp/http-handler.ts'),
    import('../../mcp/confirmation.ts'),
  ])
  const now = () => clock.now()
  const confirmations = new Confirmations((text) => secrets.mac('tool confirmation', text), now)
  return makeMcpHandler({ confirmations, now, version: versionText(programVersion()) })
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

/** Sends a request of a tool through the same hooks, checks and routes as one from outside: rate limit, regions and audit log are the caller's. */
const apiOf =
  (app: FastifyInstance, { headers, id, ip }: FastifyRequest): typeof fetch =>
  async (input, init = {}) => {
    const { pathname, search } = new URL(String(input))
    const reply = await app.inject({
      method: (init.method ?? 'GET') as 'GET',
      url: pathname + search,
      headers: {
        ...(init.headers as Record<string, string>),
        ...{ authorization: headers.authorization, host: headers.host, 'x-request-id': id },
      },
      ...(init.body !== undefined && { payload: String(init.body) }),
      remoteAddress: ip,
    })
    return new Response(new Uint8Array(reply.rawPayload), {
      status: reply.statusCode,
      headers: Object.entries(reply.headers).map(([name, value]) => [name, String(value)] as [string, string]),
    })
  }
