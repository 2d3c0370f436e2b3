// Connects the operations of configs to their rules.
import type { OperationHandlers } from '../../context/handlers.ts'
import {
  configStateGet,
  configVersionsGet,
  configVersionsList,
  configVersionsRestore,
  endpointsApplyConfig,
  endpointsSettings,
} from './rules.ts'

export const configRoutes: OperationHandlers<
  | 'endpointsSettings'
  | 'endpointsApplyConfig'
  | 'configVersionsList'
  | 'configVersionsGet'
  | 'configVersionsRestore'
  | 'configStateGet'
> = {
  endpointsSettings: (ctx, { params }) => endpointsSettings(ctx, params.id),
  endpointsApplyConfig: (ctx, { params, body, numberText }) => endpointsApplyConfig(ctx, params.id, body, numberText),
  configVersionsList: (ctx, { params }) => configVersionsList(ctx, params.id),
  configVersionsGet: (ctx, { params }) => configVersionsGet(ctx, params.id, params.n),
  configVersionsRestore: (ctx, { params }) => configVersionsRestore(ctx, params.id, params.n),
  configStateGet: (ctx, { params }) => configStateGet(ctx, params.id),
}
