// Serves health checks, metrics, the OpenAPI document and the API reference page.

import type { FastifyInstance } from 'fastify'
import { Gauge } from 'prom-client'
import { openapi } from '../../contract/openapi.ts'
import type { DocsPage } from '../api-page/page.ts'
import { permissionDenied } from '../auth/failures.ts'
import { Failure } from '../core/failure.ts'
import type { Metrics } from '../core/metrics/metrics.ts'
import type { Database } from '../db/db.ts'
import { sendJson } from './answer.ts'
import { pageHeaders } from './browser/page-headers.ts'
import { shuttingDown } from './errors.ts'
import type { IdentifyCaller } from './gate.ts'
import { isLocalRequest } from './local-request.ts'

/** Balancers and monitors decide by these answers whether the service lives, so they do not wait under load. [contract 7.23] */
const urgent = { urgent: true } as const

export function serviceRoutes(
  app: FastifyInstance,
  {
    db,
    metrics,
    identify,
    publicUrl,
    isStopping,
  }: {
    db: Database
    metrics: Metrics
    identify: IdentifyCaller
    publicUrl: () => string
    isStopping: () => boolean
  },
): void {
  app.get('/livez', { config: urgent }, (_request, reply) => void sendJson(reply, '{"ok":true}'))

  app.get('/readyz', { config: urgent }, async (_request, reply) => {
    const problem = isStopping() ? shuttingDown() : db.problem
    if (problem) throw problem
    return sendJson(reply, '{"ok":true}')
  })

  new Gauge({
    name: 'roomkeeper_ready',
    help: '1 if /readyz is 200, else 0.',
    registers: [metrics.registry],
    collect() {
      this.set(db.problem ? 0 : 1)
    },
  })
  app.get(
    '/metrics',
    {
      config: urgent,
      // Requests from this machine need no key, all others need a key with the scope read. [contract D.10]
      onRequest: async (request, reply) => {
        if (isLocalRequest(request)) return
        const caller = await identify(request, reply)
        if (caller instanceof Failure) throw caller
        if (!caller.permissions.read) throw permissionDenied(caller, 'read')
        // The metrics count the whole service.
        if (!caller.access.isEverything) throw permissionDenied(caller, 'everywhere')
      },
    },
    async (_request, reply) => reply.type(metrics.registry.contentType).send(await metrics.scrape()),
  )

  let document = ''
  app.get('/openapi.json', async (_request, reply) => {
    document ||= JSON.stringify(openapi(publicUrl()))
    return sendJson(reply, document)
  })

  let schema = ''
  app.get('/organisation.schema.json', async (_request, reply) => {
    schema ||= await renderSchema()
    return sendJson(reply, schema)
  })

  let renderedPage: Promise<DocsPage> | undefined
  app.get('/docs', async (_request, reply) => {
    renderedPage ??= renderPage()
    const page = await renderedPage
    return reply.type('text/html; charset=utf-8').headers(pageHeaders(page.contentSecurityPolicy)).send(page.html)
  })
}

/** The code of the page is loaded with it: it imports node:http by its names, whereupon Node loads its client for fetch, too. */
async function renderPage(): Promise<DocsPage> {
  const { docsPage } = await import('../api-page/page.ts')
  return docsPage()
}

/** The schema of documents is loaded when an editor asks for it. */
async function renderSchema(): Promise<string> {
  const { documentSchema } = await import('../../plan/document.ts')
  return JSON.stringify(documentSchema())
}
