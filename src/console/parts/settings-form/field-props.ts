// The properties that every control of a setting takes.
import type { ConfigKey, ConfigValue } from '../../../contract/config-keys.ts'

export interface FieldProps {
  readonly name: string
  readonly configKey: ConfigKey
  /** Of the element that names the control. */
  readonly labelId: string
  readonly id: string
  /** Undefined: not set. Null: it will be unset. */
  readonly value: ConfigValue | null | undefined
  /** As it is stored, in whichever of its forms. */
  readonly stored: ConfigValue | undefined
  readonly error: string | undefined
  readonly onChange: (value: ConfigValue | null) => void
  /** What it means that a setting is not set: "Not set", "Left to the device". */
  readonly unset: string
  /** Whether a password may be stored that is not shown. */
  readonly mayHaveSecret: boolean
}
