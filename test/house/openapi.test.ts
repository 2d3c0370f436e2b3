// The committed OpenAPI document: fresh, and without an error in the eyes of a linter.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { openapiText } from '../../src/cli/documents.ts'
import { operationList } from '../../src/contract/operations.ts'

const root = join(import.meta.dirname, '../..')
const file = join(root, 'openapi.json')

test('openapi.json is what the table of operations says; if not, run "npm run openapi"', () => {
  expect(readFileSync(file, 'utf8') === openapiText(), 'openapi.json is stale: run "npm run openapi"').toBe(true)
})

test('redocly lint finds no error and no warning', async () => {
  const redocly = join(root, 'node_modules/.bin/redocly')
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
  const { stdout, stderr } = await promisify(execFile)(redocly, ['lint', file, '--format=json'], { env })
  const { totals } = JSON.parse(stdout || stderr)
  expect(totals).toMatchObject({ errors: 0, warnings: 0 })
})

test("the interface's operations have its ids and its type names", () => {
  const document = JSON.parse(readFileSync(file, 'utf8'))
  const schemaOf = (content: { schema?: { $ref?: string } } | undefined) => content?.schema?.$ref?.split('/').at(-1)
  const found = Object.fromEntries(
    operationList.map(({ id, method, path }) => {
      const operation = document.paths[`/v1/orgs/{orgid}${path}`][method.toLowerCase()]
      expect(operation.operationId).toBe(id)
      return [
        id,
        [
          schemaOf(operation.requestBody?.content['application/json']),
          schemaOf(operation.responses['200'].content['application/json']),
        ],
      ]
    }),
  )
  expect(found).toMatchObject({
    auditLogs: [undefined, 'v1AuditLogsResponse'],
    endpointsApplyConfig: ['DeviceConfig', 'webpageEndpointApplyConfigResponse'],
    endpointsBasicList: [undefined, 'webpageListBasicEndpointsResponse'],
    endpointsBulkSensorData: [undefined, 'webpageGetOrgSensorDataResponse'],
    endpointsGenerateBugReport: [undefined, 'webpageEndpointsGenerateBugReportResponse'],
    endpointsGet: [undefined, 'webpageEndpoint'],
    endpointsMoveRoom: ['WebpageMovePairedEndpointsRequest', 'webpageMovePairedEndpointsResponse'],
    endpointsSensorData: [undefined, 'webpageGetEndpointSensorDataResponse'],
    locationsCreate: ['LocationsCreateRequest', 'webpageLocation'],
    locationsList: [undefined, 'webpageLocationList'],
    locationsUpdate: ['WebpageLocationsUpdateBody', 'webpageUpdateLocationResponse'],
    regionsCreate: ['RegionsCreateRequest', 'webpageRegion'],
    regionsList: [undefined, 'webpageRegionList'],
    regionsUpdate: ['RegionsUpdateRequest', 'webpageUpdateRegionResponse'],
  })
})

test('every operation has an example of its answer, and of its body if it has one', () => {
  const document = JSON.parse(readFileSync(file, 'utf8'))
  for (const path of Object.values(document.paths) as Record<string, never>[]) {
    for (const operation of Object.values(path) as Record<string, never>[]) {
      const { operationId, requestBody, responses } = operation as never as {
        operationId: string
        requestBody?: { content: { 'application/json': { example: unknown } } }
        responses: { 200: { content: Record<string, { example: unknown }> } }
      }
      const { 'application/json': json = responses[200].content['text/event-stream'] } = responses[200].content
      if (json) expect(json.example, operationId).toBeDefined()
      else
        expect(Object.keys(responses[200].content).join(), operationId).toMatch(
          /^(application\/gzip|text\/(?:csv|plain))$/,
        )
      if (requestBody) expect(requestBody.content['application/json'].example, operationId).toBeDefined()
    }
  }
})
