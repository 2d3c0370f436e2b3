// Programs of strict TypeScript projects that use the packages, for the tests of their types.

/** Uses the client rightly, and in ways that must not compile. */
export const clientProgram = `
import { ApiError, type Event, makeClient, type Region } from 'roomkeeper-client'
const client = makeClient({ baseUrl: 'http://127.0.0.1:8080', org: 'abc' })
const { body, etag } = await client.regionsCreate({ body: { name: 'Asia' } })
const region: Region = body
const id: number = region.id
await client.regionsUpdate({ id, body: { name: 'APAC' } }, { ifMatch: etag })
const names: string[] = (await client.regionsList()).body.regions.map(({ name }) => name)
const csv: Blob = (await client.auditLogs({ from: '2026-01-01', to: Date.now() }, { accept: 'text/csv' })).body
for await (const { id, event } of client.eventsStream()) {
  const at: string = (event satisfies Event).at
  if (event.type === 'sample') console.log(id, at, event.sample?.temp, names, csv)
}
if (new ApiError(404, undefined, 'gone').body?.code === 'NOT_FOUND') console.log('gone')
// @ts-expect-error An operation that does not exist.
client.regionsFly
// @ts-expect-error A body without its required field.
void client.regionsCreate({ body: {} })
// @ts-expect-error A missing path parameter.
void client.roomsGet({})
// @ts-expect-error A field of the wrong type.
void client.endpointsApplyConfig({ id: 'x', body: { brightness: 'high' } })
// @ts-expect-error A required parameter of the query.
void client.auditLogs({ from: 0 })
`

/** Compares every operation of the package with that of the source. */
export const comparisonWith = (clientSource: string) => `
import type { CallInput as SourceInput, Client as SourceClient } from '${clientSource}'
import type { CallInput, Client } from 'roomkeeper-client'
type Id = keyof SourceClient
type Returned<R> = R extends AsyncIterable<infer E> ? E : Awaited<R>
type Response<C, K extends keyof C> = C[K] extends (...args: never[]) => infer R ? Returned<R> : never
type Assignable<A, B> = [A] extends [B] ? true : false
type Body<I> = I extends { body?: infer B } ? { body: B; isOptional: Record<never, never> extends Pick<I, 'body'> ? true : false } : undefined
type Wrong = {
  [K in Id]: K extends keyof Client
    ? Assignable<Omit<SourceInput<K>, 'body'>, Omit<CallInput<K>, 'body'>> extends true
      ? Assignable<Body<CallInput<K>>, Body<SourceInput<K>>> extends true
        ? Assignable<Response<SourceClient, K>, Response<Client, K>> extends true
          ? never
          : \`\${K} returns something else\`
        : \`\${K} takes another body\`
      : \`\${K} takes other parameters\`
    : \`\${K} is missing\`
}[Id]
/** Configs are tables of any keys in the source; the package names their keys. */
type WithConfig = 'endpointsApplyConfig' | 'jobsCreate' | 'jobsPlan' | 'profilesCreate' | 'profilesUpdate'
type Unexpected = Exclude<Wrong, \`\${WithConfig} takes another body\`>
// The compiler names the missing properties.
const nothingElseIsWrong: Record<Unexpected, true> = {}
const noneIsNew: [Exclude<keyof Client, Id>] extends [never] ? true : false = true
console.log(noneIsNew, nothingElseIsWrong)
`

/** Follows the example of the device package. */
export const deviceProgram = `
import type { AgentSettings, AgentState, SampleRefused } from 'roomkeeper-device'
agent.on('samplesRefused', ({ refused }: SampleRefused) => console.log(refused[0]?.reason))
agent.on('disconnected', (reason) => console.log(reason?.message))
agent.reportStatus({ inCallStatus: 'ZOOM', timezone: null })
// @ts-expect-error A status that the protocol does not have.
agent.reportStatus({ inCallStatus: 'MAYBE' })
// @ts-expect-error A sample without its time.
void agent.sample([{ temp: 20 }])
`
