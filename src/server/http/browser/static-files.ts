// Serves the console: its built files from memory, in the smallest encoding that the browser accepts. [contract 9.files]
// Decision 0035 says why this is not @fastify/static.
import { hash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join, sep } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { consolePages } from '../../../contract/people/session.ts'
import { matchesEtag } from '../answer.ts'
import { acceptedItemsOf } from '../input/accept-header.ts'
import { pageHeaders } from './page-headers.ts'

/**
 * The component library writes styles at run time, some of them as attributes, so 'unsafe-inline' is needed for styles. The scripts in the
 * document, which run before the first paint, are allowed by their hashes.
 */
const headersFor = (html: string) =>
  pageHeaders(
    `default-src 'none'; script-src ${["'self'", ...inlineScriptsOf(html).map(sha256)].join(' ')}; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  )

const inlineScriptsOf = (html: string): string[] =>
  [...html.matchAll(/<script>(.*?)<\/script>/gs)].map(([, script]) => script as string)

const sha256 = (text: string): string => `'sha256-${hash('sha256', text, 'base64')}'`

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
}

type Encoding = 'br' | 'gzip' | 'identity'
/** File name endings by encoding, the smallest encoding first. */
const endings: readonly (readonly [Encoding, string])[] = [
  ['br', '.br'],
  ['gzip', '.gz'],
  ['identity', ''],
]

interface Body {
  readonly bytes: Buffer
  readonly etag: string
}

interface File {
  readonly type: string
  readonly bodies: ReadonlyMap<Encoding, Body>
}

/** The files of a built console, by their paths. There are none if it is not built. */
export type ConsoleFiles = ReadonlyMap<string, File>

const notBuilt = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Roomkeeper</title></head>
<body>
<h1>The console is not built</h1>
<p>Run <code>npm run build</code> in the folder of Roomkeeper and start it again.</p>
<p>The API works without it: <a href="./docs">every operation is described here</a>.</p>
</body>
</html>
`

/** Only programs request these paths, so they get errors in JSON, whatever they accept. */
const programPaths = /^\/+(v1|api|console|assets)(\/|$)/

export function staticFileRoutes(app: FastifyInstance, files: ConsoleFiles): void {
  const index = files.get('/index.html') ?? fileOf('.html', [['identity', Buffer.from(notBuilt)]])
  const indexAt = indexByDepth(index)
  const headers = headersFor(textOf(index))
  const serve = (url: string, find: (request: FastifyRequest) => File | undefined, caching: string) =>
    app.get(url, { compress: false }, (request, reply) => {
      const file = find(request)
      if (!file) return reply.callNotFound()
      return send(request, reply.headers(headers).header('Cache-Control', caching), file)
    })

  for (const page of ['/', ...consolePages.flatMap((page) => [page, `${page}/*`])]) {
    serve(page, indexAt, 'no-cache')
  }
  // The name of an asset changes with its content.
  serve('/assets/*', (request) => files.get(pathOf(request)), 'public, max-age=31536000, immutable')
  for (const [path, file] of files) {
    if (!path.startsWith('/assets/') && path !== '/index.html') serve(path, () => file, 'no-cache')
  }
  // A browser that follows a wrong link gets the console, which shows its own page for a 404.
  app.get('/*', { compress: false }, (request, reply) => {
    if (programPaths.test(pathOf(request))) return reply.callNotFound()
    addVary(reply, 'Accept')
    if (acceptedItemsOf(request.headers.accept).get('text/html') !== true) return reply.callNotFound()
    return send(request, reply.code(404).headers(headers).header('Cache-Control', 'no-cache'), indexAt(request))
  })
}

/** Deeper documents are made for each request: only wrong addresses have them. */
const maxCachedDepth = 8

/**
 * The addresses in the console's document are relative to `/`, and are rewritten to be relative to the page that is requested. So
 * the server need not know the path under which a proxy serves it. [contract 9.prefix]
 */
function indexByDepth(atRoot: File): (request: FastifyRequest) => File {
  const html = textOf(atRoot)
  const byDepth = new Map([[0, atRoot]])
  return (request) => {
    const depth = rawPathOf(request).split('/').length - 2
    const known = byDepth.get(depth)
    if (known) return known
    const bytes = Buffer.from(html.replaceAll(/\b(href|src)="\.\//g, `$1="${'../'.repeat(depth)}`))
    if (depth > maxCachedDepth) return fileOf('.html', [['identity', bytes]])
    const file = fileOf('.html', [
      ['br', brotliCompressSync(bytes)],
      ['gzip', gzipSync(bytes)],
      ['identity', bytes],
    ])
    byDepth.set(depth, file)
    return file
  }
}

const textOf = (file: File): string => file.bodies.get('identity')?.bytes.toString() ?? ''

const rawPathOf = (request: FastifyRequest): string => request.url.split('?')[0] ?? ''
const pathOf = (request: FastifyRequest): string => decodeURIComponent(rawPathOf(request))

const addVary = (reply: FastifyReply, name: string): FastifyReply =>
  reply.header('Vary', [reply.getHeader('Vary') ?? [], name].flat().join(', '))

function send(request: FastifyRequest, reply: FastifyReply, { type, bodies }: File): FastifyReply {
  const encoding = chooseEncoding(bodies, request.headers['accept-encoding'])
  const { bytes, etag } = bodies.get(encoding) as Body
  addVary(reply, 'Accept-Encoding')
  // A 404 has no ETag, and preconditions do not apply to it. [RFC 9110, 13.2.1]
  if (reply.statusCode !== 404) {
    reply.header('ETag', etag)
    if (matchesEtag(request.headers['if-none-match'], etag)) return reply.code(304).send()
  }
  if (encoding !== 'identity') reply.header('Content-Encoding', encoding)
  return reply.header('Content-Type', type).send(bytes)
}

/** Returns the smallest encoding that the browser accepts, or identity if it accepts none. */
function chooseEncoding(bodies: File['bodies'], acceptEncoding: string | undefined): Encoding {
  const accepted = acceptedItemsOf(acceptEncoding)
  const accepts = (encoding: Encoding) => accepted.get(encoding) ?? accepted.get('*') ?? false
  return endings.find(([encoding]) => bodies.has(encoding) && accepts(encoding))?.[0] ?? 'identity'
}

export function readConsoleFiles(folder: string): ConsoleFiles {
  const files = new Map<string, File>()
  if (!existsSync(folder)) return files
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
  const isFile = new Set(names)
  for (const name of names.filter((name) => !/\.(br|gz)$/.test(name))) {
    const bodies = endings
      .filter(([, ending]) => isFile.has(name + ending))
      .map(([encoding, ending]): [Encoding, Buffer] => [encoding, readFileSync(name + ending)])
    files.set(name.slice(folder.length).replaceAll(sep, '/'), fileOf(extname(name), bodies))
  }
  return files
}

/** Each encoding has its own strong ETag. An encoding that is not smaller than the file is left out. */
function fileOf(extension: string, bodies: readonly [Encoding, Buffer][]): File {
  const identityBytes = bodies.find(([encoding]) => encoding === 'identity')?.[1].length ?? 0
  const useful = bodies.filter(([encoding, { length }]) => encoding === 'identity' || length < identityBytes)
  return {
    type: types[extension] ?? 'application/octet-stream',
    bodies: new Map(useful.map(([encoding, bytes]) => [encoding, { bytes, etag: etagOf(bytes) }])),
  }
}

const etagOf = (bytes: Buffer): string => `"${hash('sha256', bytes, 'base64url').slice(0, 22)}"`
