// The properties that every control of a setting takes.
import type { ConfigKey, ConfigValue } from '../../../contract/device/config-keys.ts'

export interface FieldProps {
  readonly name: string
  readonly configKey: ConfigKey
  /** The id of the element that labels the control. */
  readonly labelId: string
  readonly id: string
  /** Undefined: not set. Null: will be removed. */
  readonly value: ConfigValue | null | undefined
  /** The stored value; an enum may be stored in its long or short form. */
  readonly stored: ConfigValue | undefined
  readonly error: string | undefined
  readonly onChange: (value: ConfigValue | null) => void
  /** The text for a setting that is not set, such as "Not set". */
  readonly unset: string
  /** A password may be stored that is not shown. */
  readonly mayHaveSecret: boolean
}
