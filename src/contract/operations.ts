// The only list of operations: routes, client, documents and tests come from it.

import { channelOperations } from './channels/channels.ts'
import { bugReportOperations } from './fleet/bug-reports.ts'
import { deviceCommandOperations } from './fleet/commands.ts'
import { configOperations } from './fleet/configs.ts'
import { connectionOperations } from './fleet/connections.ts'
import { endpointOperations } from './fleet/endpoints.ts'
import { gatewayOperations } from './fleet/gateways.ts'
import { locationOperations } from './fleet/locations.ts'
import { noteOperations } from './fleet/notes.ts'
import { profileOperations } from './fleet/profiles.ts'
import { regionOperations } from './fleet/regions.ts'
import { roomOperations } from './fleet/rooms.ts'
import { sourceOperations } from './fleet/sources.ts'
import { incidentRuleOperations } from './incidents/incident-rules.ts'
import { incidentOperations } from './incidents/incidents.ts'
import { silenceOperations } from './incidents/silences.ts'
import { jobOperations } from './jobs/jobs.ts'
import { recurringJobOperations } from './jobs/recurring-jobs.ts'
import { auditOperations } from './journal/audit.ts'
import { eventOperations } from './journal/events.ts'
import { orgOperations } from './journal/orgs.ts'
import type { Operation } from './operation.ts'
import { identityOperations } from './people/identity.ts'
import { keyOperations } from './people/keys.ts'
import { meOperations } from './people/me.ts'
import { userOperations } from './people/users.ts'
import { viewOperations } from './people/views.ts'
import { airOperations } from './reports/air.ts'
import { availabilityOperations } from './reports/availability.ts'
import { incidentReportOperations } from './reports/incidents.ts'
import { lastDayOperations } from './reports/last-day.ts'
import { metricsOperations } from './reports/metrics.ts'
import { monthOperations } from './reports/month.ts'
import { useOperations } from './reports/use.ts'
import { sensorHistoryOperations } from './sensors/sensor-history.ts'
import { sensorOperations } from './sensors/sensors.ts'

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
  ...viewOperations,
  ...orgOperations,
  ...identityOperations,
  ...connectionOperations,
  ...incidentOperations,
  ...incidentRuleOperations,
  ...silenceOperations,
  ...channelOperations,
  ...jobOperations,
  ...recurringJobOperations,
  ...gatewayOperations,
  ...sourceOperations,
  ...metricsOperations,
  ...useOperations,
  ...lastDayOperations,
  ...monthOperations,
  ...airOperations,
  ...availabilityOperations,
  ...incidentReportOperations,
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
