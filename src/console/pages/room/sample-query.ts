// Reads the latest sample of a room; null means that no device sent one lately, which is not an error. [contract 5.2.aggregate]
import { queryOptions } from '@tanstack/react-query'
import { ApiError } from '../../../client/client.ts'
import { client } from '../../session.ts'

/** The key starts with the operation, so an event about samples invalidates the query. */
export const sampleQuery = (id: number) =>
  queryOptions({
    queryKey: ['roomsSensorData', { id, orNone: true }],
    queryFn: async ({ signal }) => {
      try {
        return (await client().roomsSensorData({ id }, { signal })).body.roomData
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return null
        throw error
      }
    },
  })
