// The limit beside an idle server: Fastify with one route. Not TypeScript, because stripping types would take memory of its own.
import Fastify from 'fastify'

const app = Fastify()
app.get('/', async () => ({ ok: true }))
const url = new URL(await app.listen({ host: '127.0.0.1', port: 0 }))
process.stdout.write(`listening on ${url.port}\n`)
process.once('SIGTERM', () => process.exit(0))
