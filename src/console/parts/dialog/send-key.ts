// Ctrl+Enter, or Cmd+Enter: sends what is written in a field of several lines.
import type { KeyboardEvent } from 'react'

export const isSendKey = ({ key, ctrlKey, metaKey }: KeyboardEvent): boolean => key === 'Enter' && (ctrlKey || metaKey)
