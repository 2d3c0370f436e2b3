// The objects that the driver reads.

const mib2 = '1.3.6.1.2.1'

export const system = {
  descr: `${mib2}.1.1.0`,
  objectId: `${mib2}.1.2.0`,
  name: `${mib2}.1.5.0`,
  location: `${mib2}.1.6.0`,
  /** Layers of the network at which the device works, one bit each. */
  services: `${mib2}.1.7.0`,
  /** BRIDGE-MIB: ports of a switch. */
  bridgePorts: `${mib2}.17.1.2.0`,
} as const

export const uptime = {
  /** Since the agent started, in 1/100 s; starts again after 497 days. */
  agentTicks: `${mib2}.1.3.0`,
  /** HOST-RESOURCES-MIB: since the device started, in 1/100 s; starts again after 497 days. */
  hostTicks: `${mib2}.25.1.1.0`,
  engineBoots: '1.3.6.1.6.3.10.2.1.2.0',
  engineSeconds: '1.3.6.1.6.3.10.2.1.3.0',
} as const

const ifEntry = `${mib2}.2.2.1`
export const interfaceColumns = {
  descr: `${ifEntry}.2`,
  type: `${ifEntry}.3`,
  mtu: `${ifEntry}.4`,
  macAddress: `${ifEntry}.6`,
  operStatus: `${ifEntry}.8`,
  name: `${mib2}.31.1.1.1.1`,
} as const

const entPhysicalEntry = `${mib2}.47.1.1.1.1`
export const entityClassColumn = `${entPhysicalEntry}.5`
export const entityColumns = {
  hardware: `${entPhysicalEntry}.8`,
  firmware: `${entPhysicalEntry}.9`,
  software: `${entPhysicalEntry}.10`,
  serial: `${entPhysicalEntry}.11`,
  maker: `${entPhysicalEntry}.12`,
  model: `${entPhysicalEntry}.13`,
} as const

const upsMib = `${mib2}.33.1`
export const upsIdentity = {
  maker: `${upsMib}.1.1.0`,
  model: `${upsMib}.1.2.0`,
  software: `${upsMib}.1.3.0`,
} as const
export const ups = {
  batteryStatus: `${upsMib}.2.1.0`,
  minutesLeft: `${upsMib}.2.3.0`,
  chargePercent: `${upsMib}.2.4.0`,
  batteryCelsius: `${upsMib}.2.7.0`,
  outputSource: `${upsMib}.4.1.0`,
  loadPercent: `${upsMib}.4.4.1.5.1`,
  alarmsPresent: `${upsMib}.6.1.0`,
} as const
/** Alarms that a UPS has now, as object identifiers. */
export const upsAlarmColumn = `${upsMib}.6.2.1.2`
export const upsKnownAlarms = `${upsMib}.6.3`

/** Switched outlets have no standard; each maker has a column with the state of each, and its own numbers. */
export const outletColumns = [
  { maker: 'APC', column: '1.3.6.1.4.1.318.1.1.26.9.2.3.1.5', on: 2, off: 1 },
  { maker: 'APC', column: '1.3.6.1.4.1.318.1.1.12.3.5.1.1.4', on: 1, off: 2 },
  { maker: 'Raritan', column: '1.3.6.1.4.1.13742.6.4.1.2.1.3.1', on: 7, off: 8 },
] as const
