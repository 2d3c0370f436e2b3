// Wraps queries whose id comes from a caller and may be any text: a text that is no UUID is not looked up. [contract 1.5]
import { isUuid } from '../../core/uuid.ts'

/** Returns undefined for an id that is no UUID, as for an id that does not exist. */
export const byUuid =
  <H, V extends { id: string }, R>(find: (on: H, values: V) => Promise<R | undefined>) =>
  async (on: H, values: V): Promise<R | undefined> =>
    isUuid(values.id) ? find(on, values) : undefined

/** Leaves out the ids that are no UUIDs. */
export const byUuids =
  <H, V extends { ids: readonly string[] }, R>(list: (on: H, values: V) => Promise<R[]>) =>
  (on: H, values: V): Promise<R[]> =>
    list(on, { ...values, ids: values.ids.filter(isUuid) })
