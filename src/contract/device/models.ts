// The known models: what their sensors measure and what their devices can do. [contract 5.1.models] [contract 5.1.actions] [contract 5.2.models]

/** Physical ranges: a value outside is refused. [contract 5.2] */
export const sensorRanges = {
  co2: { min: 0, max: 40_000, unit: 'ppm' },
  humidity: { min: 0, max: 100, unit: '%rH' },
  illumination: { min: 0, max: 200_000, unit: 'lux' },
  people: { min: 0, max: 10_000, unit: 'people' },
  temp: { min: -40, max: 85, unit: '°C' },
  voc: { min: 0, max: 100_000, unit: 'ppb' },
  vocIndex: { min: 0, max: 500, unit: 'index' },
} as const
export type Sensor = keyof typeof sensorRanges
export const sensors = Object.keys(sensorRanges) as Sensor[]

/** The kinds of devices. For a model that is known, the table of models has the kind. [contract 5.1.kind] */
export const endpointKinds = [
  'CODEC',
  'CONTROLLER',
  'DISPLAY',
  'PROJECTOR',
  'CAMERA',
  'AUDIO',
  'PRESENTATION',
  'CONTROL',
  'SENSOR',
  'POWER',
  'NETWORK',
  'COMPUTER',
  'GATEWAY',
  'OTHER',
] as const
export type EndpointKind = (typeof endpointKinds)[number]

/** The actions that a device can carry out for people. [contract 5.1.actions] */
export const deviceActions = ['reboot', 'message', 'logs', 'config', 'power'] as const
export type DeviceAction = (typeof deviceActions)[number]

/** The actions of a device that does not report them. */
export const defaultActions: readonly DeviceAction[] = ['reboot', 'message', 'logs', 'config']

export interface Model {
  readonly name: string
  /** Absent for a code that is not in the table: its devices report it, as they do the maker. */
  readonly kind?: EndpointKind
  readonly manufacturer?: string
  /** Absent for a code that is not in the table: its devices name their sensors, or show them by what they send. */
  readonly sensors?: readonly Sensor[]
  readonly actions: readonly DeviceAction[]
  /** Only the Frame has a privacy shutter. [interface F1] */
  readonly shutter?: true
}

type KnownModel = Model & Required<Pick<Model, 'kind' | 'manufacturer' | 'sensors'>>

const pad: readonly Sensor[] = ['humidity', 'temp', 'co2', 'voc']
const bar: readonly Sensor[] = [...pad, 'illumination', 'people']
const pro: readonly Sensor[] = ['humidity', 'temp', 'vocIndex', 'illumination', 'people']
const board: readonly Sensor[] = ['humidity', 'temp', 'illumination', 'people']

const codec = { kind: 'CODEC', manufacturer: 'Neat', actions: defaultActions } as const
const controller = { ...codec, kind: 'CONTROLLER' } as const
const camera = { ...codec, kind: 'CAMERA' } as const

export const models: Readonly<Record<string, KnownModel>> = {
  NF19A1: { ...controller, name: 'Pad', sensors: pad },
  NF25J1: { ...controller, name: 'Pad Pro', sensors: pad },
  NF19B1: { ...codec, name: 'Bar', sensors: bar },
  NF22E1: { ...codec, name: 'Bar 2', sensors: ['illumination', 'people'] },
  NF21D1: { ...codec, name: 'Bar Pro', sensors: pro },
  NF21F1: { ...codec, name: 'Frame', sensors: pro, shutter: true },
  NF20C1: { ...codec, name: 'Board', sensors: bar },
  NF25M1: { ...codec, name: 'Board 32', sensors: board },
  NF22H1: { ...codec, name: 'Board 50', sensors: board },
  NF23K1: { ...codec, name: 'Board Pro', sensors: pro },
  NF23L1: { ...camera, name: 'Center', sensors: ['people'] },
}

export const modelOf = (code: string): Model =>
  Object.hasOwn(models, code) ? (models[code] as Model) : { name: code, actions: defaultActions }

/** Returns what a device can do. What it reports wins over the table. [contract 5.1.actions] */
export const actionsOf = (
  model: string,
  reported: readonly DeviceAction[] | null | undefined,
): readonly DeviceAction[] => reported ?? modelOf(model).actions

/** The sensors of an endpoint: the table of models has them, or else the endpoint's own list. [contract 5.1.models] */
export const sensorsOf = (endpoint: {
  readonly model: string
  readonly sensors?: readonly Sensor[]
}): readonly Sensor[] => modelOf(endpoint.model).sensors ?? endpoint.sensors ?? []
