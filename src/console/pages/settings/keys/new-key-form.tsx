// Creates an API key in a form: name, access, regions and expiry.

import { Checkbox, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { maxNameLength } from '../../../../contract/shape.ts'
import { useWrite } from '../../../api.ts'
import { type RegionChoice, RegionChoiceField } from '../../../domain/fleet/site/region-choice.tsx'
import type { ListedRegion } from '../../../domain/fleet/site/sites.ts'
import { ExpiryField, useExpiry } from '../../../domain/people/key/expiry-field.tsx'
import type { CreatedKey } from '../../../domain/people/key/new-key-display.tsx'
import { DialogForm } from '../../../parts/dialog/dialog-form.tsx'

interface NewKeyFormProps {
  readonly regions: readonly ListedRegion[]
  readonly onCancel: () => void
  readonly onCreated: (created: CreatedKey) => void
}

export function NewKeyForm({ regions, onCancel, onCreated }: NewKeyFormProps) {
  const [name, setName] = useState('')
  const [reads, setReads] = useState(true)
  const [operates, setOperates] = useState(false)
  const [writes, setWrites] = useState(false)
  const [manages, setManages] = useState(false)
  const [choice, setChoice] = useState<RegionChoice>({ allRegions: true, regionIds: [] })
  const expiry = useExpiry('never')
  const create = useWrite('keysCreate', { onDone: onCreated, quiet: true })
  const hasRegions = choice.allRegions || choice.regionIds.length > 0
  const isReady = name.trim() !== '' && (reads || operates || writes) && hasRegions && expiry.isValid
  const submit = () => {
    const expiresAt = expiry.expiresAt()
    const body = {
      name: name.trim(),
      scopes: [
        ...(reads ? (['read'] as const) : []),
        ...(writes ? (['write'] as const) : operates ? (['operate'] as const) : []),
      ],
      manage: manages,
      ...(!choice.allRegions && { regionIds: [...choice.regionIds] }),
      ...(expiresAt !== undefined && { expiresAt }),
    }
    create.mutate({ input: { body } })
  }
  return (
    <DialogForm
      verb="Create key"
      canSubmit={isReady}
      isBusy={create.isPending}
      error={create.error}
      onSubmit={submit}
      onCancel={onCancel}
    >
      <TextInput
        label="Key name"
        description="Shown in the audit log."
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        maxLength={maxNameLength}
        autoComplete="off"
        data-autofocus
      />
      {/* All are offered, because only a caller who has them all can open this form. [contract 3.6] */}
      <Stack component="fieldset" gap="xs" p={0} m={0} bd={0}>
        <Text component="legend" fz="sm" fw={600} mb={6} p={0}>
          Access
        </Text>
        <Checkbox
          label="Read"
          description="See rooms, devices, sensors and the audit log. Required to sign in."
          checked={reads}
          onChange={(event) => setReads(event.currentTarget.checked)}
        />
        <Checkbox
          label="Operate"
          description="Restart devices, send messages, collect logs, write notes and read enrolment codes."
          checked={operates || writes || manages}
          disabled={writes || manages}
          onChange={(event) => setOperates(event.currentTarget.checked)}
        />
        <Checkbox
          label="Write"
          description="Change rooms, sites and settings. Contains Operate."
          checked={writes || manages}
          disabled={manages}
          onChange={(event) => setWrites(event.currentTarget.checked)}
        />
        <Checkbox
          label="Manage"
          description="Manage keys, people and sign-in. Requires Write and all regions."
          checked={manages}
          onChange={(event) => {
            setManages(event.currentTarget.checked)
            if (!event.currentTarget.checked) return
            setWrites(true)
            setChoice({ allRegions: true, regionIds: [] })
          }}
        />
      </Stack>
      <RegionChoiceField
        value={choice}
        onChange={setChoice}
        regions={regions}
        emptyText="Choose at least one region."
        disabled={manages}
      />
      <ExpiryField expiry={expiry} lifetimes={['never', '30', '90', 'date']} />
    </DialogForm>
  )
}
