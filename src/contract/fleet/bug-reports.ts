// Bug reports: logs that devices send on request, found again by support ID. [contract 6.bugReports]

import Type from 'typebox'
import { largeBodyBytes, operation } from '../operation.ts'
import { OneOf, Shape, Timestamp } from '../shape.ts'
import { EndpointIds, endpointName, exampleEndpointId } from './endpoints.ts'

const supportId = Type.String({ description: 'Support ID; case and hyphens do not matter.' })

const itemStates = ['REQUESTED', 'UPLOADED', 'FAILED', 'EXPIRED', 'CANCELLED', 'SKIPPED'] as const

const BugReport = Shape('webpageBugReport', {
  supportId,
  createdAt: Timestamp('Time of the request for logs.'),
  expiresAt: Timestamp('Time at which the files of the bug report are deleted.'),
  uploadInCallLogs: Type.Boolean({ description: 'Whether logs of calls were requested too.' }),
  endpoints: Type.Array(
    Shape('webpageBugReportEndpoint', {
      endpointId: Type.String({ format: 'uuid', description: 'Identifier of the endpoint.' }),
      name: endpointName,
      serial: Type.String({ description: 'Serial number of the device.' }),
      model: Type.String({ description: 'Model code.' }),
      state: OneOf(itemStates, 'State of the logs of this endpoint. SKIPPED: its device cannot send logs.'),
      updatedAt: Timestamp('Time at which the state last changed.'),
      file: Type.Optional(Type.String({ description: 'Name of the log bundle, for its download.' })),
      size: Type.Optional(Type.String({ description: 'Size of the log bundle in bytes, as a string.' })),
      error: Type.Optional(Type.String({ description: 'Reason why there is no log bundle.' })),
    }),
  ),
})

export const bugReportOperations = {
  endpointsGenerateBugReport: operation({
    method: 'POST',
    path: '/endpoints/generate_bug_report',
    tag: 'Bug reports',
    scope: 'write',
    operate: true,
    summary: 'Request logs from endpoints; the answer has the support ID of the logs',
    description: 'An endpoint that is offline uploads its logs if it reconnects within 24 hours.',
    query: {
      uploadInCallLogs: Type.Boolean({ description: 'Whether to include logs of calls, which can be private.' }),
    },
    body: EndpointIds,
    bodyLimitBytes: largeBodyBytes,
    response: Shape('webpageEndpointsGenerateBugReportResponse', { supportId }),
    audit: { category: 'DEVICE', type: 'DEVICE_LOGS_REQUESTED' },
    example: { body: [exampleEndpointId], response: { supportId: 'K7QF-2MXA' } },
  }),
  bugReportsGet: operation({
    method: 'GET',
    path: '/bug_reports/{supportId}',
    tag: 'Bug reports',
    scope: 'read',
    summary: 'Read a bug report with the state of each endpoint',
    params: { supportId },
    response: BugReport,
    example: {
      params: { supportId: 'K7QF-2MXA' },
      response: {
        supportId: 'K7QF-2MXA',
        createdAt: '2026-05-04T08:15:30.000Z',
        expiresAt: '2026-06-03T08:15:30.000Z',
        uploadInCallLogs: false,
        endpoints: [
          {
            endpointId: exampleEndpointId,
            serial: 'NB12345678',
            model: 'NF19B1',
            state: 'UPLOADED',
            updatedAt: '2026-05-04T08:15:34.000Z',
            file: `${exampleEndpointId}.log.gz`,
            size: '48213',
          },
        ],
      },
    },
  }),
  bugReportsFileGet: operation({
    method: 'GET',
    path: '/bug_reports/{supportId}/files/{name}',
    tag: 'Bug reports',
    scope: 'write',
    summary: 'Download the logs of one endpoint',
    description: 'The scope write is needed because logs can be private.',
    params: { supportId, name: Type.String({ description: 'Name of the file, as the bug report shows it.' }) },
    response: Type.String({ format: 'binary' }),
    download: 'application/gzip',
    example: { params: { supportId: 'K7QF-2MXA', name: `${exampleEndpointId}.log.gz` }, response: '' },
  }),
}
