// Words for who acted and what an entry is about.
import type { Entry } from './audit-entries.ts'

export const categoryWords: Readonly<Record<Entry['category'], string>> = {
  DEVICE: 'Devices',
  ORG: 'Organisation',
  USER: 'Keys and users',
}

export const actorKinds: Readonly<Record<Entry['actor']['type'], string>> = {
  KEY: 'API key',
  DEVICE: 'Device',
  CLI: 'Command line',
  SYSTEM: 'System',
}
