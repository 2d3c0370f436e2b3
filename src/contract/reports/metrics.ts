// The rooms and devices of an organisation as metrics for Prometheus. [contract 16.metrics]
import Type from 'typebox'
import { operation } from '../operation.ts'
import { Int32 } from '../shape.ts'

export const metricsOperations = {
  metricsGet: operation({
    method: 'GET',
    path: '/metrics',
    tag: 'Reports',
    scope: 'read',
    command: 'metrics get',
    summary: 'Read rooms and devices as metrics for Prometheus',
    description:
      'The answer has one series for each value of each room and endpoint that the caller sees: state, people, air, open incidents, power, certificates and the time of the latest sample. Labels of values are identifiers; names are labels of `roomkeeper_room_info` and `roomkeeper_endpoint_info`. A value that was not measured within the last 15 minutes (configurable) has no series.',
    query: {
      regionId: Int32('Only rooms and endpoints in this region.'),
      locationId: Int32('Only rooms and endpoints in this location.'),
    },
    response: Type.String(),
    download: 'text/plain',
    example: { query: { locationId: 3 }, response: '' },
  }),
}
