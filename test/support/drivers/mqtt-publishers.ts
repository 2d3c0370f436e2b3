// Messages of the publishers that the driver mqtt reads, in the shapes that their documents show, and what is to be made of them.
import type { Sensor } from '../../../src/contract/device/models.ts'
import type { SensorMapping } from '../../../src/contract/fleet/sources.ts'

export interface PublishedMessage {
  readonly topic: string
  readonly payload: unknown
  readonly retain?: boolean
}

export interface Publisher {
  readonly name: string
  /** The public document, or the source file, in which the shape is. */
  readonly documentedIn: string
  /** Discovery and availability. */
  readonly announces: readonly PublishedMessage[]
  readonly says: readonly PublishedMessage[]
  readonly mappings?: readonly SensorMapping[]
  readonly expected: {
    readonly key: string
    readonly model: string
    readonly serial?: string
    readonly sensors: readonly Sensor[]
    readonly values: Readonly<Partial<Record<Sensor, number>>>
    readonly isPresence?: true
    readonly readings?: readonly { readonly name: string; readonly value: number; readonly unit: string }[]
    readonly notUnderstood?: readonly string[]
    /** The payload of the next message, where the same one would be left out. */
    readonly again?: (message: PublishedMessage) => unknown
  }
}

const config = (topic: string, payload: unknown): PublishedMessage => ({ topic, payload, retain: true })

const zigbeeDevice = {
  identifiers: ['zigbee2mqtt_0x00124b0000000004'],
  manufacturer: 'Heiman',
  model: 'Air quality monitor (HS3AQ)',
  name: 'room4',
  sw_version: '20180411',
}
const zigbeeEntity = (property: string, more: object) => ({
  availability: [{ topic: 'zigbee2mqtt/bridge/state', value_template: '{{ value_json.state }}' }],
  device: zigbeeDevice,
  enabled_by_default: true,
  object_id: `room4_${property}`,
  origin: { name: 'Zigbee2MQTT', sw: '2.1.1', url: 'https://www.zigbee2mqtt.io' },
  state_class: 'measurement',
  state_topic: 'zigbee2mqtt/room4',
  unique_id: `0x00124b0000000004_${property}_zigbee2mqtt`,
  value_template: `{{ value_json["${property}"] }}`,
  ...more,
})
const zigbeeTopic = (component: string, property: string) =>
  `homeassistant/${component}/0x00124b0000000004/${property}/config`

const esphomeDevice = {
  ids: 'a4cf12000004',
  name: 'Room 4',
  sw: '2024.10.0 (Nov  1 2024, 10:00:00)',
  mdl: 'esp32dev',
  mf: 'Espressif',
  sa: 'First floor',
}
const esphome = (id: string, component: string, more: object) =>
  config(`homeassistant/${component}/room4-esp/${id}/config`, {
    name: id,
    stat_t: `room4-esp/${component}/${id}/state`,
    avty_t: 'room4-esp/status',
    uniq_id: `ESP${component}${id}`,
    dev: esphomeDevice,
    ...more,
  })

const rtl433 = (suffix: string, more: object) =>
  config(`homeassistant/sensor/Acurite-Tower-A-1234/Acurite-Tower-A-1234-${suffix}/config`, {
    unique_id: `Acurite-Tower-A-1234-${suffix}`,
    device: {
      identifiers: ['Acurite-Tower-A-1234'],
      name: 'Acurite-Tower-A-1234',
      model: 'Acurite-Tower',
      manufacturer: 'rtl_433',
    },
    expire_after: 3600,
    ...more,
  })

const tasmotaConfig = {
  ip: '192.168.1.40',
  dn: 'Room 4',
  fn: ['Room 4', null],
  hn: 'room4-1234',
  mac: 'DC4F22000004',
  md: 'Generic',
  ty: 0,
  if: 0,
  ofln: 'Offline',
  onln: 'Online',
  state: ['OFF', 'ON', 'TOGGLE', 'HOLD'],
  sw: '13.1.0',
  t: 'room4-tas',
  ft: '%prefix%/%topic%/',
  tp: ['cmnd', 'stat', 'tele'],
  ver: 1,
}
const tasmotaSensors = {
  Time: '2026-11-17T10:00:00',
  SCD40: { CarbonDioxide: 598, eCO2: 620, Temperature: 70.5, Humidity: 44.1, DewPoint: 47.1 },
  ESP32: { Temperature: 128.3 },
  TempUnit: 'F',
}

