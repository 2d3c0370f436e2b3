// The form for a message to the screens of devices. [contract 6.messages]
import { Textarea } from '@mantine/core'
import { type KeyboardEvent, type ReactNode, useState } from 'react'
import { DialogForm, isSubmitShortcut } from '../../../parts/dialog/dialog-form.tsx'
import { plural } from '../../../parts/text/words.ts'

interface MessageFormProps {
  /** Shown above the text: the recipients. */
  readonly intro?: ReactNode
  /** Shown below the text. */
  readonly children?: ReactNode
  readonly verb: string
  readonly isBusy: boolean
  readonly error: unknown
  readonly onSend: (message: string) => void
  readonly onCancel: () => void
}

const maxCharacters = 1024

export function MessageForm({ intro, children, verb, isBusy, error, onSend, onCancel }: MessageFormProps) {
  const [text, setText] = useState('')
  // Counted in code points, as the service counts. [contract 1.10]
  const length = [...text.trim()].length
  const canSend = length > 0 && length <= maxCharacters
  const send = () => onSend(text.trim())
  const sendByKey = (event: KeyboardEvent) => {
    if (isSubmitShortcut(event) && canSend && !isBusy) send()
  }
  return (
    <DialogForm verb={verb} canSubmit={canSend} isBusy={isBusy} error={error} onSubmit={send} onCancel={onCancel}>
      {intro}
      <Textarea
        label="Message"
        description={`${length.toLocaleString('en-GB')} / ${maxCharacters.toLocaleString('en-GB')} characters · Ctrl+Enter to send`}
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        autosize
        minRows={3}
        maxRows={10}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        onKeyDown={sendByKey}
        error={length > maxCharacters && `The message is ${plural(length - maxCharacters, 'character')} too long.`}
        data-autofocus
      />
      {children}
    </DialogForm>
  )
}
