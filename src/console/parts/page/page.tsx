// The frame of a page: title, actions and sections, and its loading, error and empty states.
import { Box, Button, Card, Group, Stack, Text, Title } from '@mantine/core'
import { useQueryErrorResetBoundary } from '@tanstack/react-query'
import { Component, type ReactNode, Suspense, useEffect, useRef } from 'react'
import { errorMessage } from '../../api.ts'
import { isRecoverable, RecoveryPanel } from '../recovery/recovery-panel.tsx'
import { WarnIcon } from './icons.tsx'
import classes from './page.module.css'
import { Loading } from './skeleton.tsx'

interface PageProps {
  readonly title: string
  /** The title of the window, if the name alone could mean two things. */
  readonly windowTitle?: string
  /** Shown above the title, such as breadcrumbs. */
  readonly above?: ReactNode
  /** Shown beside the title. */
  readonly beside?: ReactNode
  readonly actions?: ReactNode
  readonly children: ReactNode
}

export function Page({ title, windowTitle = title, above, beside, actions, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = `${windowTitle} · Roomkeeper`
  }, [windowTitle])
  // Moving the focus makes screen readers announce the new page.
  useEffect(() => heading.current?.focus({ preventScroll: true }), [])
  return (
    <Stack gap="md">
      <Box>
        {above}
        <div className={classes.head}>
          <Group gap="md" align="center" className={classes.title ?? ''}>
            <Title order={1} ref={heading} tabIndex={-1} style={{ outline: 'none', overflowWrap: 'anywhere' }}>
              {title}
            </Title>
            {beside}
          </Group>
          {actions && (
            <Group gap="xs" className={classes.actions ?? ''}>
              {actions}
            </Group>
          )}
        </div>
      </Box>
      {children}
    </Stack>
  )
}

/** A part of a page with a title. */
export const Section = ({
  title,
  actions,
  children,
}: {
  readonly title: string
  readonly actions?: ReactNode
  readonly children: ReactNode
}) => (
  <Card component="section" aria-label={title} bg="var(--rk-panel)">
    <Group justify="space-between" mb="sm" gap="xs">
      <Title order={2} fz="md">
        {title}
      </Title>
      {actions}
    </Group>
    {children}
  </Card>
)

/** Shows a skeleton while its children suspend, and their error without affecting the rest of the page. */
export function LoadingBoundary({ children, skeleton = <Loading /> }: LoadingBoundaryProps) {
  const { reset } = useQueryErrorResetBoundary()
  return (
    <ErrorBoundary onReset={reset}>
      <Suspense fallback={skeleton}>{children}</Suspense>
    </ErrorBoundary>
  )
}

interface LoadingBoundaryProps {
  readonly children: ReactNode
  readonly skeleton?: ReactNode
}

interface ErrorBoundaryProps {
  readonly onReset: () => void
  readonly children: ReactNode
}

class ErrorBoundary extends Component<ErrorBoundaryProps, { error: unknown }> {
  override state = { error: undefined as unknown }

  readonly #retry = () => {
    this.props.onReset()
    this.setState({ error: undefined })
  }

  static getDerivedStateFromError(error: unknown) {
    return { error }
  }

  override render() {
    const { error } = this.state
    if (error === undefined) return this.props.children
    return <ErrorPanel error={error} onRetry={this.#retry} />
  }
}

/** Errors that pass by themselves are retried without a click, if there is a way to retry. */
export const ErrorPanel = ({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }) =>
  onRetry && isRecoverable(error) ? (
    <RecoveryPanel error={error} onRetry={onRetry} />
  ) : (
    <Card role="alert" bg="var(--rk-panel)">
      <Group gap="sm" wrap="nowrap" align="flex-start">
        <Text c="var(--rk-offline)" span>
          <WarnIcon />
        </Text>
        <Stack gap="xs" align="flex-start">
          <Text>{errorMessage(error)}</Text>
          {onRetry && (
            <Button variant="default" size="xs" onClick={onRetry}>
              Try again
            </Button>
          )}
        </Stack>
      </Group>
    </Card>
  )

/** Shows an error inline, or nothing if there is none. */
export const ErrorText = ({ error }: { readonly error: unknown }) =>
  error !== undefined &&
  error !== null && (
    <Text role="alert" c="var(--rk-offline)" fz="sm">
      {errorMessage(error)}
    </Text>
  )

/** Shown in place of an empty list: why it is empty, and what to do. */
export const EmptyState = ({ title, children }: { readonly title: string; readonly children?: ReactNode }) => (
  <Stack align="center" gap="xs" py="xl" px="md" ta="center">
    <Text fw={600}>{title}</Text>
    {children && (
      <Box c="dimmed" maw={560}>
        {children}
      </Box>
    )}
  </Stack>
)

/** A closing dialog returns the focus to the button that opened it. If that button was deleted, the title gets the focus. */
export function focusTitleIfLost(): void {
  if (document.activeElement === document.body) document.querySelector<HTMLElement>('main h1')?.focus()
}
