// One setting in the form: its label, its control or its locked value, and the value that the device reports.
import { Code, Group, Text, UnstyledButton } from '@mantine/core'
import { memo, type ReactNode, useId, useRef } from 'react'
import type { ConfigValue } from '../../../contract/device/config-keys.ts'
import { settingName } from '../../../contract/device/setting-names.ts'
import { LockIcon } from '../page/icons.tsx'
import { StatusLabel } from '../text/status-label.tsx'
import { SettingField } from './setting-field.tsx'
import { settingHint } from './setting-sections.ts'
import { findConfigKey, isSameValue, valueText } from './setting-values.ts'
import classes from './settings-form.module.css'

interface RowProps {
  readonly name: string
  readonly stored: ConfigValue | undefined
  /** Undefined: unchanged. Null: to be removed. */
  readonly change: ConfigValue | null | undefined
  readonly error: string | undefined
  /** Undefined for a read-only form. */
  readonly onChange: ((name: string, value: ConfigValue | null | undefined) => void) | undefined
  readonly unset: string
  readonly mayHaveSecret: boolean
  /** The value that a profile locks, and the text that names the profile. */
  readonly locked?: ConfigValue | undefined
  readonly lockedBy?: ReactNode
  /** False in the form of a profile, which has no reported values. */
  readonly hasDevice: boolean
  readonly reported: ConfigValue | undefined
  readonly rejected: string | undefined
  /** The device has not yet confirmed the newest version. */
  readonly isPending: boolean
}

export const SettingRow = memo(function SettingRow(props: RowProps) {
  const { name, stored, change, error, onChange, unset, mayHaveSecret, locked, lockedBy, hasDevice } = props
  const configKey = findConfigKey(name)
  const id = useId()
  const control = useRef<HTMLDivElement>(null)
  if (!configKey) return null
  const labelId = `${id}-name`
  const isChanged = change !== undefined
  const value = isChanged ? change : stored
  const canEdit = onChange !== undefined && locked === undefined
  const hasInput = canEdit && configKey.type !== 'boolean'
  const hint = settingHint(name)
  return (
    <div className={`${classes.row} ${hasDevice ? classes.three : classes.two}`} data-changed={isChanged || undefined}>
      <div>
        <Group gap={8} wrap="wrap">
          {hasInput ? (
            <label className={classes.name} htmlFor={id} id={labelId}>
              {settingName(name)}
            </label>
          ) : (
            <span className={classes.name} id={labelId}>
              {settingName(name)}
            </span>
          )}
          {isChanged && <span className={classes.changed}>changed</span>}
        </Group>
        <Group gap={8}>
          <Code className={classes.machine}>{name}</Code>
          {isChanged && (
            <UnstyledButton
              className={classes.undo}
              onClick={() => {
                onChange?.(name, undefined)
                // The button disappears, so the focus moves to the control.
                control.current?.querySelector('input')?.focus()
              }}
              aria-label={`Undo change to ${settingName(name)}`}
            >
              Undo
            </UnstyledButton>
          )}
        </Group>
        {hint && (
          <Text fz="xs" c="dimmed">
            {hint}
          </Text>
        )}
      </div>
      <div ref={control} className={classes.control}>
        {locked !== undefined ? (
          <LockedValue name={name} value={locked} stored={stored} by={lockedBy} />
        ) : canEdit ? (
          <SettingField
            name={name}
            configKey={configKey}
            id={id}
            labelId={labelId}
            value={value}
            stored={stored}
            error={error}
            onChange={(next) => onChange(name, next)}
            unset={unset}
            mayHaveSecret={mayHaveSecret}
          />
        ) : (
          <Text fz="sm" {...(value === undefined && { c: 'dimmed' })}>
            {value === undefined ? (configKey.secret ? 'Hidden' : unset) : valueText(name, value)}
          </Text>
        )}
      </div>
      {hasDevice && <ReportedValue {...props} wanted={locked ?? stored} />}
    </div>
  )
})

interface LockedValueProps {
  readonly name: string
  readonly value: ConfigValue
  readonly stored: ConfigValue | undefined
  readonly by: ReactNode
}

const LockedValue = ({ name, value, stored, by }: LockedValueProps) => (
  <>
    <Group gap={6} wrap="nowrap" fz="sm" fw={600}>
      <LockIcon size={16} />
      <span className={classes.value}>{valueText(name, value)}</span>
    </Group>
    <Text fz="xs" c="dimmed">
      {by}
      {stored !== undefined &&
        !isSameValue(name, stored, value) &&
        ` Own value: ${valueText(name, stored)} (used when the profile is removed)`}
    </Text>
  </>
)

type ReportedValueProps = Pick<RowProps, 'name' | 'reported' | 'rejected' | 'isPending'> & {
  readonly wanted: ConfigValue | undefined
}

function ReportedValue({ name, wanted, reported, rejected, isPending }: ReportedValueProps) {
  if (findConfigKey(name)?.secret && rejected === undefined) return <div />
  const differs = wanted !== undefined && reported !== undefined && !isSameValue(name, wanted, reported)
  const text = reported === undefined ? undefined : valueText(name, reported)
  return (
    <div className={classes.reported}>
      <span className={classes.prefix}>Reported: </span>
      {rejected !== undefined ? (
        <StatusLabel tone="danger">Rejected</StatusLabel>
      ) : differs ? (
        <StatusLabel tone="warning">{isPending ? `Still reports ${text}` : `Reports ${text}`}</StatusLabel>
      ) : text !== undefined ? (
        <span className={classes.value}>{text}</span>
      ) : (
        <Text span inherit c="dimmed">
          –
        </Text>
      )}
      {rejected !== undefined && (
        <Text fz="xs">
          {rejected}
          {text !== undefined && ` Reported value: ${text}.`}
        </Text>
      )}
    </div>
  )
}
