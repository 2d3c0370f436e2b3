// A searchable form of all settings, in sections, generated from the table of config keys.
import { Group, Stack, Switch, TextInput } from '@mantine/core'
import { type ReactNode, useDeferredValue, useMemo, useState } from 'react'
import type { ConfigValue } from '../../../contract/device/config-keys.ts'
import { settingName } from '../../../contract/device/setting-names.ts'
import { includesAll, normalizeText, searchWords } from '../../../contract/search-text.ts'
import { SearchIcon } from '../page/icons.tsx'
import { EmptyState, Section } from '../page/page.tsx'
import type { SettingChanges } from './draft.ts'
import { SettingRow } from './setting-row.tsx'
import { type SettingSection, settingSections } from './setting-sections.ts'
import { isSecret, type SettingValues } from './setting-values.ts'
import classes from './settings-form.module.css'
import type { FieldErrors } from './validation.ts'

interface SettingsFormProps {
  readonly stored: SettingValues
  readonly changes: SettingChanges
  readonly errors: FieldErrors
  /** Undefined for a read-only form. */
  readonly onChange: ((name: string, value: ConfigValue | null | undefined) => void) | undefined
  /** The text for a setting that is not set. */
  readonly unset: string
  readonly mayHaveSecret: boolean
  /** The heading of the column with the controls. */
  readonly heading: string
  readonly locked?: SettingValues
  readonly lockedBy?: ReactNode
  readonly device?: DeviceReport
  /** The settings that exist; all of them if absent. Others are shown only if they are set. */
  readonly keys?: readonly string[] | undefined
}

/** The settings that the device reports and rejects. */
interface DeviceReport {
  readonly reported: SettingValues
  readonly rejected: Readonly<Record<string, string>>
  readonly isPending: boolean
}

const noSettings: SettingValues = {}

export function SettingsForm(props: SettingsFormProps) {
  const {
    stored,
    changes,
    errors,
    onChange,
    unset,
    mayHaveSecret,
    heading,
    locked = noSettings,
    lockedBy,
    device,
    keys,
  } = props
  const [text, setText] = useState('')
  const [onlySet, setOnlySet] = useState(onChange === undefined)
  const query = useDeferredValue(text)

  const shown = useMemo(() => {
    const exists = (key: string) => keys === undefined || keys.includes(key)
    const hasValue = (key: string) => [stored, changes, locked].some((settings) => Object.hasOwn(settings, key))
    const isSet = (key: string) =>
      hasValue(key) || (exists(key) && isSecret(key) && mayHaveSecret && onChange !== undefined)
    return matchingSections(settingSections, query, (key) => isSet(key) || (!onlySet && exists(key)))
  }, [stored, changes, locked, query, onlySet, mayHaveSecret, onChange, keys])

  return (
    <Stack gap="md">
      <Group gap="md" justify="space-between">
        <TextInput
          type="search"
          aria-label="Search settings"
          placeholder="Search settings"
          leftSection={<SearchIcon size={16} />}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          w={{ base: '100%', xs: 320 }}
        />
        <Switch
          label="Show configured only"
          checked={onlySet}
          onChange={(event) => setOnlySet(event.currentTarget.checked)}
        />
      </Group>
      {shown.map(({ title, keys }) => (
        <Section key={title} title={title}>
          <div className={`${classes.head} ${device ? classes.three : classes.two}`} aria-hidden="true">
            <span>Setting</span>
            <span>{heading}</span>
            {device && <span>Reported</span>}
          </div>
          {keys.map((key) => (
            <SettingRow
              key={key}
              name={key}
              stored={stored[key]}
              change={changes[key]}
              error={errors[key]}
              onChange={onChange}
              unset={unset}
              mayHaveSecret={mayHaveSecret}
              locked={locked[key]}
              lockedBy={lockedBy}
              hasDevice={device !== undefined}
              reported={device?.reported[key]}
              rejected={device?.rejected[key]}
              isPending={device?.isPending === true}
            />
          ))}
        </Section>
      ))}
      {shown.length === 0 && (
        <EmptyState title={query ? `No settings match “${query}”` : 'No settings configured'}>
          {onlySet ? 'Turn off “Show configured only” to see all settings.' : 'Change the search text.'}
        </EmptyState>
      )}
    </Stack>
  )
}

/** Every word must occur in the label or the key of a setting, or in the title of its section. */
function matchingSections(
  from: readonly SettingSection[],
  query: string,
  isShown: (key: string) => boolean,
): SettingSection[] {
  const words = searchWords(query)
  return from.flatMap(({ title, keys }) => {
    const matches = keys.filter(
      (key) => isShown(key) && includesAll(normalizeText(`${settingName(key)} ${key} ${title}`), words),
    )
    return matches.length > 0 ? [{ title, keys: matches }] : []
  })
}
