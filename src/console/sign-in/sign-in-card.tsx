// The card in the middle of the page that people see before they are signed in.
import { Card, Center, Group, Stack, Title } from '@mantine/core'
import { type ReactNode, useEffect } from 'react'
import { Logo } from '../shell/logo.tsx'

export function SignInCard({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · Roomkeeper`
  }, [title])
  return (
    <Center component="main" mih="100dvh" p="md" bg="var(--rk-page)">
      <Card w="100%" maw={430} padding="xl" bg="var(--rk-panel)">
        <Stack>
          <Group gap="sm" wrap="nowrap">
            <Logo size={34} />
            <Title order={1}>{title}</Title>
          </Group>
          {children}
        </Stack>
      </Card>
    </Center>
  )
}
