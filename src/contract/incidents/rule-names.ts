// The names of the rules that open incidents, for people. [contract 10.rule]
import type { RuleId } from './rule-table.ts'

export const ruleNames: Readonly<Record<RuleId, string>> = {
  'device.offline': 'Device offline',
  'device.flapping': 'Device keeps disconnecting',
  'config.rejected': 'Settings rejected',
  'config.undelivered': 'Settings not delivered',
  'air.beyond': 'Air quality',
  'room.crowded': 'Room over capacity',
  'sensor.silent': 'No sensor data',
  'storage.low': 'Storage low',
  'device.fault': 'Device reports a fault',
  'peripheral.missing': 'Peripheral missing',
  'gateway.device': 'Device behind a gateway not managed',
  'source.failing': 'Source not read',
  'firmware.behind': 'Firmware outdated',
  'clock.unreachable': 'Time server unreachable',
  'credential.refused': 'Wrong device credentials',
  'credential.shared': 'Device credentials shared',
  'certificate.expiring': 'Certificate expires',
  'channel.failing': 'Notifications failing',
  'job.stopped': 'Job stopped',
}
