// A sentence that stands out without a block of colour: an icon in the colour of its tone, a title if there is one, and what can be done.
import { CloseButton } from '@mantine/core'
import { type ReactNode, useId } from 'react'
import { InfoIcon } from '../page/icons.tsx'
import classes from './notice.module.css'
import { lookIcon } from './status-label.tsx'

interface NoticeProps {
  /** `calm` for something that succeeded, `quiet` for a fact. */
  readonly tone: 'calm' | 'quiet' | 'warning' | 'danger'
  readonly icon?: ReactNode
  readonly title?: string
  /** A note was there when the page was opened; `status` and `alert` are announced when they appear. */
  readonly role?: 'note' | 'status' | 'alert'
  /** A button at the end of the line. */
  readonly action?: ReactNode
  readonly onClose?: () => void
  readonly children?: ReactNode
}

export function Notice({ tone, icon, title, role = 'note', action, onClose, children }: NoticeProps) {
  const titleId = useId()
  return (
    <div className={classes.notice} data-tone={tone} role={role} {...(title && { 'aria-labelledby': titleId })}>
      {icon ?? (tone === 'quiet' ? <InfoIcon size={16} /> : lookIcon({ tone }))}
      <div className={classes.text}>
        {title && (
          <span id={titleId} className={classes.title}>
            {title}
          </span>
        )}
        {children && <div>{children}</div>}
      </div>
      {action}
      {onClose && <CloseButton size="sm" aria-label="Close" onClick={onClose} />}
    </div>
  )
}
