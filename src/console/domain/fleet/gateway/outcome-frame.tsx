// The frame around the result of a gateway's test, and the fingerprint of a certificate in it.
import { Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import classes from './gateway.module.css'

interface OutcomeFrameProps {
  readonly kind: 'found' | 'failed' | 'certificate'
  readonly children: ReactNode
}

export const OutcomeFrame = ({ kind, children }: OutcomeFrameProps) => (
  <Stack gap={6} className={classes.result ?? ''} data-outcome={kind} role="status" aria-label="Result of the test">
    {children}
  </Stack>
)

export const FingerprintText = ({ label, text }: { readonly label: string; readonly text: string }) => (
  <Text fz="sm" component="div">
    {label}: <span className={classes.fingerprint}>{text}</span>
  </Text>
)
