// The doors to configs.
import type { Handlers } from '../../http/handlers.ts'
import {
  configStateGet,
  configVersionsGet,
  configVersionsList,
  configVersionsRestore,
  endpointsApplyConfig,
  endpointsSettings,
} from './rules.ts'

export const configRoutes: Handlers<
  | 'endpointsSettings'
  | 'endpointsApplyConfig'
  | 'configVersionsList'
  | 'configVersionsGet'
  | 'configVersionsRestore'
  | 'configStateGet'
> = {
  endpointsSettings: (by, { params }) => endpointsSettings(by, params.id),
  endpointsApplyConfig: (by, { params, body, numberText }) => endpointsApplyConfig(by, params.id, body, numberText),
  configVersionsList: (by, { params }) => configVersionsList(by, params.id),
  configVersionsGet: (by, { params }) => configVersionsGet(by, params.id, params.n),
  configVersionsRestore: (by, { params }) => configVersionsRestore(by, params.id, params.n),
  configStateGet: (by, { params }) => configStateGet(by, params.id),
}
