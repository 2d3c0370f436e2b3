// Whether a publisher says that an entity is available: Home Assistant's modes latest, all and any.
import { evaluate, renderedText, type TemplateInput } from '../../../sensor-mapping/template.ts'
import type { AvailabilitySettings } from './announcement.ts'

export class EntityAvailability {
  readonly settings: AvailabilitySettings
  readonly #states: (boolean | undefined)[] = []
  #latest: boolean | undefined

  constructor(settings: AvailabilitySettings) {
    this.settings = settings
  }

  /** Takes a message of the topic with this index. Texts that are neither of both change nothing. */
  take(index: number, message: TemplateInput): void {
    const topic = this.settings.topics[index]
    if (!topic) return
    const found = evaluate(topic.template, message)
    if (found.kind !== 'value') return
    const text = renderedText(found.value)
    if (text !== topic.available && text !== topic.notAvailable) return
    this.#latest = text === topic.available
    this.#states[index] = this.#latest
  }

  /** Undefined before a message has decided it. */
  get isAvailable(): boolean | undefined {
    const { mode, topics } = this.settings
    if (mode === 'latest') return this.#latest
    const states = topics.map((_, i) => this.#states[i])
    if (mode === 'any') return states.includes(true) ? true : states.includes(undefined) ? undefined : false
    return states.includes(false) ? false : states.includes(undefined) ? undefined : true
  }

  /** The first topic that says that the entity is not available. */
  get unavailableTopic(): string | undefined {
    const index = this.#states.indexOf(false)
    return this.settings.topics[index]?.topic
  }
}
