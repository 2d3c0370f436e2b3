// The latest sample of a room; null when no device has sent one lately, which is no failure. [contract 5.2.aggregate]
import { queryOptions } from '@tanstack/react-query'
import { ApiError } from '../../../client/client.ts'
import { client } from '../../session.ts'

/** Its key begins as that of the operation, so that every sample makes it old. */
export const askSample = (id: number) =>
  queryOptions({
    queryKey: ['roomsSensorData', { id, orNone: true }],
    queryFn: async ({ signal }) => {
      try {
        return (await client().roomsSensorData({ id }, { signal })).body.roomData.data[0] ?? null
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return null
        throw error
      }
    },
  })
