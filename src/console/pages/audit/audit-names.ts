// Names the categories and the types of actors of audit entries.
import type { AuditLogEntry } from './audit-entries.ts'

export const categoryNames: Readonly<Record<AuditLogEntry['category'], string>> = {
  DEVICE: 'Devices',
  ORG: 'Organisation',
  USER: 'Keys and people',
}

export const actorTypeNames: Readonly<Record<AuditLogEntry['actor']['type'], string>> = {
  KEY: 'API key',
  USER: 'Person',
  DEVICE: 'Device',
  CLI: 'Command line',
  SYSTEM: 'System',
}
