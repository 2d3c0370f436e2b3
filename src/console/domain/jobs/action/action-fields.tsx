// The fields of an action: settings, a profile, a message, a room, which logs, or on and off.
import { Checkbox, Group, Radio, Select, Stack, Textarea } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type ComponentType, useMemo } from 'react'
import type { ConfigValue } from '../../../../contract/device/config-keys.ts'
import type { JobActionType } from '../../../../contract/jobs/action-table.ts'
import { operationQuery } from '../../../api.ts'
import { Section } from '../../../parts/page/page.tsx'
import type { SettingValues } from '../../../parts/settings-form/setting-values.ts'
import { SettingsForm } from '../../../parts/settings-form/settings-form.tsx'
import { settingProblems } from '../../../parts/settings-form/validation.ts'
import { useRoomChoices } from '../../fleet/room/room-choices.ts'
import type { ActionInput } from './action-forms.ts'

interface ActionFieldsProps {
  readonly input: ActionInput
  readonly onChange: (changes: Partial<ActionInput>) => void
}

/** Null if the action has nothing to fill in. */
const fields: Readonly<Record<JobActionType, ComponentType<ActionFieldsProps> | null>> = {
  CONFIG: ConfigFields,
  ASSIGN_PROFILE: (props) => (
    <Section title="Profile">
      <ProfileField {...props} />
    </Section>
  ),
  REBOOT: null,
  MESSAGE: ({ input, onChange }) => (
    <Section title="Message">
      <Textarea
        label="Text on the screens"
        autosize
        minRows={3}
        maxRows={10}
        value={input.message}
        onChange={(event) => onChange({ message: event.currentTarget.value })}
      />
    </Section>
  ),
  MOVE: (props) => (
    <Section title="Room">
      <MoveFields {...props} />
    </Section>
  ),
  COLLECT_LOGS: ({ input, onChange }) => (
    <Section title="Logs">
      <Checkbox
        label="Include call logs"
        checked={input.uploadInCallLogs}
        onChange={(event) => onChange({ uploadInCallLogs: event.currentTarget.checked })}
      />
    </Section>
  ),
  POWER: ({ input, onChange }) => (
    <Section title="Power">
      <Radio.Group
        label="Switch the devices"
        value={input.on === undefined ? null : input.on ? 'on' : 'off'}
        onChange={(value) => onChange({ on: value === 'on' })}
      >
        <Group mt={6}>
          <Radio value="on" label="On" />
          <Radio value="off" label="Off" />
        </Group>
      </Radio.Group>
    </Section>
  ),
}

export function ActionFields(props: ActionFieldsProps) {
  const { type } = props.input
  const Fields = type === undefined ? null : fields[type]
  return Fields && <Fields {...props} />
}

const noSettings: SettingValues = {}

/** A field that is emptied leaves the setting of the devices as it is. */
function ConfigFields({ input: { config }, onChange }: ActionFieldsProps) {
  const errors = useMemo(() => settingProblems(config), [config])
  const set = (name: string, value: ConfigValue | null | undefined) => {
    const { [name]: _, ...others } = config
    onChange({ config: value === null || value === undefined || value === '' ? others : { ...others, [name]: value } })
  }
  return (
    <SettingsForm
      stored={noSettings}
      changes={config}
      errors={errors}
      onChange={set}
      unset="No change"
      mayHaveSecret={false}
      heading="New value"
    />
  )
}

/** Stands for no profile, because the values of a Select are text. */
const none = 'none'

function ProfileField({ input: { profileId }, onChange }: ActionFieldsProps) {
  const profiles = useQuery(operationQuery('profilesList')).data?.body.profiles ?? []
  return (
    <Select
      label="Profile"
      placeholder="Choose a profile"
      description="Rooms selected as a whole get the profile too."
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      data={[
        { value: none, label: 'No profile' },
        ...profiles.map(({ id, name }) => ({ value: String(id), label: name })),
      ]}
      value={profileId === undefined ? null : String(profileId ?? none)}
      onChange={(value) => value !== null && onChange({ profileId: value === none ? null : Number(value) })}
      searchable
      allowDeselect={false}
      nothingFoundMessage="No matching profiles"
    />
  )
}

function MoveFields({ input: { roomId, assignRoomProfile }, onChange }: ActionFieldsProps) {
  const rooms = useRoomChoices().choices
  return (
    <Stack>
      <Select
        label="To room"
        placeholder="Search by room or location"
        data={rooms}
        value={roomId === undefined ? null : String(roomId)}
        onChange={(value) => value !== null && onChange({ roomId: Number(value) })}
        searchable
        limit={50}
        allowDeselect={false}
        nothingFoundMessage="No matching rooms"
      />
      <Checkbox
        label="Use the new room’s profile"
        checked={assignRoomProfile}
        onChange={(event) => onChange({ assignRoomProfile: event.currentTarget.checked })}
      />
    </Stack>
  )
}
