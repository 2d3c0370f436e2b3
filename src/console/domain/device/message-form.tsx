// The form of a message to screens: its text, who gets it, and how it is sent. [contract 6.messages]
import { Textarea } from '@mantine/core'
import { type KeyboardEvent, type ReactNode, useState } from 'react'
import { DialogForm, isSubmitShortcut } from '../../parts/dialog/dialog-form.tsx'
import { plural } from '../../parts/text/words.ts'

interface MessageFormProps {
  /** Above the text: who gets it. */
  readonly intro?: ReactNode
  /** Below the text. */
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
  // Counted as the service counts: what looks like one character is one. [contract 1.10]
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
        description={`${length.toLocaleString('en-GB')} of ${maxCharacters.toLocaleString('en-GB')} characters. Ctrl+Enter sends.`}
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        autosize
        minRows={3}
        maxRows={10}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        onKeyDown={sendByKey}
        error={length > maxCharacters && `It is too long by ${plural(length - maxCharacters, 'character')}.`}
        data-autofocus
      />
      {children}
    </DialogForm>
  )
}
