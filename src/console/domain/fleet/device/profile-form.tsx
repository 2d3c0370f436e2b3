// The form that assigns a profile to a room or a device, or removes it. [contract 6.assignProfile]
import { Select, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { operationQuery } from '../../../api.ts'
import classes from '../../../parts/dialog/dialog.module.css'
import { DialogForm } from '../../../parts/dialog/dialog-form.tsx'

interface ProfileFormProps {
  /** The profile that was assigned when the form was opened. */
  readonly before: number | undefined
  /** The label of the button; null is no profile. */
  readonly verb: (chosen: number | null) => string
  /** Assigning the current profile again has an effect too. */
  readonly canRepeat?: boolean
  readonly isBusy: boolean
  readonly error: unknown
  readonly onAssign: (profileId: number | null) => void
  readonly onCancel: () => void
  readonly onReload: () => void
  /** Explains the effect of the choice. */
  readonly children: (chosen: number | null) => ReactNode
}

/** Stands for no profile, because the values of a Select are text. */
const none = 'none'

export function ProfileForm(props: ProfileFormProps) {
  const { before, verb, canRepeat = false, isBusy, error, onAssign, onCancel, onReload, children } = props
  const [chosen, setChosen] = useState(before ?? null)
  const profiles = useQuery(operationQuery('profilesList'))
  return (
    <DialogForm
      verb={verb(chosen)}
      canSubmit={canRepeat || chosen !== (before ?? null)}
      isBusy={isBusy}
      error={error ?? profiles.error}
      onSubmit={() => onAssign(chosen)}
      onCancel={onCancel}
      onReload={onReload}
    >
      <Select
        label="Profile"
        data={[
          { value: none, label: 'No profile' },
          ...(profiles.data?.body.profiles ?? []).map(({ id, name }) => ({ value: String(id), label: name })),
        ]}
        value={String(chosen ?? none)}
        onChange={(value) => setChosen(value === null || value === none ? null : Number(value))}
        allowDeselect={false}
        searchable
        openOnFocus={false}
        withScrollArea={false}
        classNames={{ options: classes.choices }}
        nothingFoundMessage="No matching profiles"
        data-autofocus
      />
      <Text fz="sm">{children(chosen)}</Text>
    </DialogForm>
  )
}
