// The baseline of an idle server: Fastify with one route, in JavaScript because stripping types would need memory.
import Fastify from 'fastify'

const app = Fastify()
app.get('/', async () => ({ ok: true }))
const url = new URL(await app.listen({ host: '127.0.0.1', port: 0 }))
process.stdout.write(`listening on ${url.port}\n`)
process.once('SIGTERM', () => process.exit(0))
