// An icon button that copies a text to the clipboard and confirms it.
import { ActionIcon, CopyButton, Tooltip } from '@mantine/core'
import { CheckIcon, CopyIcon } from './icons.tsx'

interface CopyIconButtonProps {
  readonly text: string
  /** The text of the tooltip. */
  readonly tip: string
  /** The accessible name, where it must say more than the tooltip. */
  readonly label?: string
  /** Inside a line of text: without a border, and as small as a target may be. */
  readonly isInline?: boolean
  readonly size?: number
}

export const CopyIconButton = ({ text, tip, label = tip, isInline = false, size = 34 }: CopyIconButtonProps) => (
  <CopyButton value={text} timeout={2000}>
    {({ copied, copy }) => (
      <Tooltip label={copied ? 'Copied' : tip}>
        <ActionIcon
          {...(isInline ? { variant: 'subtle', color: 'gray' } : { variant: 'default' })}
          size={size}
          onClick={copy}
          aria-label={copied ? 'Copied' : label}
        >
          {copied ? <CheckIcon size={iconSize(size)} /> : <CopyIcon size={iconSize(size)} />}
        </ActionIcon>
      </Tooltip>
    )}
  </CopyButton>
)

const iconSize = (size: number) => (size > 30 ? 18 : 15)
