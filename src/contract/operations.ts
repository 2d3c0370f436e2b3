// The only list of operations: routes, client, documents and tests come from it.
import { auditOperations } from './audit.ts'
import { bugReportOperations } from './bug-reports.ts'
import { configOperations } from './configs.ts'
import { deviceCommandOperations } from './device/commands.ts'
import { endpointOperations } from './endpoints.ts'
import { eventOperations } from './events.ts'
import { channelOperations } from './incidents/channels.ts'
import { connectionOperations } from './incidents/connections.ts'
import { incidentRuleOperations } from './incidents/incident-rules.ts'
import { incidentOperations } from './incidents/incidents.ts'
import { silenceOperations } from './incidents/silences.ts'
import { jobOperations } from './jobs/jobs.ts'
import { locationOperations } from './locations.ts'
import { noteOperations } from './notes.ts'
import type { Operation } from './operation.ts'
import { orgOperations } from './orgs.ts'
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
  ...orgOperations,
  ...identityOperations,
  ...connectionOperations,
  ...incidentOperations,
  ...incidentRuleOperations,
  ...silenceOperations,
  ...channelOperations,
  ...jobOperations,
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
