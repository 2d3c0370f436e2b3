// The keys of Home Assistant's discovery messages that are read, with their abbreviations. Home Assistant documents them under
// "Supported abbreviations in MQTT discovery messages" of its MQTT integration.
import { isJsonObject, type Json, type JsonMap } from '../../../../sensor-mapping/limited-json.ts'

const entityKeys: Readonly<Record<string, string>> = {
  avty: 'availability',
  avty_mode: 'availability_mode',
  avty_t: 'availability_topic',
  avty_tpl: 'availability_template',
  cmps: 'components',
  def_ent_id: 'default_entity_id',
  dev: 'device',
  dev_cla: 'device_class',
  e: 'encoding',
  ent_cat: 'entity_category',
  exp_aft: 'expire_after',
  o: 'origin',
  obj_id: 'object_id',
  off_dly: 'off_delay',
  p: 'platform',
  pl_avail: 'payload_available',
  pl_not_avail: 'payload_not_available',
  pl_off: 'payload_off',
  pl_on: 'payload_on',
  stat_cla: 'state_class',
  stat_t: 'state_topic',
  t: 'topic',
  uniq_id: 'unique_id',
  unit_of_meas: 'unit_of_measurement',
  val_tpl: 'value_template',
}
const deviceKeys: Readonly<Record<string, string>> = {
  cns: 'connections',
  hw: 'hw_version',
  ids: 'identifiers',
  mdl: 'model',
  mdl_id: 'model_id',
  mf: 'manufacturer',
  sa: 'suggested_area',
  sn: 'serial_number',
  sw: 'sw_version',
}

const expand = (object: JsonMap, names: Readonly<Record<string, string>>): Record<string, Json> =>
  Object.fromEntries(
    Object.entries(object).map(([key, value]) => [Object.hasOwn(names, key) ? (names[key] as string) : key, value]),
  )

/** Long names for all keys, and topics without `~`. */
export function expandEntity(config: JsonMap): Record<string, Json> {
  const entity = expand(config, entityKeys)
  const base = typeof entity['~'] === 'string' ? entity['~'] : undefined
  for (const [key, value] of Object.entries(entity)) if (/(?:^|_)topic$/.test(key)) entity[key] = withBase(value, base)
  const { availability } = entity
  if (availability !== undefined) {
    const list: readonly Json[] = Array.isArray(availability) ? availability : [availability as Json]
    entity.availability = list.filter(isJsonObject).map((one) => {
      const expanded = expand(one, entityKeys)
      return { ...expanded, topic: withBase(expanded.topic ?? null, base) }
    })
  }
  return entity
}

export const expandDevice = (device: JsonMap): Record<string, Json> => expand(device, deviceKeys)

/** `~` stands for the base at the beginning or at the end of a topic. */
function withBase(topic: Json, base: string | undefined): Json {
  if (typeof topic !== 'string' || base === undefined) return topic
  if (topic.startsWith('~')) return base + topic.slice(1)
  return topic.endsWith('~') ? topic.slice(0, -1) + base : topic
}
