// The form in which people change their own name.
import { TextInput } from '@mantine/core'
import { useState } from 'react'
import { useWrite } from '../../api.ts'
import { DialogForm } from '../../parts/dialog/dialog-form.tsx'
import { refreshSession } from '../../session.ts'

interface OwnNameFormProps {
  readonly name: string | undefined
  readonly onClose: () => void
}

export function OwnNameForm({ name = '', onClose }: OwnNameFormProps) {
  const [text, setText] = useState(name)
  const update = useWrite('meUpdate', {
    successText: 'Name changed',
    quiet: true,
    onDone: async () => {
      await refreshSession()
      onClose()
    },
  })
  const next = text.trim()
  return (
    <DialogForm
      verb="Change name"
      canSubmit={next !== name}
      isBusy={update.isPending}
      error={update.error}
      onSubmit={() => update.mutate({ input: { body: { name: next || null } } })}
      onCancel={onClose}
    >
      <TextInput
        label="Name"
        description="Shown to other people in place of your e-mail address."
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        maxLength={100}
        autoComplete="name"
        data-autofocus
      />
    </DialogForm>
  )
}
