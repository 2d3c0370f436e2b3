// Every operation of the service, once. What is not here does not exist; what is here exists everywhere.
import { auditOperations } from './audit.ts'
import { bugReportOperations } from './bug-reports.ts'
import { configOperations } from './configs.ts'
import { deviceCommandOperations } from './device/commands.ts'
import { endpointOperations } from './endpoints.ts'
import { eventOperations } from './events.ts'
import { locationOperations } from './locations.ts'
import { noteOperations } from './notes.ts'
import type { Operation } from './operation.ts'
import { identityOperations } from './people/identity.ts'
import { keyOperations } from './people/keys.ts'
import { meOperations } from './people/me.ts'
import { userOperations } from './people/users.ts'
import { profileOperations } from './profiles.ts'
import { regionOperations } from './regions.ts'
import { roomOperations } from './rooms.ts'
import { sensorHistoryOperations } from './sensor-history.ts'
import { sensorOperations } from './sensors.ts'

export const operations = {
  ...auditOperations,
  ...endpointOperations,
  ...configOperations,
  ...deviceCommandOperations,
  ...sensorOperations,
  ...sensorHistoryOperations,
  ...eventOperations,
  ...bugReportOperations,
  ...regionOperations,
  ...locationOperations,
  ...roomOperations,
  ...noteOperations,
  ...profileOperations,
  ...userOperations,
  ...keyOperations,
  ...meOperations,
  ...identityOperations,
}

export type Operations = typeof operations
export type OperationId = keyof Operations
/** The operations that make an audit entry. */
export type AuditedId = { [K in OperationId]: Operations[K] extends { audit: object } ? K : never }[OperationId]

export const operationIds = Object.keys(operations) as OperationId[]
export const operationList: readonly (Operation & { id: OperationId })[] = operationIds.map((id) => ({
  id,
  ...operations[id],
}))