const vs121: SensorMapping = {
  format: 'things-stack',
  model: 'Milesight VS121',
  match: 'vs121',
  values: [{ sensor: 'people', template: 'value_json.people_count_all' }],
}

export const publishers: readonly Publisher[] = [
  {
    name: 'Zigbee2MQTT',
    documentedIn: 'Zigbee2MQTT, lib/extension/homeassistant.ts; MQTT Topics and Messages',
    announces: [
      config(
        zigbeeTopic('sensor', 'co2'),
        zigbeeEntity('co2', { device_class: 'carbon_dioxide', unit_of_measurement: 'ppm' }),
      ),
      config(
        zigbeeTopic('sensor', 'temperature'),
        zigbeeEntity('temperature', { device_class: 'temperature', unit_of_measurement: '°C' }),
      ),
      config(
        zigbeeTopic('sensor', 'device_temperature'),
        zigbeeEntity('device_temperature', {
          device_class: 'temperature',
          unit_of_measurement: '°C',
          entity_category: 'diagnostic',
        }),
      ),
      config(
        zigbeeTopic('sensor', 'eco2'),
        zigbeeEntity('eco2', { device_class: 'volatile_organic_compounds_parts', unit_of_measurement: 'ppm' }),
      ),
      config(zigbeeTopic('sensor', 'voc_index'), zigbeeEntity('voc_index', {})),
      config(
        zigbeeTopic('sensor', 'battery'),
        zigbeeEntity('battery', { device_class: 'battery', unit_of_measurement: '%', entity_category: 'diagnostic' }),
      ),
      config(
        zigbeeTopic('sensor', 'linkquality'),
        zigbeeEntity('linkquality', {
          unit_of_measurement: 'lqi',
          entity_category: 'diagnostic',
          enabled_by_default: false,
        }),
      ),
      config(
        zigbeeTopic('binary_sensor', 'occupancy'),
        zigbeeEntity('occupancy', { device_class: 'occupancy', payload_on: true, payload_off: false }),
      ),
      { topic: 'zigbee2mqtt/bridge/state', payload: { state: 'online' }, retain: true },
    ],
    says: [
      {
        topic: 'zigbee2mqtt/room4',
        payload: {
          co2: 612,
          temperature: 21.4,
          device_temperature: 39,
          eco2: 700,
          voc_index: 98,
          battery: 97,
          linkquality: 120,
          occupancy: true,
        },
      },
      // A message without the other keys leaves their values as they are.
      { topic: 'zigbee2mqtt/room4', payload: { co2: 613, linkquality: 121 } },
    ],
    expected: {
      key: 'ha/zigbee2mqtt_0x00124b0000000004',
      model: 'Air quality monitor (HS3AQ)',
      sensors: ['co2', 'people', 'temp', 'vocIndex'],
      values: { co2: 613, people: 1, temp: 21.4, vocIndex: 98 },
      isPresence: true,
      readings: [
        { name: 'battery', value: 97, unit: '%' },
        { name: 'linkquality', value: 121, unit: 'lqi' },
        { name: 'eco2', value: 700, unit: 'ppm' },
      ],
    },
  },
  {
    name: 'ESPHome',
    documentedIn: 'ESPHome, MQTT Client Component; esphome/components/mqtt/mqtt_component.cpp',
    announces: [
      esphome('temp', 'sensor', { dev_cla: 'temperature', unit_of_meas: '°C', stat_cla: 'measurement' }),
      esphome('co2', 'sensor', { dev_cla: 'carbon_dioxide', unit_of_meas: 'ppm', stat_cla: 'measurement' }),
      esphome('lux', 'sensor', { dev_cla: 'illuminance', unit_of_meas: 'lx' }),
      esphome('people_count', 'sensor', { stat_cla: 'measurement' }),
      esphome('presence', 'binary_sensor', { dev_cla: 'presence' }),
      { topic: 'room4-esp/status', payload: 'online', retain: true },
    ],
    says: [
      { topic: 'room4-esp/sensor/temp/state', payload: '21.4', retain: true },
      { topic: 'room4-esp/sensor/co2/state', payload: 'nan', retain: true },
      { topic: 'room4-esp/sensor/lux/state', payload: '312.5', retain: true },
      { topic: 'room4-esp/sensor/people_count/state', payload: '4', retain: true },
      { topic: 'room4-esp/binary_sensor/presence/state', payload: 'ON', retain: true },
    ],
    expected: {
      key: 'ha/a4cf12000004',
      model: 'esp32dev',
      sensors: ['co2', 'illumination', 'people', 'temp'],
      values: { illumination: 312.5, people: 4, temp: 21.4 },
    },
  },
  {
    name: 'OpenMQTTGateway, whose state topics have wildcards',
    documentedIn: 'OpenMQTTGateway, main/mqttDiscovery.cpp; docs: Home Assistant integration',
    announces: [
      config('homeassistant/sensor/A4C138000004-tempc/config', {
        stat_t: '+/+/BTtoMQTT/A4C138000004',
        dev_cla: 'temperature',
        unit_of_meas: '°C',
        name: 'tempc',
        uniq_id: 'A4C138000004-tempc',
        val_tpl: '{{ value_json.tempc | is_defined }}',
        dev: {
          ids: ['A4C138000004'],
          cns: [['mac', 'A4C138000004']],
          mf: 'Xiaomi',
          mdl: 'LYWSD03MMC',
          name: 'LYWSD03MMC-000004',
        },
      }),
      config('homeassistant/sensor/A4C138000004-hum/config', {
        stat_t: '+/+/BTtoMQTT/A4C138000004',
        dev_cla: 'humidity',
        unit_of_meas: '%',
        name: 'hum',
        uniq_id: 'A4C138000004-hum',
        val_tpl: '{{ value_json.hum | is_defined }}',
        dev: { ids: ['A4C138000004'] },
      }),
    ],
    says: [
      {
        topic: 'home/OMG_ONE/BTtoMQTT/A4C138000004',
        payload: { id: 'A4:C1:38:00:00:04', rssi: -71, tempc: 21.4, hum: 44.2 },
      },
      { topic: 'home/OMG_TWO/BTtoMQTT/A4C138000004', payload: { id: 'A4:C1:38:00:00:04', rssi: -80 } },
    ],
    expected: {
      key: 'ha/A4C138000004',
      model: 'LYWSD03MMC',
      sensors: ['humidity', 'temp'],
      values: { humidity: 44.2, temp: 21.4 },
    },
  },
  {
    name: "rtl_433's script",
    documentedIn: 'rtl_433, examples/rtl_433_mqtt_hass.py',
    announces: [
      rtl433('T', {
        device_class: 'temperature',
        name: 'Temperature',
        unit_of_measurement: '°F',
        value_template: '{{ value|float|round(1) }}',
        state_class: 'measurement',
        state_topic: 'rtl_433/hub/devices/Acurite-Tower/A/1234/temperature_F',
      }),
      rtl433('H', {
        device_class: 'humidity',
        name: 'Humidity',
        unit_of_measurement: '%',
        value_template: '{{ value|float }}',
        state_class: 'measurement',
        state_topic: 'rtl_433/hub/devices/Acurite-Tower/A/1234/humidity',
      }),
      rtl433('B', {
        device_class: 'battery',
        name: 'Battery',
        unit_of_measurement: '%',
        value_template: '{{ ((float(value) * 99)|round(0)) + 1 }}',
        state_topic: 'rtl_433/hub/devices/Acurite-Tower/A/1234/battery_ok',
      }),
    ],
    says: [
      { topic: 'rtl_433/hub/devices/Acurite-Tower/A/1234/temperature_F', payload: '70.52' },
      { topic: 'rtl_433/hub/devices/Acurite-Tower/A/1234/humidity', payload: '44' },
      { topic: 'rtl_433/hub/devices/Acurite-Tower/A/1234/battery_ok', payload: '1' },
    ],
    expected: {
      key: 'ha/Acurite-Tower-A-1234',
      model: 'Acurite-Tower',
      sensors: ['humidity', 'temp'],
      values: { humidity: 44, temp: 21.388889 },
      notUnderstood: ['Battery: Not understood: {{ ((float(value) * 99)|round(0)) + 1 }}'],
    },
  },
  {
    name: "the device form of Home Assistant's discovery, with abbreviations and ~",
    documentedIn: 'Home Assistant, MQTT: Device discovery payload',
    announces: [
      config('homeassistant/device/ea334450945afc/config', {
        '~': 'rooms/ea33',
        dev: {
          ids: 'ea334450945afc',
          name: 'Kitchen',
          mf: 'Bla electronics',
          mdl: 'xya',
          sw: '1.0',
          sn: 'SN-ea33',
          hw: '1.0rev2',
        },
        o: { name: 'bla2mqtt', sw: '2.1' },
        cmps: {
          t1: {
            p: 'sensor',
            dev_cla: 'temperature',
            unit_of_meas: 'K',
            val_tpl: "{{ value_json['t'] }}",
            uniq_id: 'temp01ae_t',
          },
          h1: {
            p: 'sensor',
            dev_cla: 'humidity',
            unit_of_meas: '%',
            val_tpl: '{{ value_json.h | default(41) }}',
            uniq_id: 'temp01ae_h',
          },
          m1: { p: 'binary_sensor', dev_cla: 'motion', stat_t: '~/motion', off_dly: 900, uniq_id: 'temp01ae_m' },
          l1: { p: 'light', cmd_t: '~/light', uniq_id: 'temp01ae_l' },
        },
        stat_t: '~/state',
        avty: [{ t: '~/online', pl_avail: 'yes', pl_not_avail: 'no' }],
        qos: 2,
      }),
      { topic: 'rooms/ea33/online', payload: 'yes', retain: true },
    ],
    says: [
      { topic: 'rooms/ea33/state', payload: { t: 294.55 } },
      { topic: 'rooms/ea33/motion', payload: 'ON' },
    ],
    expected: {
      key: 'ha/ea334450945afc',
      model: 'xya',
      serial: 'SN-ea33',
      sensors: ['humidity', 'people', 'temp'],
      values: { humidity: 41, people: 1, temp: 21.4 },
      isPresence: true,
    },
  },
  {
    name: 'Tasmota',
    documentedIn: 'Tasmota docs: MQTT, Sensors; hatasmota/discovery.py',
    announces: [
      config('tasmota/discovery/DC4F22000004/config', tasmotaConfig),
      config('tasmota/discovery/DC4F22000004/sensors', { sn: tasmotaSensors, ver: 1 }),
      { topic: 'tele/room4-tas/LWT', payload: 'Online', retain: true },
    ],
    says: [
      {
        topic: 'tele/room4-tas/SENSOR',
        payload: { ...tasmotaSensors, SCD40: { ...tasmotaSensors.SCD40, CarbonDioxide: 612 } },
      },
    ],
    expected: {
      key: 'tasmota/DC4F22000004',
      model: 'Generic',
      serial: 'DC4F22000004',
      sensors: ['co2', 'humidity', 'temp'],
      values: { co2: 612, humidity: 44.1, temp: 21.388889 },
      readings: [{ name: 'eco2', value: 620, unit: '' }],
    },
  },
  {
    name: 'Shelly, by its component topics',
    documentedIn: 'Shelly API docs, Gen2: MQTT; Temperature; Humidity; DevicePower',
    announces: [{ topic: 'shellyplusht-a8032ab10004/online', payload: 'false', retain: true }],
    says: [
      { topic: 'shellyplusht-a8032ab10004/status/temperature:0', payload: { id: 0, tC: 21.4, tF: 70.5 } },
      { topic: 'shellyplusht-a8032ab10004/status/humidity:0', payload: { id: 0, rh: 44 } },
      {
        topic: 'shellyplusht-a8032ab10004/status/devicepower:0',
        payload: { id: 0, battery: { V: 5.34, percent: 73 }, external: { present: false } },
      },
    ],
    expected: {
      key: 'shelly/shellyplusht-a8032ab10004',
      model: 'shellyplusht',
      serial: 'A8032AB10004',
      sensors: ['humidity', 'temp'],
      values: { humidity: 44, temp: 21.4 },
      readings: [{ name: 'battery', value: 73, unit: '%' }],
    },
  },
  {
    name: 'Shelly, by its notifications',
    documentedIn: 'Shelly API docs, Gen2: Notifications',
    announces: [],
    says: [
      {
        topic: 'meeting-room-4/events/rpc',
        payload: {
          src: 'shellyhtg3-84fce6000004',
          dst: 'meeting-room-4/events',
          method: 'NotifyFullStatus',
          params: {
            ts: 1794996000.12,
            ble: {},
            'devicepower:0': { id: 0, battery: { V: 0.43, percent: 0 }, external: { present: true } },
            'humidity:0': { id: 0, rh: 42.2 },
            'temperature:0': { id: 0, tC: 19.8, tF: 67.6 },
            wifi: { rssi: -56 },
          },
        },
      },
    ],
    expected: {
      key: 'shelly/meeting-room-4',
      model: 'shellyhtg3',
      serial: '84FCE6000004',
      sensors: ['humidity', 'temp'],
      values: { humidity: 42.2, temp: 19.8 },
    },
  },
  {
    name: 'AirGradient',
    documentedIn: 'AirGradient firmware (arduino), docs/local-server.md',
    announces: [],
    says: [
      {
        topic: 'airgradient/readings/ecda3b000004',
        payload: {
          wifi: -46,
          serialno: 'ecda3b000004',
          rco2: 612,
          pm02: 7,
          atmp: 23.1,
          atmpCompensated: 21.4,
          rhum: 40,
          rhumCompensated: 44,
          tvocIndex: 98,
          tvocRaw: 33051,
          noxIndex: 1,
          firmware: '3.1.3',
          model: 'I-9PSL',
        },
      },
    ],
    expected: {
      key: 'airgradient/ecda3b000004',
      model: 'I-9PSL',
      serial: 'ecda3b000004',
      sensors: ['co2', 'humidity', 'temp', 'vocIndex'],
      values: { co2: 612, humidity: 44, temp: 21.4, vocIndex: 98 },
      readings: [{ name: 'pm25', value: 7, unit: 'µg/m³' }],
    },
  },
  {
    name: 'The Things Stack',
    documentedIn: 'The Things Stack docs: Data Formats; MQTT Server',
    announces: [],
    mappings: [vs121, { ...vs121, format: 'chirpstack' }],
    says: [
      {
        topic: 'v3/app1@tenant1/devices/vs121-4/up',
        payload: {
          end_device_ids: { device_id: 'vs121-4', dev_eui: '24E124000000AA04' },
          correlation_ids: ['gs:uplink:01H'],
          received_at: new Date().toISOString(),
          uplink_message: {
            session_key_id: 'AYfg8rhha5n+FWx0ZaAprA==',
            f_port: 85,
            f_cnt: 17,
            decoded_payload: { people_count_all: 3, region_1: 2 },
            received_at: new Date().toISOString(),
          },
        },
      },
    ],
    expected: {
      key: 'things-stack/24E124000000AA04',
      model: 'Milesight VS121',
      serial: '24E124000000AA04',
      sensors: ['people'],
      values: { people: 3 },
      again: ({ payload }) => {
        const message = payload as { uplink_message: object }
        return { ...message, uplink_message: { ...message.uplink_message, f_cnt: 18 } }
      },
    },
  },
  {
    name: 'ChirpStack',
    documentedIn: 'ChirpStack docs v4: Event types; api/proto/integration/integration.proto',
    announces: [],
    mappings: [vs121, { ...vs121, format: 'chirpstack' }],
    says: [
      {
        topic: 'application/0b1c7b8e-3f9a-4f3e-9f57-bd5d0c8f1d21/device/24e124000000aa05/event/up',
        payload: {
          deduplicationId: '3ac7e3c4-4401-4b8d-9386-a5c902f9202d',
          time: new Date().toISOString().replace('Z', '+00:00'),
          deviceInfo: { devEui: '24e124000000aa05', deviceName: 'Counter 5', deviceProfileName: 'Milesight VS121' },
          fCnt: 5,
          fPort: 85,
          object: { people_count_all: 2 },
        },
      },
    ],
    expected: {
      key: 'chirpstack/24E124000000AA05',
      model: 'Milesight VS121',
      serial: '24E124000000AA05',
      sensors: ['people'],
      values: { people: 2 },
      again: ({ payload }) => ({ ...(payload as object), deduplicationId: '9f0f1f0a-0000-4b8d-9386-a5c902f9202d' }),
    },
  },
  {
    name: 'any other JSON, by a mapping',
    documentedIn: 'docs/mqtt-sensors.md',
    announces: [],
    mappings: [
      {
        format: 'json',
        model: 'Desk sensor',
        topic: 'desks/+/state',
        device: 'topic[1]',
        values: [
          { sensor: 'presence', template: 'value_json.seat.taken' },
          { sensor: 'temp', template: 'value_json.t | float', unit: '°F' },
        ],
      },
    ],
    says: [{ topic: 'desks/desk-17/state', payload: { t: '70.52', seat: { taken: true } } }],
    expected: {
      key: 'json/desks/+/state desk-17',
      model: 'Desk sensor',
      sensors: ['people', 'temp'],
      values: { people: 1, temp: 21.4 },
      isPresence: true,
    },
  },
]
