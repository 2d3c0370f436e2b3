// The two trees of a codec, status and configuration, and the questions that the driver asks them.
import {
  type ConfigurationPath,
  configurationPaths,
  type configurationValues,
  type StatusPath,
  statusPaths,
  type statusValues,
} from './xapi-paths.ts'
import { XapiTree } from './xapi-tree.ts'

type StatusValue<P extends keyof typeof statusValues> = (typeof statusValues)[P][number]
type ConfigurationValue<P extends keyof typeof configurationValues> = (typeof configurationValues)[P][number]

export class Codec {
  readonly status = new XapiTree<StatusPath>(statusPaths)
  readonly configuration = new XapiTree<ConfigurationPath>(configurationPaths)

  /** Compares a status with a value that `statusValues` lists. */
  is<P extends keyof typeof statusValues>(path: P, value: StatusValue<P>, ...ids: string[]): boolean {
    return this.status.text(path, ...ids) === value
  }

  /** Compares a setting with a value that `configurationValues` lists. */
  isSet<P extends keyof typeof configurationValues>(path: P, value: ConfigurationValue<P>, ...ids: string[]): boolean {
    return this.configuration.text(path, ...ids) === value
  }

  get isInCall(): boolean {
    return (
      this.is('MicrosoftTeams Calling InCall', 'True') ||
      this.#count('SystemUnit State NumberOfActiveCalls') > 0 ||
      this.#count('SystemUnit State NumberOfSuspendedCalls') > 0
    )
  }

  get isInUse(): boolean {
    return (
      this.isInCall ||
      this.#count('SystemUnit State NumberOfInProgressCalls') > 0 ||
      this.is('Conference Presentation Mode', 'Sending') ||
      this.is('Conference Presentation Mode', 'Receiving') ||
      this.is('RoomAnalytics RoomInUse', 'True') ||
      this.is('RoomAnalytics PeoplePresence', 'Yes') ||
      this.#count('RoomAnalytics PeopleCount Current') > 0
    )
  }

  /** By default a codec counts people during calls only, and outside of calls knows only whether the room is empty. */
  get detectsPresenceOnly(): boolean {
    const hasPresence = this.status.text('RoomAnalytics PeoplePresence') !== undefined
    const { configuration } = this
    if (configuration.text('RoomAnalytics PeopleCountOutOfCall') !== undefined) {
      return hasPresence && this.isSet('RoomAnalytics PeopleCountOutOfCall', 'Off')
    }
    return hasPresence && this.people === undefined
  }

  /** The count; −1 means that there is no reading. */
  get people(): number | undefined {
    const count = this.status.number('RoomAnalytics PeopleCount Current')
    return count === undefined || count < 0 ? undefined : count
  }

  get presence(): boolean | undefined {
    if (this.is('RoomAnalytics PeoplePresence', 'Yes')) return true
    return this.is('RoomAnalytics PeoplePresence', 'No') ? false : undefined
  }

  /** In °C: the sensor of the codec, or else of a panel in the room. */
  get temperature(): number | undefined {
    return (
      this.status.number('RoomAnalytics AmbientTemperature') ??
      this.#inRoom('Peripherals ConnectedDevice[n] RoomAnalytics AmbientTemperature')
    )
  }

  get humidity(): number | undefined {
    return (
      this.status.number('RoomAnalytics RelativeHumidity') ??
      this.#inRoom('Peripherals ConnectedDevice[n] RoomAnalytics RelativeHumidity')
    )
  }

  /** A panel outside of the room measures the corridor; a scheduler hangs there unless it says otherwise. */
  #inRoom(path: StatusPath): number | undefined {
    return this.status
      .ids('Peripherals ConnectedDevice[n]')
      .filter((id) => {
        const isInside = this.is('Peripherals ConnectedDevice[n] Location', 'InsideRoom', id)
        const isScheduler = this.is('Peripherals ConnectedDevice[n] Type', 'RoomScheduler', id)
        const isOutside = this.is('Peripherals ConnectedDevice[n] Location', 'OutsideRoom', id)
        return (
          this.is('Peripherals ConnectedDevice[n] Status', 'Connected', id) && !isOutside && (isInside || !isScheduler)
        )
      })
      .map((id) => this.status.number(path, id))
      .find((value) => value !== undefined)
  }

  #count(path: StatusPath): number {
    return this.status.number(path) ?? 0
  }
}
