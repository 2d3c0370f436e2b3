// The bar for unsaved changes, and the warning before the user leaves the page.
import { Button, Group, Text } from '@mantine/core'
import { useBlocker } from '@tanstack/react-router'
import { useCallback, useEffect } from 'react'
import { ConfirmDialog } from '../dialog/confirm-dialog.tsx'
import { markForm } from '../recovery/unsaved-input.ts'
import { plural } from '../text/words.ts'
import classes from './settings-form.module.css'

interface UnsavedBarProps {
  readonly count: number
  readonly invalidCount: number
  /** The label of the button that opens the review. */
  readonly verb: string
  readonly isBusy?: boolean
  readonly error?: string | null
  readonly onReview: () => void
  readonly onDiscard: () => void
}

export function UnsavedBar(props: UnsavedBarProps) {
  const { count, invalidCount, verb, isBusy = false, error, onReview, onDiscard } = props
  if (count === 0) return null
  const isWrong = invalidCount > 0 || Boolean(error)
  return (
    <Group component="section" aria-label="Unsaved changes" className={classes.bar} gap="sm">
      {/* The buttons are on the left because notifications appear on the right. */}
      <Button onClick={onReview} disabled={invalidCount > 0} loading={isBusy}>
        {verb}
      </Button>
      <Button variant="default" onClick={onDiscard}>
        Discard changes
      </Button>
      <Text role="status" fz="sm" fw={500} {...(isWrong && { c: 'var(--rk-offline)' })}>
        {invalidCount > 0
          ? `Fix ${plural(invalidCount, 'field')} to continue`
          : (error ?? plural(count, 'unsaved change'))}
      </Text>
    </Group>
  )
}

/** Asks for confirmation when the user leaves with unsaved changes, by a link or by closing the tab. */
export function LeaveGuard({ count, what }: { readonly count: number; readonly what: string }) {
  const isDirty = count > 0
  useEffect(() => {
    const form = {}
    markForm(form, isDirty)
    return () => markForm(form, false)
  }, [isDirty])
  const blocker = useBlocker({
    shouldBlockFn: useCallback(() => isDirty, [isDirty]),
    enableBeforeUnload: isDirty,
    withResolver: true,
  })
  return (
    <ConfirmDialog
      opened={blocker.status === 'blocked'}
      onClose={() => blocker.reset?.()}
      title="Leave without saving?"
      verb="Leave without saving"
      onConfirm={() => blocker.proceed?.()}
    >
      You have {plural(count, 'unsaved change')} to {what}. If you leave, {count === 1 ? 'it is' : 'they are'} lost.
    </ConfirmDialog>
  )
}
