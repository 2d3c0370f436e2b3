// The button that expands and collapses the content below it.
import type { ComponentProps } from 'react'
import classes from './disclosure-button.module.css'
import { ChevronIcon } from './icons.tsx'

interface DisclosureButtonProps extends ComponentProps<'button'> {
  readonly isOpen: boolean
}

export const DisclosureButton = ({ isOpen, children, ...button }: DisclosureButtonProps) => (
  <button type="button" className={classes.button} aria-expanded={isOpen} {...button}>
    <span className={classes.arrow} data-open={isOpen}>
      <ChevronIcon size={16} />
    </span>
    {children}
  </button>
)
