// The doors to API keys.
import type { Handlers } from '../../http/handlers.ts'
import { keysCreate, keysDelete, keysList } from './rules.ts'

export const keyRoutes: Handlers<'keysList' | 'keysCreate' | 'keysDelete'> = {
  keysList,
  keysCreate: (by, { body }) => keysCreate(by, body),
  keysDelete: (by, { params }) => keysDelete(by, params.id),
}
