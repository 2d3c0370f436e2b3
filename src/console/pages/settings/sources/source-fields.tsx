// The fields of a source: where it is, and how the gateway signs in there.
import { Autocomplete, Checkbox, PasswordInput, Stack, Textarea, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { ReactNode } from 'react'
import type { SourceType } from '../../../../contract/fleet/drivers.ts'
import type { Source } from '../../../../contract/fleet/sources.ts'
import { maxPemLength, pulseUrls, type SourceSecretName } from '../../../../contract/fleet/sources.ts'
import { RoomSelect } from '../../../domain/fleet/room/room-select.tsx'
import { DisclosureButton } from '../../../parts/page/disclosure-button.tsx'
import { hasSourceMoved, keepsSourceSecret, type SourceDraft } from './source-draft.ts'
import classes from './sources.module.css'

interface SourceFieldsProps {
  readonly type: SourceType
  readonly draft: SourceDraft
  /** The stored source, in a form that changes one. */
  readonly source: Source | undefined
  readonly onChange: (draft: SourceDraft) => void
}

const below: ('label' | 'input' | 'description' | 'error')[] = ['label', 'input', 'description', 'error']
const plainText = { autoComplete: 'off', autoCapitalize: 'off', spellCheck: false } as const

export const SourceFields = (props: SourceFieldsProps) =>
  props.type === 'neat-pulse' ? <PulseFields {...props} /> : <BrokerFields {...props} />

function PulseFields(props: SourceFieldsProps) {
  const { draft, source, onChange } = props
  const set = (changes: Partial<SourceDraft>) => onChange({ ...draft, ...changes })
  return (
    <>
      <Autocomplete
        {...plainText}
        label="Address"
        description="The public address of Neat Pulse. The gateway reaches another address only with --reach-host."
        inputWrapperOrder={below}
        data={[...pulseUrls]}
        filter={({ options }) => options}
        value={draft.url}
        onChange={(url) => set({ url })}
        maxLength={500}
        withAsterisk
      />
      <div className={classes.pair}>
        <TextInput
          {...plainText}
          label="Organisation"
          description="In Neat Pulse, below Settings, API keys."
          inputWrapperOrder={below}
          value={draft.orgId}
          onChange={(event) => set({ orgId: event.currentTarget.value })}
          maxLength={64}
          withAsterisk
        />
        <Secret {...props} name="key" label="API key" isNeeded />
      </div>
      <Checkbox
        label="Write: send reboots, messages, log requests and settings to Neat Pulse"
        description="Without it the source is read only: nothing is changed there, and the pages of its devices offer no actions."
        checked={draft.write}
        onChange={(event) => set({ write: event.currentTarget.checked })}
      />
      <MoreFields isUsed={source?.authority !== undefined}>
        <Authority draft={draft} set={set} />
      </MoreFields>
    </>
  )
}

function BrokerFields(props: SourceFieldsProps) {
  const { draft, source, onChange } = props
  const set = (changes: Partial<SourceDraft>) => onChange({ ...draft, ...changes })
  const isPlain = /^(mqtt|ws):/i.test(draft.url.trim())
  return (
    <>
      <TextInput
        {...plainText}
        label="Address"
        placeholder="mqtts://broker.example.com:8883"
        description={
          isPlain
            ? 'Without TLS: the password and the values can be read in the network.'
            : 'mqtts:// or wss://, or mqtt:// and ws:// without TLS.'
        }
        inputWrapperOrder={below}
        value={draft.url}
        onChange={(event) => set({ url: event.currentTarget.value })}
        maxLength={500}
        withAsterisk
      />
      <div className={classes.pair}>
        <TextInput
          {...plainText}
          label="User name"
          value={draft.username}
          onChange={(event) => set({ username: event.currentTarget.value })}
          maxLength={255}
        />
        <Secret {...props} name="secret" label="Password" />
      </div>
      <Textarea
        {...plainText}
        label="Topics"
        description="One MQTT topic filter on each line. Empty: the discovery of Home Assistant, Tasmota, Shelly and AirGradient. LoRaWAN servers need their topics here."
        inputWrapperOrder={below}
        placeholder="v3/+/devices/+/up"
        value={draft.topics}
        onChange={(event) => set({ topics: event.currentTarget.value })}
        autosize
        minRows={2}
        maxRows={8}
      />
      <RoomSelect
        label="Room for new sensors"
        description="Empty: a person puts each sensor into a room. Otherwise new sensors go there by themselves."
        value={draft.enrolIntoRoomId}
        onChange={(enrolIntoRoomId) => set({ enrolIntoRoomId })}
        isClearable
      />
      <MoreFields
        isUsed={source !== undefined && (source.authority !== undefined || source.clientCertificate !== undefined)}
      >
        <Authority draft={draft} set={set} />
        <Textarea
          {...plainText}
          label="Client certificate"
          description="PEM. With it the gateway identifies itself."
          inputWrapperOrder={below}
          value={draft.clientCertificate}
          onChange={(event) => set({ clientCertificate: event.currentTarget.value })}
          maxLength={maxPemLength}
          rows={3}
        />
        <PrivateKey {...props} />
      </MoreFields>
    </>
  )
}

interface MoreFieldsProps {
  readonly isUsed: boolean
  readonly children: ReactNode
}

/** Certificates are seldom needed. */
function MoreFields({ isUsed, children }: MoreFieldsProps) {
  const [isOpen, more] = useDisclosure(isUsed)
  return (
    <div>
      <DisclosureButton isOpen={isOpen} onClick={more.toggle}>
        Certificates
      </DisclosureButton>
      {isOpen && <Stack mt="xs">{children}</Stack>}
    </div>
  )
}

interface AuthorityProps {
  readonly draft: SourceDraft
  readonly set: (changes: Partial<SourceDraft>) => void
}

const Authority = ({ draft, set }: AuthorityProps) => (
  <Textarea
    {...plainText}
    label="Certificate of your authority"
    description="PEM. Empty: the authorities that browsers know."
    inputWrapperOrder={below}
    value={draft.authority}
    onChange={(event) => set({ authority: event.currentTarget.value })}
    maxLength={maxPemLength}
    rows={3}
  />
)

interface SecretProps extends SourceFieldsProps {
  readonly name: SourceSecretName
  readonly label: string
  readonly isNeeded?: boolean
}

const isStored = (name: SourceSecretName, { source, draft }: SourceFieldsProps) =>
  source?.secrets.includes(name) === true && !hasSourceMoved(draft, source)

const withSecret = (draft: SourceDraft, name: SourceSecretName, text: string): SourceDraft => ({
  ...draft,
  secrets: { ...draft.secrets, [name]: text },
})

/** Stored secrets are never shown. */
function Secret({ name, label, isNeeded = false, ...props }: SecretProps) {
  const { draft, source, onChange } = props
  const isCleared = draft.cleared.includes(name)
  return (
    <Stack gap={6}>
      <PasswordInput
        label={label}
        withAsterisk={isNeeded && !keepsSourceSecret(name, draft, source)}
        value={draft.secrets[name]}
        onChange={(event) => onChange(withSecret(draft, name, event.currentTarget.value))}
        placeholder={isCleared ? 'Will be deleted' : isStored(name, props) ? 'Unchanged' : ''}
        disabled={isCleared}
        maxLength={255}
        autoComplete="new-password"
        visibilityToggleButtonProps={{ 'aria-label': `Show or hide: ${label}` }}
      />
      {!isNeeded && <DeleteSecret {...props} name={name} label={label} />}
    </Stack>
  )
}

/** A key has many lines, which a password field cannot hold. */
function PrivateKey(props: SourceFieldsProps) {
  const { draft, onChange } = props
  const isCleared = draft.cleared.includes('clientKey')
  return (
    <Stack gap={6}>
      <Textarea
        {...plainText}
        label="Private key of the client certificate"
        description="PEM, without a password. It is never shown again."
        inputWrapperOrder={below}
        value={draft.secrets.clientKey}
        onChange={(event) => onChange(withSecret(draft, 'clientKey', event.currentTarget.value))}
        placeholder={isCleared ? 'Will be deleted' : isStored('clientKey', props) ? 'Unchanged' : ''}
        disabled={isCleared}
        maxLength={maxPemLength}
        rows={3}
      />
      <DeleteSecret {...props} name="clientKey" label="Private key" />
    </Stack>
  )
}

function DeleteSecret({ name, label, ...props }: SecretProps) {
  const { draft, onChange } = props
  if (!isStored(name, props)) return null
  return (
    <Checkbox
      size="xs"
      label={`Delete: ${label}`}
      checked={draft.cleared.includes(name)}
      onChange={(event) =>
        onChange({
          ...withSecret(draft, name, ''),
          cleared: event.currentTarget.checked
            ? [...draft.cleared, name]
            : draft.cleared.filter((cleared) => cleared !== name),
        })
      }
    />
  )
}
